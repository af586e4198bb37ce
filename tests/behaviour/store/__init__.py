"""Test what the store promises, on SQLite and on PostgreSQL."""
