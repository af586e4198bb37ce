"""Test one room at a time, in memory."""
