"""A PolicyTest over time: the passes from before anything failed until the time that the test asks about.

The first pass finds everything healthy; a test may say when it was. One follows whenever something fails and whenever
an answer flips by itself, as passes come one after the other in a fleet that runs.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.previous import Previous, ReadTrees, RenderedTree
from reconciler.pipeline.stages import render_pass
from reconciler.source.policy_tests import PolicyTest, StartedReplicas
from render.binding import Binding
from render.cluster import ClusterCondition
from render.failover.health import FALSE, READY, REPORTING, TRUE
from render.failover.tasks import HEALTHY, UNHEALTHY
from render.gitobjects import TreeEntry, parse_tree
from render.model import ObjectRef
from render.rescheduling.descheduling import PendingPods, PendingReplicas
from render.timing import SECOND, instant_text

_MOST_STEPS = 1000


def render_pass_at(test: PolicyTest, inputs: Inputs, now: datetime) -> Rendered:
    """Return what the pass at a time renders, after all passes that went before it; a replay of at most 1000."""
    begun = (*test.not_ready.values(), *test.unhealthy.values(), *(each.since for each in test.unschedulable))
    changes = sorted({at for at in begun if at <= now})
    at = test.since or min((now, *changes)) - SECOND
    known: dict[bytes, bytes] = {}
    rendered = render_pass(_pass_inputs_at(test, inputs, at, None, known))
    for _ in range(_MOST_STEPS):
        if at >= now:
            break
        flip = rendered.built.flip
        coming = [each for each in (*changes, *([flip.at] if flip else [])) if at < each <= now]
        at = min(coming, default=now)
        rendered = render_pass(_pass_inputs_at(test, inputs, at, rendered, known))
    return rendered


def _pass_inputs_at(
    test: PolicyTest, inputs: Inputs, at: datetime, before: Rendered | None, known: dict[bytes, bytes]
) -> Inputs:
    """Return the inputs of a pass: what has failed by then, and what the pass before it left."""
    names = [cluster.name for cluster in inputs.desired.clusters]
    failed = {name: since for name, since in test.not_ready.items() if since <= at}
    bindings = before.built.bindings if before else ()
    health = ObservedHealth(
        conditions={name: _cluster_conditions(failed.get(name), is_reporting=name in test.reporting) for name in names},
        workloads={binding.ref: tuple(_reported_health(binding, test.unhealthy, at)) for binding in bindings},
        pending={
            binding.ref: found
            for binding in bindings
            if (found := tuple(_pending_replicas(binding, test.unschedulable, at)))
        },
    )
    return replace(
        inputs,
        facts={name: _facts_of_cluster(name, is_ready=name not in failed) for name in names},
        previous=_previous_from_rendered(before, known) if before else None,
        failover=FailoverInputs(now=at, health=health, taints=before.built.tainted.recorded if before else {}),
    )


def _cluster_conditions(failed: datetime | None, *, is_reporting: bool) -> tuple[ClusterCondition, ...]:
    if failed is None:
        return (ClusterCondition(type=READY, status=TRUE),)
    since = instant_text(failed)
    word = (ClusterCondition(type=REPORTING, status=TRUE, since=since),) if is_reporting else ()
    return (ClusterCondition(type=READY, status=FALSE, since=since), *word)


def _facts_of_cluster(name: str, *, is_ready: bool) -> ClusterFacts:
    status = "True" if is_ready else "False"
    return ClusterFacts(name=name, status={"conditions": [{"type": READY, "status": status}]})


def _reported_health(binding: Binding, unhealthy: Mapping[str, datetime], at: datetime) -> Iterable[ReportedHealth]:
    for target in binding.targets:
        since = unhealthy.get(target.name)
        is_failing = since is not None and since <= at
        yield ReportedHealth(
            cluster=target.name,
            health=UNHEALTHY if is_failing else HEALTHY,
            since=instant_text(since) if since and is_failing else "",
        )


def _pending_replicas(binding: Binding, started: Iterable[StartedReplicas], at: datetime) -> Iterable[PendingReplicas]:
    replicas = {target.name: target.replicas for target in binding.targets}
    for each in started:
        more = replicas.get(each.cluster, 0) - each.ready
        if each.since <= at and more > 0:
            pods = (PendingPods(since=instant_text(each.since), pods=more),)
            yield PendingReplicas(cluster=each.cluster, ready=each.ready, pending=pods)


def _previous_from_rendered(before: Rendered, known: dict[bytes, bytes]) -> Previous:
    """Return a pass as the next one reads it back; ``known`` are the trees and files of all passes."""
    known |= before.tree.trees
    known |= {id_: blob if isinstance(blob, bytes) else blob.data() for id_, blob in before.tree.blobs.items()}
    bindings: dict[ObjectRef, Binding] = {binding.ref: binding for binding in before.built.bindings}
    tree = RenderedTree.of(before.tree.root, _tree_reader(known), lambda ids: {id_: known[id_] for id_ in ids})
    return Previous(commit="", source="", version="", bindings=bindings, tree=tree)


def _tree_reader(known: Mapping[bytes, bytes]) -> ReadTrees:
    def read_trees(ids: Iterable[bytes]) -> dict[bytes, tuple[TreeEntry, ...]]:
        return {id_: tuple(parse_tree(known[id_])) for id_ in ids}

    return read_trees
