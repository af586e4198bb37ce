"""A strict local server of Crusoe's API: signatures, VM states and operations over time."""
