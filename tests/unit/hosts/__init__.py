"""Rules of looking at machines, without a network."""
