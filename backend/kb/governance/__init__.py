"""What may be kept of a text: the masking of secrets."""
