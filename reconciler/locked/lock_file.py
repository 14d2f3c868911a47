"""argosy.lock, read and written: one entry for each Source, in order of name."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from reconciler.repository.refs import is_ref_name
from render.documents import DocumentErrors, emit, parse_documents
from render.errors import InputError, Problem
from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION

from .model import LOCK_FILE, Lock, LockedSource, SourceType, UnavailableSource

_KIND, _REMOTE_HEAD = "Lock", "HEAD"
_DIGEST = lazy_expression(r"sha256:[0-9a-f]{64}")
COMMIT = lazy_expression(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""A commit in full: what else git would take for one may be an option, a branch, or the order to write one."""

_RESOLVED = {
    SourceType.GIT: ("commit",),
    SourceType.OCI: ("digest",),
    SourceType.HELM: ("url", "digest"),
    SourceType.HTTP: ("digest",),
}
"""The fields that a resolved place has at the least."""

_FORMS = {"commit": COMMIT, "digest": _DIGEST}
"""The forms of those that become arguments of git or parts of an address."""

_HEAD = b"# Written by argosy lock. Commit it: a render reads exactly these versions.\n"
_HINT = "write it anew: argosy lock"


def lock_path(folder: str) -> str:
    """Return the path of the lock of the fleet at ``folder``.

    >>> lock_path("fleet")
    'fleet/argosy.lock'
    """
    return f"{folder}/{LOCK_FILE}" if folder else LOCK_FILE


def parse_lock(content: bytes, path: str = LOCK_FILE) -> Lock:
    """Read argosy.lock; InputError where it is not as Argosy writes it."""
    try:
        values = [document.value for document in parse_documents(content)]
    except DocumentErrors as error:
        raise InputError([Problem(path, each.line, "", each.message, _HINT) for each in error.errors]) from error
    value = values[0] if len(values) == 1 else None
    if not isinstance(value, dict) or value.get("apiVersion") != ARGOSY_API_VERSION or value.get("kind") != _KIND:
        raise InputError([Problem(path, 0, "", f"must be one document of kind {_KIND}", _HINT)])
    entries = value.get("sources") or []
    problems = list(_problems_of_entries(entries, path))
    if problems:
        raise InputError(problems)
    locked = (_locked_source_of_entry(entry) for entry in entries)
    return Lock(path=path, sources={each.name: each for each in sorted(locked, key=lambda each: each.name)})


def lock_as_bytes(lock: Lock) -> bytes:
    """Return the bytes of argosy.lock."""
    entries = [_entry_of_source(lock.sources[name]) for name in sorted(lock.sources)]
    return _HEAD + emit({"apiVersion": ARGOSY_API_VERSION, "kind": _KIND, "sources": entries})


def _entry_of_source(source: LockedSource) -> Mapping[str, Any]:
    entry = {
        "name": source.name,
        "spec": dict(source.spec),
        "resolved": dict(source.resolved),
        "content": source.content,
    }
    return {**entry, "vendored": source.vendored} if source.vendored else entry


def _locked_source_of_entry(entry: Mapping[str, Any]) -> LockedSource:
    return LockedSource(
        name=entry["name"],
        spec=entry["spec"],
        resolved=entry["resolved"],
        content=entry["content"],
        vendored=entry.get("vendored", ""),
    )


def _problems_of_entries(entries: Any, path: str) -> Iterator[Problem]:
    """Yield a problem for each entry that cannot be meant."""
    if not isinstance(entries, list):
        yield Problem(path, 0, "sources", "must be a list", _HINT)
        return
    names: set[str] = set()
    for number, entry in enumerate(entries):
        fault = _fault_of_lock_entry(entry)
        if not fault and entry["name"] in names:
            fault = f"{entry['name']!r} stands above"
        if fault:
            yield Problem(path, 0, f"sources[{number}]", fault, _HINT)
        else:
            names.add(entry["name"])


def _fault_of_lock_entry(entry: Any) -> str:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return "must have a name"
    if not isinstance(entry.get("spec"), dict):
        return "must have the spec of the Source"
    resolved = entry.get("resolved")
    if not isinstance(resolved, dict) or not all(isinstance(value, str) for value in resolved.values()):
        return "must say what was resolved"
    if not _DIGEST.fullmatch(str(entry.get("content"))):
        return "must have the digest of the content: sha256: and 64 hexadecimal digits"
    vendored = entry.get("vendored", "")
    is_inside = isinstance(vendored, str) and not PurePosixPath(vendored).is_absolute() and ".." not in vendored
    return "" if is_inside else "vendored must be a folder beside argosy.lock"


def check_fetchable(locked: LockedSource) -> None:
    """Check that an entry says where its content is, before anybody is asked; UnavailableSource where it does not.

    Whoever may change the source may have written it, and not argosy lock.
    """
    type_ = _source_type_of_spec(locked.spec)
    lacking = "an address" if type_ is None else ""
    for key in _RESOLVED[type_] if type_ else ():
        text = locked.resolved.get(key, "")
        if not (is_parsable_address(text) if key == "url" else _FORMS[key].fullmatch(text)):
            lacking = f"a {key}"
    ref = locked.resolved.get("ref", _REMOTE_HEAD)
    if type_ is SourceType.GIT and ref != _REMOTE_HEAD and not is_ref_name(ref):
        lacking = "a whole ref"
    if lacking:
        message = f"{LOCK_FILE} has no entry by which Source {locked.name!r} can be fetched: it lacks {lacking}"
        raise UnavailableSource(message, hint=f"write it anew: argosy lock --update {locked.name}")


def _source_type_of_spec(spec: Mapping[str, Any]) -> SourceType | None:
    """Return the kind of place that a spec names with an address that can be read; None where it names none."""
    found = [each for each in SourceType if each.value in spec]
    place = spec[found[0].value] if len(found) == 1 else None
    url = place.get("url") if isinstance(place, dict) else None
    return found[0] if isinstance(url, str) and is_parsable_address(url) else None


def is_parsable_address(url: str) -> bool:
    """Say whether an address has parts: no host in brackets is cut off, and no letter is one of control.

    A backslash ends the host for some readers and not for others, so that two of them would mean two hosts.
    """
    try:
        urlsplit(url)
    except ValueError:
        return False
    return bool(url) and url.isprintable() and "\\" not in url
