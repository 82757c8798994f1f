"""What several format parsers need."""
