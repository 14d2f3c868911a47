"""The mutation check: production lines broken one at a time, and the tests that should notice.

``python -m tests.mutations --help`` says how to run it; ``make mutations`` does.
"""
