"""What people are shown: the terminal's report and its progress."""
