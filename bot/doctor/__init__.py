"""Checks of what is configured: each says what it found and what mends it; none stops another."""
