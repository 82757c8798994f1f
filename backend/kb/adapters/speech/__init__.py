"""Sound decoded, speech recognised, renditions made for players."""
