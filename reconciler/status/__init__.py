"""What was seen of members, written back as commits and shown."""
