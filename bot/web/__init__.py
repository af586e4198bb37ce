"""What is served over HTTP: Slack's requests, health, metrics."""
