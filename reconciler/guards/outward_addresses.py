"""Addresses in a source at which somebody is asked: those of webhooks, and those at which Sources are fetched.

They are settings like those of argosy.yaml: a change of them waits until a person has accepted it. An entry of
argosy.lock that moves to another version of an address that is in force is everyday work, and does not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from reconciler.branches.in_force import changes_of_fleet_source
from reconciler.branches.reading import read_loaded, snapshot_of_worktree
from reconciler.console.cleaning import without_passwords
from reconciler.locked.addresses import KnownAddresses, LockedAddress, addresses_of
from reconciler.locked.model import Lock
from reconciler.locked.reading import RepositoryFiles
from reconciler.repository import Repository
from reconciler.source.external import read_lock_of_sources
from reconciler.source.files import SourceFile
from reconciler.source.fleet_file import FleetSource, load_fleet
from render.fleet_settings import SettingChange, SettingSubject
from render.model import Manifest, Template

ReadIds = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]


class SettingsSide(NamedTuple):
    """The settings of one side of a comparison: of argosy.yaml, of the lock among its files, and its webhooks."""

    home: FleetSource
    files: Sequence[SourceFile]
    webhooks: Sequence[Template]

    @classmethod
    def of(cls, repository: Repository, files: Sequence[SourceFile], webhooks: Sequence[Template]) -> "SettingsSide":
        """Return the side of a source, as far as it could be loaded."""
        return cls(load_fleet(files, folder=repository.folder.under, read=repository.read_blobs), files, webhooks)

    @classmethod
    def at(cls, repository: Repository, commit: str) -> "SettingsSide":
        """Return the side of a commit ("": the work tree), whatever is wrong in its other files."""
        loaded = read_loaded(repository, commit, facts=None)
        files = loaded.files or (repository.snapshot(commit) if commit else snapshot_of_worktree(repository)).files
        return cls.of(repository, files, loaded.desired.webhooks)


def settings_changed_between(
    repository: Repository, before: SettingsSide, after: SettingsSide
) -> tuple[SettingChange, ...]:
    """Return the settings in which two sides differ; an argosy.yaml that cannot be read differs in none of its own."""
    is_readable = not (before.home.problems or after.home.problems)
    return (
        *(changes_of_fleet_source(before.home, after.home) if is_readable else ()),
        *webhook_changes(*([each.manifest for each in side.webhooks] for side in (before, after))),
        *lock_changes(*(lock_among_files(repository, side.files, side.home) for side in (before, after))),
    )


def lock_among_files(repository: Repository, files: Sequence[SourceFile], home: FleetSource) -> Lock:
    """Return the argosy.lock of a fleet among files; empty where there is none, or none that can be read."""
    found = read_lock_of_sources((), RepositoryFiles(files, folder=home.folder, read=repository.read_blobs), None)
    return found.locked.lock if found.locked is not None else Lock()


def lock_changes(before: Lock, after: Lock) -> tuple[SettingChange, ...]:
    """Return the addresses of a lock that no entry of the one before has, each with what stood there before."""
    known = KnownAddresses.of(before.sources.values())
    return tuple(
        SettingChange(
            field=f"Source {name}: {address.field}",
            before=_address_before(before, name, address),
            after=without_passwords(address.text),
            waits=True,
            subject=SettingSubject.SOURCE,
        )
        for name, locked in sorted(after.sources.items())
        for address in known.unknown_addresses(locked)
    )


def _address_before(lock: Lock, name: str, address: LockedAddress) -> str | None:
    """Return the address that an entry of this name had in the same field."""
    found = addresses_of(lock.sources[name]) if name in lock.sources else ()
    return next((without_passwords(each.text) for each in found if each.field == address.field), None)


def webhook_changes(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[SettingChange, ...]:
    """Return the webhooks of the interpreter that are asked at another address, or that nobody asked before."""
    old, new = _addresses_of_webhooks(before), _addresses_of_webhooks(after)
    return tuple(
        SettingChange(field=name, before=old.get(name), after=new[name], waits=True, subject=SettingSubject.WEBHOOK)
        for name in sorted(new)
        if old.get(name) != new[name]
    )


def _addresses_of_webhooks(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Return where each webhook of the configurations is asked, and by whose authority it is believed."""
    found = {}
    for manifest in manifests:
        for webhook in manifest.get("webhooks") or ():
            client = webhook.get("clientConfig") or {}
            name = f"{manifest['kind']} {manifest['metadata']['name']}: {webhook.get('name')}"
            found[name] = _address_of_client_config(client)
    return found


def _address_of_client_config(client: Manifest) -> str:
    service = client.get("service") or {}
    place = client.get("url") or f"service {service.get('namespace')}/{service.get('name')}:{service.get('port', 443)}"
    path = f"{service.get('path')}" if service.get("path") else ""
    bundle = str(client.get("caBundle") or "")
    return without_passwords(f"{place}{path}") + (
        f" by the authority {sha256(bundle.encode()).hexdigest()[:12]}" if bundle else ""
    )
