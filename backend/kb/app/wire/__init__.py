"""From the values inside to the wire models: pure functions, one file per subject."""
