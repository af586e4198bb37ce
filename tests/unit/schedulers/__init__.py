"""Prove the parts of the schedulers room one by one."""
