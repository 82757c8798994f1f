"""What the web is written in: pages and feeds."""
