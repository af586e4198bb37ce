"""Rules of the doctor that need no service."""
