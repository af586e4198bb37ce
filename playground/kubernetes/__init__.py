"""A strict local API server of Kubernetes: objects, versions, watches, logs, rights, cordons."""
