"""One folder per outside thing; none knows another."""
