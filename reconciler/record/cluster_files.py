"""The front page of the status branch, a line for each cluster, and the remedies that its conditions call for."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.cluster import REMEDIES, ClusterRecord
from reconciler.ledger.refusal import SourceRefusal
from render.remedies import Remedy, remedy_actions
from render.values import DiscreetStruct


def with_remedy_actions(record: ClusterRecord, remedies: Iterable[Remedy]) -> ClusterRecord:
    """Return a record with the actions that remedies call for by the conditions in it."""
    status = {name: value for name, value in record.state.status.items() if name != REMEDIES}
    actions = remedy_actions(record.state.name, status.get("conditions") or (), remedies)
    status |= {REMEDIES: list(actions)} if actions else {}
    return record if status == record.state.status else replace(record, state=replace(record.state, status=status))


class ObjectReason(DiscreetStruct, frozen=True, kw_only=True):
    """The reason why an object is as it is in a cluster, and the time since then.

    ``is_applied`` is false where the cluster does not have the object as it must be, or nobody knows that it does.
    """

    cluster: str = ""
    object: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""
    is_applied: bool = True


class ClusterLine(Struct, frozen=True, kw_only=True):
    """A cluster's line on the front page. ``ready`` is True, False, Unknown or nothing.

    One that is no member any more is disconnected: it is not observed, so what was last seen says nothing.
    """

    is_connected: bool = True
    ready: str = ""
    version: str = ""
    converged: str = ""
    outcome: str = ""
    objects: int = 0
    unhealthy: int = 0
    remedies: tuple[str, ...] = ()
    since: str = ""


_INTRODUCTION = """\
# The fleet as it was last seen

Written by Argosy. `clusters/` tells what each cluster is and can hold, `works/` how every object is in every cluster,
`bindings/` how it is all in all. `inventory/` is what pruning goes by: leave it alone.
"""
_MOST_UNHEALTHY = 50
DISCONNECTED = "disconnected: left as it was"


def status_page(
    lines: Mapping[str, ClusterLine], unhealthy: Iterable[ObjectReason], refusal: SourceRefusal | None = None
) -> bytes:
    """Return README.md of the status branch: what is refused, a line per cluster, what is not as it should be."""
    page = [_INTRODUCTION]
    if refusal is not None:
        page += [*(f"    {line}" for line in refusal.lines), "", "The last good commit stays applied meanwhile.", ""]
    page += ["| cluster | ready | version | converged | objects | unhealthy | since | |"]
    page += ["|---|---|---|---|---:|---:|---|---|"]
    for name, line in sorted(lines.items()):
        page.append(f"| [{name}](clusters/{name}.yaml) | {' | '.join(_cells_of_line(line))} |")
    worst = sorted(unhealthy, key=lambda each: (each.since, each.cluster, each.object))
    if worst:
        page += ["", "| not as it should be | cluster | reason | since |", "|---|---|---|---|"]
        page += [
            f"| {each.object} | {each.cluster} | {each.reason} | {each.since} |" for each in worst[:_MOST_UNHEALTHY]
        ]
    if len(worst) > _MOST_UNHEALTHY:
        page += ["", f"{len(worst) - _MOST_UNHEALTHY} more."]
    return ("\n".join(page) + "\n").encode()


def _cells_of_line(line: ClusterLine) -> tuple[str, ...]:
    converged = line.converged[:12]
    if not line.is_connected:
        return "", "", converged, "", "", "", DISCONNECTED
    outcome = "" if line.outcome == "Converged" else line.outcome
    return line.ready, line.version, converged, str(line.objects), str(line.unhealthy), line.since, outcome
