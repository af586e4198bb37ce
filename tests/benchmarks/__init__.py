"""Benchmarks: a generator of large logs, and ratios measured within one run."""
