"""The whole library in one file, and back: made while it is in use, checked, put back, merged."""
