"""The place where people ask: a port to it, Slack behind it, and the flows that answer there."""
