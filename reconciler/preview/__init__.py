"""The outcome of a pass shown before anything is applied, as ``argosy render`` prints it."""
