"""Models: one folder per kind, none knows another."""
