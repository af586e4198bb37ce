"""Prove the product's rules: unit tests, cases with known causes, and benchmarks."""
