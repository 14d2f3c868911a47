"""Pure: everything that decides where an object goes and what it looks like there."""
