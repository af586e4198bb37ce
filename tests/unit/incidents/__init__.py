"""Test what the store keeps, apart from any database."""
