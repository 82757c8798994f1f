"""Files of this machine: the workspace, copies of originals, the lock of a library."""
