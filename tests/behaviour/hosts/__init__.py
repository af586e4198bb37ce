"""Machines that are looked at: in memory, simulated over SSH, and a real sshd."""
