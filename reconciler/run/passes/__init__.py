"""Passes in processes of their own: the job, the process that runs it, and the worker that waits for its report."""
