"""How settings are found, read and refused."""
