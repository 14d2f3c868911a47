"""Plain clusters that no federation joins: what runs in them, as templates, policies and overrides."""
