"""The facade: everything a page, a command or a shell may ask for, in groups."""
