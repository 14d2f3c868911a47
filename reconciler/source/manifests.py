"""Manifests parsed from the selected files: each blob is parsed once, lists are expanded, each manifest has its place.

A file none of whose documents has apiVersion and kind holds no manifest and is skipped. So is a document that has both
and is no Kubernetes object (``foreign_documents``), and a file that is a template. In a file that has manifests, every
other document is a problem: it is more likely a slip than meant to be left out.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, Protocol

from overrides.secrecy import holds_secrets
from render.admission.findings import NAME_BY_TYPE
from render.boundary import result_or_substitute, unexpected_problem
from render.documents import DocumentError, read_documents
from render.errors import Problem
from render.expressions import lazy_expression
from render.json_values import content_digest
from render.kinds import BUILT_IN
from render.model import ARGOSY_GROUP, Manifest, group_of, is_encrypted_by_sops, mapping_or_empty
from render.words import counted_noun

from .broken import CIPHERTEXT
from .built_files import BuiltFile
from .ciphertext import (
    APART,
    BESIDE,
    first_misplaced_ciphertext,
    may_hold_ciphertext,
    places_of_jointly_signed_documents,
)
from .files import FLEET_FILE, Reason, Skipped, SourceFile
from .foreign_documents import holds_credentials, is_half_manifest, is_wholly_encrypted, reason_not_kubernetes_object
from .shared_parsing import documents_parsed_ahead

ReadBlobs = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
"""Read the content of blobs by id."""

ParsedBlob = Sequence[tuple[int, Any]]
"""A blob's documents, the line and the plain data of each; none for what cannot be a manifest."""


class ParseCache(Protocol):
    """Parsed blobs by id; whatever is missing is read and parsed. Errors and secrets are never put there."""

    def get_many(self, ids: Iterable[bytes]) -> Mapping[bytes, ParsedBlob]:
        """Return what is known."""

    def put_many(self, values: Mapping[bytes, ParsedBlob]) -> None:
        """Remember what was parsed."""


class RightManifests(Protocol):
    """Manifests that earlier runs found to be right, by blob and number, with the first and the end of the versions."""

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, tuple[int, int]]:
        """Return what is known."""

    def put_many(self, values: Mapping[bytes, tuple[int, int]]) -> None:
        """Remember what was found."""


IGNORE_HINT = "if the file is no Kubernetes manifest, name it under source.ignore in argosy.yaml or in .argosyignore"

_BATCH_SIZE = 64 * 1024 * 1024
"""Bytes of files that are read together."""

_LFS = b"version https://git-lfs.github.com/spec/v1"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MANIFEST = lazy_expression(rb"apiVersion|\bkind\b|\bsops\b")
_TEMPLATE = lazy_expression(rb"^[ \t]*(?:- +)?(?:[^\s'\"#{]+: +)?\{\{.*\}\}", re.MULTILINE)
_YTT = lazy_expression(rb"^#@(?:[ \t]|(?:data|library|overlay|schema|text|yaml)/)", re.MULTILINE)
"""Comments that are code: of such a file as it stands, values are missing. In texts no line begins so far left."""
_CONFLICT = (b"<<<<<<< ", b"=======", b">>>>>>> ")
_OURS = lazy_expression(rb"karmada\.io|argosy\.dev")
_SECRET_WORDS = (b"secret", b"passw", b"passphrase", b"token", b"credential", b"key", b"last-applied")
_IDENTITY = ("apiVersion", "kind")


class LocatedManifest(NamedTuple):
    """A manifest and its place in a file.

    ``number`` counts a file's manifests from 0; ``position`` is the document's place among those of the file, and
    ``prefix`` the manifest's path in it: "" or, in a list, ``items[2].``. ``is_alone``: its file has nothing else.
    """

    manifest: Any
    file: SourceFile
    number: int
    position: int
    prefix: str = ""
    is_alone: bool = True

    @property
    def digest(self) -> str:
        """A text that another manifest has only if it is equal: that of the content, where a file has several.

        What SOPS encrypted is delivered as its bytes are, which only the file tells.
        """
        if self.is_alone or is_encrypted_by_sops(self.manifest):
            return f"{self.file.id.hex()}:{self.number}"
        return content_digest(self.manifest)

    def problems_found_by_call(self, call: "Callable[[], list[FieldProblem]]") -> "list[FieldProblem]":
        """Return the problems that a call about this manifest finds; an error nobody thought of is one, too."""
        return result_or_substitute(call, lambda error: [FieldProblem(self, unexpected_problem("", error))])

    def problem(self, field: str, message: str, *, hint: str = "", kind: str = "") -> "FieldProblem":
        """Return a problem or warning of a field of this manifest ("" for the manifest itself)."""
        return FieldProblem(self, Problem("", 0, field, message, hint, kind))


class FieldProblem(NamedTuple):
    """A problem or warning of a manifest, whose file and line are still to be filled in."""

    place: LocatedManifest
    problem: Problem


class UnreadableDocument(NamedTuple):
    """A document that cannot be read, or a file as a whole; ``is_ours``: it mentions Karmada's API or ours."""

    file: SourceFile
    problem: Problem
    is_ours: bool


_Outcome = LocatedManifest | FieldProblem | UnreadableDocument | Skipped


class Contents(NamedTuple):
    """The contents of files: manifests, the problems of others, files that cannot be read, and files left out.

    ``sealed`` are manifests that SOPS encrypted. They are delivered, if anything is done with them: what reads objects
    to make others of them reads ``manifests``, so that it never takes ciphertext for a value.
    """

    manifests: tuple[LocatedManifest, ...]
    problems: tuple[FieldProblem, ...]
    unreadable: tuple[UnreadableDocument, ...]
    skipped: tuple[Skipped, ...]
    sealed: tuple[LocatedManifest, ...] = ()

    @property
    def all_manifests(self) -> tuple[LocatedManifest, ...]:
        """All manifests, those that SOPS encrypted last."""
        return (*self.manifests, *self.sealed) if self.sealed else self.manifests

    def refuse_encrypted_where_read(self, is_read: "Callable[[LocatedManifest], bool]") -> "Contents":
        """Return contents in which what SOPS encrypted is a problem where it would be read, and not delivered."""
        refused = [place for place in self.sealed if is_read(place)]
        if not refused:
            return self
        problems = [_problem_of_encrypted_manifest(place) for place in refused]
        left_out = {id(place) for place in refused}
        kept = tuple(place for place in self.sealed if id(place) not in left_out)
        return self._replace(sealed=kept, problems=(*self.problems, *problems))


def argosy_objects(kind: str, manifests: Iterable[LocatedManifest]) -> list[LocatedManifest]:
    """Return the objects of one of Argosy's own kinds among manifests."""
    return [
        place
        for place in manifests
        if place.manifest["kind"] == kind and group_of(place.manifest["apiVersion"]) == ARGOSY_GROUP
    ]


def load_manifests(
    files: Sequence[SourceFile], *, read: ReadBlobs, cache: ParseCache | None = None, processes: int = 1
) -> Contents:
    """Parse every file, reading only the blobs the cache does not know; several processes may share the work."""
    outcomes = list(_parse_outcomes(files, read, cache, processes))
    manifests = tuple(each for each in outcomes if type(each) is LocatedManifest)
    sealed = tuple(each for each in manifests if is_encrypted_by_sops(each.manifest))
    return Contents(
        manifests=tuple(each for each in manifests if not is_encrypted_by_sops(each.manifest)) if sealed else manifests,
        problems=tuple(each for each in outcomes if type(each) is FieldProblem),
        unreadable=tuple(each for each in outcomes if type(each) is UnreadableDocument),
        skipped=tuple(each for each in outcomes if type(each) is Skipped),
        sealed=sealed,
    )


def _problem_of_encrypted_manifest(place: LocatedManifest) -> FieldProblem:
    message = f"SOPS encrypted this {place.manifest['kind']}, and nothing decrypts what is read to make others of it"
    return place.problem("sops", message, hint=BESIDE, kind=CIPHERTEXT)


def _parse_outcomes(
    files: Sequence[SourceFile], read: ReadBlobs, cache: ParseCache | None, processes: int
) -> Iterator[_Outcome]:
    cached = {} if cache is None else cache.get_many({file.id for file in files})
    fresh: dict[bytes, ParsedBlob] = {}
    for batch in _batches_of_limited_size(files):
        blobs = read({file.id for file in batch if file.id not in cached})
        ahead = documents_parsed_ahead(blobs, may_hold_manifest, processes)
        for file in batch:
            known = (
                result_or_substitute(partial(_outcomes_of_parsed, file, cached[file.id]), _parse_again)
                if file.id in cached
                else None
            )
            if known is not None:
                yield from known
                continue
            content = blobs[file.id] if file.id in blobs else read([file.id])[file.id]
            outcomes = partial(_parse_file, file, content, fresh, ahead.get(file.id))
            yield from result_or_substitute(outcomes, partial(_outcome_of_unreadable_file, file, content))
    if cache is not None and fresh:
        cache.put_many(fresh)


def _outcomes_of_parsed(file: SourceFile, documents: ParsedBlob) -> list[_Outcome]:
    return list(_manifests_in_documents(file, documents))


def _parse_again(_error: Exception) -> None:
    """Take what an earlier run remembers for nothing if it has no right shape: the file is parsed again."""


def _parse_file(
    file: SourceFile, content: bytes, fresh: dict[bytes, ParsedBlob], ahead: ParsedBlob | None
) -> list[_Outcome]:
    return list(_parse_blob(file, content, fresh, ahead))


def _outcome_of_unreadable_file(file: SourceFile, content: bytes, error: Exception) -> list[_Outcome]:
    return [UnreadableDocument(file, unexpected_problem(file.path, error), may_decide_on_others(file.path, content))]


def _batches_of_limited_size(files: Iterable[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield runs of files that together are not too big to hold."""
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        if batch and size + file.size > _BATCH_SIZE:
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def may_decide_on_others(path: str, content: bytes) -> bool:
    """Say whether a file may hold what decides on others: it mentions Karmada's API or ours, or is argosy.yaml."""
    return path.endswith(FLEET_FILE) or _OURS.search(content) is not None


def may_hold_manifest(content: bytes) -> bool:
    """Say whether a file has the words without which no document in it is a manifest."""
    return content.startswith(_UTF_16) or _MANIFEST.search(content) is not None


def _parse_blob(
    file: SourceFile, content: bytes, fresh: dict[bytes, ParsedBlob], ahead: ParsedBlob | None
) -> Iterator[_Outcome]:
    """Yield what is in a file; ``ahead`` are its documents where another process has parsed it."""
    if reason := _reason_to_skip_file(content):
        yield Skipped(file.path, reason)
        return
    documents: ParsedBlob = ahead or ()
    if ahead is None and may_hold_manifest(content):
        read, errors = read_documents(content)
        documents = tuple((document.line, document.value) for document in read)
        if errors and _TEMPLATE.search(content):
            yield Skipped(file.path, Reason.TEMPLATE)
            return
        if errors:
            is_ours = may_decide_on_others(file.path, content)
            for problem in _problems_of_unreadable_file(file, content, errors):
                yield UnreadableDocument(file, problem, is_ours)
            if any(_has_identity(value) for _, value in documents):
                yield from _manifests_or_ciphertext_problems(file, documents, content)
            return
    if not (may_hold_ciphertext(content) or may_be_secret(content, (value for _, value in documents))):
        fresh[file.id] = documents
    yield from _manifests_or_ciphertext_problems(file, documents, content)


def _manifests_or_ciphertext_problems(file: SourceFile, documents: ParsedBlob, content: bytes) -> Iterator[_Outcome]:
    """Yield the manifests of a file, and a problem instead of each that would be delivered as ciphertext."""
    if not may_hold_ciphertext(content):
        yield from _manifests_in_documents(file, documents)
        return
    is_made = isinstance(file, BuiltFile) and not file.subjects
    places = [file.origin_of(at) if isinstance(file, BuiltFile) else (file.path, at) for at in range(len(documents))]
    values = [value for _, value in documents]
    together = places_of_jointly_signed_documents(list(zip(values, places, strict=True)))
    for each in _manifests_in_documents(file, documents):
        if type(each) is not LocatedManifest:
            yield each
        elif each.position in together:
            yield from _problems_of_signature(each, together)
        elif not is_encrypted_by_sops(each.manifest) and (
            found := first_misplaced_ciphertext(each.manifest, is_made=is_made)
        ):
            yield each.problem(found.field, found.message, hint=found.hint, kind=CIPHERTEXT)
        else:
            yield each


def _problems_of_signature(place: LocatedManifest, together: Collection[int]) -> Iterator[FieldProblem]:
    """Yield the problem of documents that SOPS signed together, at the first of them."""
    if place.position == min(together):
        message = (
            f"SOPS signed {counted_noun(len(together), 'document')} of this file together, so that none is decrypted"
        )
        yield place.problem("sops", f"{message} without the others", hint=APART, kind=CIPHERTEXT)


def _reason_to_skip_file(content: bytes) -> Reason | None:
    """Return why a file is not even parsed."""
    if content.startswith(_LFS):
        return Reason.LFS
    is_of_ytt = b"#@" in content and _YTT.search(content) and may_hold_manifest(content)
    return Reason.YTT if is_of_ytt else None


def _problems_of_unreadable_file(
    file: SourceFile, content: bytes, errors: Iterable[DocumentError]
) -> Iterator[Problem]:
    """Yield what is wrong with a file that cannot be read; what a merge left in it is the reason for all else."""
    lines = content.splitlines()
    if all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT):
        for number, line in enumerate(lines, start=1):
            if line.startswith(_CONFLICT[0]):
                hint = "choose one side, and take out its marks"
                yield Problem(file.path, number, "", "a merge conflict is left here", hint)
        return
    is_meant = b"apiVersion" in content or content.startswith(_UTF_16) or file.path.endswith(FLEET_FILE)
    for error in errors:
        yield Problem(file.path, error.line, "", error.message, error.hint if is_meant else IGNORE_HINT)


def may_be_secret(content: bytes, values: Iterable[Any]) -> bool:
    """Say whether a file holds secrets, which must not stand in a cache as well; most lack even a word for one."""
    lower = content.lower()
    if not any(word in lower for word in _SECRET_WORDS):
        return False
    return any(holds_secrets(value) or holds_credentials(value) for value in values)


def _manifests_in_documents(file: SourceFile, documents: ParsedBlob) -> Iterator[_Outcome]:
    if not any(_has_identity(value) for _, value in documents):
        is_half = any(is_half_manifest(value) for _, value in documents)
        reason = Reason.HALF_MANIFEST if is_half else Reason.NO_MANIFEST
        is_encrypted = any(is_wholly_encrypted(value) for _, value in documents)
        yield Skipped(file.path, Reason.ENCRYPTED if is_encrypted else reason)
        return
    numbers = count(file.first if isinstance(file, BuiltFile) else 0)
    is_alone = len(documents) == 1
    for position, (_, value) in enumerate(documents):
        place = LocatedManifest(value, file, 0, position, is_alone=is_alone)
        yield from _manifest_or_list_items(place, numbers)


def _has_identity(value: Any) -> bool:
    return isinstance(value, dict) and "apiVersion" in value and "kind" in value


def _manifest_or_list_items(
    place: LocatedManifest, numbers: Iterator[int]
) -> Iterator[LocatedManifest | FieldProblem | Skipped]:
    """Yield the manifest, the items of a list one by one, or what keeps it from being either."""
    faults = tuple(_problems_of_identity(place))
    if faults:
        yield from faults
    elif not (place.manifest["kind"].endswith("List") and "items" in place.manifest):
        group = group_of(place.manifest["apiVersion"])
        is_built_in = group.endswith(("karmada.io", ARGOSY_GROUP)) or (group, place.manifest["kind"]) in BUILT_IN
        reason = reason_not_kubernetes_object(place.manifest, is_built_in=is_built_in)
        yield Skipped(place.file.path, reason) if reason else place._replace(number=next(numbers))
    elif is_encrypted_by_sops(place.manifest):
        message = (
            f"SOPS encrypted the {place.manifest['kind']} as a whole, so that no item of it can be decrypted alone"
        )
        yield place.problem("sops", message, hint=APART, kind=CIPHERTEXT)
    elif not isinstance(place.manifest["items"], list | None):
        yield place.problem("items", f"must be a list, not {NAME_BY_TYPE[type(place.manifest['items'])]}")
    else:
        for number, item in enumerate(place.manifest["items"] or ()):
            typed, prefix = _with_type_of_list(item, place.manifest), f"{place.prefix}items[{number}]."
            inner = place._replace(manifest=typed, prefix=prefix, is_alone=False)
            yield from _manifest_or_list_items(inner, numbers)


def _with_type_of_list(item: Any, parent: Any) -> Any:
    """Return an item of a list; in a ``ConfigMapList`` and its like, items may leave out what all of them are."""
    kind = parent["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or not item.keys().isdisjoint(_IDENTITY):
        return item
    return {"apiVersion": parent["apiVersion"], "kind": kind, **item}


def _problems_of_identity(place: LocatedManifest) -> Iterator[FieldProblem]:
    if not isinstance(place.manifest, dict):
        yield place.problem("", f"a manifest must be an object, not {NAME_BY_TYPE[type(place.manifest)]}")
        return
    for key in _IDENTITY:
        value = place.manifest.get(key)
        if value is None or value == "":
            yield place.problem(key, "required, but missing", kind="Required")
        elif not isinstance(value, str):
            yield place.problem(key, f"must be a string, not {NAME_BY_TYPE[type(value)]}", kind="TypeInvalid")


def has_name_and_namespace(manifest: Manifest) -> bool:
    """Say whether a manifest has a name, and a namespace that is a text if it has one."""
    metadata = mapping_or_empty(manifest.get("metadata"))
    name, namespace = metadata.get("name"), metadata.get("namespace") or ""
    return isinstance(name, str) and bool(name) and isinstance(namespace, str)
