"""Output for people and programs: log lines, tables, sections, JSON, JUnit."""
