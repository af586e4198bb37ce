"""Small real machines: systemd, systemd-resolved, sshd, Slurm and PyTorch, to break and to heal."""
