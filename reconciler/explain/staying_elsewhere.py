"""Workloads that a cluster may have again, and that stay elsewhere until somebody asks for a new decision."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from reconciler.rendering.outcome import Outcome
from render.model import ObjectRef
from render.scheduling.decisions import Trigger


def workloads_staying_elsewhere(clusters: Iterable[str], outcome: Outcome) -> tuple[ObjectRef, ...]:
    """Return the workloads whose replicas stay where they are, although a new decision would give some to a cluster.

    ``clusters`` are those that may have something again. Only divided replicas stay so; the rest is decided by every
    pass.
    """
    names, built = frozenset(clusters), outcome.rendered.built
    free = {
        binding.ref: names - {target.name for target in binding.targets}
        for binding in built.bindings
        if binding.is_divided
    }
    explained = built.schedule.explanations({ref: found for ref, found in free.items() if found})
    return tuple(
        sorted(
            each.ref
            for each in explained
            if each.trigger is Trigger.NONE and any((each.afresh or {}).get(name) for name in free[each.ref])
        )
    )


def commands_to_rebalance(refs: Iterable[ObjectRef]) -> Iterator[str]:
    """Yield the commands that ask for new decisions about workloads, one for each namespace."""
    words: dict[str, list[str]] = defaultdict(list)
    for ref in refs:
        words[ref.namespace].append(f"{ref.kind.lower()}/{ref.name}")
    for namespace, found in sorted(words.items()):
        yield f"argosy rebalance {' '.join(found)}{f' -n {namespace}' if namespace else ''}"
