"""nccl-dns-bot: tell which rank, which VM and why when distributed training cannot start."""

__version__ = "0.1.0"
