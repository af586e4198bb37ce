"""Look at machines over SSH: read-only probes, and what they come to."""
