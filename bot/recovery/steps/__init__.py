"""One file for each kind of step, and the table of them all."""
