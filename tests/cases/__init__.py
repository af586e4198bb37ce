"""Logs with known causes, and the judge that compares."""
