"""Test where ranks sit."""
