"""The observations of a recorded time, put together from rendered commits and from the status branch.

A rendered commit has the health that decided something in it, and no other. What the status branch recorded before
counts beside it. A cluster of which neither has conditions is as its facts say, since they first said so.
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import ObservedInputs
from reconciler.ledger.facts import Facts
from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.health import cluster_conditions
from render.cluster import ClusterCondition
from render.failover.health import READY, TRUE
from render.timing import instant_text

from .inputs import Conditions, InputsReader
from .past import RecordedInstant


class KnownState(Struct, frozen=True, kw_only=True):
    """The knowledge at a time: the commit that recorded it, and what that has.

    ``health`` is what was known by then, also of what no rule asked for at that commit. ``ready`` and ``not_ready``
    are the clusters of which it was known.
    """

    commit: str
    observed: ObservedInputs
    health: ObservedHealth
    ready: frozenset[str] = frozenset()
    not_ready: frozenset[str] = frozenset()


class KnownStates(Struct, kw_only=True):
    """The observations of a time, one after the other."""

    reader: InputsReader
    _looked: ObservedHealth = field(default_factory=ObservedHealth)
    _conditions: Conditions = field(default_factory=dict)
    _ready_clusters: frozenset[str] = frozenset()
    _ready: dict[str, tuple[str, str]] = field(default_factory=dict)

    def at_instant(self, instant: RecordedInstant) -> KnownState:
        """Return what is known at the next recorded instant."""
        observed = self.reader.observed_inputs(instant.commit.tree)
        by_facts = self._conditions_of_facts(observed.facts, instant.at)
        if not instant.is_rendered:
            self._looked = observed.health
            self._conditions = self.reader.conditions(instant.commit.tree)
        found, looked = observed.health, self._looked
        conditions = {**by_facts, **self._conditions, **found.conditions}
        health = replace(
            found,
            conditions=conditions,
            workloads={**looked.workloads, **found.workloads},
            pending={**looked.pending, **found.pending},
            runs={**looked.runs, **found.runs},
        )
        not_ready = frozenset(name for name, each in conditions.items() if _is_known_not_to_be_ready(each))
        ready = frozenset(conditions.keys() - not_ready)
        self._ready_clusters = ready if ready != self._ready_clusters else self._ready_clusters
        return KnownState(
            commit=instant.commit.id,
            observed=observed,
            health=health,
            ready=self._ready_clusters,
            not_ready=not_ready,
        )

    def _conditions_of_facts(self, facts: Facts, at: datetime) -> Mapping[str, tuple[ClusterCondition, ...]]:
        """Return the conditions that facts tell, each since it was first told so where it has no time."""
        found: dict[str, tuple[ClusterCondition, ...]] = {}
        for name, each in facts.items():
            conditions = cluster_conditions(each.status)
            ready = next((one for one in conditions if one.type == READY), None)
            if ready is None:
                continue
            status, since = self._ready.get(name, ("", ""))
            if status != ready.status:
                since = ready.since or instant_text(at)
                self._ready[name] = ready.status, since
            others = (one for one in conditions if one.type != READY)
            found[name] = (replace(ready, since=ready.since or since), *others)
        return found


def _is_known_not_to_be_ready(conditions: tuple[ClusterCondition, ...]) -> bool:
    return any(each.type == READY and each.status != TRUE for each in conditions)
