"""Hearing of changes in the workspace."""
