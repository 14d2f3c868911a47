"""Field rules: who gets a field, as argosy.yaml and annotations of the object say it.

A rule beats what is decided without one. ``Own``: the field is the commit's, whoever writes it and whatever the cluster
usually decides. ``Yield``: a manager that owns it with another value keeps it. ``Ignore``: it is set when the object is
created, and never afterwards. Annotations count before argosy.yaml, and the first rule that fits counts.
"""

import json
import re
from collections.abc import Container, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from render.model import Manifest, ObjectRef
from render.rule_paths import Items, parse_rule_path, paths_in_annotation
from render.settings.field_rules import FieldRule, FieldRuling
from render.template_annotations import FIELD_ANNOTATIONS

from .conflicts import Decision, OwnershipClaims, value_differences
from .containment import is_equal_to_server
from .field_paths import MISSING, Key, Path, item_matching, path_text, value_at, value_without_path
from .ownership import Owner, owned_leaves, owners_at

# Names of labels have dots, which are no ends of names: texts that rules are compared with have this for each.
_DOT_IN_NAME = "\x1f"
_KEY = r"""[^,=\]"]*=(?:"(?:[^"\\]|\\.)*"|[^,\]"]+)"""


def field_rules_of_object(manifest: Manifest, ref: ObjectRef, rules: Iterable[FieldRule]) -> tuple[FieldRule, ...]:
    """Return the rules that are about an object: those of its annotations, then those of argosy.yaml."""
    annotations = manifest["metadata"].get("annotations") or {}
    own = (
        FieldRule(rule=ruling, path=path)
        for name, ruling in FIELD_ANNOTATIONS.items()
        if name in annotations
        for path in paths_in_annotation(str(annotations[name]))
    )
    return (*own, *(rule for rule in rules if _is_rule_about(rule, ref)))


def _is_rule_about(rule: FieldRule, ref: ObjectRef) -> bool:
    asked = ((rule.group, ref.group), (rule.kind, ref.kind), (rule.namespace, ref.namespace), (rule.name, ref.name))
    return all(not pattern or fnmatchcase(name, pattern) for pattern, name in asked)


def ruling_for(path: Path, owners: Iterable[Owner], rules: Iterable[FieldRule]) -> FieldRuling | None:
    """Return what the first fitting rule says about a field that others own."""
    managers, field = [owner.manager for owner in owners], _path_text_with_dots_marked(path)
    for rule in rules:
        is_meant = not rule.manager or any(fnmatchcase(manager, rule.manager) for manager in managers)
        if is_meant and _pattern_of_path(rule.path).match(field):
            return rule.rule
    return None


def claims_of_field_rules(rules: Iterable[FieldRule], *, overwrite: bool) -> OwnershipClaims:
    """Return what an object's rules claim of the fields of others; an ignored field is left to them."""
    listed = tuple(rules)
    if not listed:
        return OwnershipClaims(overwrite=overwrite)

    def ruling(path: Path, owner: Owner) -> Decision | None:
        rule = ruling_for(path, (owner,), listed)
        if rule is None:
            return None
        return Decision.OVERWRITE if rule is FieldRuling.OWN else Decision.YIELD

    return OwnershipClaims(overwrite=overwrite, ruling=ruling)


@cache
def _pattern_of_path(path: str) -> re.Pattern[str]:
    """Return the pattern of a field and everything in it; a text that is no path is no field's."""
    steps = parse_rule_path(path)
    if steps is None:
        return re.compile(r"(?!)")
    return re.compile("".join(map(_expression_of_step, steps)) + r"(?=[.\[]|$)")


def _expression_of_step(step: str | Items) -> str:
    if isinstance(step, str):
        return rf"[.{_DOT_IN_NAME}]" + re.escape(step).replace(r"\*", r"[^.\[]*")
    if not step.keys:
        return rf"\[{_KEY}(?:,{_KEY})*\]"
    keys = (rf"(?:{_KEY},)*" + re.escape(f"{name}={json.dumps(value)}") for name, value in step.keys)
    return rf"\[{','.join(keys)}(?:,{_KEY})*\]"


def _path_text_with_dots_marked(path: Path) -> str:
    """Return the text of a path, in which the dots that a name has itself are marked."""
    return path_text(tuple(step.replace(".", _DOT_IN_NAME) if isinstance(step, str) else step for step in path))


def manifest_with_rules(
    asked: dict[str, Any], want: dict[str, Any], live: Manifest, ours: Container[str], rules: Iterable[FieldRule]
) -> dict[str, Any]:
    """Return what to send of an object: owned fields as ``asked`` for, ignored ones as the cluster has them.

    ``want`` is what is asked for without the fields that are the cluster's to decide. An ignored field is sent as it is
    while it is ours, for leaving it out would reset it.
    """
    listed = tuple(rules)

    def paths_under_rule(wanted: FieldRuling, one: Manifest, other: Manifest) -> list[Path]:
        if one is other or all(rule.rule is not wanted for rule in listed):
            return []
        paths = [each.path for each in value_differences(one, other, live)]
        if wanted is FieldRuling.IGNORE:
            # A piece that the manifest takes something out of has nothing in it that is wanted otherwise.
            paths += [path for path in owned_leaves(live, ours) if _is_taken_out_of(one, live, path)]
        return [path for path in paths if ruling_for(path, owners_at(live, path, ours), listed) is wanted]

    for path in paths_under_rule(FieldRuling.OWN, asked, want):
        want = value_with_value_at(want, path, value_at(asked, path))
    for path in paths_under_rule(FieldRuling.IGNORE, want, live):
        present = value_at(live, path)
        is_ours = any(owner.manager in ours for owner in owners_at(live, path, frozenset()))
        is_kept = is_ours and present is not MISSING
        want = value_with_value_at(want, path, present) if is_kept else value_without_path(want, path)
    return want


def _is_taken_out_of(want: Manifest, live: Manifest, path: Path) -> bool:
    wanted, present = value_at(want, path), value_at(live, path)
    return isinstance(wanted, dict | list) and present is not MISSING and not is_equal_to_server(wanted, present)


def value_with_value_at(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of plain data with a value at a path; an item of a list that is not there is not made."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        fields = value if isinstance(value, Mapping) else {}
        return {**fields, step: value_with_value_at(fields.get(step), rest, new)}
    if not isinstance(value, list) or not isinstance(step, Key):
        return value
    matching = item_matching(value, step)
    return [value_with_value_at(item, rest, new) if item is matching else item for item in value]
