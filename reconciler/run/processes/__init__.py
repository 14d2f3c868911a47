"""Passes in processes of their own: the process of one pass, and the worker that waits for its report."""
