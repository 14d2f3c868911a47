"""kubectl's words for labels and taints as edits of a Cluster: ``key=value``, ``key-``, ``key=value:NoSchedule``."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import click

from render.cluster import Taint
from render.documents.editing import Edit
from render.model import Manifest

CORDON = Taint(key="cluster.karmada.io/unschedulable", effect="NoSchedule")
"""The taint that ``karmadactl cordon`` puts on a cluster."""

DRAIN = tuple(Taint(key="argosy.dev/drain", effect=effect) for effect in ("NoExecute", "NoSchedule"))
"""The taints that make everything leave a cluster and nothing come."""

EFFECTS = ("NoSchedule", "NoExecute")
_TAINT = re.compile(r"(?P<key>[^=:]+)(?:=(?P<value>[^=:]*))?:(?P<effect>[A-Za-z]+)")


class LabelWords(NamedTuple):
    """Labels to set and keys to take away."""

    wanted: Mapping[str, str]
    removed: tuple[str, ...]


class TaintWords(NamedTuple):
    """Taints to set, and those to take away: a key with an effect, or with any ("")."""

    wanted: tuple[Taint, ...]
    removed: tuple[Taint, ...]


def parse_labels(words: Iterable[str]) -> LabelWords:
    """Read ``key=value`` and ``key-``; a usage error names what is neither."""
    wanted: dict[str, str] = {}
    removed: list[str] = []
    for word in words:
        key, sign, value = word.partition("=")
        if sign and key:
            wanted[key] = value
        elif not sign and word.endswith("-") and word != "-":
            removed.append(word[:-1])
        else:
            raise click.UsageError(f"{word!r} is no label; write key=value, or key- to take it away")
    if both := sorted(wanted.keys() & set(removed)):
        raise click.UsageError(f"label {both[0]!r} is both set and taken away")
    return LabelWords(wanted, tuple(removed))


def parse_taints(words: Iterable[str]) -> TaintWords:
    """Read ``key=value:effect``, ``key:effect``, and with a ``-`` after them or after a key what is to go."""
    wanted: list[Taint] = []
    removed: list[Taint] = []
    for word in words:
        goes = word.endswith("-")
        (removed if goes else wanted).append(_parse_taint(word, word.removesuffix("-"), may_be_bare=goes))
    both = {(taint.key, taint.effect) for taint in wanted} & {(taint.key, taint.effect) for taint in removed}
    if both:
        key, effect = min(both)
        raise click.UsageError(f"taint {key}:{effect} is both set and taken away")
    return TaintWords(tuple(wanted), tuple(removed))


def _parse_taint(word: str, text: str, *, may_be_bare: bool) -> Taint:
    found = _TAINT.fullmatch(text)
    if found and found["effect"] in EFFECTS:
        return Taint(key=found["key"], value=found["value"] or "", effect=found["effect"])
    if text and may_be_bare and not found and ":" not in text and "=" not in text:
        return Taint(key=text)
    raise click.UsageError(
        f"{word!r} is no taint; write key=value:effect or key:effect with {' or '.join(EFFECTS)}, and - to take it away"
    )


def label_edits(manifest: Manifest, words: LabelWords, *, overwrite: bool) -> tuple[Edit, ...]:
    """Return the edits that set and take away labels; one with another value is only changed with ``overwrite``."""
    labels = manifest["metadata"].get("labels") or {}
    for key, value in words.wanted.items():
        if key in labels and labels[key] != value and not overwrite:
            raise click.UsageError(f"label {key!r} is {labels[key]!r} already; --overwrite changes it")
    path = ("metadata", "labels")
    gone = (Edit((*path, key)) for key in words.removed if key in labels)
    new = (Edit((*path, key), value) for key, value in words.wanted.items() if labels.get(key) != value)
    return (*new, *gone)


def taint_edits(manifest: Manifest, words: TaintWords, *, overwrite: bool) -> tuple[Edit, ...]:
    """Return the edits that set and take away taints; one with another value is only changed with ``overwrite``."""
    taints = (manifest.get("spec") or {}).get("taints") or []
    path = ("spec", "taints")
    gone = {at for at, each in enumerate(taints) if any(_is_same(each, taint) for taint in words.removed)}
    changed, new = [], []
    for taint in words.wanted:
        at = next((at for at, each in enumerate(taints) if _is_same(each, taint)), len(taints))
        value = (taints[at].get("value") or "") if at < len(taints) else None
        if value is not None and value != taint.value and not overwrite:
            raise click.UsageError(f"taint {taint.key}:{taint.effect} is there already; --overwrite changes its value")
        if value and taint.value and value != taint.value:
            changed.append(Edit((*path, at, "value"), taint.value))
        elif value != taint.value:
            new.append(plain_taint(taint))
            gone |= {at} - {len(taints)}
    added = (Edit((*path, len(taints) + number), taint) for number, taint in enumerate(new))
    return (*changed, *added, *(Edit((*path, at)) for at in sorted(gone, reverse=True)))


def _is_same(plain: Mapping[str, Any], taint: Taint) -> bool:
    return plain.get("key") == taint.key and taint.effect in {"", plain.get("effect")}


def plain_taint(taint: Taint) -> dict[str, str]:
    """Return a taint as a Cluster's spec holds it."""
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}
