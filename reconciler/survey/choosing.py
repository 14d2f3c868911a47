"""The part of a fleet that is asked for: by names, patterns, states and places, in an order, and page by page."""

from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from msgspec import Struct

from .clusters import SurveyedCluster
from .objects import SurveyedObject
from .states import SurveyedState, rank_of_state

Item = TypeVar("Item")


class Choice(Struct, frozen=True, kw_only=True):
    """The objects that are asked for. Each field that is empty asks for nothing; names may be patterns (``web-*``)."""

    namespace: str = ""
    kind: str = ""
    policy: str = ""
    cluster: str = ""
    app: str = ""
    state: str = ""
    text: str = ""

    def object_as_asked(self, each: SurveyedObject) -> SurveyedObject | None:
        """Return an object if it is asked for, else None; where clusters are named, as it is in these alone."""
        if not self._has_names_of(each):
            return None
        if self.cluster:
            found = _names_meant(self.cluster, each.replicas)
            if not found:
                return None
            each = each.within(found)
        return each if self.state in {"", each.worst.state} else None

    def _has_names_of(self, each: SurveyedObject) -> bool:
        return (
            _is_meant(self.namespace, each.ref.namespace)
            and _is_meant(self.policy, each.policy, each.policy.partition(" ")[2])
            and _is_meant(self.app, each.app)
            and _is_meant(self.kind.lower(), each.ref.kind.lower(), each.ref.group_kind.lower())
            and self.text.lower() in str(each.ref).lower()
        )


class ClusterChoice(Struct, frozen=True, kw_only=True):
    """The clusters that are asked for; a field that is empty asks for nothing."""

    cluster: str = ""
    region: str = ""
    provider: str = ""
    state: str = ""
    text: str = ""

    def has_cluster(self, each: SurveyedCluster) -> bool:
        """Say whether a cluster is asked for."""
        return (
            self.state in {"", each.state.state} and self.is_in_place(each) and self.text.lower() in each.name.lower()
        )

    def is_in_place(self, each: SurveyedCluster) -> bool:
        """Say whether a cluster has the name and is in the place that is asked for."""
        member = each.member
        return (
            _is_meant(self.cluster, each.name)
            and _is_meant(self.region, member.region if member is not None else "")
            and _is_meant(self.provider, member.provider if member is not None else "")
        )


class ListPage(Struct, Generic[Item], frozen=True, kw_only=True):
    """A part of a list: its items, how many there are in all, and the number of the first of them."""

    items: tuple[Item, ...]
    total: int
    offset: int = 0


def page_of(items: Sequence[Item], offset: int, limit: int) -> ListPage[Item]:
    """Return a page of a list; a limit of 0 is none.

    >>> page_of("abcde", 3, 2).items, page_of("abcde", 9, 2).items, page_of("abc", 0, 0).total
    (('d', 'e'), (), 3)
    """
    end = offset + limit if limit else len(items)
    return ListPage(items=tuple(items[offset:end]), total=len(items), offset=offset)


def objects_in_order(objects: Iterable[SurveyedObject], order: str) -> list[SurveyedObject]:
    """Return objects in an order: what is worst, most or longest so comes first, and names decide among equals."""
    keys: dict[str, Callable[[SurveyedObject], Any]] = {
        "name": lambda _: 0,
        "state": lambda each: rank_of_state(each.worst.state),
        "replicas": lambda each: -each.total_replicas,
        "clusters": lambda each: -len(each.replicas),
        "since": lambda each: (each.worst.state is SurveyedState.WELL, each.worst.since or "~"),
    }
    key = keys[order]
    return sorted(objects, key=lambda each: (key(each), each.ref))


def _names_meant(pattern: str, names: Collection[str]) -> list[str]:
    """Return the names that a pattern fits; most patterns are a name, and there may be a million to compare it with."""
    if not any(character in pattern for character in "*?["):
        return [pattern] if pattern in names else []
    return [name for name in names if fnmatchcase(name, pattern)]


def _is_meant(pattern: str, *values: str) -> bool:
    return not pattern or any(fnmatchcase(value, pattern) for value in values)
