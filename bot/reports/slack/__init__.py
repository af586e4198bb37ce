"""What people see in Slack, as functions from values to messages; nothing is sent here."""
