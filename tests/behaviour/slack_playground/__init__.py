"""The local Slack workspace against Slack's own clients."""
