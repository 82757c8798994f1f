"""The exact vector index: a memory-mapped file compared row by row, without a server or a graph."""
