"""The origins of what differs: which files objects were built from, and which parts of a build are others.

A chart of another version is distinguished from other values: each part of a build is compared by itself.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from reconciler.source.built_files import BuildPart
from reconciler.source.desired import Desired
from reconciler.source.provenance import SourceBuild
from render.model import ObjectRef
from render.words import first_few

from .difference import ChangeAction, Difference, OriginChange, PartChange

_NAMED = 6
_CHART, _CHART_FILE = "chart", "chart file"
_UNVERSIONED = {
    "values": "values",
    "APIs": "APIs of clusters",
    "release": "name, namespace or options",
    "file": "files",
}
_SIGNS = {ChangeAction.ADDED: "+", ChangeAction.CHANGED: "", ChangeAction.REMOVED: "-"}


def difference_with_origins(difference: Difference, base: Desired, head: Desired) -> Difference:
    """Return a difference with the origins of all objects that it tells of."""
    refs = {each.ref for each in difference.objects} | {each.ref for each in difference.movements}
    refs |= {each.ref for each in (*difference.pending, *difference.ended)}
    refs |= {each.ref for each in (*difference.problems, *difference.solved)}
    return replace(
        difference,
        origins=_origin_of_each_object(base, head, refs),
        builds=_builds_with_changed_parts(base, head, refs),
        taken=dict(_objects_taken_over(base, head)),
    )


def _objects_taken_over(base: Desired, head: Desired) -> Iterator[tuple[ObjectRef, str]]:
    """Yield the objects that came from a file which another folder's kustomization has taken since, and that one."""
    if head.taken.keys() <= base.taken.keys():
        return
    for template in base.templates:
        if template.path in head.taken and template.path not in base.taken:
            yield template.ref, head.taken[template.path]


def _origin_of_each_object(base: Desired, head: Desired, refs: Iterable[ObjectRef]) -> Mapping[ObjectRef, str]:
    """Return the files that objects were built from: on the head's side, or on the base's where they are gone."""
    known = {each.ref: each.origin for side in (base, head) for each in side.templates if each.origin}
    return {ref: known[ref] for ref in sorted(refs) if ref in known}


def _builds_with_changed_parts(base: Desired, head: Desired, refs: Iterable[ObjectRef]) -> tuple[OriginChange, ...]:
    """Return the builds with other parts that made any of these objects."""
    before, after = ({build.name: build for build in side.builds} for side in (base, head))
    changed = frozenset(refs)
    found = []
    for name in sorted(before.keys() | after.keys()):
        sides = [each for each in (before.get(name), after.get(name)) if each is not None]
        objects = changed & frozenset().union(*(each.refs for each in sides))
        parts = tuple(_part_changes(before.get(name), after.get(name)))
        if objects and parts:
            found.append(OriginChange(build=name, path=sides[-1].path, parts=parts, objects=len(objects)))
    return tuple(found)


def _part_changes(before: SourceBuild | None, after: SourceBuild | None) -> Iterator[PartChange]:
    old, new = _parts_by_name(before), _parts_by_name(after)
    for role, name in [*old, *(key for key in new if key not in old)]:
        first, second = old.get((role, name)), new.get((role, name))
        if first != second:
            action = ChangeAction.CHANGED if first and second else ChangeAction.REMOVED if first else ChangeAction.ADDED
            versions = (first.version if first else "", second.version if second else "")
            yield PartChange(role=role, name=name, action=action, before=versions[0], after=versions[1])


def _parts_by_name(build: SourceBuild | None) -> dict[tuple[str, str], BuildPart]:
    return {(part.role, part.name): part for part in (build.parts if build else ())}


def origin_words(change: OriginChange) -> str:
    """Return what of a build is other than it was, in words."""
    roles: dict[str, list[PartChange]] = {}
    for part in change.parts:
        roles.setdefault(part.role, []).append(part)
    words = list(_chart_words(roles.get(_CHART, []), roles.get(_CHART_FILE, [])))
    words += (_version_words(part) for part in roles.get("Kubernetes", []))
    for role, said in _UNVERSIONED.items():
        names = [f"{_SIGNS[part.action]}{part.name}" for part in roles.get(role, []) if part.name]
        if role in roles:
            words.append(f"{said} {first_few(names, _NAMED)}" if names else said)
    return "; ".join(words)


def _chart_words(charts: list[PartChange], files: list[PartChange]) -> Iterator[str]:
    for chart in charts:
        if chart.before != chart.after or chart.action is not ChangeAction.CHANGED:
            yield f"chart {_version_words(chart)}"
        else:
            still = f", still {chart.after}" if chart.after else ""
            names = [f"{_SIGNS[each.action]}{each.name}" for each in files]
            yield f"chart {chart.name}{still}: {first_few(names, _NAMED) if names else 'other content'}"


def _version_words(part: PartChange) -> str:
    name = part.name if part.role == _CHART else f"Kubernetes {part.name}".strip()
    if part.action is ChangeAction.CHANGED:
        return f"{name} {part.before} -> {part.after}"
    return f"{_SIGNS[part.action]}{name} {part.after or part.before}".rstrip()
