"""A pass shown before anything is applied, as ``argosy render`` prints it, and a fleet in the forms of other tools."""
