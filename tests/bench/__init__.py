"""Benchmarks: ``python -m tests.bench NAME`` runs ``tests/bench/bench_NAME.py``; none of them is part of the tests."""
