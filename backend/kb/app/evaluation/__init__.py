"""Suites as files, runs as reports, and what the group `evaluation` does with them."""
