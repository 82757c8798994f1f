"""What measures rankings, and keeps the questions of a run."""
