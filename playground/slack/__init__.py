"""A Slack workspace on loopback, as strict as Slack's published documentation."""
