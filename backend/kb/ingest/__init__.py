"""From a file to something that can be found."""
