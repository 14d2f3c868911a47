"""Pure: override policies and the engine that applies them."""
