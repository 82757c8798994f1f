"""Which language a text is in: scripts first, py3langid for what scripts do not tell."""
