"""Keys of servers, in the system's own key store."""
