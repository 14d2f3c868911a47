"""The files of an import, loaded as ``argosy validate`` loads them: the grades that a report may give.

A document may be converted without a loss into something that no pass delivers: two objects of one name, a field that
every server refuses, a namespace from which nothing is propagated. So the files are written into a repository of their
own and checked there. What is wrong with an object, or leaves it out, becomes the grade of all documents it is made of.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.reading import read_loaded, reader_of_recorded_facts
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.edit.importing import Import, Line, lines_by_falling_grade
from reconciler.rendering.memory import SourceMemory
from reconciler.repository import Repository, open_repository
from reconciler.repository.opening import init_if_empty_folder
from reconciler.source.desired import Desired
from render.documents import parse_documents
from render.errors import Problem
from render.federations.karmada import KARMADA
from render.federations.policies import WrittenObject
from render.federations.units import Grade, Placed
from render.model import ObjectRef, group_of

from .validation import validation_of

_REFUSED, _LEFT_OUT = "refused-by-validate", "left-out-by-loading"
_CONVERTED_AS_IT_IS = frozenset({"", "kept"})
"""The codes of lines that say no more than that nothing is to be said."""
_DECIDING = ("karmada.io", "argosy.dev")
"""The ends of the groups whose objects decide on others."""
_NOT_LOADED = "loading the files leaves it out"


class _WrittenPlace(Struct, frozen=True, kw_only=True, eq=False):
    """The place of an object in the files: its number in its own, counted from 0, and the line of its document."""

    written: WrittenObject
    number: int
    line: int

    @property
    def ref(self) -> ObjectRef:
        """The object."""
        return ObjectRef.of(self.written.manifest)


class _Verdict(NamedTuple):
    """The grade of an object that is not delivered, the code of the reason, and the reason."""

    place: _WrittenPlace
    grade: Grade
    code: str
    message: str


@contextmanager
def repository_with_files(files: Mapping[str, bytes]) -> Iterator[Repository]:
    """Open a repository with these files in its work tree, which is gone afterwards."""
    with TemporaryDirectory(prefix="argosy-import-") as place:
        init_if_empty_folder(Path(place))
        with open_repository(place) as repository:
            repository.put_files(files)
            yield repository


def import_graded_by_loading(result: Import, log: Log) -> Import:
    """Return an import with the grades that its files have once they are loaded, and with the warnings about them."""
    memory = SourceMemory()
    with repository_with_files(result.files) as repository:
        loaded = read_loaded(repository, "", memory.parsed, facts=reader_of_recorded_facts(repository))
        own_log = replace(log, level=ERRORS_ONLY, repository=str(repository.folder.work_tree))
        validation = validation_of(repository, "", own_log, memory)
    places = _WrittenPlaces.of(result.objects, result.files)
    verdicts = [*_verdicts_on_problems(validation.problems, places)]
    for lost in validation.lost:
        verdicts += (_Verdict(each, Grade.REFUSED, _LEFT_OUT, lost.message) for each in places.of_object(lost.ref))
    # What Karmada propagates nowhere either is the same here.
    grade = Grade.EXACT if result.system == KARMADA.title else Grade.REFUSED
    judged = {each.place for each in verdicts}
    reasons = {place: each.message for each in reversed(validation.warnings) for place in places.at(each)}
    verdicts += (
        _Verdict(each, grade, _LEFT_OUT, reasons.get(each, _NOT_LOADED))
        for each in places.missing_in(loaded.desired)
        if each not in judged
    )
    judged = {each.place for each in verdicts}
    return replace(
        result,
        lines=_lines_with_verdicts(result.lines, verdicts),
        warnings=tuple(each for each in validation.warnings if not judged.intersection(places.at(each))),
    )


class _WrittenPlaces(NamedTuple):
    """The places of all objects that were written, by path and by object."""

    by_path: Mapping[str, Sequence[_WrittenPlace]]
    by_object: Mapping[ObjectRef, Sequence[_WrittenPlace]]
    propagated: frozenset[tuple[str, str]]
    """The origins and subjects of the documents that a policy is made of."""

    @classmethod
    def of(cls, objects: Iterable[WrittenObject], files: Mapping[str, bytes]) -> "_WrittenPlaces":
        written_by_path: dict[str, list[WrittenObject]] = {}
        for each in objects:
            written_by_path.setdefault(each.path, []).append(each)
        by_path = {path: _places_in_file(found, files[path]) for path, found in written_by_path.items()}
        by_object: dict[ObjectRef, list[_WrittenPlace]] = {}
        for place in chain.from_iterable(by_path.values()):
            by_object.setdefault(place.ref, []).append(place)
        policies = (each for path, found in written_by_path.items() if path.startswith("policies/") for each in found)
        return cls(by_path, by_object, frozenset(source for each in policies for source in each.sources))

    def at(self, problem: Problem) -> tuple[_WrittenPlace, ...]:
        """Return the object that a problem is about; all of a file where it names no line."""
        found = self.by_path.get(problem.path, ())
        if not problem.line:
            return tuple(found)
        number = bisect_right([each.line for each in found], problem.line)
        return tuple(found[max(number - 1, 0) : max(number, 1)])

    def of_object(self, ref: ObjectRef) -> tuple[_WrittenPlace, ...]:
        """Return the places of an object, more than one if it was written more than once."""
        return tuple(self.by_object.get(ref, ()))

    def missing_in(self, desired: Desired) -> Iterator[_WrittenPlace]:
        """Yield the templates that were written, are meant to go somewhere, and are none of a source."""
        loaded = {(each.path, each.document) for each in desired.templates}
        copied = {each.ref for each in desired.templates}
        for each in chain.from_iterable(self.by_path.values()):
            path, _, manifest = each.written
            is_template = path.startswith("templates/") and not group_of(manifest["apiVersion"]).endswith(_DECIDING)
            if is_template and (path, each.number) not in loaded and each.ref not in copied and self._is_sent(each):
                yield each

    def _is_sent(self, place: _WrittenPlace) -> bool:
        """Say whether an object may go to a cluster; one that stays as it was is for policies that stay as well."""
        return any(not source[1] or source in self.propagated for source in place.written.sources)


def _places_in_file(written: Iterable[WrittenObject], content: bytes) -> Sequence[_WrittenPlace]:
    documents = enumerate(zip(written, parse_documents(content), strict=True))
    return tuple(_WrittenPlace(written=each, number=number, line=found.line) for number, (each, found) in documents)


def _verdicts_on_problems(problems: Iterable[Problem], places: _WrittenPlaces) -> Iterator[_Verdict]:
    """Yield a verdict on each object that a problem is about, and on all others of that name in its kind."""
    for problem in problems:
        what = f"{problem.field}: {problem.message}" if problem.field else problem.message
        for place in places.at(problem):
            for each in places.of_object(place.ref):
                yield _Verdict(each, Grade.REFUSED, _REFUSED, f"argosy validate refuses it: {problem.path}: {what}")


def _lines_with_verdicts(lines: Sequence[Line], verdicts: Sequence[_Verdict]) -> tuple[Line, ...]:
    """Return the lines of a report with those of verdicts; of what is refused nothing is told as exact."""
    subjects: dict[str, set[str]] = {}
    for line in lines:
        subjects.setdefault(line.origin, set()).add(line.subject)
    found: dict[Line, None] = {}
    for verdict in verdicts:
        for origin, subject in verdict.place.written.sources:
            name = subject or _subject_of_unchanged(verdict.place.written, subjects.get(origin, set()))
            found[Line(verdict.grade, name, origin, verdict.code, verdict.message)] = None
    refused = {(each.origin, each.subject) for each in found if each.grade is Grade.REFUSED}
    listed = {(each.origin, each.subject) for each in found}
    kept = (
        each
        for each in lines
        if not (each.grade is Grade.EXACT and (each.origin, each.subject) in refused)
        and not (each.code in _CONVERTED_AS_IT_IS and (each.origin, each.subject) in listed)
    )
    return lines_by_falling_grade([*kept, *found])


def _subject_of_unchanged(written: WrittenObject, subjects: Collection[str]) -> str:
    """Return what a report calls an object that was written as it is, or made of the only document of its place."""
    own = Placed(manifest=written.manifest, origin="").subject
    return own if own in subjects or len(subjects) != 1 else next(iter(subjects))
