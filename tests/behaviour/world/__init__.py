"""The simulated fleet, asked by the product's own adapters."""
