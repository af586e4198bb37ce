"""Look at the local workspace's page with a real browser."""
