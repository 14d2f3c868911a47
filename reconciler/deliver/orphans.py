"""Orphans: objects of this fleet in a member that it once rendered there and its inventory no longer names.

They are shown before any of them is deleted, and go only if a person agrees. An object that never stood in a commit of
this fleet is none of them, whatever its labels say.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

import click
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.ledger.inventory import Inventory
from reconciler.members.options import DeliveryOptions
from reconciler.plans.model import DELETIONS
from render.errors import GuardRefused
from render.model import ObjectRef
from render.words import counted_noun

from .rendered_commits import RenderedCommits
from .results import ClusterReport

Orphans = Mapping[str, frozenset[ObjectRef]]
"""Orphans by cluster."""
Agree = Callable[[Orphans], None]
"""Agree that orphans are deleted; GuardRefused where nobody does."""


def orphans_in_reports(reports: Iterable[ClusterReport]) -> Orphans:
    """Return the orphans that passes over members would delete."""
    found = {report.cluster: frozenset(_orphans_in_report(report)) for report in reports}
    return {cluster: found[cluster] for cluster in sorted(found) if found[cluster]}


def _orphans_in_report(report: ClusterReport) -> Iterator[ObjectRef]:
    if report.plan is not None:
        for item in report.plan.deletions:
            if item.action in DELETIONS and item.ref not in report.plan.held_objects:
                yield item.ref


def refuse_orphans(_found: Orphans) -> None:
    """Agree to nothing."""
    raise GuardRefused("nobody was asked whether orphans may be deleted; nothing was applied")


def orphan_agreement_on_terminal(options: DeliveryOptions, log: Log) -> Agree:
    """Return what shows orphans and asks whether they may go; ``--yes`` is an answer given before."""

    def agree_or_raise(orphans: Orphans) -> None:
        count = sum(map(len, orphans.values()))
        if not count:
            return
        for cluster, refs in orphans.items():
            for ref in sorted(refs):
                log.info(f"{cluster}: {ref}: orphan, to be deleted")
        if options.yes:
            return
        would = f"{counted_noun(count, 'orphan')} would be deleted; nothing was applied"
        if not sys.stdin.isatty():
            raise GuardRefused(would, hint="see the lines above, then run it again with --yes")
        if not click.confirm(f"Delete {counted_noun(count, 'orphan')}?", err=True):
            raise GuardRefused(would)

    return agree_or_raise


def with_trusted_objects(
    inventory: Inventory, commits: RenderedCommits, commit: str, newest: str | None = None
) -> Inventory:
    """Return an inventory with the objects a cluster may hold, each of which stood in a commit of this fleet.

    What was left behind is believed only where a commit once named it: what is not ours must never become a candidate
    for pruning because a file says so. ``newest``: the cluster went back, and may keep what only newer commits named.
    """
    cluster = inventory.cluster
    named = commits.held_objects(cluster, inventory.commits)
    refs = set[ObjectRef](item.ref for item in named)
    if any(item.ref not in refs for item in inventory.left):
        newer = (newest,) if newest else ()
        searched = dict.fromkeys((*newer, *_commits_to_search_from(inventory, commit)))
        refs |= {item.ref for item in commits.held_objects(cluster, newer)}
        refs |= {item.ref for item in commits.departed_objects(cluster, searched)}
        refs |= {replace(ref, namespace="") for ref in refs}
    return replace(inventory, left=tuple(item for item in inventory.left if item.ref in refs)).with_objects(named)


def formerly_rendered_refs(inventory: Inventory, commits: RenderedCommits, commit: str) -> frozenset[ObjectRef]:
    """Return what commits once asked of a cluster and its inventory does not name."""
    departed = commits.departed_objects(inventory.cluster, _commits_to_search_from(inventory, commit))
    return frozenset(item.ref for item in departed) - inventory.held_objects.keys()


def _commits_to_search_from(inventory: Inventory, commit: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((commit, *inventory.commits)))
