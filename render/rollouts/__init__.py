"""Rollouts: a change reaches clusters wave by wave, each held to its gate, while the fleet goes on living.

A rollout is a mask over clusters. ``policy`` has what people ask for, ``state`` what is kept of a rollout from pass to
pass.
"""
