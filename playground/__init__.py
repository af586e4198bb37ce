"""Stand-ins that speak the real protocols, for the demo, the tests and the lab."""
