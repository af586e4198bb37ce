"""Prove what people see in Slack."""
