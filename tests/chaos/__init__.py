"""Chaos, run by hand (``make chaos``): passes that are killed, members that fail in every way, and a long day.

Whatever happened meanwhile, each member must at the end hold what ``kubectl apply --server-side`` makes of its folder.
"""
