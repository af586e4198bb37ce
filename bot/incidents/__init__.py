"""What was seen and done about failures, and where it is kept."""
