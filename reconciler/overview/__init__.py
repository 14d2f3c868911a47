"""The first look at a fleet: what is unwell, what moves, what waits for a person, and what the fleet would survive.

``instants`` says which commits of the branches stand for a time in the past. ``fleet_overview`` joins the answers, each
of which has a module: ``unwell``, ``changes``, ``waiting``, ``survival``, ``silence`` and ``deliveries``. Everything is
read from the branches, and no cluster is asked.
"""
