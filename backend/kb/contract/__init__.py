"""What crosses to the page and the command line."""
