"""Crusoe Cloud's REST API, version 1, on httpx."""
