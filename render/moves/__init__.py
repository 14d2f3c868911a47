"""Moves: replicas get from one cluster to another step by step, each made elsewhere before it goes.

``steps`` decides, of numbers alone, how many replicas each cluster gets in a pass, and whose health that waits for. The
limits are the ``MoveSettings`` of the fleet, or of a rollout policy.
"""
