"""Clients on real networks: TLS with a private authority, a proxy, names that fail."""
