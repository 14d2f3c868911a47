"""``argosy cluster join``: a Cluster file for a new member and, where a context is named for it, a line in argosy.yaml.

Passes apply to the clusters that argosy.yaml lists. So that line can change what they do, and the command says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from overrides.admission import admit
from reconciler.pipeline.claims import claims_of
from reconciler.pipeline.unknown_room import policies_of_unknown_room
from reconciler.source.desired import Desired
from reconciler.source.manifests import LocatedManifest
from render.documents import emit, parse_documents
from render.documents.editing import Edit
from render.errors import ConfigError, InputError
from render.model import ARGOSY_API_VERSION, CLUSTER_API_VERSION
from render.scheduling.unknown_capacity import hint_to_make_capacity_known
from render.words import first_few

from .cluster_files import Contents, MemberSource, SourceChange
from .labels import parse_labels, parse_taints, taint_as_plain_data, unread_places
from .member_fields import MemberFields, status_of_capacity
from .member_selection import names_in_subject


class NewMember(Struct, frozen=True, kw_only=True):
    """A member that is to join: its place and capacity, its labels and taints, and the context that reaches it.

    ``mode`` is its syncMode; one that pulls has no context.
    """

    name: str
    fields: MemberFields = MemberFields()
    labels: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()
    context: str = ""
    mode: str = "Push"

    def manifest(self) -> dict[str, Any]:
        """Return the Cluster."""
        wanted, removed = parse_labels(self.labels)
        if removed:
            raise click.UsageError("--label sets labels: write key=value")
        taints, gone = parse_taints(self.taints)
        if gone:
            raise click.UsageError("--taint sets taints: write key=value:effect")
        labels = {"labels": dict(wanted)} if wanted else {}
        place = {
            "provider": self.fields.provider,
            "region": self.fields.region,
            "taints": [taint_as_plain_data(taint) for taint in taints],
            "zones": list(self.fields.zones),
        }
        return {
            "apiVersion": CLUSTER_API_VERSION,
            "kind": "Cluster",
            "metadata": {"name": self.name, **labels},
            "spec": {"syncMode": self.mode, **{key: value for key, value in place.items() if value}},
            **status_of_capacity(self.fields.capacity),
        }

    def unread_places(self) -> Mapping[str, str]:
        """Return what its labels say of its place, and its spec does not."""
        return unread_places(self.manifest(), dict(parse_labels(self.labels).wanted))

    def checked_manifest(self, path: str) -> dict[str, Any]:
        """Return the Cluster for a file; InputError where it is none, such as one whose name leads elsewhere."""
        manifest = self.manifest()
        if problems := admit(manifest).problems:
            raise InputError(replace(problem, path=path) for problem in problems)
        return manifest


def change_that_joins(source: MemberSource, members: Sequence[NewMember]) -> tuple[SourceChange, Desired]:
    """Return the Clusters of new members, with a context that is not named like its member, and the new source."""
    contents: dict[str, bytes | None] = {}
    for member in members:
        path = _path_of_new_cluster(source, member.name)
        manifest = member.checked_manifest(path)
        refuse_existing_member(source, member.name, path)
        contents[path] = emit(manifest)
    if len(members) == 1:
        contents |= files_with_changed_context(source, members[0].name, members[0].context)
    after = source.checked_source(contents).desired
    known = {cluster.name for cluster in after.clusters}
    for member in members:
        if member.name not in known:
            raise ConfigError(
                f"{_path_of_new_cluster(source, member.name)} would not be read: source.paths or an ignore file leaves"
                " it out",
                hint=f"add the folder to source.paths in {source.home.expected_path}",
            )
    subject = f"Join {names_in_subject(member.name for member in members)}"
    return SourceChange(contents=contents, subject=subject), after


def capacity_warning(name: str, desired: Desired) -> str:
    """Return what policies withhold from a new member until its capacity is known; empty where that is nothing."""
    found = policies_of_unknown_room(desired, desired.clusters, claims_of(desired, {}))
    policies = [str(policy) for policy, names in found if name in names]
    if not policies:
        return ""
    verb = "divides" if len(policies) == 1 else "divide"
    why = f"it gets no new replicas from {first_few(policies)}, which {verb} by room"
    return f"no capacity is known of {name}, so that {why}\n  hint: {hint_to_make_capacity_known(name)}"


def _path_of_new_cluster(source: MemberSource, name: str) -> str:
    return "/".join(filter(None, (source.home.folder, "clusters", f"{name}.yaml")))


def refuse_existing_member(source: MemberSource, name: str, path: str) -> None:
    """Refuse the name of a member, and the path of a file, that is there already."""
    if name in {cluster.name for cluster in source.loaded.desired.clusters}:
        place = source.place_of(name)
        raise ConfigError(
            f"{name!r} is a member already: {place.file.path}:{source.line_of(place)}",
            hint=f"argosy cluster label {name} key=value changes it",
        )
    if any(file.path == path for file in source.files):
        raise ConfigError(f"{path} is there already and holds no Cluster called {name!r}", hint="move that file away")


def files_with_changed_context(source: MemberSource, name: str, context: str) -> Contents:
    """Return argosy.yaml with the context of a new member; nothing where it stays as it is."""
    if not context:
        return {}
    path = source.home.path or source.home.expected_path
    listed = [access.name for access in source.fleet.clusters]
    item = {"name": name, **({"context": context} if context != name else {})}
    edits = []
    if name in listed:
        edits.append(Edit(("spec", "clusters", listed.index(name))))
    if context != name or source.fleet.reachable_members is not None:
        edits.append(Edit(("spec", "clusters", len(listed) - len(edits)), item))
    if not edits:
        return {}
    content = source.content(path)
    if content is None:
        head = {"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet", "metadata": {"name": "default"}}
        return {path: emit({**head, "spec": {"clusters": [item]}})}
    return source.with_edits(place_of_fleet_settings(source, path, content), edits)


def fleet_file_without_members(source: MemberSource, names: Iterable[str], contents: Contents) -> Contents:
    """Return changed files with argosy.yaml, which lists members no more."""
    path = source.home.path
    listed = [access.name for access in source.fleet.clusters]
    # The last one first, so that the places of those before it stay as they are.
    for index in sorted((listed.index(name) for name in names if name in listed), reverse=True):
        place = place_of_fleet_settings(source, path, contents.get(path) or source.content(path) or b"")
        contents = source.with_edits(place, [Edit(("spec", "clusters", index))], contents)
    return contents


def place_of_fleet_settings(source: MemberSource, path: str, content: bytes) -> LocatedManifest:
    """Return where the settings of the fleet stand in a file."""
    documents = [each for each in parse_documents(content) if each.value]
    document = next(each for each in documents if isinstance(each.value, dict) and each.value.get("kind") == "Fleet")
    file = next(file for file in source.files if file.path == path)
    return LocatedManifest(document.value, file, document.index, document.index)
