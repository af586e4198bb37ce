"""What people see in Slack, as functions from values to messages and views; nothing is sent here."""
