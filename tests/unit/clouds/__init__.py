"""Test the rooms of clouds piece by piece."""
