"""The sections of argosy.yaml, a module for each: a struct whose fields say all there is to say about a setting."""
