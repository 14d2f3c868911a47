"""Field rules: who gets a field, as argosy.yaml and annotations of the object say it.

A rule beats what is decided without one. ``Own``: the field is the commit's, whoever writes it and whatever the cluster
usually decides. ``Yield``: a manager that owns it with another value keeps it. ``Ignore``: it is set when the object is
created, and never afterwards. Annotations count before argosy.yaml, and the first rule that fits counts.
"""

import re
from collections.abc import Container, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from render.fleet import FieldRule, FieldRuling
from render.model import Manifest, ObjectRef

from .conflicts import Decision, OwnershipClaims, value_differences
from .field_paths import MISSING, Key, Path, item_matching, path_text, value_at, without
from .ownership import Owner, owners_at

FIELD_ANNOTATIONS: Mapping[str, FieldRuling] = {
    "argosy.dev/own-fields": FieldRuling.OWN,
    "argosy.dev/yield-fields": FieldRuling.YIELD,
    "argosy.dev/ignore-fields": FieldRuling.IGNORE,
}
_PATHS = re.compile(r"(?:\[[^\]]*\]|[^,\s\[])+")


def rules_of(manifest: Manifest, ref: ObjectRef, rules: Iterable[FieldRule]) -> tuple[FieldRule, ...]:
    """Return the rules that are about an object: those of its annotations, then those of argosy.yaml."""
    annotations = manifest["metadata"].get("annotations") or {}
    own = (
        FieldRule(rule=ruling, path=path)
        for name, ruling in FIELD_ANNOTATIONS.items()
        if name in annotations
        for path in _PATHS.findall(str(annotations[name]))
    )
    return (*own, *(rule for rule in rules if _is_about(rule, ref)))


def _is_about(rule: FieldRule, ref: ObjectRef) -> bool:
    asked = ((rule.group, ref.group), (rule.kind, ref.kind), (rule.namespace, ref.namespace), (rule.name, ref.name))
    return all(not pattern or fnmatchcase(name, pattern) for pattern, name in asked)


def ruling_for(field: str, owners: Iterable[Owner], rules: Iterable[FieldRule]) -> FieldRuling | None:
    """Return what the first fitting rule says about a field, such as ``.spec.replicas``, that others own."""
    managers = [owner.manager for owner in owners]
    for rule in rules:
        is_meant = not rule.manager or any(fnmatchcase(manager, rule.manager) for manager in managers)
        if is_meant and _pattern(rule.path).match(field):
            return rule.rule
    return None


def claims_of(rules: Iterable[FieldRule], *, overwrite: bool) -> OwnershipClaims:
    """Return what an object's rules claim of the fields of others; an ignored field is left to them."""
    listed = tuple(rules)
    if not listed:
        return OwnershipClaims(overwrite=overwrite)

    def ruling(field: str, owner: Owner) -> Decision | None:
        rule = ruling_for(field, (owner,), listed)
        if rule is None:
            return None
        return Decision.OVERWRITE if rule is FieldRuling.OWN else Decision.YIELD

    return OwnershipClaims(overwrite=overwrite, ruling=ruling)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a field and everything in it; ``*`` stands for a name, ``[*]`` for any item of a list."""
    text = re.escape(path if path.startswith(".") else f".{path}")
    text = text.replace(r"\[\*\]", r"\[[^\]]*\]").replace(r"\*", r"[^.\[]*")
    return re.compile(rf"{text}(?=[.\[]|$)")


def with_rules(
    asked: dict[str, Any], want: dict[str, Any], live: Manifest, ours: Container[str], rules: Iterable[FieldRule]
) -> dict[str, Any]:
    """Return what to send of an object: owned fields as ``asked`` for, ignored ones as the cluster has them.

    ``want`` is what is asked for without the fields that are the cluster's to decide. An ignored field is sent as it is
    while it is ours, for leaving it out would reset it.
    """
    listed = tuple(rules)

    def ruled(wanted: FieldRuling, one: Manifest, other: Manifest) -> list[Path]:
        if one is other or all(rule.rule is not wanted for rule in listed):
            return []
        paths = [each.path for each in value_differences(one, other)]
        return [path for path in paths if ruling_for(path_text(path), owners_at(live, path, ours), listed) is wanted]

    for path in ruled(FieldRuling.OWN, asked, want):
        want = _with_value(want, path, value_at(asked, path))
    for path in ruled(FieldRuling.IGNORE, want, live):
        present = value_at(live, path)
        is_ours = any(owner.manager in ours for owner in owners_at(live, path, frozenset()))
        is_kept = is_ours and present is not MISSING
        want = _with_value(want, path, present) if is_kept else without(want, path)
    return want


def _with_value(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of plain data with a value at a path; an item of a list that is not there is not made."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        fields = value if isinstance(value, Mapping) else {}
        return {**fields, step: _with_value(fields.get(step), rest, new)}
    if not isinstance(value, list) or not isinstance(step, Key):
        return value
    matching = item_matching(value, step)
    return [_with_value(item, rest, new) if item is matching else item for item in value]
