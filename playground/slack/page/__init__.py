"""The workspace in a browser: a page that looks and works like a channel."""
