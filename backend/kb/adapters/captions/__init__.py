"""Words about pictures, from a vision model a person chose."""
