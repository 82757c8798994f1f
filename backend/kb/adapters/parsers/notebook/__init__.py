"""Notebooks of cells."""
