"""Mistakes in a source that need not stop it: what can be left out of it, and what is delivered although it is wrong.

A repository of others is full of files that nobody applies. One that cannot be read harms nothing while no object was
delivered from it: it is left out, with a warning. That cannot be told from the files alone, so loading says what could
be left out, and ``guards.continuity`` compares it with the commit that was rendered before.

One rule is for objects, and every command has it: what a server would certainly refuse, or what nobody knows how to
deliver, is never delivered. While nothing was delivered of it yet, it is left out and named, and the answer is no:
passes and renderings exit with 1, and ``argosy validate`` with 3. Once it was delivered, it is a problem as soon as it
changes, which stops the pass. An object that the commit before has as wrong as it is now stays where it is. The same
goes for a file that is meant to hold objects and cannot be read; as nobody can tell which, it is a problem whenever it
changes.
"""

from collections.abc import Collection, Container, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconciler.locked.model import NOT_AT_HAND
from render.errors import Problem
from render.model import ObjectRef
from render.words import counted_noun

from .built_files import source_files_behind
from .files import SourceFile

NO_CLUSTER = "write a Cluster of that name, or with that spec.apiEndpoint"
"""The hint for what is meant for a cluster that the source does not have."""
SAID_ONCE = (*NOT_AT_HAND, NO_CLUSTER)
"""The beginnings of the hints for what one cause is behind, however many objects it leaves out."""

UNKNOWN_SCOPE = "UnknownScope"
"""The kind of the problem of an object of which nothing says whether it lives in a namespace."""

CIPHERTEXT, UNSET_VARIABLE = "Ciphertext", "UnsetVariable"
"""Kinds of problems that earlier versions of the program did not see: they delivered what has them."""
_REFUSED = frozenset({CIPHERTEXT, UNSET_VARIABLE})


class LostObject(NamedTuple):
    """An object that can be read and of which nothing is used, with the reason."""

    ref: ObjectRef
    reason: str
    message: str


class Broken(Struct, frozen=True, kw_only=True):
    """A problem of templates alone, and the path and blob id of each file it is about.

    ``ignore`` are the lines for argosy.yaml that would leave the whole problem out. ``refs`` are the templates that it
    is about, where it is known to be about some. ``is_kept``: they are used all the same if they were before.
    ``loses_object``: an object that was meant to be delivered is not, so that the answer is no while it is left out.
    ``tool`` is the name and version of the program that could not build them, or the name alone where the files are
    not to blame ("": no program is involved). ``makes`` is the path that its objects would have: what is made nowhere
    any more is a problem, whichever file is to blame. ``is_partial``: it failed for some clusters, which keep what they
    have, so that nothing else is a problem. ``lost`` are objects of which nothing is used, each with the reason.
    ``is_unreadable``: it is a file that is meant to hold objects, and nobody can tell which.
    """

    problem: Problem
    files: tuple[tuple[str, bytes], ...]
    ignore: tuple[str, ...] = ()
    is_kept: bool = False
    refs: tuple[ObjectRef, ...] = ()
    loses_object: bool = False
    tool: str = ""
    makes: str = ""
    is_partial: bool = False
    lost: tuple[LostObject, ...] = ()
    is_unreadable: bool = False

    @property
    def is_refused(self) -> bool:
        """Say whether it is a problem to whoever asks for a check, and after an upgrade: nothing else tells of it."""
        return self.problem.kind in _REFUSED

    @property
    def is_answered_no(self) -> bool:
        """Say whether the answer is no while it is left out: an object is missing that somebody meant to be there."""
        return (self.loses_object or self.is_refused or self.is_unreadable) and not self.is_kept

    def is_object_beside(self, delivered: Container[ObjectRef]) -> bool:
        """Say whether it is about objects, and about none of those that were delivered."""
        return (self.loses_object or self.is_refused) and not any(ref in delivered for ref in self.refs)

    @property
    def warning(self) -> Problem:
        """The problem as a warning."""
        return (
            self.problem
            if self.is_kept or self.is_partial
            else replace(self.problem, message=f"left out: {self.problem.message}")
        )

    def was_unchanged_in(self, blob_by_path: Mapping[str, bytes], tools: Collection[str] = ()) -> bool:
        """Say whether each of its files stood there before, byte for byte, and nothing was built of them since.

        ``tools`` are those that built then: where another version fails now, or none is there, objects may be lost.
        """
        name = self.tool.partition(" ")[0]
        was_built = any(tool.partition(" ")[0] == name for tool in tools) and self.tool not in tools
        return not was_built and all(blob_by_path.get(path) == id_ for path, id_ in self.files)


def broken_by_problem(problem: Problem, files: Collection[SourceFile]) -> Broken:
    """Return a problem of files as something that can be left out."""
    inputs = {each for file in files for each in source_files_behind(file)}
    return Broken(problem=problem, files=tuple(sorted(inputs)))


def merged_by_what_they_lack(broken: Iterable[Broken]) -> tuple[Broken, ...]:
    """Return the same, in which all that lacks the content of one Source, or a Cluster, has one problem, the first.

    One command, or one file, mends all of it, so that a line for each object would say nothing more.
    """
    every = tuple(broken)
    lacking: dict[tuple[str, str], set[Problem]] = {}
    for each in every:
        if each.problem.hint.startswith(SAID_ONCE):
            lacking.setdefault((each.problem.message, each.problem.hint), set()).add(each.problem)
    message_by_problem = {problem: _first_problem_with_count(found) for found in lacking.values() for problem in found}
    return tuple(replace(each, problem=message_by_problem.get(each.problem, each.problem)) for each in every)


def _first_problem_with_count(found: Collection[Problem]) -> Problem:
    first = min(found)
    if len(found) == 1:
        return first
    return replace(first, message=f"{first.message} (needed in {counted_noun(len(found) - 1, 'more place')})")
