"""The decisions of other federations: how KubeFed places, divides and overrides.

Each rule is that project's own, oddities included, so that a fleet that comes from there keeps what it has.
"""
