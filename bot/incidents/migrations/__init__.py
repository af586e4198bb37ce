"""How the schema came to be, one revision a file; applied when the store opens."""
