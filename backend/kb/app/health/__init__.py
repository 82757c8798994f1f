"""Is the library in order, and what mends it: checks, repairs, and healing without being asked."""
