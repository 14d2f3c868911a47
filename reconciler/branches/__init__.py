"""The branches of a fleet, as passes read and write them.

``publication`` says where they are, in this repository or at a remote, and ``in_force`` by which settings: those of the
last rendered source, which ``last_good`` reads with its commit. ``reading`` reads a source, a rendered commit and what
was observed; ``known_fleets`` reads argosy.yaml alone, ``schemas`` the recorded schemas of members' own kinds, and
``left_out`` names the files that no source has. ``fleet_context`` is a fleet with its branches and its members.

``status_branch`` writes the status branch by a ``transport``; an agent writes its own by an ``uplink``, and
``agent_branches`` reads it. ``mirrors`` lets the branches of ``mirror_branches`` follow the rendered one, for agents
with ``agent_settings`` and ``delivery_rules``. ``checkpoint`` is what a pass leaves for the next one, beside them.
"""
