"""A simulated Slurm: one model of jobs and nodes, answered over HTTP and by the commands' texts."""
