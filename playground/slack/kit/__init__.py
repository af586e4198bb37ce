"""Block Kit's documented shapes and limits, as tables, and what breaks them."""
