"""Tests of what stands in for real parts."""
