"""Models that order passages by how well they answer a question."""
