"""Rollouts of a pass: versions of objects by value, and which of them each cluster gets.

``stage`` stands between the works of the newest source and the tree. ``policies`` takes the step of each rollout
policy, ``objects`` has the outcome for each object, and ``works`` makes bytes of ``versions``. ``evidence`` is what
health says, ``state_files`` what the rendered branch keeps.
"""
