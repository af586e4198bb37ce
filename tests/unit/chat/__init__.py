"""Tests of what the chat's flows are made of."""
