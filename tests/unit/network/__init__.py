"""Which way an address is reached, and what is remembered of names."""
