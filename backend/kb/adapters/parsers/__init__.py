"""One folder per family of files; none knows another."""
