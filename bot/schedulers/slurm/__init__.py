"""Reach a Slurm cluster: by its REST service, by commands on a login node, or by both."""
