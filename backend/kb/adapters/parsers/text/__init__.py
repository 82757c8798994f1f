"""Plain text and source code."""
