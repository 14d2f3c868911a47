"""Builds of kustomizations, each remembered by exactly what it depends on."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.secrecy import holds_secrets
from reconciler.source.built_files import BuiltFile, Origin
from reconciler.source.ciphertext import MARK
from reconciler.source.manifests import ParseCache, ReadBlobs
from render.boundary import result_or_substitute
from render.documents import read_documents
from render.gitobjects import git_object_id
from render.model import is_encrypted_by_sops

from .budget import BuildBudget, KnownFailure, failure_to_store, is_stored_failure
from .closures import Closure
from .layout import PrivateCopy, private_copy
from .origins import Origins
from .sandbox import RunLimits, run_in_copy
from .sealed import LeftOutOfBuild, documents_with_signed_texts, sealed_documents
from .simple import SimpleBuilds
from .stored_output import output_of_stored, output_to_store
from .tools import Tool, find_kustomize, shortened_complaint

_RESTRICTED = ("--load-restrictor", "LoadRestrictionsRootOnly")
"""kustomize reads no file outside the folder of the kustomization that names it."""
_FORM = b"kustomize 4"
"""The form of what is remembered; another one has another name."""
_SIMPLE = "simple 1"
"""The version of builds that need no tool."""
MISSING = "kustomize is not installed"


class BuildOutcome(Struct, frozen=True, kw_only=True):
    """The output of a build, or the complaint of one that failed; ``is_bounded``: a bound ended it.

    ``is_over_limit``: that bound is one that each build has. ``is_secret``: the output has secrets, which no cache
    has in clear text. ``tool`` is the name and version of the program that built it ("": none), ``left_out`` are
    objects that cannot be delivered.
    """

    closure: Closure
    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    complaint: str = ""
    is_bounded: bool = False
    is_over_limit: bool = False
    is_secret: bool = False
    tool: str = ""
    left_out: tuple[LeftOutOfBuild, ...] = ()

    @property
    def file(self) -> BuiltFile:
        """The output as a file of the source."""
        return BuiltFile(
            path=self.closure.shown_path(self.closure.kustomizations[0]),
            id=git_object_id("blob", self.output),
            size=len(self.output),
            inputs=self.closure.inputs,
            origins=self.origins,
        )


KnownOutcomes = dict[bytes, BuildOutcome]
"""Outcomes of builds by the keys of their closures."""


class Builds(Struct, kw_only=True):
    """Builds by the tool, or without it where that is simple; ``cache`` remembers them.

    ``path`` is where the tool is looked for, once some build needs it. ``budget`` is what all of them may take.
    ``known`` has every outcome of this process by the key of its closure, also those that fail.
    """

    path: str
    cache: ParseCache | None = None
    budget: BuildBudget = field(default_factory=BuildBudget)
    limits: RunLimits = field(default_factory=RunLimits)
    known: KnownOutcomes = field(default_factory=dict)

    def outcomes(self, closures: Sequence[Closure]) -> list[BuildOutcome]:
        """Return the outcome of each build, in order."""
        self.known.update(self._outcomes_of_new([each for each in closures if each.key not in self.known]))
        return [replace(self.known[each.key], closure=each) for each in closures]

    def _outcomes_of_new(self, closures: Sequence[Closure]) -> dict[bytes, BuildOutcome]:
        """Return the outcomes of builds that this process has not made yet, some of which an earlier one remembers."""
        outcomes = self._remembered_outcomes(closures, _SIMPLE)
        missing = [closure for closure in closures if closure.key not in outcomes]
        if missing:
            contents = _contents_of_closures(missing)
            simple = SimpleBuilds(contents)
            made = [result_or_substitute(partial(_simple_outcome, each, simple), _leave_to_tool) for each in missing]
            self._remember_outcomes([each for each in made if each is not None], _SIMPLE, contents)
            outcomes |= {each.closure.key: each for each in made if each is not None}
            missing = [closure for closure in closures if closure.key not in outcomes]
        if missing:
            outcomes |= self._outcomes_by_tool(missing, contents)
        return outcomes

    def _outcomes_by_tool(
        self, closures: Sequence[Closure], contents: Mapping[bytes, bytes]
    ) -> dict[bytes, BuildOutcome]:
        """Return the outcomes of builds that need the tool."""
        tool = find_kustomize(self.path, self.cache)
        if tool is None:
            return {each.key: BuildOutcome(closure=each, complaint=MISSING, is_bounded=True) for each in closures}
        outcomes = self._remembered_outcomes(closures, tool.version)
        missing = {each.key: each for each in closures if each.key not in outcomes}
        fresh = list(self._fresh_outcomes(tool, list(missing.values()), contents)) if missing else []
        self._remember_outcomes(fresh, tool.version, contents)
        return outcomes | {each.closure.key: each for each in fresh}

    def _remembered_outcomes(self, closures: Sequence[Closure], by: str) -> dict[bytes, BuildOutcome]:
        """Return the builds that are remembered as made by the tool of a version, or without one."""
        if self.cache is None:
            return {}
        by_key = {_key_of_build(each, by): each for each in closures}
        found = self.cache.get_many(by_key)
        restored = (_restored_outcome(by_key[key], stored, by) for key, stored in found.items())
        return {each.closure.key: each for each in restored if each is not None}

    def _remember_outcomes(self, outcomes: Sequence[BuildOutcome], by: str, contents: Mapping[bytes, bytes]) -> None:
        found = {_key_of_build(each.closure, by): _plain_outcome(each, contents) for each in outcomes}
        kept = {key: stored for key, stored in found.items() if stored is not None}
        if self.cache is not None and kept:
            self.cache.put_many(kept)

    def _fresh_outcomes(
        self, tool: Tool, closures: list[Closure], contents: Mapping[bytes, bytes]
    ) -> Iterator[BuildOutcome]:
        """Build as many at once as there are cores."""
        origins = Origins(lambda ids: {id_: contents[id_] for id_ in ids})

        def build(closure: Closure) -> BuildOutcome:
            return self._outcome_of_run(tool, closure, private_copy(closure, contents))

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
            for outcome in workers.map(build, closures):
                yield _outcome_with_origins(outcome, origins, contents)

    def _outcome_of_run(self, tool: Tool, closure: Closure, copy: PrivateCopy) -> BuildOutcome:
        """Return the outcome of one run of the tool."""
        if copy.fault:
            return BuildOutcome(closure=closure, complaint=copy.fault, tool=tool.version)
        command = (*tool.command, ".", *_RESTRICTED)
        run = self.budget.run(
            self.limits,
            lambda limits: run_in_copy(
                command, copy.files, at=closure.folder, limits=limits, confinement=tool.confinement
            ),
        )
        return BuildOutcome(
            closure=closure,
            output=copy.shown_output(run.output),
            complaint=shortened_complaint(copy.shown_complaint(run.complaint)),
            is_bounded=run.is_bounded,
            is_over_limit=run.is_over_limit,
            tool=tool.version,
        )


def _key_of_build(closure: Closure, by: str) -> bytes:
    """Return the key of a build: the digest of all it depends on."""
    return hashlib.sha256(b"\0".join((_FORM, by.encode(), closure.key))).digest()


def _leave_to_tool(_error: Exception) -> None:
    """Leave a build to the tool that could not be done without it, whatever the reason."""


def _simple_outcome(closure: Closure, simple: SimpleBuilds) -> BuildOutcome | None:
    """Return a build that needs no tool; None for any other."""
    made = None if closure.is_printed else simple.of(closure)
    if made is None:
        return None
    return BuildOutcome(
        closure=closure,
        output=made.output,
        origins=tuple(Origin(closure.shown_path(each.path), each.line) for each in made.origins),
        is_secret=any(holds_secrets(value) and not is_encrypted_by_sops(value) for value in made.values),
    )


def _contents_of_closures(closures: Iterable[Closure]) -> dict[bytes, bytes]:
    """Read the files of all closures, those of one tree at once."""
    ids: dict[int, tuple[ReadBlobs, set[bytes]]] = {}
    for closure in closures:
        ids.setdefault(id(closure.read), (closure.read, set()))[1].update(file.id for file in closure.files)
    return {id_: content for read, wanted in ids.values() for id_, content in read(wanted).items()}


def _outcome_with_origins(outcome: BuildOutcome, origins: Origins, contents: Mapping[bytes, bytes]) -> BuildOutcome:
    if outcome.complaint:
        return outcome
    closure, output = outcome.closure, outcome.output
    documents = read_documents(output)[0]
    values = [document.value for document in documents]
    writing = {*closure.resources, *closure.kustomizations}
    written = [file for file in closure.files if file.path in writing]
    found = origins.of(values, written, closure.kustomizations[0])
    shown = tuple(Origin(closure.shown_path(each.path), each.line) for each in found)
    left_out: tuple[LeftOutOfBuild, ...] = ()
    if any(MARK in contents[file.id] for file in closure.files):
        sealed = sealed_documents({file.path: contents[file.id] for file in closure.files})
        signed = documents_with_signed_texts(output, documents, shown, sealed)
        texts = (b"---\n" + text.strip(b"\n").removeprefix(b"---\n") + b"\n" for text in signed.texts)
        output, shown, left_out = b"".join(texts), signed.origins, signed.left_out
    return replace(
        outcome,
        output=output,
        origins=shown,
        left_out=left_out,
        is_secret=any(holds_secrets(value) and not is_encrypted_by_sops(value) for value in values),
    )


def _plain_outcome(outcome: BuildOutcome, contents: Mapping[bytes, bytes]) -> Any:
    """Return an outcome as it is remembered; None for a failure that is not."""
    if outcome.complaint:
        failure = KnownFailure(complaint=outcome.complaint, is_bounded=outcome.is_bounded)
        inputs = _inputs_by_path(outcome.closure, contents)
        return failure_to_store(failure, inputs, is_over_limit=outcome.is_over_limit)
    left_out = tuple((*each.origin, each.message, each.hint) for each in outcome.left_out)
    stored = output_to_store(outcome.output, _inputs_by_path(outcome.closure, contents) if outcome.is_secret else None)
    return ((0, (stored, tuple(map(tuple, outcome.origins)), left_out)),)


def _inputs_by_path(closure: Closure, contents: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {file.path: contents[file.id] for file in closure.files}


def _restored_outcome(closure: Closure, stored: Any, by: str) -> BuildOutcome | None:
    """Return the outcome that is remembered; None where it has to be built again."""
    if is_stored_failure(stored):
        known = KnownFailure.of(stored)
        if known is None:
            return None
        return BuildOutcome(closure=closure, complaint=known.complaint, is_bounded=known.is_bounded, tool=by)
    output, origins, left_out = stored[0][1]
    return BuildOutcome(
        closure=closure,
        output=output_of_stored(output, lambda: _inputs_by_path(closure, _contents_of_closures([closure]))),
        origins=tuple(Origin(path, line) for path, line in origins),
        left_out=tuple(LeftOutOfBuild(Origin(path, line), message, hint) for path, line, message, hint in left_out),
        tool="" if by == _SIMPLE else by,
    )
