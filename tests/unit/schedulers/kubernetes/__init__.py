"""Prove how objects of Kubernetes are read."""
