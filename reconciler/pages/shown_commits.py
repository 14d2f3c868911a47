"""The commits that a page shows: those of the three branches of a fleet, now or at a time in the past.

``at`` is a time, a rendered commit, or a commit or branch of the source. Of a time, the commits that stood then are
shown. Of a rendered commit, what was seen until the next one stood. A commit of the source means the rendered commit
that was made of it; where there is none, such as for a branch that is not merged, the fleet as it is beside that
source.
"""

from collections.abc import Mapping

from msgspec import Struct

from reconciler.branches.in_force import fleet_in_force, rendered_tip_or_none
from reconciler.branches.publication import Publication, branch_of_head, publication_of, remote_of_branch
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from reconciler.status.fleet import last_good_before
from render.errors import ConfigError, GitError, InputError
from render.timing import parse_instant

_MOST_COMMITS = 10_000


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
    """Return the commits that ``at`` means ("": the newest); ConfigError or GitError where it means none."""
    rendered, status = repository.tip(branches.rendered), repository.tip(branches.status)
    newest = ShownCommits(source=repository.resolve("HEAD"), rendered=rendered, status=status)
    if not at or rendered is None:
        return newest
    if (time := parse_instant(at)) is not None:
        return _commits_at_time(repository, newest, time.timestamp())
    return _commits_meant_by_revision(repository, newest, at)


def pinned_tips(branches: Branches, commits: ShownCommits) -> Mapping[str, str | None]:
    """Return the tips to read some commits at."""
    tips = {"HEAD": commits.source, branches.rendered: commits.rendered, branches.status: commits.status}
    return {**tips, branches.source: commits.source} if branches.source and commits.is_past else tips


def _commits_at_time(repository: Repository, newest: ShownCommits, seconds: float) -> ShownCommits:
    assert newest.rendered is not None
    rendered = _newest_commit_until(repository, newest.rendered, seconds)
    if rendered is None:
        raise ConfigError("nothing was rendered yet at that time", hint="choose a later time")
    status = _newest_commit_until(repository, newest.status, seconds) if newest.status else None
    source = _source_of(repository, rendered) or newest.source
    return ShownCommits(source=source, rendered=rendered, status=status, now=seconds, is_past=True)


def _commits_meant_by_revision(repository: Repository, newest: ShownCommits, at: str) -> ShownCommits:
    assert newest.rendered is not None
    if at.startswith("-"):
        raise GitError(f"{at!r} is not a revision", hint="name a branch, a tag, a commit or a time")
    commit = repository.resolve(at)
    following = ""
    for info in repository.history(newest.rendered, _MOST_COMMITS):
        source = next(iter(info.trailer(SOURCE)), "")
        if commit in {info.id, source}:
            return _commits_beside_rendered_one(repository, newest, info.id, source, following)
        following = info.id
    return ShownCommits(source=commit, rendered=newest.rendered, status=newest.status, preview=at)


def _commits_beside_rendered_one(
    repository: Repository, newest: ShownCommits, rendered: str, source: str, following: str
) -> ShownCommits:
    if not following:
        return ShownCommits(
            source=source or newest.source, rendered=rendered, status=newest.status, is_past=source != newest.source
        )
    until = float(repository.commit_info(following).time)
    status = _newest_commit_until(repository, newest.status, until - 1) if newest.status else None
    return ShownCommits(source=source or newest.source, rendered=rendered, status=status, now=until, is_past=True)


def _newest_commit_until(repository: Repository, tip: str, seconds: float) -> str | None:
    """Return the newest commit of a branch that is not younger than a time; None where all are."""
    if repository.commit_info(tip).time <= seconds:
        return tip
    history = repository.git.text("rev-list", "--first-parent", f"--max-count={_MOST_COMMITS}", "--end-of-options", tip)
    infos = repository.commit_infos(history.split())
    return next((info.id for info in infos if info.time <= seconds), None)


def _source_of(repository: Repository, rendered: str) -> str:
    """Return the source of a rendered commit; empty where that is not in this clone."""
    source = next(iter(repository.commit_info(rendered).trailer(SOURCE)), "")
    try:
        return repository.resolve(source) if source else ""
    except GitError:
        return ""
