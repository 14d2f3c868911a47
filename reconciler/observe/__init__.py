"""One look at a member: its objects, its capacity, its health."""
