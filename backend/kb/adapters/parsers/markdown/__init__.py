"""Markdown by markdown-it-py: blocks with exact line spans."""
