"""The outcome of a pass: rendered, guarded and committed."""
