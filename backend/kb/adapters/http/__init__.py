"""Requests to servers that a person chose, within limits, and told of one by one."""
