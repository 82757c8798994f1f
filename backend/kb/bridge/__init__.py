"""The local HTTP interface."""
