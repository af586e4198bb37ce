"""A simulated fleet: machines that answer over real SSH from a small model of each."""
