"""What ``argosy status`` shows: the fleet as its branches tell it, without asking a cluster or a remote."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import click

from reconciler.passes.frontpage import replicas_by_cluster, scheduled_reason
from reconciler.passes.previous import Previous
from reconciler.passes.publication import publication_of
from reconciler.passes.reading import read_previous, read_source
from reconciler.repository import Repository
from reconciler.tables import table
from render.binding import Binding
from render.documents import emit
from render.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStatus:
    """The fleet as its branches tell it. ``head`` is the source's newest commit here; ``members`` its clusters."""

    branch: str
    head: str
    members: frozenset[str]
    previous: Previous
    objects: Counter[str]

    @property
    def is_current(self) -> bool:
        """Whether the rendered commit is of the newest source."""
        return self.previous.source == self.head


def show_rendered(status: FleetStatus, output: str) -> int:
    """Print what the rendered branch alone says; return 1 when a binding could not be placed or built."""
    if output in {"json", "yaml"}:
        value = as_value(status)
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n" if output == "json" else emit(value).decode()
        click.echo(text, nl=False)
    elif output == "name":
        for name in sorted(status.previous.tree.clusters.keys() | status.members):
            click.echo(f"cluster/{name}")
    else:
        _print_tables(status, wide=output == "wide")
    return 1 if any(troubles(binding) for binding in status.previous.bindings.values()) else 0


def fleet_status(repository: Repository) -> FleetStatus:
    """Read the branches of the fleet that HEAD's source describes."""
    head = repository.resolve("HEAD")
    desired = read_source(repository, head).desired
    branch = desired.fleet.rendered_branch
    tip = publication_of(repository, desired.fleet).known_tip(branch)
    if tip is None:
        raise ConfigError(
            f"nothing is rendered yet: there is no branch {branch!r}", hint="argosy reconcile --bootstrap"
        )
    previous = read_previous(repository, tip)
    counts: dict[bytes, int] = {}
    objects: Counter[str] = Counter()
    for name, tree_id in previous.tree.clusters.items():
        if tree_id not in counts:
            counts[tree_id] = sum(1 for _ in previous.tree.files(tree_id))
        objects[name] = counts[tree_id]
    members = frozenset(cluster.name for cluster in desired.clusters)
    return FleetStatus(branch=branch, head=head, members=members, previous=previous, objects=objects)


def troubles(binding: Binding) -> list[str]:
    """Return what is wrong with a binding: why it is not placed, not built, or held by nobody."""
    return [
        f"{condition.reason}: {condition.message}"
        for condition in binding.conditions
        if condition.status == "False" and condition.reason not in {"NotScheduled", "NoPolicy"}
    ]


def print_head(status: FleetStatus) -> None:
    """Print which source the rendered branch holds."""
    previous = status.previous
    lag = "" if status.is_current else f", but the newest source is {status.head[:12]}: run argosy reconcile"
    click.echo(f"{status.branch} {previous.commit[:12]} holds source {previous.source[:12]}{lag}\n")


def _print_tables(status: FleetStatus, *, wide: bool) -> None:
    print_head(status)
    previous = status.previous
    replicas = replicas_by_cluster(previous.bindings.values())
    rows = [
        (name, str(status.objects[name]), str(replicas[name]), "" if name in status.members else "disconnected")
        for name in sorted(previous.tree.clusters.keys() | status.members)
    ]
    click.echo(table(("CLUSTER", "OBJECTS", "REPLICAS", "NOTE"), rows), nl=False)
    print_bindings(status, wide=wide)


def print_bindings(status: FleetStatus, *, wide: bool) -> None:
    """Print how many bindings are in which state, and those that need a look (or all)."""
    previous = status.previous
    reasons = Counter(map(scheduled_reason, previous.bindings.values()))
    click.echo("\nbindings: " + ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items())))
    shown = [binding for binding in previous.bindings.values() if wide or troubles(binding) or _is_released(binding)]
    if shown:
        click.echo("\n" + table(("BINDING", "REASON", "MESSAGE"), [_row(binding) for binding in shown]), nl=False)


def _is_released(binding: Binding) -> bool:
    return scheduled_reason(binding) == "NoPolicy"


def _row(binding: Binding) -> tuple[str, str, str]:
    worst = next((each for each in binding.conditions if each.status == "False"), None)
    if worst is None:
        names = " ".join(f"{each.name}:{each.replicas}" if each.replicas else each.name for each in binding.targets)
        return str(binding.ref), scheduled_reason(binding), names
    return str(binding.ref), worst.reason, worst.message


def as_value(status: FleetStatus) -> dict[str, Any]:
    """Return the status as one value; the README documents its fields."""
    previous = status.previous
    replicas = replicas_by_cluster(previous.bindings.values())
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "FleetStatus",
        "branch": status.branch,
        "rendered": previous.commit,
        "source": previous.source,
        "head": status.head,
        "engine": previous.version,
        "clusters": {
            name: {
                "objects": status.objects[name],
                "replicas": replicas[name],
                "connected": name in status.members,
            }
            for name in sorted(previous.tree.clusters.keys() | status.members)
        },
        "bindings": [
            {
                "object": str(binding.ref),
                "policy": binding.policy or None,
                "reason": scheduled_reason(binding),
                "clusters": {target.name: target.replicas for target in binding.targets},
                "problems": troubles(binding),
            }
            for binding in previous.bindings.values()
        ],
    }
