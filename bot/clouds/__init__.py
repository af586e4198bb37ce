"""Ask a cloud about VMs and start, stop or reset them: values, a port and its adapters."""
