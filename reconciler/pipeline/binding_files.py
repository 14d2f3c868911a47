"""Bindings as files: Karmada's ResourceBinding, one line per target cluster.

A fleet's bindings name clusters a million times. So the lines of a target list are made once for all bindings that
share it, and read back without the YAML parser; a file somebody wrote by hand is read as any other YAML, and so is the
list of a cluster that runs several components, which says how many replicas each has.

The record of what overrides changed is for people: it is written, and read back, as the lines it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, cast

from msgspec import Struct, ValidationError, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault, object_of_any_size, words_of_fault
from render.binding import Binding
from render.documents import SimilarDocuments, emit
from render.expressions import lazy_expression
from render.gitobjects import Joined
from render.model import Manifest, TargetCluster
from render.parsing import SharedPlacements, binding_manifest, json_text_of_placement, parse_binding, plain_placement
from render.parsing.bindings import APPLIED_PLACEMENT
from render.placement import Placement

_MARK, _KEY = "argosy-lines", "placement"
_RECORD = lazy_expression(rb"\nstatus:\n  appliedOverrides:\n((?:(?:  - |    )[^\n]*\n|\n)+)")
_LINE = lazy_expression(rb"  - \{name: (\"?)([a-z0-9.-]+)\1(?:, replicas: ([0-9]+))?\}")
_LISTED = lazy_expression(rb"\n  clusters:\n((?:  - \{[^\n]*\n)+)(?!  -)")
_PLACEMENT = lazy_expression(rb"\n  placement:(\n(?:    [^\n&*]*\n)+)(?!  [ \n]| ?[\n#-])")
_ANNOTATION = lazy_expression(rb"\n    policy\.karmada\.io/applied-placement:( \"[^\n]+\"\n)(?!     |\n)")
_TOP, _ABOVE_ANNOTATIONS = lazy_expression(rb"\n[^ \n]"), lazy_expression(rb"\n {0,3}[^ \n]")
_PLAIN_NAME = lazy_expression(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_APPLIED = f"\n    {APPLIED_PLACEMENT}:".encode()
_NAMES = (("metadata", "name"), ("spec", "resource", "name"))
_NAMES_AND_REPLICAS = (*_NAMES, ("spec", "replicas"))
"""The paths of the names and the number by which most bindings of a policy differ alone."""
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class PlainBinding(NamedTuple):
    """A binding's file as plain data: an object, the lines of what overrides changed, and texts that many share.

    These are the lines of its target clusters, and what follows the keys of its placement and of the one that it was
    last placed by (empty: the object has it).
    """

    manifest: Manifest
    changes: str
    targets: bytes = b""
    placement: bytes = b""
    applied: bytes = b""


class BindingCache(Protocol):
    """Bindings as plain data that earlier passes read, by blob id."""

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, PlainBinding]:
        """Return what is known."""

    def put_many(self, values: Mapping[bytes, PlainBinding]) -> None:
        """Remember what was read."""


class _LineByTarget(dict[TargetCluster, str]):
    r"""The line of each target cluster, made once: a fleet's bindings have the same few numbers for each cluster.

    >>> _LineByTarget()[TargetCluster("eu-1", 3)]
    '  - {name: eu-1, replicas: 3}\n'
    >>> _LineByTarget()[TargetCluster("us-1")]
    '  - {name: us-1}\n'
    """

    def __missing__(self, target: TargetCluster) -> str:
        replicas = f", replicas: {target.replicas}" if target.replicas else ""
        line = self[target] = f"  - {{name: {_yaml_scalar_of_name(target.name)}{replicas}}}\n"
        return line


class _TargetByLine(dict[bytes, TargetCluster | None]):
    r"""The target of each line, read once; None for a line that means something else to a YAML parser.

    >>> _TargetByLine()[b"  - {name: eu-1, replicas: 3}"]
    TargetCluster(name='eu-1', replicas=3)
    >>> _TargetByLine()[b"  - {name: no, replicas: 3}"]
    """

    def __missing__(self, line: bytes) -> TargetCluster | None:
        found, target = _LINE.fullmatch(line), None
        if found and (found[1] or _is_plain_scalar(found[2].decode())):
            target = TargetCluster(found[2].decode(), int(found[3] or 0))
        self[line] = target
        return target


class BindingWriter(Struct):
    """Writes bindings of one pass; equal target lists and placements are one value each, and so one text."""

    texts: dict[int, tuple[tuple[TargetCluster, ...], bytes]] = field(default_factory=dict)
    lines: _LineByTarget = field(default_factory=_LineByTarget)
    placements: dict[int, tuple[Placement, tuple[bytes, bytes]]] = field(default_factory=dict)
    files: SimilarDocuments = field(default_factory=SimilarDocuments)

    def file_of(self, bound: Binding) -> Joined:
        """Return the file of a binding."""
        manifest, lines = self._manifest_with_marks(bound)
        names = _NAMES_AND_REPLICAS if "replicas" in manifest["spec"] else _NAMES
        texts: dict[bytes, bytes] = {}
        if bound.applied_placement is not None:
            texts[_APPLIED] = self._texts_of_placement(bound.applied_placement)[0]
        if bound.placement is not None:
            texts[b"\n  placement:"] = self._texts_of_placement(bound.placement)[1]
        if lines:
            texts[b"\n  clusters:"] = lines
        if bound.applied_overrides:
            texts[b"\n  appliedOverrides:"] = b"\n" + bound.applied_overrides.encode()
        return Joined(_parts_with_texts(self.files.emit(manifest, names), texts))

    def _manifest_with_marks(self, bound: Binding) -> tuple[Manifest, bytes]:
        """Return a binding with a mark in each place of a text that is written once, and the lines of its targets."""
        lists_components = bool(bound.recorded_components)
        lines = self._text(bound.targets) if bound.targets and not lists_components else b""
        manifest = binding_manifest(
            replace(
                bound,
                targets=() if lines else bound.targets,
                # By its placement a binding knows whether each target lists its components.
                placement=bound.placement if lists_components else None,
                applied_placement=bound.applied_placement if lists_components else None,
                applied_overrides="",
            )
        )
        if bound.applied_placement is not None:
            manifest["metadata"].setdefault("annotations", {})[APPLIED_PLACEMENT] = _MARK
        if bound.placement is not None:
            manifest["spec"]["placement"] = _MARK
        if lines:
            manifest["spec"]["clusters"] = _MARK
        if bound.applied_overrides:
            manifest.setdefault("status", {})["appliedOverrides"] = _MARK
        return manifest, lines

    def _text(self, targets: tuple[TargetCluster, ...]) -> bytes:
        known = self.texts.get(id(targets))
        if known is None or known[0] is not targets:
            lines = ("\n", *map(self.lines.__getitem__, targets))
            known = self.texts[id(targets)] = (targets, "".join(lines).encode())
        return known[1]

    def _texts_of_placement(self, placement: Placement) -> tuple[bytes, bytes]:
        """Return what follows the key of a placement: in the annotation, and in the spec."""
        known = self.placements.get(id(placement))
        if known is None or known[0] is not placement:
            text, plain = json_text_of_placement(placement), plain_placement(placement)
            emitted = emit({"metadata": {"annotations": {_KEY: text}}}), emit({"spec": {_KEY: plain}})
            annotation, spec = (each.split(f"{_KEY}:".encode(), 1)[1] for each in emitted)
            known = self.placements[id(placement)] = (placement, (annotation, spec))
        return known[1]


def _parts_with_texts(content: bytes, text_by_key: Mapping[bytes, bytes]) -> tuple[bytes, ...]:
    """Return the parts of a file that has texts where their keys have the mark; the texts are parts of their own."""
    mark = b" %s\n" % _MARK.encode()
    parts: list[bytes] = []
    written = 0
    for place, key in sorted((content.index(key + mark) + len(key), key) for key in text_by_key):
        parts += (content[written:place], text_by_key[key])
        written = place + len(mark)
    return (*parts, content[written:])


def _content_without_placements(content: bytes) -> tuple[bytes, bytes, bytes]:
    """Take the texts of both placements out of a file, or none: the one counts where the other cannot be read."""
    rest, placement = _content_without_text(content, _PLACEMENT, b"\nspec:\n", _TOP)
    rest, applied = _content_without_text(rest, _ANNOTATION, b"\n  annotations:\n", _ABOVE_ANNOTATIONS)
    is_partial = not applied and APPLIED_PLACEMENT.encode() in rest
    return (content, b"", b"") if is_partial else (rest, placement, applied)


def _content_without_text(
    content: bytes, text: re.Pattern[bytes], above: bytes, ending: re.Pattern[bytes]
) -> tuple[bytes, bytes]:
    """Take a text of ours out of a file, if it stands below the line ``above`` and no line ends what is below that."""
    found = text.search(content)
    place = content.rfind(above, 0, found.start() + 1) if found else -1
    if found is None or place < 0 or ending.search(content, place + len(above) - 1, found.start()):
        return content, b""
    return content[: found.start()] + b"\n" + content[found.end() :], found.group(1)


def _yaml_scalar_of_name(name: str) -> str:
    return name if _is_plain_scalar(name) else f'"{name}"'


def _is_plain_scalar(name: str) -> bool:
    return _PLAIN_NAME.fullmatch(name) is not None and name not in _WORDS


class BindingReader(Struct):
    """Reads bindings back; equal target lists and equal placements become one value each, and one text."""

    placements: SharedPlacements = field(default_factory=SharedPlacements)
    lists: dict[bytes, tuple[TargetCluster, ...]] = field(default_factory=dict)
    lines: _TargetByLine = field(default_factory=_TargetByLine)
    texts: dict[bytes, Placement | None] = field(default_factory=dict)
    shared: dict[bytes, bytes] = field(default_factory=dict)

    def parse(self, content: bytes) -> Binding:
        """Read a binding; FileFault where the file is none."""
        return self.binding(self.plain(content))

    def plain(self, content: bytes) -> PlainBinding:
        """Return the file of a binding as plain data; FileFault where it holds no object."""
        targets, record = b"", b""
        if (found := _LISTED.search(content)) and self._targets(found.group(1)):
            targets = found.group(1)
            content = content[: found.start()] + b"\n" + content[found.end() :]
        content, placement, applied = _content_without_placements(content)
        if changed := _RECORD.search(content):
            record = changed.group(1)
            content = content[: changed.start(1)] + content[changed.end() :]
        try:
            texts = [self.shared.setdefault(each, each) for each in (targets, placement, applied)]
            return PlainBinding(object_of_any_size(content), record.decode(), *texts)
        except UnicodeDecodeError as error:
            raise FileFault("what overrides changed is no text") from error

    def binding(self, plain: PlainBinding) -> Binding:
        """Return a binding from plain data; FileFault where a value in it is of another type."""
        lines: dict[str, Any] = {}
        if plain.targets:
            lines["targets"] = self._targets(plain.targets)
        if plain.changes:
            lines["applied_overrides"] = plain.changes
        try:
            parsed = parse_binding(plain.manifest, placements=self.placements)
            if plain.placement:
                lines["placement"] = self._placement(plain.placement, self.placements.of_record)
        except ValidationError as error:
            raise FileFault(words_of_fault(str(error))) from error
        if plain.applied:
            # To Karmada's scheduler an annotation it cannot read is no change of placement.
            applied = self._placement(plain.applied, self.placements.of_text)
            lines["applied_placement"] = applied or lines.get("placement", parsed.placement)
        return replace(parsed, **lines) if lines else parsed

    def _placement(self, text: bytes, read: Callable[[Any], Placement | None]) -> Placement | None:
        """Return the placement that stands behind a key; it is read once, however many bindings have it."""
        if text not in self.texts:
            self.texts[text] = read(object_of_any_size(f"{_KEY}:".encode() + text)[_KEY])
        return self.texts[text]

    def _targets(self, lines: bytes) -> tuple[TargetCluster, ...]:
        """Return the targets of the lines we write; none for lines that mean something else to a YAML parser."""
        known = self.lists.get(lines)
        if known is None:
            found = tuple(map(self.lines.__getitem__, lines.removesuffix(b"\n").split(b"\n")))
            known = self.lists[lines] = () if None in found else cast("tuple[TargetCluster, ...]", found)
        return known
