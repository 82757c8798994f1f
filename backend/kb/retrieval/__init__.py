"""From a question to ranked hits, with reasons."""
