"""The approximate vector index: Chroma, in a child process that may die at any time."""
