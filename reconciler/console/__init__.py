"""Output for people and programs: log lines, tables and sections, JSON, JUnit, and refused options.

Every command prints through these. They know nothing of repositories, clusters or policies.
"""
