"""Where the electricity comes from."""
