"""``argosy cluster rename``: the same cluster under another name, wherever the source names it.

1. The Cluster gets its new name and lists the former one in the annotation ``argosy.dev/renamed-from``, so that passes
   read what was recorded of it under that name (``pipeline.renames``).
2. argosy.yaml lists it by the new name, with the context that reaches it.
3. Policies and overrides list it by the new name. PolicyTests that name it are left to their author, and reported.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from reconciler.source.checks import lists_of_clusters
from reconciler.source.karmada_objects import admitted_kind
from reconciler.source.manifests import LocatedManifest
from reconciler.source.policy_tests import KIND as POLICY_TEST
from render.admission.clusters import cluster_name_fault
from render.documents.editing import Edit
from render.errors import ConfigError
from render.fleet_settings import SettingChange, setting_changes
from render.model import ARGOSY_GROUP, group_of
from render.parsing import RENAMED_FROM, former_names_of_cluster
from render.settings.clusters import OTHERS
from render.settings.fleet import Fleet

from .cluster_files import Contents, MemberSource, SourceChange, field_path_steps
from .joining import place_of_fleet_settings, refuse_existing_member
from .leaving import rendered_clusters


class Renaming(Struct, frozen=True, kw_only=True):
    """A member that gets another name: the change of the source, and the fields that name it anew.

    ``settings`` are the changes of argosy.yaml that are the name itself, and that nobody has to accept. ``tests`` are
    the PolicyTests that still name it as before.
    """

    change: SourceChange
    fields: tuple[str, ...]
    settings: tuple[SettingChange, ...]
    tests: tuple[str, ...]


def renaming_of_member(source: MemberSource, old: str, new: str) -> Renaming:
    """Return what gives a member another name in the files of the source."""
    place, path = _place_and_path(source, old, new)
    contents = source.with_edits(place, _edits_of_cluster(place, old, new))
    fields: list[str] = []
    for listing in _policies_of_source(source):
        edits = tuple(_edits_of_cluster_lists(listing.manifest["spec"], old, new))
        if edits:
            contents = source.with_edits(listing, edits, onto=contents)
            fields += (_place_of_field(source, listing, edit) for edit in edits)
    contents = _contents_with_fleet_file(source, contents, old, new)
    if path != place.file.path:
        contents = {**contents, path: contents[place.file.path], place.file.path: None}
    after = source.checked_source(contents).desired.fleet
    return Renaming(
        change=SourceChange(contents=contents, subject=f"Rename {old} to {new}"),
        fields=tuple(fields),
        settings=tuple(each for each in setting_changes(source.fleet, after) if not each.waits),
        tests=tuple(_policy_tests_naming(source, old)),
    )


def _place_and_path(source: MemberSource, old: str, new: str) -> tuple[LocatedManifest, str]:
    """Return where the Cluster stands, and the file it belongs in; a file named after the cluster still is afterwards.

    A Cluster that was given its new name by hand, while the rendered branch knows the old one, is renamed as well.
    """
    members = {cluster.name for cluster in source.loaded.desired.clusters}
    if new in members and old not in members and old in rendered_clusters(source):
        place = source.place_of(new)
        return place, place.file.path
    place = source.place_of(old)
    file = PurePosixPath(place.file.path)
    path = str(file.with_stem(new) if file.stem == old else file)
    refuse_existing_member(source, new, "" if path == place.file.path else path)
    _refuse_name_of_disconnected(source, new)
    return place, path


def _refuse_name_of_disconnected(source: MemberSource, new: str) -> None:
    """Refuse the name of a cluster that left the source and still has a folder in the rendered branch."""
    if new in rendered_clusters(source):
        branch = source.fleet.rendered_branch
        raise ConfigError(
            f"{new!r} is the name of a cluster that was disconnected: {branch} keeps clusters/{new} for it",
            hint=f"choose another name, or have it forgotten first: argosy cluster forget {new}",
        )


def _edits_of_cluster(place: LocatedManifest, old: str, new: str) -> tuple[Edit, ...]:
    if fault := cluster_name_fault(new):
        raise ConfigError(f"{new!r} is no name for a cluster: {fault}")
    names = [name for name in (*former_names_of_cluster(place.manifest["metadata"]), old) if name not in {old, new}]
    return (
        Edit(("metadata", "name"), new),
        Edit(("metadata", "annotations", RENAMED_FROM), ", ".join([*names, old])),
    )


def _policies_of_source(source: MemberSource) -> Iterator[LocatedManifest]:
    """Yield Karmada's objects that may list clusters, by file."""
    for place in _all_manifests(source):
        kind = admitted_kind(place.manifest)
        if kind is not None and kind.kind.endswith("Policy") and isinstance(place.manifest.get("spec"), dict):
            yield place


def _all_manifests(source: MemberSource) -> list[LocatedManifest]:
    lines = source.loaded.lines
    return [] if lines is None else [lines.places[key] for key in sorted(lines.places)]


def _edits_of_cluster_lists(spec: Any, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits of the lists of clusters in a policy."""
    for path, names in lists_of_clusters(spec, "spec"):
        for index, name in enumerate(names):
            if name == old:
                yield Edit((*field_path_steps(path), index), new)


def _place_of_field(source: MemberSource, place: LocatedManifest, edit: Edit) -> str:
    """Return where a field stands, as messages do."""
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in edit.path).removeprefix(".")
    return f"{place.file.path}:{source.line_of(place, field)}: {field}"


def _contents_with_fleet_file(source: MemberSource, contents: Contents, old: str, new: str) -> Contents:
    """Return the changed files with argosy.yaml: it names the member anew, and a context that had its name."""
    path = source.home.path
    content = contents.get(path) or (source.content(path) if path else None)
    if content is None:
        return contents
    place = place_of_fleet_settings(source, path, content)
    edits = tuple(_edits_of_fleet(source.fleet, place.manifest.get("spec") or {}, old, new))
    return source.with_edits(place, edits, contents) if edits else contents


def _edits_of_fleet(fleet: Fleet, spec: Any, old: str, new: str) -> Iterator[Edit]:
    listed = [access.name for access in fleet.clusters]
    if old in listed:
        index = listed.index(old)
        yield Edit(("spec", "clusters", index, "name"), new)
        if not fleet.clusters[index].context:
            yield Edit(("spec", "clusters", index, "context"), old)
    elif OTHERS in listed and not fleet.kubeconfigs:
        yield Edit(("spec", "clusters", len(listed)), {"name": new, "context": old})
    yield from (Edit(("spec", "mirrors", index), new) for index, name in enumerate(fleet.mirrors) if name == old)
    for number, pinned in enumerate((spec.get("movementGuard") or {}).get("pinned") or ()):
        for index, name in enumerate(pinned.get("clusters") or ()):
            if name == old:
                yield Edit(("spec", "movementGuard", "pinned", number, "clusters", index), new)


def _policy_tests_naming(source: MemberSource, name: str) -> Iterator[str]:
    """Yield the PolicyTests that name a cluster, as a value or as a key."""
    for place in _all_manifests(source):
        manifest = place.manifest
        is_test = manifest["kind"] == POLICY_TEST and group_of(manifest["apiVersion"]) == ARGOSY_GROUP
        if is_test and _mentions_name(manifest.get("spec"), name):
            yield f"{place.file.path}:{source.line_of(place)}"


def _mentions_name(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return name in value or any(_mentions_name(each, name) for each in value.values())
    return any(_mentions_name(each, name) for each in value) if isinstance(value, list) else bool(value == name)
