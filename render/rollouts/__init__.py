"""Rollouts: a change reaches clusters wave by wave, each held to its gate, while the fleet goes on living.

A rollout is a mask over clusters. ``policy`` has what people ask for, ``state`` what is kept of a rollout from pass to
pass, ``waves`` the wave of each cluster, and ``positions`` where each stands now. ``step`` decides in each pass, of
values alone, which clusters get the change; ``controls`` and ``barriers`` say what people and limits keep it from.
"""
