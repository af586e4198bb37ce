"""What each command does, from its words to what it prints."""
