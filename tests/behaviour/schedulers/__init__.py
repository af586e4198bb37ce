"""What a scheduler promises, proven on memory and on a real Slurm cluster."""
