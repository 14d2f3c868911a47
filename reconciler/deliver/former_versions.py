"""Managed fields that are recorded in a former version of a kind, moved to the version that an object is applied in.

Managed fields are kept by API version, and a server converts an object to each of these versions to apply to it. It
refuses where it cannot: the object has a field that the former version lacks, or that version is gone. It does so
for ever, for nobody else changes the record. Our own entry is moved then, with all of those that no version served can
read; should the server still refuse, so are the entries in the version it names. No value and no claim changes by it.

All that cannot be read has to move at once: of a record with an entry left in a version that is gone a server keeps
nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Client, Failure
from reconciler.members.refusals import FORMER_VERSION
from reconciler.plans.stages import is_builtin
from render.model import Manifest, ObjectRef
from render.words import first_few

from .ownership import set_managed_fields

Entry = Mapping[str, Any]


class FormerEntries(Struct, frozen=True, kw_only=True):
    """The entries of an object's managed fields, of which some ``are_moved`` to the version of ``resource``.

    ``manager`` is ours.
    """

    resource: Resource
    manager: str
    entries: tuple[Entry, ...]
    are_moved: tuple[bool, ...]

    @property
    def moved_entries(self) -> tuple[dict[str, Any], ...]:
        """All entries, in the versions that they are to be recorded in."""
        pairs = zip(self.entries, self.are_moved, strict=True)
        version = {"apiVersion": self.resource.api_version}
        return tuple({**entry, **(version if is_moved else {})} for entry, is_moved in pairs)

    @property
    def sentence_about_foreign_entries(self) -> str:
        """A sentence about the entries of others that are moved; empty where there are none."""
        others = [entry for entry in self._entries_to_move() if not _is_entry_of_manager(entry, self.manager)]
        if not others:
            return ""
        managers = first_few(sorted({repr(str(entry.get("manager"))) for entry in others}))
        versions = first_few(sorted({str(entry.get("apiVersion")) for entry in others}))
        return (
            f"the managed fields of {managers} in {versions}, which kept it from being applied, are recorded in"
            f" {self.resource.api_version} now"
        )

    def _entries_to_move(self) -> Iterator[Entry]:
        return (entry for entry, is_moved in zip(self.entries, self.are_moved, strict=True) if is_moved)


def entries_in_former_versions(
    live: Manifest, resource: Resource, discovery: Discovery, failure: Failure, manager: str
) -> FormerEntries | None:
    """Return the entries that keep an object from being applied; None where none is known to."""
    entries = tuple(live["metadata"].get("managedFields") or ())
    former = [str(entry.get("apiVersion")) != resource.api_version for entry in entries]
    first = tuple(
        is_former
        and (_is_entry_of_manager(entry, manager) or not _is_version_of_entry_served(entry, resource, discovery))
        for entry, is_former in zip(entries, former, strict=True)
    )
    named = {cause.field for cause in failure.causes if cause.reason == FORMER_VERSION}
    then = tuple(
        is_former and (not named or str(entry.get("apiVersion")) in named)
        for entry, is_former in zip(entries, former, strict=True)
    )
    chosen = first if any(first) else then
    if not any(chosen):
        return None
    return FormerEntries(resource=resource, manager=manager, entries=entries, are_moved=chosen)


def _is_entry_of_manager(entry: Entry, manager: str) -> bool:
    return entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource")


def _is_version_of_entry_served(entry: Entry, resource: Resource, discovery: Discovery) -> bool:
    return discovery.resource(str(entry.get("apiVersion")), resource.kind) is not None


def with_served_versions(live: Manifest, resource: Resource, discovery: Discovery) -> Manifest:
    """Return an object whose managed fields are in versions that are served, for whoever is about to write them.

    Kubernetes' own kinds are left alone: of these a server drops such an entry by itself, and no other with it.
    """
    entries = live["metadata"].get("managedFields") or ()
    if is_builtin(resource.group) or all(_is_version_of_entry_served(entry, resource, discovery) for entry in entries):
        return live
    moved = [
        dict(entry)
        if _is_version_of_entry_served(entry, resource, discovery)
        else {**entry, "apiVersion": resource.api_version}
        for entry in entries
    ]
    return {**live, "metadata": {**live["metadata"], "managedFields": moved}}


def move_entries_to_served_version(
    client: Client, ref: ObjectRef, live: Manifest, found: FormerEntries
) -> Answer | Failure:
    """Record the entries in the version of the manifest, unless the object changed since it was read."""
    return set_managed_fields(client, found.resource.path(ref), live, found.moved_entries, found.manager)
