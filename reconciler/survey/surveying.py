"""The survey of a fleet: all of its objects with their states, and what is made of them, each once."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct

from reconciler.pipeline.claims import policy_index
from reconciler.status.branches import RecordedFleet
from render.matching.match import PolicyIndex
from render.model import ObjectRef, Template

from .clusters import SurveyedCluster, surveyed_clusters
from .objects import SurveyedObject, UsualStates, states_by_rank, surveyed_objects, usual_states
from .states import SurveyedState, rank_of_state


class Survey(Struct, frozen=True, dict=True):
    """The survey of a fleet as its branches describe it."""

    branches: RecordedFleet

    @cached_property
    def usual(self) -> UsualStates:
        """The states of objects in each cluster unless something else is recorded of them."""
        return usual_states(self.branches)

    @cached_property
    def objects(self) -> tuple[SurveyedObject, ...]:
        """Every object, by kind and name."""
        return tuple(surveyed_objects(self.branches, self.usual))

    @cached_property
    def objects_by_ref(self) -> Mapping[ObjectRef, SurveyedObject]:
        """Every object by its name."""
        return {each.ref: each for each in self.objects}

    @cached_property
    def objects_by_policy(self) -> Mapping[str, tuple[SurveyedObject, ...]]:
        """The objects that each policy claims, by the policy as messages name it."""
        return _grouped(self.objects, lambda each: each.policy)

    @cached_property
    def objects_by_namespace(self) -> Mapping[str, tuple[SurveyedObject, ...]]:
        """The objects of each namespace; those of none by an empty one."""
        return _grouped(self.objects, lambda each: each.ref.namespace)

    @cached_property
    def clusters(self) -> tuple[SurveyedCluster, ...]:
        """Every cluster, by name."""
        return surveyed_clusters(self.branches, self.usual, self._counts_by_cluster)

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """The templates of the source."""
        return self.branches.fleet.source.desired.templates

    @cached_property
    def policies(self) -> PolicyIndex:
        """The propagation policies of the source, by what they select."""
        return policy_index(self.branches.fleet.source.desired)

    @cached_property
    def _counts_by_cluster(self) -> Mapping[str, Mapping[SurveyedState, int]]:
        copies: Counter[str] = Counter()
        ranks: dict[str, Counter[int]] = defaultdict(Counter)
        for each in self.objects:
            copies.update(each.replicas.keys() - each.cells.keys())
            for name, cell in each.cells.items():
                ranks[name][rank_of_state(cell.state)] += 1
        for name, count in copies.items():
            ranks[name][self.usual.ranks[name]] += count
        return {name: states_by_rank(each) for name, each in ranks.items()}


def counts_of_objects(objects: tuple[SurveyedObject, ...]) -> Mapping[SurveyedState, int]:
    """Return how many objects are in which state, the worst first."""
    counts = Counter(each.worst.state for each in objects)
    return {state: counts[state] for state in sorted(counts, key=rank_of_state)}


def _grouped(
    objects: tuple[SurveyedObject, ...], key: Callable[[SurveyedObject], str]
) -> Mapping[str, tuple[SurveyedObject, ...]]:
    groups: dict[str, list[SurveyedObject]] = defaultdict(list)
    for each in objects:
        groups[key(each)].append(each)
    return {name: tuple(found) for name, found in sorted(groups.items())}
