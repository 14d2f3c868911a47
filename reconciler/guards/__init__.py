"""The guards: each takes the values that it judges, and refuses them unless somebody allows it.

``removal_guard``, ``movement_guard`` and ``cost_guard`` judge what leaves clusters, what moves between them and what
costs more, and ``protection`` that nothing goes whose label forbids it; ``limits`` asks the four, and refuses a source
that lost all its clusters. ``resilience_guard`` judges a change alone, and never a pass: what does not survive losses
any more. ``allowances`` are given by options, and by commits as ``source_trailers`` reads them.
``continuity`` refuses what vanishes from a source unsaid, ``rewind`` a source that does not follow the one before, and
``accepted_settings`` settings that wait for a person, those of ``outward_addresses`` among them.
"""
