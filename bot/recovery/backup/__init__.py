"""What of a VM's own storage is worth keeping, how that is said, and what a person chose of it."""
