"""The sources that checks of rollouts ask: whoever argosy.yaml names, members, and the forge.

``questions`` asks all that a pass has to ask, side by side, and waits for nobody longer than a check says. ``web`` asks
an address, and ``prometheus`` one by a query; ``in_members`` asks for live objects and Jobs.
"""
