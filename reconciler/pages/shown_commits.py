"""The commits that a page shows: those of the three branches of a fleet, now or at a time in the past.

``at`` is a time, a rendered commit, or a commit or branch of the source. A source that is not rendered, such as a
branch that is not merged, is shown beside the fleet as it is.
"""

from collections.abc import Mapping

from msgspec import Struct

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import Publication, branch_of_head, publication_of, remote_of_branch
from reconciler.overview.instants import instant_meant
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from reconciler.status.fleet import last_good_before
from render.errors import GitError, InputError, NoSuchRevision, UnknownName
from render.timing import parse_instant

from .asked_times import FORMS


class Branches(Struct, frozen=True, kw_only=True):
    """The refs of a fleet: of the source ("": HEAD alone), of what is rendered and of what is seen."""

    source: str
    rendered: str
    status: str
    name: str


class ShownCommits(Struct, frozen=True, kw_only=True):
    """The commits of a fleet that are shown; None for a branch that is not there.

    ``now`` is the time to tell ages by, 0 for the time of day. ``is_past`` says that newer ones may stand. ``preview``
    is the branch or commit of the source that is shown beside a fleet that does not have it yet.
    """

    source: str
    rendered: str | None
    status: str | None
    now: float = 0.0
    is_past: bool = False
    preview: str = ""

    @property
    def key(self) -> tuple[str | float | None, ...]:
        """The same for commits whose documents are the same."""
        return (self.source, self.rendered, self.status, self.now)


def branches_of_fleet(repository: Repository) -> Branches:
    """Return where a fleet's branches are, by the settings that are in force."""
    head = repository.resolve("HEAD")
    try:
        fleet = fleet_in_force(repository, head, rendered_tip_or_none)[0]
    except InputError as error:
        fleet = last_good_before(error, repository, head).fleet
    publication: Publication = publication_of(repository, fleet)
    current = branch_of_head(repository)
    remote = remote_of_branch(repository, current)
    return Branches(
        source=f"refs/remotes/{remote}/{current}" if remote and current else "",
        rendered=publication.ref(fleet.rendered_branch),
        status=publication.ref(fleet.status_branch),
        name=fleet.name,
    )


def commits_at(repository: Repository, branches: Branches, at: str) -> ShownCommits:
    """Return the commits that ``at`` means ("": the newest); an error where it means none."""
    rendered, status = repository.tip(branches.rendered), repository.tip(branches.status)
    head = repository.resolve("HEAD")
    if not at or rendered is None:
        return ShownCommits(source=head, rendered=rendered, status=status)
    preview = "" if parse_instant(at) else _source_not_rendered(repository, rendered, at)
    if preview:
        return ShownCommits(source=preview, rendered=rendered, status=status, preview=at)
    instant = instant_meant(repository, at)
    source = _source_of(repository, instant.rendered) or head
    is_past = (instant.rendered, instant.status) != (rendered, status or "")
    return ShownCommits(
        source=source, rendered=instant.rendered, status=instant.status or None, now=instant.now, is_past=is_past
    )


def pinned_tips(branches: Branches, commits: ShownCommits) -> Mapping[str, str | None]:
    """Return the tips to read some commits at."""
    tips = {"HEAD": commits.source, branches.rendered: commits.rendered, branches.status: commits.status}
    return {**tips, branches.source: commits.source} if branches.source and commits.is_past else tips


def _source_not_rendered(repository: Repository, rendered: str, at: str) -> str:
    """Return the commit of the source that ``at`` names, where what is rendered was not made with it; else nothing."""
    if at.startswith("-"):
        raise NoSuchRevision(f"{at!r} is not a revision", hint="name a branch, a tag, a commit or a time")
    try:
        commit = repository.resolve(at)
    except (GitError, UnknownName) as error:
        raise NoSuchRevision(
            f"{at!r} is no time, and no commit or branch that is here", hint=f"ask for {FORMS}"
        ) from error
    if repository.commit_info(commit).trailer(SOURCE):
        return ""
    source = _source_of(repository, rendered)
    return "" if source and repository.is_ancestor(commit, source) else commit


def _source_of(repository: Repository, rendered: str) -> str:
    """Return the source of a rendered commit; empty where that is not in this clone."""
    source = next(iter(repository.commit_info(rendered).trailer(SOURCE)), "")
    try:
        return repository.resolve(source) if source else ""
    except GitError:
        return ""
