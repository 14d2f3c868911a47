"""Labels and taints of members: kubectl's arguments (``key=value``, ``key-``, ``key=value:NoSchedule``) as edits."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import click

from render.cluster import Taint
from render.documents.editing import Edit
from render.expressions import lazy_expression
from render.model import Manifest, mapping_or_empty

EFFECTS = ("NoSchedule", "NoExecute")
_TAINT = lazy_expression(r"(?P<key>[^=:]+)(?:=(?P<value>[^=:]*))?:(?P<effect>[A-Za-z]+)")


class LabelChange(NamedTuple):
    """Labels to set, and keys of labels to remove."""

    wanted: Mapping[str, str]
    removed: tuple[str, ...]


class TaintChange(NamedTuple):
    """Taints to set, and taints to remove: a key with an effect, or with any ("")."""

    wanted: tuple[Taint, ...]
    removed: tuple[Taint, ...]


def parse_labels(arguments: Iterable[str]) -> LabelChange:
    """Read ``key=value`` and ``key-``; a usage error names what is neither."""
    wanted: dict[str, str] = {}
    removed: list[str] = []
    for argument in arguments:
        key, sign, value = argument.partition("=")
        if sign and key:
            wanted[key] = value
        elif not sign and argument.endswith("-") and argument != "-":
            removed.append(argument[:-1])
        else:
            raise click.UsageError(f"{argument!r} is no label; write key=value, or key- to take it away")
    if both := sorted(wanted.keys() & set(removed)):
        raise click.UsageError(f"label {both[0]!r} is both set and taken away")
    return LabelChange(wanted, tuple(removed))


def parse_taints(arguments: Iterable[str]) -> TaintChange:
    """Read ``key=value:effect``, ``key:effect``, and with a ``-`` after them or after a key a taint to remove."""
    wanted: list[Taint] = []
    removed: list[Taint] = []
    for argument in arguments:
        is_removed = argument.endswith("-")
        taint = _parse_taint(argument, argument.removesuffix("-"), may_be_bare=is_removed)
        (removed if is_removed else wanted).append(taint)
    both = {(taint.key, taint.effect) for taint in wanted} & {(taint.key, taint.effect) for taint in removed}
    if both:
        key, effect = min(both)
        raise click.UsageError(f"taint {key}:{effect} is both set and taken away")
    return TaintChange(tuple(wanted), tuple(removed))


def _parse_taint(argument: str, text: str, *, may_be_bare: bool) -> Taint:
    parts = _TAINT.fullmatch(text)
    if parts and parts["effect"] in EFFECTS:
        return Taint(key=parts["key"], value=parts["value"] or "", effect=parts["effect"])
    if text and may_be_bare and not parts and ":" not in text and "=" not in text:
        return Taint(key=text)
    raise click.UsageError(
        f"{argument!r} is no taint;"
        f" write key=value:effect or key:effect with {' or '.join(EFFECTS)}, and - to take it away"
    )


PLACE_FIELDS = {
    **dict.fromkeys(("region", "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"), "region"),
    **dict.fromkeys(("zone", "zones", "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"), "zone"),
    "provider": "provider",
}
"""The labels that people take for the place of a cluster, by the field of its spec that rules read instead."""


def unread_places(manifest: Manifest, labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return what labels say of a cluster's place and its spec does not, where rules about places read it."""
    spec = mapping_or_empty(manifest.get("spec"))
    known = {
        "region": {spec.get("region")},
        "provider": {spec.get("provider")},
        "zone": {spec.get("zone"), *(spec.get("zones") or ())},
    }
    found = {PLACE_FIELDS[key]: value for key, value in labels.items() if key in PLACE_FIELDS and value}
    return {field: value for field, value in found.items() if value not in known[field]}


def label_edits(manifest: Manifest, change: LabelChange, *, overwrite: bool) -> tuple[Edit, ...]:
    """Return the edits that set and remove labels; one with another value is only changed with ``overwrite``."""
    labels = manifest["metadata"].get("labels") or {}
    for key, value in change.wanted.items():
        if key in labels and labels[key] != value and not overwrite:
            raise click.UsageError(f"label {key!r} is {labels[key]!r} already; --overwrite changes it")
    path = ("metadata", "labels")
    removals = (Edit((*path, key)) for key in change.removed if key in labels)
    new = (Edit((*path, key), value) for key, value in change.wanted.items() if labels.get(key) != value)
    return (*new, *removals)


def taint_edits(manifest: Manifest, change: TaintChange, *, overwrite: bool) -> tuple[Edit, ...]:
    """Return the edits that set and remove taints; one with another value is only changed with ``overwrite``."""
    taints = (manifest.get("spec") or {}).get("taints") or []
    path = ("spec", "taints")
    gone = {at for at, each in enumerate(taints) if any(_is_same_taint(each, taint) for taint in change.removed)}
    changed, new = [], []
    for taint in change.wanted:
        at = next((at for at, each in enumerate(taints) if _is_same_taint(each, taint)), len(taints))
        value = (taints[at].get("value") or "") if at < len(taints) else None
        if value is not None and value != taint.value and not overwrite:
            raise click.UsageError(f"taint {taint.key}:{taint.effect} is there already; --overwrite changes its value")
        if value and taint.value and value != taint.value:
            changed.append(Edit((*path, at, "value"), taint.value))
        elif value != taint.value:
            new.append(taint_as_plain_data(taint))
            gone |= {at} - {len(taints)}
    added = (Edit((*path, len(taints) + number), taint) for number, taint in enumerate(new))
    return (*changed, *added, *(Edit((*path, at)) for at in sorted(gone, reverse=True)))


def _is_same_taint(plain: Mapping[str, Any], taint: Taint) -> bool:
    return plain.get("key") == taint.key and taint.effect in {"", plain.get("effect")}


def taint_as_plain_data(taint: Taint) -> dict[str, str]:
    """Return a taint as a Cluster's spec holds it."""
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
