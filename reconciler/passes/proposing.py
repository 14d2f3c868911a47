"""A pass that proposes its commit instead of pushing it: to ``argosy/proposed``, and in one pull request for a person.

1. the commit follows the rendered branch as any other would, so that merging it changes nothing else;
2. it is pushed to the proposed branch, unless that has it already;
3. the open pull request gets a title and a body of it, or one is opened; one that somebody closed stays closed until
   there is another commit to propose;
4. a pass that has nothing to propose closes what is open, and removes the branch.

Members get what the rendered branch holds, whatever becomes of a proposal.
"""

import os
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.publication import Publication, remote_names
from reconciler.console.cleaning import on_one_line, safe_for_terminal
from reconciler.console.log import Log
from reconciler.diff.comparison import Comparison, difference_of
from reconciler.diff.markdown import difference_markdown
from reconciler.explain.replay import replay_pass
from reconciler.forge.address import Forge, forge_of
from reconciler.forge.pull_requests import (
    PullRequest,
    Wanted,
    close_pull_request,
    list_pull_requests,
    open_pull_request,
    update_pull_request,
)
from reconciler.rendering.outcome import Outcome, stored_commit
from reconciler.repository import NewCommit, RefUpdate, Repository
from reconciler.repository.trailers import commit_written_by_argosy
from render.errors import ConfigError, GitError, ReconcileError, SourceMoved
from render.settings.fleet import Fleet
from render.words import counted_noun

_MOST_BYTES = 60_000
_MOST_OF_A_TITLE = 200


class ProposalState(StrEnum):
    """The state of a proposal after a pass: its pull request is new, has a new commit, stayed, or was closed."""

    OPENED = "Opened"
    RENEWED = "Renewed"
    UNCHANGED = "Unchanged"
    CLOSED = "Closed"
    FAILED = "Failed"


class Proposal(Struct, frozen=True, kw_only=True):
    """A commit that a person is asked to merge; ``error`` says why nobody could be asked, where the state is Failed."""

    commit: str
    branch: str
    state: ProposalState
    url: str = ""
    error: ReconcileError | None = None

    @property
    def is_new(self) -> bool:
        """Say whether somebody is asked by this pass, and not by an earlier one."""
        return self.state in {ProposalState.OPENED, ProposalState.RENEWED}


def propose_commit(outcome: Outcome, publication: Publication, log: Log) -> Proposal | None:
    """Propose the commit of a pass, or withdraw an earlier one where nothing changed; SourceMoved as for any push."""
    fleet = outcome.source.desired.fleet
    if not outcome.is_changed:
        _withdraw_proposal(outcome.repository, publication, fleet, log)
        return None
    commit = stored_commit(outcome)
    try:
        forge = _forge_of_remote(publication, fleet)
        tip = _push_proposal(outcome.repository, publication, fleet.proposed_branch, commit)
        state, request = _ask_for_merge(outcome, forge, tip, log)
    except SourceMoved:
        raise
    except (GitError, ConfigError) as error:
        return Proposal(commit=commit.id, branch=fleet.proposed_branch, state=ProposalState.FAILED, error=error)
    return Proposal(commit=tip, branch=fleet.proposed_branch, state=state, url=request.url)


def _forge_of_remote(publication: Publication, fleet: Fleet) -> Forge:
    """Return the forge, by the address of a remote that this clone has; one that argosy.yaml names tells nothing."""
    remote, repository = publication.remote, publication.repository
    if not remote:
        raise ConfigError("rendered.push: PullRequest needs a remote to push to", hint="git remote add origin ADDRESS")
    address = repository.settings.last(f"remote.{remote}.url") if remote in remote_names(repository) else ""
    return forge_of(address or repository.mirrors, fleet.rendered.forge, os.environ)


def _push_proposal(repository: Repository, publication: Publication, branch: str, commit: NewCommit) -> str:
    """Let the proposed branch hold a commit, and return its tip: that of another run that holds the same stays."""
    tip = publication.current_tip(branch)
    if tip is not None and _comparable_commit(repository, tip) == _comparable_commit(repository, commit.id):
        return tip
    repository.push(publication.remote, [RefUpdate(f"refs/heads/{branch}", commit.id, tip)])
    repository.update_ref(publication.ref(branch), commit.id, repository.tip(publication.ref(branch)))
    return commit.id


def _comparable_commit(repository: Repository, commit: str) -> tuple[object, ...]:
    """Return what a commit says, whoever made it and when."""
    info = repository.commit_info(commit)
    return info.tree, info.parents, info.trailers


def _ask_for_merge(outcome: Outcome, forge: Forge, commit: str, log: Log) -> tuple[ProposalState, PullRequest]:
    """Have one pull request ask for a commit to be merged."""
    fleet = outcome.source.desired.fleet
    wanted = Wanted(head=fleet.proposed_branch, base=fleet.rendered_branch)
    known = list_pull_requests(forge, wanted)
    request = next((each for each in known if each.is_open), None)
    found = _request_known_for_commit(known, commit)
    if found is not None:
        return found
    subject = on_one_line(outcome.repository.commit_info(commit).subject)
    wanted = replace(
        wanted, title=safe_for_terminal(subject)[:_MOST_OF_A_TITLE], body=_body_of_pull_request(outcome, commit, log)
    )
    if request is None:
        return ProposalState.OPENED, open_pull_request(forge, wanted)
    return ProposalState.RENEWED, update_pull_request(forge, request.number, wanted)


def _request_known_for_commit(known: tuple[PullRequest, ...], commit: str) -> tuple[ProposalState, PullRequest] | None:
    """Return the pull request that asks for a commit, or asked and was closed; None where one has to be made."""
    request = next((each for each in known if each.is_open), None)
    if request is not None:
        return (ProposalState.UNCHANGED, request) if _mark_of_commit(commit) in request.body else None
    refused = next((each for each in known if each.commit == commit), None)
    return (ProposalState.CLOSED, refused) if refused is not None else None


def known_proposal(publication: Publication, fleet: Fleet, commit: str) -> Proposal | None:
    """Return the proposal of an earlier pass as it stands now; None where a pass has to look after it."""
    try:
        if publication.current_tip(fleet.proposed_branch) != commit:
            return None
        wanted = Wanted(head=fleet.proposed_branch, base=fleet.rendered_branch)
        found = _request_known_for_commit(list_pull_requests(_forge_of_remote(publication, fleet), wanted), commit)
    except (GitError, ConfigError):
        return None
    if found is None:
        return None
    state, request = found
    return Proposal(commit=commit, branch=fleet.proposed_branch, state=state, url=request.url)


def _mark_of_commit(commit: str) -> str:
    """Return the words by which a body is known to be about a commit."""
    return f"<code>{commit[:12]}</code>"


def _body_of_pull_request(outcome: Outcome, commit: str, log: Log) -> str:
    """Return what merging changes in every cluster, and how it is merged."""
    end = (
        f"\nThis is the rendered commit {_mark_of_commit(commit)}. Merge it by a merge commit, by rebasing or by"
        " fast-forwarding: its trailers have to stay. Nothing is applied before. Argosy renews this request while the"
        " source changes.\n"
    )
    return safe_for_terminal(_difference_in_markdown(outcome, _MOST_BYTES - len(end.encode()), log)) + end


def _difference_in_markdown(outcome: Outcome, most: int, log: Log) -> str:
    """Return what differs from the commit before, which is rendered again from what it records."""
    previous, silent = outcome.previous, replace(log, level=log.level - 1)
    assert previous is not None
    try:
        before = replay_pass(
            outcome.repository, commit_written_by_argosy(outcome.repository, previous.commit), silent
        ).outcome
        accepted = tuple(replace(each, waits=False) for each in outcome.new_settings)
        comparison = Comparison(base=before, head=outcome, settings=accepted)
        return difference_markdown(difference_of(comparison), max_bytes=most)
    except ReconcileError as error:
        return f"### The difference could not be made\n\n{safe_for_terminal(on_one_line(error.message))}\n"


def _withdraw_proposal(repository: Repository, publication: Publication, fleet: Fleet, log: Log) -> None:
    """Close what is proposed no more, and remove the branch; that it is still open harms nothing."""
    branch = fleet.proposed_branch
    tip = publication.current_tip(branch) if publication.remote else None
    if tip is None:
        return
    try:
        forge = _forge_of_remote(publication, fleet)
        found = list_pull_requests(forge, Wanted(head=branch, base=fleet.rendered_branch))
        stale = [close_pull_request(forge, request.number) for request in found if request.is_open]
        repository.push(publication.remote, [RefUpdate(f"refs/heads/{branch}", None, tip)])
        # A push to a configured remote removes the ref by which it is known here as well.
        if known := repository.tip(publication.ref(branch)):
            repository.update_ref(publication.ref(branch), None, known)
    except (GitError, ConfigError) as error:
        log.warning(f"the branch {branch!r} is proposed no more, and is still there: {error.message}")
        return
    closing = f", closed {counted_noun(len(stale), 'pull request')}" if stale else ""
    log.info(f"removed the branch {branch!r}, which has nothing to propose{closing}")
