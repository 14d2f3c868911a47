"""The sources that checks of rollouts ask: whoever argosy.yaml names, within a time, for an answer of some length.

``questions`` asks all that a pass has to ask, side by side, and waits for nobody longer than a check says. ``web`` asks
an address, of which ``prometheus`` and ``http`` read the answers.
"""
