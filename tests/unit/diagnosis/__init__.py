"""Test the diagnosis, from bytes to cause."""
