"""The observation of members: their objects, their capacity, their health."""
