"""Lists of what a fleet has: objects, clusters, policies and namespaces, a page of those that are asked for."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from render.cluster import Cluster

from .choosing import Choice, ClusterChoice, ListPage, objects_in_order, page_of
from .clusters import SurveyedCluster
from .families import other_policies
from .families.other_policy import OtherPolicy
from .objects import SurveyedObject
from .policies import SurveyedOverridePolicy, SurveyedPolicy, surveyed_override_policies, surveyed_policies
from .states import SurveyedState, rank_of_state
from .surveying import Survey, counts_of_objects

AnyPolicy = SurveyedPolicy | SurveyedOverridePolicy | OtherPolicy


class ObjectList(Struct, frozen=True, kw_only=True):
    """A page of objects; numbers are those of all that are asked for."""

    survey: Survey
    page: ListPage[SurveyedObject]
    counts: Mapping[SurveyedState, int]
    replicas: int
    clusters: int


class ClusterList(Struct, frozen=True, kw_only=True):
    """A page of clusters; numbers are those of all that are asked for."""

    survey: Survey
    page: ListPage[SurveyedCluster]
    counts: Mapping[SurveyedState, int]
    regions: Mapping[str, Mapping[SurveyedState, int]]
    providers: Mapping[str, Mapping[SurveyedState, int]]


class PolicyList(Struct, frozen=True, kw_only=True):
    """A page of policies: those that propagate, those that override, and then others."""

    survey: Survey
    page: ListPage[AnyPolicy]


class SurveyedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace ("": none), and the objects in it."""

    name: str
    objects: tuple[SurveyedObject, ...]

    @property
    def kinds(self) -> Mapping[str, int]:
        """The number of objects of each kind."""
        return _counted(each.ref.group_kind for each in self.objects)

    @property
    def policies(self) -> Mapping[str, int]:
        """The number of objects that each policy claims."""
        return _counted(each.policy for each in self.objects if each.policy)

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters in which any of the objects is."""
        return _clusters_of_objects(self.objects)

    @property
    def replicas(self) -> int:
        """The replicas that all objects have."""
        return sum(each.total_replicas for each in self.objects)

    @property
    def counts(self) -> Mapping[SurveyedState, int]:
        """The number of objects in each state."""
        return counts_of_objects(self.objects)


class NamespaceList(Struct, frozen=True, kw_only=True):
    """A page of namespaces."""

    survey: Survey
    page: ListPage[SurveyedNamespace]


class ListPart(Struct, frozen=True, kw_only=True):
    """The part of a list that is asked for: its order, how many to leave out, and how many to list (0: all)."""

    order: str = "name"
    is_reversed: bool = False
    offset: int = 0
    limit: int = 0


def list_objects(survey: Survey, choice: Choice, part: ListPart) -> ObjectList:
    """Return a page of the objects that are asked for; where clusters are named, as they are in these."""
    asked = (found for found in map(choice.object_as_asked, survey.objects) if found is not None)
    ordered = objects_in_order(asked, part.order)
    found = tuple(reversed(ordered) if part.is_reversed else ordered)
    return ObjectList(
        survey=survey,
        page=page_of(found, part.offset, part.limit),
        counts=counts_of_objects(found),
        replicas=sum(each.total_replicas for each in found),
        clusters=len(_clusters_of_objects(found)),
    )


def list_clusters(survey: Survey, choice: ClusterChoice, part: ListPart) -> ClusterList:
    """Return a page of the clusters that are asked for."""
    found = [each for each in survey.clusters if choice.has_cluster(each)]
    orders: dict[str, Callable[[SurveyedCluster], Any]] = {
        "state": lambda each: rank_of_state(each.state.state),
        "replicas": lambda each: -each.replicas,
        "objects": lambda each: -each.objects,
        "since": lambda each: each.state.since or "~",
    }
    if part.order in orders:
        found.sort(key=lambda each: (orders[part.order](each), each.name))
    if part.is_reversed:
        found.reverse()
    return ClusterList(
        survey=survey,
        page=page_of(found, part.offset, part.limit),
        counts=_states_of_clusters(found),
        regions=_states_by_place(found, lambda member: member.region),
        providers=_states_by_place(found, lambda member: member.provider),
    )


def list_policies(survey: Survey, choice: Choice, part: ListPart) -> PolicyList:
    """Return a page of the policies of a namespace or a kind, or whose name has a text."""
    every: tuple[AnyPolicy, ...] = (
        *surveyed_policies(survey),
        *surveyed_override_policies(survey),
        *other_policies(survey),
    )
    found = [
        each
        for each in every
        if (not choice.namespace or fnmatchcase(each.policy.namespace, choice.namespace))
        and choice.text.lower() in str(each.policy).lower()
        and (not choice.kind or fnmatchcase(str(each.policy).partition(" ")[0].lower(), choice.kind.lower()))
    ]
    return PolicyList(survey=survey, page=page_of(found, part.offset, part.limit))


def list_namespaces(survey: Survey, choice: Choice, part: ListPart) -> NamespaceList:
    """Return a page of the namespaces whose name has a text."""
    found = [
        SurveyedNamespace(name=name, objects=objects)
        for name, objects in survey.objects_by_namespace.items()
        if choice.text.lower() in name.lower() and (not choice.namespace or fnmatchcase(name, choice.namespace))
    ]
    return NamespaceList(survey=survey, page=page_of(found, part.offset, part.limit))


def _states_by_place(
    clusters: Iterable[SurveyedCluster], place_of: Callable[[Cluster], str]
) -> Mapping[str, Mapping[SurveyedState, int]]:
    """Return how many clusters of each place are in which state; those of none are left out."""
    found: dict[str, list[SurveyedCluster]] = defaultdict(list)
    for each in clusters:
        place = place_of(each.member) if each.member is not None else ""
        if place:
            found[place].append(each)
    return {place: _states_of_clusters(several) for place, several in sorted(found.items())}


def _states_of_clusters(clusters: Iterable[SurveyedCluster]) -> Mapping[SurveyedState, int]:
    counts = Counter(each.state.state for each in clusters)
    return {state: counts[state] for state in sorted(counts, key=rank_of_state)}


def _clusters_of_objects(objects: Iterable[SurveyedObject]) -> frozenset[str]:
    return frozenset().union(*(each.replicas for each in objects))


def _counted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items()))
