"""Builds of kustomizations, each remembered by exactly what it depends on."""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from overrides.secrecy import holds_secrets
from reconciler.source.built_files import BuiltFile, Origin
from reconciler.source.manifests import ParseCache, ReadBlobs
from render.documents import read_documents
from render.gitobjects import object_id
from render.model import is_opaque

from .closures import Closure
from .complaints import shortened
from .origins import Origins
from .sandbox import run_in_copy
from .tools import Tool

_FORM = b"kustomize 1"
"""The form of what is remembered; another one has another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome:
    """The output of a build, or the complaint of one that failed; ``is_bounded``: a bound ended it.

    ``is_secret``: the output has secrets, which stand in no cache.
    """

    closure: Closure
    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    complaint: str = ""
    is_bounded: bool = False
    is_secret: bool = False

    @property
    def file(self) -> BuiltFile:
        """The output as a file of the source."""
        return BuiltFile(
            path=self.closure.shown(self.closure.kustomizations[0]),
            id=object_id("blob", self.output),
            size=len(self.output),
            inputs=self.closure.inputs,
            origins=self.origins,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Builds:
    """Builds by one tool; ``cache`` remembers the output of those that make no secrets."""

    tool: Tool
    cache: ParseCache | None = None

    def outcomes(self, closures: Sequence[Closure]) -> list[BuildOutcome]:
        """Return the outcome of each build, in order."""
        keys = [self._key(closure) for closure in closures]
        by_key = dict(zip(keys, closures, strict=True))
        known = self.cache.get_many(by_key) if self.cache is not None else {}
        outcomes = {key: _restored(closure, known[key]) for key, closure in by_key.items() if key in known}
        missing = {key: closure for key, closure in by_key.items() if key not in known}
        fresh = {}
        for key, outcome in zip(missing, self._built(list(missing.values())), strict=True):
            outcomes[key] = outcome
            if not outcome.complaint and not outcome.is_secret:
                fresh[key] = _stored(outcome)
        if self.cache is not None and fresh:
            self.cache.put_many(fresh)
        return [outcomes[key] for key in keys]

    def _key(self, closure: Closure) -> bytes:
        """Return the key of a build: the digest of all it depends on."""
        lines = (f"{path}\0{id_.hex()}\n" for path, id_ in closure.contents)
        head = f"{self.tool.version}\0{closure.folder}\n"
        text = "".join((head, *lines)).encode("utf-8", "surrogateescape")
        return hashlib.sha256(_FORM + b"\0" + text).digest()

    def _built(self, closures: list[Closure]) -> Iterator[BuildOutcome]:
        """Build as many at once as there are cores, reading the files of all of them first."""
        if not closures:
            return
        contents = _contents(closures)
        origins = Origins(lambda ids: {id_: contents[id_] for id_ in ids})

        def build(closure: Closure) -> BuildOutcome:
            return self._outcome(closure, contents)

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
            for outcome in workers.map(build, closures):
                yield _with_origins(outcome, origins)

    def _outcome(self, closure: Closure, contents: dict[bytes, bytes]) -> BuildOutcome:
        restrictor = "LoadRestrictionsNone" if closure.reaches_beside else "LoadRestrictionsRootOnly"
        command = (*self.tool.command, ".", "--load-restrictor", restrictor)
        run = run_in_copy(command, {file.path: contents[file.id] for file in closure.files}, at=closure.folder)
        return BuildOutcome(
            closure=closure, output=run.output, complaint=shortened(run.complaint), is_bounded=run.is_bounded
        )


def _contents(closures: Iterable[Closure]) -> dict[bytes, bytes]:
    """Read the files of all closures, those of one tree at once."""
    ids: dict[int, tuple[ReadBlobs, set[bytes]]] = {}
    for closure in closures:
        ids.setdefault(id(closure.read), (closure.read, set()))[1].update(file.id for file in closure.files)
    return {id_: content for read, wanted in ids.values() for id_, content in read(wanted).items()}


def _with_origins(outcome: BuildOutcome, origins: Origins) -> BuildOutcome:
    if outcome.complaint:
        return outcome
    closure = outcome.closure
    values = [document.value for document in read_documents(outcome.output)[0]]
    written = [file for file in closure.files if file.path in {*closure.resources, *closure.kustomizations}]
    found = origins.of(values, written, closure.kustomizations[0])
    return replace(
        outcome,
        origins=tuple(Origin(closure.shown(each.path), each.line) for each in found),
        is_secret=any(holds_secrets(value) and not is_opaque(value) for value in values),
    )


def _stored(outcome: BuildOutcome) -> tuple[tuple[int, Any], ...]:
    return ((0, (zlib.compress(outcome.output, 1), tuple(map(tuple, outcome.origins)))),)


def _restored(closure: Closure, stored: Any) -> BuildOutcome:
    output, origins = stored[0][1]
    return BuildOutcome(
        closure=closure,
        output=zlib.decompress(output),
        origins=tuple(Origin(path, line) for path, line in origins),
    )
