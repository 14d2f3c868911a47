"""RolloutPolicies and RolloutControls from admitted objects, and the plan of a rollout as plain data again."""

from collections.abc import Iterable
from typing import Any

from render.admission.rollouts import FLEET_KIND
from render.limits import Limit
from render.model import Manifest
from render.notations import WEEKDAYS, minutes_of_time, seconds_of_duration
from render.parsing.placement_manifests import plain_cluster_affinity, plain_label_selector
from render.parsing.selectors import parse_cluster_affinity, parse_resource_selectors
from render.placement import SpreadField
from render.selectors import ResourceSelector
from render.settings.moves import AT_ONCE, MAKE_BEFORE_BREAK
from render.timing import LAST, instant_text, parse_instant

from .checks import parse_check, plain_check
from .policy import (
    DeadlineAction,
    FailureAction,
    Freeze,
    Gate,
    GradualAction,
    GroupKey,
    LimitByField,
    NewChangeAction,
    RollbackOrder,
    RolloutControl,
    RolloutPolicy,
    RolloutVerb,
    Wave,
    Window,
)

Plain = dict[str, Any]


def parse_rollout_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> RolloutPolicy:
    """Return the value of an admitted policy of either kind."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    gate, group = spec.get("gate") or {}, spec.get("group") or {}
    return RolloutPolicy(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        resource_selectors=parse_resource_selectors(spec.get("resourceSelectors") or ()),
        priority=spec.get("priority") or 0,
        waves=tuple(_parse_wave(each, spec) for each in spec.get("waves") or ()),
        gate=_parse_gate(gate),
        max_concurrent=_parse_limit(spec.get("maxConcurrent")),
        max_concurrent_by_field=_parse_limits_by_field(spec),
        max_failures=_parse_limit(spec.get("maxFailures")) or Limit(0),
        max_unreachable=_parse_limit(spec.get("maxUnreachable")),
        on_deadline=DeadlineAction(spec.get("onDeadline") or "Fail"),
        on_failure=FailureAction(spec.get("onFailure") or "Pause"),
        on_new_change=NewChangeAction(spec.get("onNewChange") or "Supersede"),
        rollback=RollbackOrder(spec.get("rollback") or "AtOnce"),
        windows=tuple(map(_parse_window, spec.get("windows") or ())),
        freezes=tuple(map(_parse_freeze, spec.get("freezes") or ())),
        path=path,
        document=document,
        group_by=GroupKey(group.get("by") or "Change"),
        group_label=group.get("label") or "",
        is_of_fleet=manifest.get("kind") == FLEET_KIND,
        also_for=frozenset(map(GradualAction, spec.get("alsoFor") or ())),
        is_make_before_break=None if (moves := spec.get("moves")) is None else moves == MAKE_BEFORE_BREAK,
        surge=_parse_limit(spec.get("surge")),
        max_unavailable=_parse_limit(spec.get("maxUnavailable")),
        move_deadline=spec.get("moveDeadline") or "",
        approvers=tuple(spec.get("approvers") or ()),
    )


def _parse_wave(plain: Manifest, spec: Manifest) -> Wave:
    """Return a wave; what it does not say itself is said for all of them."""
    affinity = plain.get("clusterAffinity")
    return Wave(
        name=plain["name"],
        cluster_affinity=None if affinity is None else parse_cluster_affinity(affinity),
        size=_parse_limit(plain.get("size")),
        max_concurrent=_parse_limit(plain.get("maxConcurrent", spec.get("maxConcurrent"))),
        max_concurrent_by_field=_parse_limits_by_field(plain if "maxConcurrentPer" in plain else spec),
        max_failures=_parse_limit(plain.get("maxFailures")),
        gate=_parse_gate({**(spec.get("gate") or {}), **(plain.get("gate") or {})}),
        is_approval_required=plain.get("approval") or bool(plain.get("approvals")),
        is_empty_allowed=plain.get("allowEmpty") or False,
        approvals=plain.get("approvals") or 0,
    )


def _parse_limits_by_field(plain: Manifest) -> tuple[LimitByField, ...]:
    """Return the limits of each region and the like, of a policy or a wave."""
    limits = ((each["field"], _parse_limit(each["limit"])) for each in plain.get("maxConcurrentPer") or ())
    return tuple(LimitByField(field=SpreadField(field), limit=limit) for field, limit in limits if limit is not None)


def _parse_window(plain: Manifest) -> Window:
    begins, ends = (minutes_of_time(plain[name]) or 0 for name in ("from", "to"))
    days = plain.get("days") or WEEKDAYS
    return Window(
        days=tuple(number for number, day in enumerate(WEEKDAYS) if day in days),
        begins=begins,
        ends=ends,
        time_zone=plain.get("timeZone") or "UTC",
    )


def _parse_freeze(plain: Manifest) -> Freeze:
    begins = plain.get("from")
    return Freeze(
        begins=parse_instant(begins) if begins else None,
        ends=parse_instant(plain["until"]) or LAST,
        reason=plain["reason"],
    )


def _parse_gate(plain: Manifest) -> Gate:
    return Gate(
        healthy_for=_parse_seconds(plain.get("healthyFor")) or 0,
        deadline=_parse_seconds(plain.get("deadline")),
        share=_parse_limit(plain.get("share")),
        checks=tuple(map(parse_check, plain.get("checks") or ())),
        max_status_age=_parse_seconds(plain.get("maxStatusAge")),
    )


def _parse_seconds(text: str | None) -> int | None:
    return None if text is None else int(seconds_of_duration(text) or 0)


def _parse_limit(plain: int | str | None) -> Limit | None:
    return None if plain is None else Limit.of_text(str(plain))


def parse_rollout_control(manifest: Manifest, *, path: str = "", document: int = 0) -> RolloutControl:
    """Return the value of an admitted RolloutControl."""
    spec = manifest["spec"]
    rollout, at = spec["rollout"], parse_instant(spec["at"])
    policy = RolloutPolicy(
        name=rollout["name"], namespace=rollout.get("namespace") or "", is_of_fleet=rollout["kind"] == FLEET_KIND
    )
    return RolloutControl(
        name=manifest["metadata"]["name"],
        rollout=str(policy),
        change=spec["change"],
        verb=RolloutVerb(spec["verb"]),
        wave=spec.get("wave") or "",
        reason=spec.get("reason") or "",
        by=spec.get("by") or "",
        at=instant_text(at) if at else "",
        path=path,
        document=document,
        group=rollout.get("group") or "",
    )


def plain_rollout_spec(policy: RolloutPolicy) -> Plain:
    """Return the ``spec`` of a policy in which every wave says itself what was said for all of them."""
    return _fields_with_values(
        resourceSelectors=list(map(_plain_resource_selector, policy.resource_selectors)) or None,
        priority=policy.priority or None,
        waves=[_plain_wave(wave, policy) for wave in policy.waves] or None,
        gate=_plain_gate(policy.gate),
        maxConcurrent=_plain_limit(policy.max_concurrent),
        maxConcurrentPer=_plain_limits_by_field(policy.max_concurrent_by_field) or None,
        maxFailures=_plain_limit(policy.max_failures),
        maxUnreachable=_plain_limit(policy.max_unreachable),
        onDeadline=policy.on_deadline.value,
        onFailure=policy.on_failure.value,
        onNewChange=policy.on_new_change.value,
        rollback=None if policy.rollback is RollbackOrder.AT_ONCE else policy.rollback.value,
        windows=list(map(_plain_window, policy.windows)) or None,
        freezes=list(map(_plain_freeze, policy.freezes)) or None,
        approvers=list(policy.approvers) or None,
        group=_plain_group(policy),
        alsoFor=sorted(each.value for each in policy.also_for) or None,
        moves=_plain_moves(policy),
        surge=_plain_limit(policy.surge),
        maxUnavailable=_plain_limit(policy.max_unavailable),
        moveDeadline=policy.move_deadline or None,
    )


def _plain_moves(policy: RolloutPolicy) -> str | None:
    if policy.is_make_before_break is None:
        return None
    return MAKE_BEFORE_BREAK if policy.is_make_before_break else AT_ONCE


def _plain_group(policy: RolloutPolicy) -> Plain | None:
    if policy.group_by is GroupKey.CHANGE:
        return None
    return _fields_with_values(by=policy.group_by.value, label=policy.group_label or None)


def _plain_resource_selector(selector: ResourceSelector) -> Plain:
    labels = selector.label_selector
    return _fields_with_values(
        apiVersion=selector.api_version,
        kind=selector.kind,
        namespace=selector.namespace or None,
        name=selector.name or None,
        labelSelector=None if labels is None else plain_label_selector(labels),
    )


def _plain_wave(wave: Wave, policy: RolloutPolicy) -> Plain:
    """Return a wave that says null where it has none of what the policy says for all waves."""
    affinity = wave.cluster_affinity
    inherited: Plain = {"maxConcurrent": None} if policy.max_concurrent and not wave.max_concurrent else {}
    return inherited | _fields_with_values(
        name=wave.name,
        clusterAffinity=None if affinity is None else plain_cluster_affinity(affinity),
        size=_plain_limit(wave.size),
        rest=wave.takes_the_rest or None,
        maxConcurrent=_plain_limit(wave.max_concurrent),
        maxConcurrentPer=_plain_limits_by_field(wave.max_concurrent_by_field)
        if wave.max_concurrent_by_field or policy.max_concurrent_by_field
        else None,
        maxFailures=_plain_limit(wave.max_failures),
        gate=dict.fromkeys(_plain_gate(policy.gate)) | _plain_gate(wave.gate),
        approval=wave.is_approval_required or None,
        approvals=wave.approvals or None,
        allowEmpty=wave.is_empty_allowed or None,
    )


def _plain_limits_by_field(limits: Iterable[LimitByField]) -> list[Plain]:
    return [{"field": each.field.value, "limit": _plain_limit(each.limit)} for each in limits]


def _plain_window(window: Window) -> Plain:
    return {
        "days": [WEEKDAYS[number] for number in window.days],
        "from": f"{window.begins // 60:02}:{window.begins % 60:02}",
        "to": f"{window.ends // 60:02}:{window.ends % 60:02}",
        "timeZone": window.time_zone,
    }


def _plain_freeze(freeze: Freeze) -> Plain:
    return _fields_with_values(
        **{"from": instant_text(freeze.begins) if freeze.begins else None},
        until=instant_text(freeze.ends),
        reason=freeze.reason,
    )


def _plain_gate(gate: Gate) -> Plain:
    return _fields_with_values(
        healthyFor=f"{gate.healthy_for}s",
        deadline=_plain_seconds(gate.deadline),
        maxStatusAge=_plain_seconds(gate.max_status_age),
        share=_plain_limit(gate.share),
        checks=list(map(plain_check, gate.checks)) or None,
    )


def _plain_seconds(seconds: int | None) -> str | None:
    return None if seconds is None else f"{seconds}s"


def _plain_limit(limit: Limit | None) -> int | str | None:
    if limit is None:
        return None
    return str(limit) if limit.is_percentage else limit.amount


def _fields_with_values(**fields: Any) -> Plain:
    return {name: value for name, value in fields.items() if value is not None}
