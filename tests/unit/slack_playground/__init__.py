"""The pure parts of the local Slack workspace."""
