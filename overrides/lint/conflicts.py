"""Policies that set one path of an object differently in the same cluster, so that one of them has no effect there."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from overrides.errors import LintFinding
from overrides.matching import implicit_priority_of_policy
from overrides.record import AppliedRule
from render.bits import Mask, indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.words import first_few

from .trials import Chain, Trials


class Setting(Struct, frozen=True):
    """A value a rule gives to a path, and the field that says so."""

    applied: AppliedRule
    field: str
    path: str
    value: Any


class Conflict(Struct):
    """A setting that a later policy overwrites, with the objects, the clusters and the reason why the other wins."""

    lost: Setting
    winner: AppliedRule
    why: str
    objects: set[ObjectRef] = field(default_factory=set)
    clusters: Mask = 0


def conflict_findings(trials: Trials, clusters: ClusterIndex) -> Iterator[LintFinding]:
    """Yield the settings that another policy overwrites with another value."""
    found: dict[tuple[str, ...], Conflict] = {}
    for chain in trials.chains.values():
        for lost, won in _overwritten_settings(chain):
            key = (lost.applied.policy, lost.field, lost.path, won.applied.policy)
            conflict = found.setdefault(key, Conflict(lost, won.applied, _reason_of_overwriting(lost, won, chain)))
            conflict.objects |= chain.objects
            conflict.clusters |= chain.clusters
    return (_lint_finding(conflict, clusters) for conflict in found.values())


def _lint_finding(conflict: Conflict, clusters: ClusterIndex) -> LintFinding:
    objects = first_few(sorted(map(str, conflict.objects)))
    names = first_few([clusters.names[index] for index in indexes_of_mask(conflict.clusters)])
    lost = conflict.lost
    return LintFinding(
        origin=lost.applied.origin,
        field=lost.field,
        message=f"{conflict.winner.policy} sets {lost.path} differently and wins, for {objects} in {names}",
        hint=conflict.why,
    )


def _overwritten_settings(chain: Chain) -> Iterator[tuple[Setting, Setting]]:
    """Yield each policy's last setting of a path together with the next policy's, where they differ."""
    current: dict[str, Setting] = {}
    for applied in chain.applied:
        for setting in settings_of(applied):
            before = current.get(setting.path)
            if before and before.applied.origin != applied.origin and not _is_same_value(before.value, setting.value):
                yield before, setting
            current[setting.path] = setting


def _is_same_value(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _reason_of_overwriting(lost: Setting, won: Setting, chain: Chain) -> str:
    loser, winner = lost.applied.source, won.applied.source
    if loser.namespace != winner.namespace:
        return "policies of a namespace apply after those of the cluster scope"
    if implicit_priority_of_policy(loser, chain.template) != implicit_priority_of_policy(winner, chain.template):
        return "the more specific selector applies later: a name, then labels, then a kind alone"
    return "of equally specific policies the later name applies later"


def settings_of(applied: AppliedRule) -> Iterator[Setting]:
    """Yield the settings of a rule in order; an edit whose result depends on the value before is none."""
    for place, type_, overrider in applied.overriders:
        for path, value in type_.settings(overrider):
            yield Setting(applied, f"{applied.rule}.overriders.{place}", path, value)
