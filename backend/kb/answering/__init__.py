"""From evidence to a cited answer or a refusal."""
