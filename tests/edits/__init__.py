"""Random edits of objects of every kind, made in the same way by ``kubectl apply --server-side`` and by Argosy."""
