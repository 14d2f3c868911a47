"""Expectations written back into the file of a test where they stand; everything beside them stays as it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.repository import Repository
from reconciler.source.manifests import LocatedManifest
from render.documents import parse_documents
from render.documents.editing import REMOVED, Edit, edit_file
from render.documents.editing.nodes import UneditableError
from render.documents.positions import path_of_field_name
from render.errors import InputError, Problem
from render.expressions import lazy_expression
from render.words import counted_noun

from .fields import MISSING, WITHHELD, Mismatch
from .runs import PlaceByTest
from .trials import Trial

_FIELD = lazy_expression(r"(?P<field>.+\.fields\[\d+\])\.value")


class FileUpdate(Struct, frozen=True, kw_only=True):
    """A file of tests: how many of its expectations were written anew, and those that cannot be."""

    path: str
    written: int
    left: tuple[Mismatch, ...]


def update_files(repository: Repository, trials: Iterable[Trial], places: PlaceByTest) -> Iterator[FileUpdate]:
    """Write what is so into the files of tests that failed, and yield each file.

    InputError, after the last file, lists what could not be edited where; all else is written.
    """
    root = repository.work_tree_for_verb("change")
    problems: list[Problem] = []
    for path, failed in _failed_trials_by_path(trials).items():
        content, written = (root / path).read_bytes(), 0
        left: list[Mismatch] = []
        for trial in failed:
            unwritable = [mismatch for mismatch in trial.mismatches if not is_result_writable(mismatch)]
            left += unwritable
            try:
                content = file_with_expectations(content, places[path, trial.test.document], trial)
                written += len(trial.mismatches) - len(unwritable)
            except UneditableError as error:
                problem = error.error
                problems.append(Problem(path, problem.line, "", problem.message, problem.hint))
        if written:
            (root / path).write_bytes(content)
        yield FileUpdate(path=path, written=written, left=tuple(left))
    if problems:
        raise InputError(problems, summary=f"{counted_noun(len(problems), 'test')} could not be updated")


def _failed_trials_by_path(trials: Iterable[Trial]) -> Mapping[str, list[Trial]]:
    failed: dict[str, list[Trial]] = {}
    for trial in trials:
        if not trial.passed:
            failed.setdefault(trial.test.path, []).append(trial)
    return failed


def is_result_writable(mismatch: Mismatch) -> bool:
    """Return whether the result can be written into the test; an absent object and a Secret's value cannot."""
    return mismatch.got is not WITHHELD and (
        mismatch.got is not MISSING or _FIELD.fullmatch(mismatch.field) is not None
    )


def file_with_expectations(content: bytes, place: LocatedManifest, trial: Trial) -> bytes:
    """Return the file of a test with what is so in place of what did not come true.

    ``place`` is where the test stands. UneditableError says what cannot be changed where.
    """
    for mismatch in filter(is_result_writable, trial.mismatches):
        for field, value in _edits_of_mismatch(mismatch):
            document = parse_documents(content)[place.position].value
            path = path_of_field_name(document, f"{place.prefix}{field}")
            content = edit_file(content, place.position, [Edit(path, value)])
    return content


def _edits_of_mismatch(mismatch: Mismatch) -> Iterator[tuple[str, Any]]:
    """Yield the fields that change with their values."""
    field = _FIELD.fullmatch(mismatch.field)
    if field:
        is_absent = mismatch.got is MISSING
        yield f"{field['field']}.value", REMOVED if is_absent else mismatch.got
        yield f"{field['field']}.absent", True if is_absent else REMOVED
    else:
        # A filter that refuses nothing is not expected to.
        is_idle = ".refused." in mismatch.field and not mismatch.got
        yield mismatch.field, REMOVED if is_idle else mismatch.got
