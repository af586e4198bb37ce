"""Kubernetes: jobs of five kinds, their pods and logs, nodes, and the cluster's DNS."""
