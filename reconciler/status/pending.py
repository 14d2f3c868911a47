"""Pending objects of one cluster, as a table and as plain data."""

from collections.abc import Iterable
from typing import Any

from reconciler.console.text import table
from reconciler.pipeline.pending import Pending, pending_of, plain_pending
from render.binding import Binding


def pending_text(cluster: str, bindings: Iterable[Binding]) -> str:
    """Return a table of what suspension holds back from a cluster; empty where that is nothing."""
    rows = [(str(each.ref), each.reason, each.message) for each in _pending_in(cluster, bindings)]
    return f"\n{table(('PENDING', 'REASON', 'MESSAGE'), rows)}" if rows else ""


def pending_value(cluster: str, bindings: Iterable[Binding]) -> dict[str, Any]:
    """Return the same as plain data."""
    return {"pending": [plain_pending(each) for each in _pending_in(cluster, bindings)]}


def _pending_in(cluster: str, bindings: Iterable[Binding]) -> list[Pending]:
    return [each for each in pending_of(bindings) if cluster in each.clusters]
