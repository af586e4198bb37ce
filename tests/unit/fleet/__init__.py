"""Test where ranks are placed, and which VM a host is."""
