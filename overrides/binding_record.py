"""The changes overrides made to an object, as its binding records them: the text of ``status.appliedOverrides``.

An entry is a rule that applied, the clusters it applied in and the fields it changed there, before and after:

1. every run of a rule is compared once, however many classes of clusters it was for;
2. runs of one rule that changed the same are one entry, their clusters joined;
3. entries stand in the order in which rules apply. One without ``clusters`` is for all clusters the object is
   propagated to; of many clusters it gives the number alone.

A rule that changed nothing has no entry, so that a commit differs only where the outcome does. Clusters that keep older
bytes - a rule was refused, dispatching is suspended - are in none.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any, cast

from msgspec import Struct, field

from render.bits import Mask, indexes_of_mask
from render.documents import emit
from render.documents.texts import INLINE, string_on_one_line
from render.expressions import lazy_expression
from render.works import Content, Works

from .changes import ChangedField, changes_of
from .record import AppliedRule, RuleRun

# A record is committed with every binding and read by people, so it stays short.
_MOST_NAMED = 20
_LONGEST_VALUE = 1000
_MOST_TEXTS_KEPT = 4096
_LINE = lazy_expression("^(?=.)", re.MULTILINE)


class _RecordEntry(Struct):
    applied: AppliedRule
    place: int
    changes: str
    clusters: Mask


class RecordWriter(Struct, kw_only=True):
    """Writes the records of one pass; ``names`` are those of the clusters, by bit. Equal parts are one text."""

    names: Sequence[str]
    _changes: dict[tuple[ChangedField, ...], str] = field(default_factory=dict)
    _clusters: dict[Mask, str] = field(default_factory=dict)

    def text_of(self, works: Works, *, kept: Mask = 0) -> str:
        """Return the lines of the entries; none if no rule applied. ``kept``: clusters that keep their old bytes."""
        entries: dict[tuple[int, str], _RecordEntry] = {}
        for run, clusters in _runs_with_their_clusters(works.contents, kept):
            found = changes_of(run.before, run.after)
            if not found:
                continue
            changes = self._changes_text(found)
            # Two runs of a rule share one record of it, so the record's identity names the rule.
            entry = entries.setdefault((id(run.applied), changes), _RecordEntry(run.applied, run.place, changes, 0))
            entry.clusters |= clusters
        every = _all_target_clusters(works) if entries else 0
        ordered = sorted(entries.values(), key=lambda entry: (bool(entry.applied.source.namespace), entry.place))
        return "".join([self._entry_text(entry, every) for entry in ordered])

    def _entry_text(self, entry: _RecordEntry, every: Mask) -> str:
        clusters = "" if entry.clusters == every else self._clusters_text(entry.clusters)
        policy, rule = _yaml_scalar_of_text(entry.applied.policy), _yaml_scalar_of_text(entry.applied.rule)
        return f"  - policy: {policy}\n    rule: {rule}\n{clusters}{entry.changes}"

    def _clusters_text(self, clusters: Mask) -> str:
        known = self._clusters.get(clusters)
        if known is None:
            count = clusters.bit_count()
            names = (
                ", ".join(_yaml_scalar_of_text(self.names[index]) for index in indexes_of_mask(clusters))
                if count <= _MOST_NAMED
                else ""
            )
            known = f"    clusters: [{names}]\n" if names else f"    clusterCount: {count}\n"
            self._clusters[clusters] = known
        return known

    def _changes_text(self, changes: tuple[ChangedField, ...]) -> str:
        if not all(_is_string(change.before) and _is_string(change.after) for change in changes):
            return _yaml_lines_of_changes(changes)
        known = self._changes.get(changes)
        if known is None:
            if len(self._changes) >= _MOST_TEXTS_KEPT:
                self._changes.clear()
            known = self._changes[changes] = _yaml_lines_of_changes(changes)
        return known


def _runs_with_their_clusters(contents: Iterable[Content], kept: Mask) -> Iterator[tuple[RuleRun, Mask]]:
    """Yield every run with the clusters it was made for."""
    runs: dict[int, RuleRun] = {}
    clusters: dict[int, Mask] = {}
    for content in contents:
        mask = content.clusters & ~kept
        for run in cast("tuple[RuleRun, ...]", content.runs) if mask else ():
            runs[id(run)] = run
            clusters[id(run)] = clusters.get(id(run), 0) | mask
    return zip(runs.values(), clusters.values(), strict=True)


def _all_target_clusters(works: Works) -> Mask:
    """Return all clusters an object is propagated to, whether it could be built there or not."""
    found = [*(content.clusters for content in works.contents), *(failure.clusters for failure in works.failures)]
    return reduce(or_, found, 0)


def _is_string(value: Any) -> bool:
    # 1 and true are equal in Python and differ in YAML, so only texts are looked up by equality.
    return value is None or type(value) is str


def _yaml_lines_of_changes(changes: Iterable[ChangedField]) -> str:
    return "".join(["    changes:\n", *map(_yaml_lines_of_change, changes)])


def _yaml_lines_of_change(change: ChangedField) -> str:
    before = "" if change.operator == "add" else _yaml_lines_of_value("before", change.before)
    after = "" if change.operator == "remove" else _yaml_lines_of_value("after", change.after)
    return f"    - path: {_yaml_scalar_of_text(change.path)}\n      operator: {change.operator}\n{before}{after}"


def _yaml_scalar_of_text(text: str) -> str:
    return INLINE[text] or string_on_one_line(text)


def _yaml_lines_of_value(name: str, value: Any) -> str:
    if type(value) is str and len(value) <= _LONGEST_VALUE and (line := INLINE[value]):
        return f"      {name}: {line}\n"
    text = emit({name: value}).decode()
    if len(text) > _LONGEST_VALUE:
        whole = value if type(value) is str else json.dumps(value, ensure_ascii=False, sort_keys=True)
        text = emit({name: f"{whole[:_LONGEST_VALUE]}... ({len(whole)} characters)"}).decode()
    return _LINE.sub("      ", text)
