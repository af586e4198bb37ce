"""What may be done about a failure, and what it costs."""
