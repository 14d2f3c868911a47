"""The branches of a fleet: read, guarded, committed, pushed and mirrored."""
