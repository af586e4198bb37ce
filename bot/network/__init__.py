"""How the product's clients reach the world: certificates, a proxy, and names that may fail."""
