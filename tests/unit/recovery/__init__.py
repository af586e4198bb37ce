"""Test what is offered against a failure, and what is not."""
