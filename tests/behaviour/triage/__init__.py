"""Whole checks over ports in memory and a simulated fleet."""
