"""Bytes to text: Unicode by its marks, old encodings by charset-normalizer."""
