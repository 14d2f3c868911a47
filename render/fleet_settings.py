"""The settings of argosy.yaml in one table: how each is read from a Fleet, and whose word it takes to change it.

Whoever may change the source may change what is rendered of it. A setting that names something outside of the
repository - another repository, a cluster, a file of the machine, a key - or that limits what a change may do is in
other hands: it counts as the last rendered source says, until a person accepts another value.

1. ``SETTINGS`` has a row for each field: its reach, and its value in a Fleet; in a list, by the name of each item;
2. ``setting_changes`` compares two Fleets, row by row;
3. a change of an outward setting waits to be accepted, one of a limit only where the new value is the weaker one, and
   members are judged by the way in which they are reached (``_waiting_members``).
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from math import inf
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from .fleet import OTHERS, Fleet, OnPolicyRemoval, Permission, PushMode, TemplateValidation, ToolAccess
from .model import Manifest

CLUSTERS = "spec.clusters[]"
_ABSENT = None


class SettingReach(StrEnum):
    """The reach of a setting: it decides what is rendered, it names something outside, or it limits changes."""

    SOURCE = "Source"
    OUTSIDE = "Outside"
    GUARD = "Guard"


class FleetSetting(Struct, frozen=True, kw_only=True):
    """A setting: its value in a Fleet, and its reach; in a list, a mapping of values by the name of the item.

    ``is_weaker`` says of an old and a new value whether the change has to wait (None: where it reaches outside).
    """

    value: Callable[[Fleet], Any]
    reach: SettingReach = SettingReach.SOURCE
    is_weaker: Callable[[Any, Any], bool] | None = None


class SettingChange(Struct, frozen=True, kw_only=True):
    """A setting that is another one: its field, and the value before and after (None: there was, or is, none).

    ``waits``: it takes a person to accept it.
    """

    field: str
    before: Any
    after: Any
    reach: SettingReach = SettingReach.OUTSIDE
    waits: bool = False

    def __str__(self) -> str:
        return f"{self.field}: {_word(self.before)} -> {_word(self.after)}"


def _word(value: Any) -> str:
    """Return a value of a setting as people write it."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_word, value)) + "]"
    return str(value)


def _outside(value: Callable[[Fleet], Any]) -> FleetSetting:
    return FleetSetting(value=value, reach=SettingReach.OUTSIDE)


def _way(value: Callable[[Fleet], Any]) -> FleetSetting:
    """Return the row of a setting that may be taken away: without it nothing outside is reached."""
    return FleetSetting(value=value, reach=SettingReach.OUTSIDE, is_weaker=lambda _before, after: bool(after))


def _ways_to(value: Callable[[Fleet], Any]) -> FleetSetting:
    """Return the row of a list of what may be reached: a change waits that adds to it."""
    return FleetSetting(
        value=value, reach=SettingReach.OUTSIDE, is_weaker=lambda before, after: not set(after) <= set(before)
    )


def _limit(value: Callable[[Fleet], Any], is_weaker: Callable[[Any, Any], bool]) -> FleetSetting:
    return FleetSetting(value=value, reach=SettingReach.GUARD, is_weaker=is_weaker)


def _inside(value: Callable[[Fleet], Any]) -> FleetSetting:
    return FleetSetting(value=value)


def _turned_to(weak: Any) -> Callable[[Any, Any], bool]:
    """Return a comparison for a switch of which one value is the weak one."""
    return lambda before, after: after == weak != before


def _is_more(before: int | None, after: int | None) -> bool:
    """Say whether a limit is wider than before; None is no limit."""
    return (inf if after is None else after) > (inf if before is None else before)


def _is_less(before: int, after: int) -> bool:
    return after < before


def _lacks_some(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    return not set(before) <= set(after)


_STRICTNESS = (TemplateValidation.STRICT, TemplateValidation.WARN, TemplateValidation.OFF)


def _is_laxer(before: TemplateValidation, after: TemplateValidation) -> bool:
    return _STRICTNESS.index(after) > _STRICTNESS.index(before)


def _emitted(value: Callable[[Any], Any]) -> Callable[[Fleet], Mapping[str, Any]]:
    return lambda fleet: {each.deployer.value: value(each) for each in fleet.emit}


def _ways(value: Callable[[ToolAccess], Any]) -> Callable[[Fleet], Mapping[str, Any]]:
    return _emitted(lambda each: None if each.status is None else value(each.status))


def _kinds(value: Callable[[Any], Any]) -> Callable[[Fleet], Mapping[str, Any]]:
    return lambda fleet: {f"{each.kind}.{each.group}".rstrip("."): value(each) for each in fleet.kinds}


def _numbered(values: Callable[[Fleet], tuple[Any, ...]], name: str) -> Callable[[Fleet], Mapping[str, Any]]:
    return lambda fleet: {str(number): getattr(each, name) for number, each in enumerate(values(fleet))}


def _rule(name: str) -> FleetSetting:
    return _inside(_numbered(lambda fleet: fleet.field_rules, name))


def _pinned(fleet: Fleet) -> tuple[str, ...]:
    return tuple(
        "/".join(filter(None, (each.group, each.kind, each.namespace, each.name))) + "@" + ",".join(each.clusters)
        for each in fleet.movement_guard.pinned
    )


def _secret(name: str) -> Callable[[Fleet], str]:
    return lambda fleet: getattr(fleet.decryption_secret, name) if fleet.decryption_secret else ""


def _access(value: Callable[[Any], Any]) -> Callable[[Fleet], Mapping[str, Any]]:
    return lambda fleet: {each.name: value(each) for each in fleet.clusters}


_PINNED = _limit(_pinned, _lacks_some)

SETTINGS: Mapping[str, FleetSetting] = {
    "metadata.name": _outside(lambda fleet: fleet.name),
    "spec.source.paths": _inside(lambda fleet: fleet.source.paths),
    "spec.source.ignore": _inside(lambda fleet: fleet.source.ignore),
    "spec.source.strict": _limit(lambda fleet: fleet.source.is_strict, _turned_to(weak=False)),
    "spec.source.render": _inside(lambda fleet: fleet.source.rendered),
    "spec.source.federations": _inside(lambda fleet: fleet.source.federations),
    "spec.rendered.remote": _outside(lambda fleet: fleet.rendered.remote),
    "spec.rendered.branch": _outside(lambda fleet: fleet.rendered.branch),
    "spec.rendered.push": _limit(lambda fleet: fleet.rendered.push, _turned_to(PushMode.BRANCH)),
    "spec.rendered.forge": _outside(lambda fleet: fleet.rendered.forge),
    "spec.mirrors": _inside(lambda fleet: fleet.mirrors),
    "spec.emit[].for": _inside(_emitted(lambda each: each.deployer)),
    "spec.emit[].repository": _outside(_emitted(lambda each: each.repository)),
    "spec.emit[].in": _inside(_emitted(lambda each: each.placing)),
    "spec.emit[].as": _inside(_emitted(lambda each: each.grouping)),
    "spec.emit[].namespace": _outside(_emitted(lambda each: each.namespace)),
    "spec.emit[].gitSecret": _outside(_emitted(lambda each: each.git_secret)),
    "spec.emit[].kubeconfigSecret": _outside(_emitted(lambda each: each.kubeconfig_secret)),
    "spec.emit[].interval": _inside(_emitted(lambda each: each.interval)),
    "spec.emit[].project": _outside(_emitted(lambda each: each.project)),
    "spec.emit[].status.context": _outside(_ways(lambda status: status.context)),
    "spec.emit[].status.kubeconfig": _outside(_ways(lambda status: status.kubeconfig)),
    "spec.emit[].status.inCluster": _outside(_ways(lambda status: status.is_in_cluster)),
    "spec.defaultNamespace": _inside(lambda fleet: fleet.default_namespace),
    "spec.kinds[].group": _inside(_kinds(lambda each: each.group)),
    "spec.kinds[].kind": _inside(_kinds(lambda each: each.kind)),
    "spec.kinds[].scope": _inside(_kinds(lambda each: "Namespaced" if each.is_namespaced else "Cluster")),
    "spec.namespaces": _inside(lambda fleet: fleet.namespaces),
    "spec.skippedAPIs": _limit(lambda fleet: fleet.skipped_apis, _lacks_some),
    "spec.skippedNamespaces": _limit(lambda fleet: fleet.skipped_namespaces, _lacks_some),
    "spec.compatibility": _inside(lambda fleet: "Karmada" if fleet.is_karmada_compatible else "Argosy"),
    "spec.claims": _inside(lambda fleet: fleet.claims),
    "spec.rescheduling": _inside(lambda fleet: fleet.rescheduling),
    "spec.reserveCapacity": _inside(lambda fleet: fleet.reserve_capacity),
    "spec.tieBreak": _inside(lambda fleet: fleet.tie_break),
    "spec.requireRecordedAPIs": _inside(lambda fleet: fleet.require_recorded_apis),
    "spec.onPolicyRemoval": _limit(lambda fleet: fleet.on_policy_removal, _turned_to(OnPolicyRemoval.REMOVE)),
    "spec.secrets": _limit(lambda fleet: fleet.secrets, _turned_to(Permission.ALLOW)),
    "spec.validation": _limit(lambda fleet: fleet.validation, _is_laxer),
    "spec.removalGuard.count": _limit(lambda fleet: fleet.removal_guard.count, _is_more),
    "spec.removalGuard.percent": _limit(lambda fleet: fleet.removal_guard.percent, _is_more),
    "spec.removalGuard.whole": _limit(lambda fleet: fleet.removal_guard.whole, _is_more),
    "spec.removalGuard.scope": _inside(lambda fleet: fleet.removal_guard.scope),  # either refuses the same objects
    "spec.movementGuard.fleet.replicas": _limit(lambda fleet: fleet.movement_guard.fleet.replicas, _is_more),
    "spec.movementGuard.fleet.percent": _limit(lambda fleet: fleet.movement_guard.fleet.percent, _is_more),
    "spec.movementGuard.workload.replicas": _limit(lambda fleet: fleet.movement_guard.workload.replicas, _is_more),
    "spec.movementGuard.workload.percent": _limit(lambda fleet: fleet.movement_guard.workload.percent, _is_more),
    "spec.movementGuard.minimumClusters": _limit(lambda fleet: fleet.movement_guard.minimum_clusters, _is_less),
    "spec.movementGuard.minimumRegions": _limit(lambda fleet: fleet.movement_guard.minimum_regions, _is_less),
    "spec.movementGuard.pinned": _PINNED,
    "spec.featureGates.Failover": _inside(lambda fleet: fleet.feature_gates.failover),
    "spec.featureGates.GracefulEviction": _inside(lambda fleet: fleet.feature_gates.graceful_eviction),
    "spec.featureGates.StatefulFailoverInjection": _inside(
        lambda fleet: fleet.feature_gates.stateful_failover_injection
    ),
    "spec.featureGates.FederatedQuotaEnforcement": _limit(
        lambda fleet: fleet.feature_gates.federated_quota_enforcement, _turned_to(weak=False)
    ),
    "spec.failover.noExecuteEviction": _inside(lambda fleet: fleet.failover.no_execute_eviction),
    "spec.failover.purgeMode": _inside(lambda fleet: fleet.failover.purge_mode),
    "spec.failover.gracefulEvictionTimeoutSeconds": _inside(lambda fleet: fleet.failover.grace_seconds),
    "spec.failover.massFailure": _limit(lambda fleet: fleet.failover.guard.mass_failure, _is_more),
    "spec.failover.evictionsPerMinute": _limit(lambda fleet: fleet.failover.guard.per_minute, _is_more),
    "spec.failover.lastCopy": _limit(
        lambda fleet: "Keep" if fleet.failover.guard.keeps_last_copy else "Evict", _turned_to("Evict")
    ),
    "spec.failover.repeatedMoves": _limit(
        lambda fleet: "Pause" if fleet.failover.guard.has_pauses else "AtOnce", _turned_to("AtOnce")
    ),
    "spec.failover.underWay": _inside(lambda fleet: "Follow" if fleet.failover.guard.follows_policies else "Keep"),
    "spec.descheduler.enabled": _inside(lambda fleet: fleet.descheduler.is_enabled),
    "spec.descheduler.unschedulableThresholdSeconds": _inside(lambda fleet: fleet.descheduler.threshold_seconds),
    "spec.descheduler.intervalSeconds": _inside(lambda fleet: fleet.descheduler.interval_seconds),
    "spec.cron.startingDeadlineSeconds": _inside(lambda fleet: fleet.cron_deadline),
    "spec.fieldRules[].rule": _rule("rule"),
    "spec.fieldRules[].path": _rule("path"),
    "spec.fieldRules[].group": _rule("group"),
    "spec.fieldRules[].kind": _rule("kind"),
    "spec.fieldRules[].namespace": _rule("namespace"),
    "spec.fieldRules[].name": _rule("name"),
    "spec.fieldRules[].manager": _rule("manager"),
    "spec.decryption.keyServices": _ways_to(lambda fleet: fleet.key_services),
    "spec.decryption.secret.namespace": _way(_secret("namespace")),
    "spec.decryption.secret.name": _way(_secret("name")),
    f"{CLUSTERS}.name": _inside(_access(lambda each: each.name)),
    f"{CLUSTERS}.context": _outside(_access(lambda each: each.context or each.name)),
    f"{CLUSTERS}.kubeconfig": _outside(_access(lambda each: each.kubeconfig)),
    "spec.kubeconfigs": _way(lambda fleet: fleet.kubeconfigs),
}
"""Every field of argosy.yaml that holds a value."""


def setting_of(field: str) -> FleetSetting | None:
    """Return the row of a field, or of the list it is a part of; None where it is none that holds a value."""
    return SETTINGS.get(field) or next((row for name, row in SETTINGS.items() if field.startswith(f"{name}[]")), None)


def setting_changes(before: Fleet, after: Fleet) -> tuple[SettingChange, ...]:
    """Return the settings that are others afterwards, in the order of the table."""
    return tuple(_changes(before, after))


def _changes(before: Fleet, after: Fleet) -> Iterator[SettingChange]:
    members = _waiting_members(before, after)
    for field, setting in SETTINGS.items():
        old, new = setting.value(before), setting.value(after)
        if old == new:
            continue
        if not isinstance(old, dict):
            waits = _is_waiting(setting, old, new)
            yield SettingChange(field=field, before=old, after=new, reach=setting.reach, waits=waits)
            continue
        for name in [*old, *(name for name in new if name not in old)]:
            one, other = old.get(name, _ABSENT), new.get(name, _ABSENT)
            if one == other or (not one and not other):
                continue
            waits = name in members if field.startswith(CLUSTERS) else _is_waiting(setting, one, other)
            place = field.replace("[]", f"[{name}]", 1)
            yield SettingChange(
                field=place, before=one, after=other, waits=waits and setting.reach is not SettingReach.SOURCE
            )


def _is_waiting(setting: FleetSetting, before: Any, after: Any) -> bool:
    """Say whether it takes a person to accept a value; an item of a list that goes reaches nothing any more."""
    if setting.is_weaker is not None:
        return setting.is_weaker(before, after)
    return setting.reach is SettingReach.OUTSIDE and after is not _ABSENT


Way = tuple[str, str]
"""A kubeconfig file ("": the usual one), and a context in it."""


def _way_of(fleet: Fleet, member: str) -> Way | None:
    """Return the way to a member; None where nothing says one. A folder of kubeconfigs is a setting of its own."""
    found = {access.name: access for access in fleet.clusters}
    access = found.get(member) or found.get(OTHERS)
    if access is None:
        return None
    return access.kubeconfig, (access.context if access.name == member else "") or member


def _waiting_members(before: Fleet, after: Fleet) -> frozenset[str]:
    """Return the members whose way is another one, or that are reached anew and not as all others are.

    One that joins under the context named like it, in a kubeconfig that is in use, is reached as others are; and so is
    one that takes the way of a member that is listed no more, as a rename has it, unless others are meant by ``*``.
    """
    listed = [{access.name for access in fleet.clusters} for fleet in (before, after)]
    names = listed[0] | listed[1]
    left = {_way_of(before, name) for name in listed[0] - listed[1] if OTHERS not in names}
    in_use = {access.kubeconfig for access in before.clusters}
    waiting = set()
    for name in names:
        old, new = _way_of(before, name), _way_of(after, name)
        if new is None or new == old or (old is None and new in left):
            continue
        if old is not None or new[0] not in in_use or new[1] != name:
            waiting.add(name)
    return frozenset(waiting)


def is_recorded(change: SettingChange) -> bool:
    """Say whether a change is recorded at once: one that had to wait, or one of a limit, which counts from then on."""
    return change.waits or change.reach is SettingReach.GUARD


def with_limits_of(fleet: Fleet, other: Fleet) -> Fleet:
    """Return a fleet judged by the limits of another where its own are weaker: of what it may hold, and may do.

    The limits that decide what is rendered are left as they are: a difference shows what comes of them.
    """
    weaker = {each.field.split(".")[1] for each in setting_changes(other, fleet) if each.waits}
    return replace(
        fleet,
        source=replace(fleet.source, is_strict=fleet.source.is_strict or other.source.is_strict),
        secrets=other.secrets if "secrets" in weaker else fleet.secrets,
        validation=other.validation if "validation" in weaker else fleet.validation,
        removal_guard=other.removal_guard if "removalGuard" in weaker else fleet.removal_guard,
        movement_guard=other.movement_guard if "movementGuard" in weaker else fleet.movement_guard,
    )


def plain_setting_change(change: SettingChange) -> Manifest:
    """Return a change of a setting as plain data."""
    return {
        "field": change.field,
        "before": None if change.before is None else _word(change.before),
        "after": None if change.after is None else _word(change.after),
        "waits": change.waits,
    }
