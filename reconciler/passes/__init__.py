"""One reconcile pass, and one delivery to members: the floors below joined in order."""
