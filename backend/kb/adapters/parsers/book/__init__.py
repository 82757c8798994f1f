"""Books: chapters in reading order."""
