"""Format parsers in child processes: one file costs at most its child."""
