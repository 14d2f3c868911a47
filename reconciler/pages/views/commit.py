"""One rendered commit, or the one that was made of a source commit: what it moved and changed, and why."""

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from reconciler.branches.rendered_history import RenderedSource, rendered_commits
from reconciler.branches.source_commits import FleetFolder, contains_commit
from reconciler.history.subjects import history_of_commit
from reconciler.outputs.history import history_document
from reconciler.overview.instants import FleetInstant
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from reconciler.status.rollouts import read_recorded_rollouts
from render.errors import UnknownName
from render.rollouts.state import RolloutPhase
from render.timing import epoch_text

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_MOST = 200
_MOST_LOOKED_AT = 100


def _answer(look: Look) -> ViewAnswer:
    facts = look.reader.in_repository(partial(_facts, commits=look.commits, revision=look.parts["id"]))
    under_way = look.reader.in_repository(partial(_under_way, source=facts.id)) if look.commits.rendered else []
    if not facts.rendered:
        is_same = bool(look.commits.rendered) and facts.is_of_source and look.fleet_status()["current"]
        why = _words_of_unrendered_commit(facts, is_same=is_same)
        return ViewAnswer(shown={"facts": facts, "under_way": under_way, "is_same": is_same}, why_no_document=why)
    document = look.document(("commit", facts.rendered), lambda reading: _document(reading, facts.rendered))
    count = len(document["events"])
    words = ("history", "--rev", facts.rendered, "--limit", str(count)) if count else ()
    return ViewAnswer(document=document, command=words, shown={"facts": facts, "under_way": under_way})


def _document(reading: "FleetReading", rendered: str) -> "OutputDocument":
    return history_document(history_of_commit(reading.repository, rendered, _MOST))


class CommitFacts(Struct, frozen=True, kw_only=True):
    """A commit of the source, and the first rendered commit made of it ("": none that is known here).

    ``later`` is the first one that was made of a later source, which contains it, where none was made of itself.
    ``is_of_source``: the newest source contains it. ``outside`` is the fleet's folder, in which it changes nothing ("":
    it does).
    ``previous`` is the source before it, empty for the first commit. ``time`` is that of the source commit.
    """

    id: str
    rendered: str
    later: str = ""
    is_of_source: bool = True
    outside: str = ""
    previous: str
    author: str
    subject: str
    message: str
    time: str


def _facts(repository: Repository, commits: FleetInstant, revision: str) -> CommitFacts:
    """Return what is known of a commit of the source or a rendered one, by what is rendered."""
    if revision.startswith("-"):
        raise UnknownName(f"{revision!r} is not a revision", hint="name a branch, a tag or a commit")
    commit = repository.resolve(revision)
    named = repository.commit_info(commit).trailer(SOURCE)
    source = repository.resolve(named[0]) if len(named) == 1 else commit
    known = list(rendered_commits(repository, commits.rendered)) if commits.rendered else []
    made = [each.commit for each in known if source in {each.source, each.commit}]
    later = "" if made else _commit_made_of_later(repository, known, source)
    info = repository.commit_info(source)
    folder = FleetFolder(repository, commits.source)
    return CommitFacts(
        id=source,
        rendered=commit if named else made[-1] if made else "",
        later=later,
        is_of_source=contains_commit(repository, commits.source, source),
        outside="" if folder.is_changed_by(info) else folder.path,
        previous=info.parents[0] if info.parents else "",
        author=info.author,
        subject=info.subject,
        message=info.message,
        time=epoch_text(info.time),
    )


def _words_of_unrendered_commit(facts: CommitFacts, *, is_same: bool) -> str:
    """Return why there is no history of a source commit: no rendered commit was made of it."""
    if facts.outside:
        why = f"it changes nothing in {facts.outside}, the folder of this fleet"
    elif facts.later:
        why = f"it is in {facts.later}, which a later commit was rendered as"
    elif is_same:
        why = "it asks for the same as what is rendered"
    else:
        why = "it is not rendered, as far as is known here"
    return f"nothing was rendered for source commit {facts.id} itself: {why}"


def _under_way(repository: Repository, source: str) -> list[dict[str, str]]:
    """Return the rollouts that are not over and are of a source commit, or have a change of it wait behind theirs."""
    states = read_recorded_rollouts(repository).states.values()
    return [
        {"policy": each.name, "phase": str(each.phase), "next": each.next_step}
        for each in states
        if each.phase is not RolloutPhase.COMPLETED
        and source in {*each.commits, *(commit for change in each.queue for commit in change.commits)}
    ]


def _commit_made_of_later(repository: Repository, known: Sequence[RenderedSource], source: str) -> str:
    """Return the oldest of the newest rendered commits, the newest first, whose sources contain one."""
    if not known or not contains_commit(repository, known[0].source, source):
        return ""
    containing = takewhile(lambda each: contains_commit(repository, each.source, source), known[:_MOST_LOOKED_AT])
    return list(containing)[-1].commit


VIEW = PageView(
    name="commit",
    path="/commits/{id}",
    question="What did this commit do?",
    template="commit.html",
    answer=_answer,
    group=ViewGroup.NONE,
    under="changes",
    is_of_now=True,
)
