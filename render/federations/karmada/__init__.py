"""Karmada itself: its objects stay as they are, without what its control plane wrote into them."""
