"""Notifications: what changed state is told once, and what was told is kept on the status branch."""
