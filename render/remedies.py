"""Remedies: the actions that conditions of a cluster call for, such as leaving it out of traffic."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from .model import Manifest


class ConditionMatch(Struct, frozen=True, kw_only=True):
    """A condition that calls for a remedy, by its type and its status."""

    type: str
    operator: str
    status: str


class Remedy(Struct, frozen=True, kw_only=True):
    """A Remedy: the clusters it is for (None: all) and the conditions that call for its actions (None: always)."""

    name: str
    actions: tuple[str, ...] = ()
    clusters: frozenset[str] | None = None
    matches: tuple[ConditionMatch, ...] | None = None


def parse_remedy(manifest: Manifest) -> Remedy:
    """Return the value of an admitted Remedy."""
    spec = manifest.get("spec") or {}
    affinity, matches = spec.get("clusterAffinity"), spec.get("decisionMatches")
    return Remedy(
        name=manifest["metadata"]["name"],
        actions=tuple(spec.get("actions") or ()),
        clusters=None if affinity is None else frozenset(affinity.get("clusterNames") or ()),
        matches=None if matches is None else _parse_condition_matches(matches),
    )


def remedy_actions(cluster: str, conditions: Sequence[Manifest], remedies: Iterable[Remedy]) -> tuple[str, ...]:
    """Return the actions that remedies ask for in a cluster with these conditions, sorted."""
    status_by_type = {each["type"]: each["status"] for each in reversed(conditions)}
    actions = {
        action for each in remedies if _is_remedy_called_for(each, cluster, status_by_type) for action in each.actions
    }
    return tuple(sorted(actions))


def _parse_condition_matches(plain: Iterable[Manifest]) -> tuple[ConditionMatch, ...]:
    asked = (each.get("clusterConditionMatch") for each in plain)
    return tuple(
        ConditionMatch(type=each["conditionType"], operator=each["operator"], status=each["conditionStatus"])
        for each in asked
        if each
    )


def _is_remedy_called_for(remedy: Remedy, cluster: str, status_by_type: Mapping[str, str]) -> bool:
    if remedy.clusters is not None and cluster not in remedy.clusters:
        return False
    return remedy.matches is None or any(_is_condition_met(each, status_by_type) for each in remedy.matches)


def _is_condition_met(match: ConditionMatch, status_by_type: Mapping[str, str]) -> bool:
    status = status_by_type.get(match.type)
    return status is not None and (status == match.status) == (match.operator == "Equal")
