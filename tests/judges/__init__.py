"""Judges that we did not write: what they take from the bot, and what they cannot judge."""
