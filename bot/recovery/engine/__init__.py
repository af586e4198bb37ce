"""The durable engine behind a port: what was begun goes on after a crash, on any replica."""
