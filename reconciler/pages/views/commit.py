"""One rendered commit, or the one that was made of a source commit: what it moved and changed, and why."""

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from reconciler.branches.rendered_history import rendered_commits
from reconciler.history.subjects import history_of_subject, subject_of_words
from reconciler.outputs.history import history_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from render.errors import UnknownName
from render.timing import epoch_text

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_MOST = 200


def _answer(look: Look) -> ViewAnswer:
    facts = look.reader.in_repository(partial(_facts, tip=look.commits.rendered, revision=look.parts["id"]))
    if not facts.rendered:
        return ViewAnswer(shown={"facts": facts})
    document = look.document(("commit", facts.rendered), lambda reading: _document(reading, facts.rendered))
    words = ("history", "--rev", facts.rendered, "--limit", str(_MOST))
    return ViewAnswer(document=document, command=words, shown={"facts": facts})


def _document(reading: "FleetReading", rendered: str) -> "OutputDocument":
    subject = subject_of_words(reading.repository, rendered, (), "")
    return history_document(history_of_subject(reading.repository, rendered, subject, _MOST))


class CommitFacts(Struct, frozen=True, kw_only=True):
    """A commit of the source, and the first rendered commit made of it ("": none that is known here).

    ``previous`` is the source before it, empty for the first commit. ``time`` is that of the source commit.
    """

    id: str
    rendered: str
    previous: str
    author: str
    subject: str
    message: str
    time: str


def _facts(repository: Repository, tip: str | None, revision: str) -> CommitFacts:
    """Return what is known of a commit of the source or a rendered one, by what is rendered up to ``tip``."""
    if revision.startswith("-"):
        raise UnknownName(f"{revision!r} is not a revision", hint="name a branch, a tag or a commit")
    commit = repository.resolve(revision)
    named = repository.commit_info(commit).trailer(SOURCE)
    source = repository.resolve(named[0]) if len(named) == 1 else commit
    known = rendered_commits(repository, tip) if tip else iter(())
    made = [each.commit for each in known if source in {each.source, each.commit}]
    info = repository.commit_info(source)
    return CommitFacts(
        id=source,
        rendered=commit if named else made[-1] if made else "",
        previous=info.parents[0] if info.parents else "",
        author=info.author,
        subject=info.subject,
        message=info.message,
        time=epoch_text(info.time),
    )


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
