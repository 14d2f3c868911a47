"""The operations that interpret an object of any kind, and the readers of fields that rules about kinds are made of."""
