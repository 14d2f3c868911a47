"""Bindings as files: Karmada's ResourceBinding, one line per target cluster.

A fleet's bindings name clusters a million times. So the lines of a target list are made once for all bindings that
share it, and read back without the YAML parser; a file somebody wrote by hand is read as any other YAML, and so is the
list of a cluster that runs several components, which says how many replicas each has.

The record of what overrides changed is for people: it is written, and read back, as the lines it is.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct, ValidationError, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault, object_of_any_size, words_of_fault
from render.binding import Binding
from render.documents import SimilarDocuments
from render.model import Manifest, TargetCluster
from render.parsing import SharedPlacements, binding_manifest, parse_binding

_MARK = "argosy-lines"
_RECORD = re.compile(rb"\nstatus:\n  appliedOverrides:\n((?:(?:  - |    )[^\n]*\n|\n)+)")
_LINE = re.compile(rb"  - \{name: (\"?)([a-z0-9.-]+)\1(?:, replicas: ([0-9]+))?\}\n")
_LISTED = re.compile(rb"\n  clusters:\n((?:  - \{[^\n]*\n)+)(?!  -)")
_LINES = re.compile(rb"(?:  - \{name: (?:\"[a-z0-9.-]+\"|[a-z0-9.-]+)(?:, replicas: [0-9]+)?\}\n)+")
_PLAIN_NAME = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_NAMES = (("metadata", "name"), ("spec", "resource", "name"))
"""The paths of the names by which most bindings of a policy differ alone."""
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})

PlainBinding = tuple[Manifest, bytes, str]
"""A binding's file as plain data: an object, the lines of its target clusters, and those of what overrides changed."""


class BindingCache(Protocol):
    """Bindings as plain data that earlier passes read, by blob id."""

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, PlainBinding]:
        """Return what is known."""

    def put_many(self, values: Mapping[bytes, PlainBinding]) -> None:
        """Remember what was read."""


class BindingWriter(Struct):
    """Writes bindings of one pass; equal target lists are one tuple and so one text."""

    texts: dict[int, tuple[tuple[TargetCluster, ...], bytes]] = field(default_factory=dict)
    files: SimilarDocuments = field(default_factory=SimilarDocuments)

    def file_of(self, bound: Binding) -> bytes:
        """Return the file of a binding."""
        has_lines = bool(bound.targets) and not bound.recorded_components
        manifest = binding_manifest(replace(bound, targets=() if has_lines else bound.targets, applied_overrides=""))
        if has_lines:
            manifest["spec"]["clusters"] = _MARK
        if bound.applied_overrides:
            manifest.setdefault("status", {})["appliedOverrides"] = _MARK
        content = self.files.emit(manifest, _NAMES)
        if has_lines:
            content = _content_with_list_lines(content, "clusters", self._text(bound.targets))
        if bound.applied_overrides:
            content = _content_with_list_lines(content, "appliedOverrides", bound.applied_overrides.encode())
        return content

    def _text(self, targets: tuple[TargetCluster, ...]) -> bytes:
        known = self.texts.get(id(targets))
        if known is None or known[0] is not targets:
            known = self.texts[id(targets)] = (targets, target_lines(targets))
        return known[1]


def _content_with_list_lines(content: bytes, key: str, lines: bytes) -> bytes:
    """Put the lines of a list into a file where its key has the mark."""
    head, tail = content.split(f"\n  {key}: {_MARK}\n".encode(), 1)
    return b"".join((head, f"\n  {key}:\n".encode(), lines, tail))


def target_lines(targets: Iterable[TargetCluster]) -> bytes:
    r"""Return a line per target cluster, in the scheduler's order.

    >>> target_lines([TargetCluster("eu-1", 3), TargetCluster("us-1")])
    b'  - {name: eu-1, replicas: 3}\n  - {name: us-1}\n'
    """
    return "".join(
        [
            f"  - {{name: {_yaml_scalar_of_name(name)}, replicas: {replicas}}}\n"
            if replicas
            else f"  - {{name: {_yaml_scalar_of_name(name)}}}\n"
            for name, replicas in ((target.name, target.replicas) for target in targets)
        ]
    ).encode()


def _yaml_scalar_of_name(name: str) -> str:
    return name if _is_plain_scalar(name) else f'"{name}"'


def _is_plain_scalar(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and name not in _WORDS


class BindingReader(Struct):
    """Reads bindings back; equal target lists and equal placements become one value each."""

    placements: SharedPlacements = field(default_factory=SharedPlacements)
    lists: dict[bytes, tuple[TargetCluster, ...]] = field(default_factory=dict)

    def parse(self, content: bytes) -> Binding:
        """Read a binding; FileFault where the file is none."""
        return self.binding(self.plain(content))

    def plain(self, content: bytes) -> PlainBinding:
        """Return the file of a binding as plain data; FileFault where it holds no object."""
        targets, record = b"", b""
        if (found := _LISTED.search(content)) and self._targets(found.group(1)):
            targets = found.group(1)
            content = content[: found.start()] + b"\n" + content[found.end() :]
        if changed := _RECORD.search(content):
            record = changed.group(1)
            content = content[: changed.start(1)] + content[changed.end() :]
        try:
            return object_of_any_size(content), targets, record.decode()
        except UnicodeDecodeError as error:
            raise FileFault("what overrides changed is no text") from error

    def binding(self, plain: PlainBinding) -> Binding:
        """Return a binding from plain data; FileFault where a value in it is of another type."""
        manifest, targets, record = plain
        lines: dict[str, Any] = {}
        if targets:
            lines["targets"] = self._targets(targets)
        if record:
            lines["applied_overrides"] = record
        try:
            parsed = parse_binding(manifest, placements=self.placements)
        except ValidationError as error:
            raise FileFault(words_of_fault(str(error))) from error
        return replace(parsed, **lines) if lines else parsed

    def _targets(self, lines: bytes) -> tuple[TargetCluster, ...]:
        """Return the targets of the lines we write; none for lines that mean something else to a YAML parser."""
        known = self.lists.get(lines)
        if known is None:
            found = _LINE.findall(lines) if _LINES.fullmatch(lines) else []
            is_ours = all(quote or _is_plain_scalar(name.decode()) for quote, name, _ in found)
            listed = [TargetCluster(name.decode(), int(replicas or 0)) for _, name, replicas in found if is_ours]
            known = self.lists[lines] = tuple(listed)
        return known
