"""The fleet of another federation, read from files and written as files of ours, with a report of what became of each.

Nothing of it is asked of a cluster. The values of Secrets and tokens are never copied.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.ledger.facts import Facts
from reconciler.members.exchange import Failure
from render.documents import DocumentErrors, parse_documents
from render.errors import ConfigError, Problem
from render.federations import FEDERATIONS, RULE_BY_CODE, federation_named, federations_found_in
from render.federations.federation import Federation
from render.federations.policies import WrittenObject, files_of_written_objects, objects_written_for
from render.federations.units import Conversion, Grade, Placed
from render.federations.unread import unread_federations_among
from render.model import group_of, is_encrypted_by_sops
from render.words import counted_noun

_SILENT = frozenset({"kind-left-out"})
"""The codes of what nobody misses."""
_ENDINGS = frozenset({".yaml", ".yml", ".json"})
_MOST_BYTES = 64 << 20
_HINT_ON_UNREAD = "write its placements as PropagationPolicies of Karmada"
_HINT = f"--from names one: {', '.join(each.name for each in FEDERATIONS)}"


class Line(NamedTuple):
    """One line of the report: a document, how well it was converted, and why not better."""

    grade: Grade
    subject: str
    origin: str
    code: str
    message: str

    @property
    def has_remark_to_show(self) -> bool:
        """Say whether there is something to know about a document that is the same."""
        return bool(self.code) and self.code not in _SILENT

    @property
    def rule(self) -> str:
        """The rule of the federation that it is about; empty for none."""
        return RULE_BY_CODE.get(self.code, "")


class Import(Struct, frozen=True, kw_only=True):
    """The files to write by path, the report, and how many documents are of no other federation.

    ``objects`` are those in the files. ``warnings`` are what ``argosy validate`` warns of in the files, once that was
    asked. ``failures`` are the clusters that could not be read, where some were. ``facts`` are what a control plane
    that was read knows of its members.
    """

    system: str
    files: Mapping[str, bytes]
    lines: tuple[Line, ...]
    objects: tuple[WrittenObject, ...] = ()
    warnings: tuple[Problem, ...] = ()
    others: int = 0
    failures: Mapping[str, Failure] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)

    @property
    def is_refused(self) -> bool:
        """Say whether anything was refused."""
        return any(line.grade is Grade.REFUSED for line in self.lines)


def import_of_folder(folder: Path, system: str | None = None) -> Import:
    """Convert the documents below a folder, or those of standard input for ``-``, from a system or the one they tell.

    ConfigError names every file that cannot be read, and every document that SOPS encrypted and files would be made of,
    and says where nothing of another federation is found.
    """
    documents = list(_objects_below_folder(folder))
    federation = _federation_of_documents(folder, documents) if system is None else federation_named(system)
    conversion = federation.convert(documents, labels_of_clusters_among(documents)).without_secrets()
    _refuse_ciphertext(documents, conversion)
    if not (conversion.units or conversion.members or conversion.kept or conversion.left):
        raise ConfigError(f"{folder} holds no document of {federation.title}", hint=_HINT)
    objects = objects_written_for(conversion)
    return Import(
        system=federation.title,
        objects=tuple(objects),
        files=files_of_written_objects(objects),
        lines=report_lines_of_conversion(conversion),
        others=conversion.others,
    )


def _refuse_ciphertext(documents: Iterable[Placed], conversion: Conversion) -> None:
    """Refuse ciphertext, which files that are made of it would have as values."""
    used = {unit.origin for unit in conversion.units} | {each.origin for each in conversion.kept}
    used |= {origin for origin, _ in conversion.members}
    sealed = {each.origin: None for each in documents if is_encrypted_by_sops(each.manifest) and each.origin in used}
    if sealed:
        lines = [f"{origin}: sops: SOPS encrypted it, and nothing decrypts what is imported" for origin in sealed]
        raise ConfigError("\n".join(lines), hint="decrypt what is to be imported first: sops decrypt FILE")


def _federation_of_documents(folder: Path, documents: list[Placed]) -> Federation:
    found = federations_found_in(each.manifest for each in documents)
    if not found:
        unread = unread_federations_among(group_of(str(each.manifest.get("apiVersion", ""))) for each in documents)
        if unread:
            what = f"holds documents of {' and '.join(unread)}, and Argosy does not read them"
            raise ConfigError(f"{folder} {what}", hint=_HINT_ON_UNREAD)
        raise ConfigError(f"{folder} holds no document of another federation", hint=_HINT)
    if len(found) > 1:
        names = " and ".join(each.title for each in found)
        hint = f"name one with --from {found[0].name}, and import the other into another folder"
        raise ConfigError(f"{folder} holds documents of {names}", hint=hint)
    return found[0]


def labels_of_clusters_among(documents: Iterable[Placed]) -> dict[str, dict[str, str]]:
    """Return the labels of Karmada's Clusters among the documents, by name."""
    return {
        each.key[1]: each.manifest["metadata"].get("labels") or {}
        for each in documents
        if each.kind == "Cluster"
        and str(each.manifest.get("apiVersion", "")).startswith("cluster.karmada.io/")
        and isinstance(each.manifest.get("metadata"), dict)
        and isinstance(each.manifest["metadata"].get("labels"), dict | None)
    }


def report_lines_of_conversion(conversion: Conversion) -> tuple[Line, ...]:
    """Return what became of each document, the exact ones first."""
    lines = [
        Line(left.remark.grade, left.subject, left.origin, left.remark.code, left.remark.message)
        for left in conversion.left
    ]
    for unit in conversion.units:
        lines += [Line(remark.grade, unit.subject, unit.origin, remark.code, remark.message) for remark in unit.remarks]
        if not unit.remarks:
            lines.append(Line(Grade.EXACT, unit.subject, unit.origin, "", ""))
    return lines_by_falling_grade(lines)


def lines_by_falling_grade(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return lines of a report in its order, the exact ones first."""
    order = list(Grade)
    return tuple(sorted(lines, key=lambda line: (order.index(line.grade), line.origin, line.subject)))


def _objects_below_folder(folder: Path) -> Iterator[Placed]:
    """Yield the objects below a folder; what has neither a kind nor a version, such as values of a chart, is none."""
    problems: list[str] = []
    for name, content in _contents_of_files_below(folder):
        try:
            documents = parse_documents(content)
        except DocumentErrors as error:
            problems += [f"{name}:{each.line}: {each.message}" for each in error.errors]
            continue
        for document in documents:
            for manifest in _objects_in_document(document.value):
                said = [key for key in ("apiVersion", "kind") if key in manifest]
                unread = [key for key in said if not isinstance(manifest[key], str)]
                problems += [f"{name}:{document.line}: {key}: it must be text" for key in unread]
                if len(said) == 2 and not unread:
                    yield Placed(manifest=manifest, origin=f"{name}:{document.line}")
    if problems:
        raise ConfigError("\n".join([f"{counted_noun(len(problems), 'problem')}:", *problems]))


def _objects_in_document(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a document: itself, or the items of a list such as kubectl prints."""
    if not isinstance(value, dict):
        return
    items = value.get("items")
    if str(value.get("kind", "")).endswith("List") and isinstance(items, list):
        shared = {"sops": value["sops"]} if is_encrypted_by_sops(value) else {}
        yield from ({**each, **shared} for each in items if isinstance(each, dict))
    else:
        yield value


def _contents_of_files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    if str(folder) == "-":
        yield "-", _content_within_limit("-", sys.stdin.buffer.read(_MOST_BYTES + 1))
        return
    paths = [folder] if folder.is_file() else sorted(_files_below(folder))
    for path in paths:
        name = path.name if path == folder else path.relative_to(folder).as_posix()
        with path.open("rb") as file:
            yield name, _content_within_limit(name, file.read(_MOST_BYTES + 1))


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may hold documents; links and hidden folders are not followed."""
    for path in folder.iterdir():
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _files_below(path)
        elif path.is_file() and path.suffix.lower() in _ENDINGS:
            yield path


def _content_within_limit(name: str, content: bytes) -> bytes:
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{name} is larger than {_MOST_BYTES >> 20} MiB")
    return content
