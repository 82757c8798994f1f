"""The facade, its bootstrap and settings."""
