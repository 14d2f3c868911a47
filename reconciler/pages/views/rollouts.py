"""The rollouts: which change goes out by which waves, and what each waits for."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from reconciler.outputs.rollouts import recorded_rollouts_document
from reconciler.pages.look import Look, ViewAnswer
from reconciler.pages.view import PageView, ViewGroup
from reconciler.repository import Repository
from reconciler.repository.commits import CommitInfo
from reconciler.status.rollouts import read_recorded_rollouts
from render.errors import GitError

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading

_MOST_ROLLOUTS, _MOST_SOURCES = 100, 5
"""The most rollouts that the page shows, and of each the most commits by which its change came."""


def _answer(look: Look) -> ViewAnswer:
    document = look.document("rollouts", rollouts_document_of_fleet)
    shown = [each.get("commits", ())[-_MOST_SOURCES:] for each in document["rollouts"][:_MOST_ROLLOUTS]]
    ids = dict.fromkeys(commit for commits in shown for commit in commits)
    sources = look.reader.in_repository(lambda repository: dict(_commits_here(repository, ids)))
    command = () if look.commits.is_past else ("rollout", "status")  # which tells of now
    return ViewAnswer(document=document, command=command, shown={"sources": sources})


def _commits_here(repository: Repository, ids: Iterable[str]) -> Iterator[tuple[str, CommitInfo]]:
    """Yield the commits that this clone has, by their ids."""
    for commit in ids:
        with suppress(GitError):
            yield commit, repository.commit_info(commit)


def rollouts_document_of_fleet(reading: "FleetReading") -> "OutputDocument":
    """Return the rollouts of a fleet, of all policies and groups; of the past without commands, which act now."""
    recorded = read_recorded_rollouts(reading.repository)
    return recorded_rollouts_document(recorded, recorded.groups_meant("", "", ""), is_past=reading.commits.is_past)


VIEW = PageView(
    name="rollouts",
    path="/rollouts",
    question="What is going out?",
    template="rollouts.html",
    answer=_answer,
    group=ViewGroup.NOW,
    label="Rollouts",
    key="r",
    icon="rollouts",
)
