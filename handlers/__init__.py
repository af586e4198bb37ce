"""Slack's edge: a listener a file, each turning one kind of payload into one call of a flow."""
