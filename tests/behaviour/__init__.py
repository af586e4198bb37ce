"""Test each port: one suite that every adapter of it passes."""
