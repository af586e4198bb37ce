"""Test the port of clouds, in memory and over HTTP."""
