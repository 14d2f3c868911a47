"""The bindings of the earlier commits that RollbackRequests name, read for the pass that answers them."""

from reconciler.branches.publication import remote_of_source
from reconciler.branches.reading import Source, read_previous
from reconciler.pipeline.former_splits import (
    NO_RESTORATIONS,
    Restorations,
    known_rollbacks,
    requests_to_answer,
    restorations_of_requests,
)
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from render.errors import GitError, InputError, Problem
from render.rescheduling.rollbacks import RollbackRequest


def restorations_of_source(repository: Repository, source: Source, previous: Previous | None) -> Restorations:
    """Return the splits that requests of a source ask for; InputError where a commit that one names is not here.

    A first run has nothing that could stand again: its requests are known from then on.
    """
    desired = source.desired
    if not desired.rollback_requests or previous is None:
        return NO_RESTORATIONS
    asked = requests_to_answer(desired.rollback_requests, known_rollbacks(previous.tree))
    found, problems = [], []
    for request in asked:
        try:
            found.append((request, _former_commit(repository, request, desired).bindings))
        except GitError as error:
            problems.append(_problem_of_request(repository, source, request, error))
    if problems:
        raise InputError(problems, warnings=desired.warnings)
    return restorations_of_requests(found, (each.ref for each in desired.templates), previous.bindings)


def _former_commit(repository: Repository, request: RollbackRequest, desired: Desired) -> Previous:
    return previous_by_new_names(read_previous(repository, request.to), desired.clusters)


def _problem_of_request(repository: Repository, source: Source, request: RollbackRequest, error: GitError) -> Problem:
    line = source.lines.line_of(request.path, request.document, "spec.to") if source.lines else 0
    if _is_here(repository, request.to):
        return Problem(request.path, line, "spec.to", error.message, error.hint or "")
    return Problem(
        request.path,
        line,
        "spec.to",
        f"rendered commit {request.to[:12]}, whose splits are to stand again, is not in this clone",
        f"fetch it: {command_that_fetches(repository, request.to)}",
    )


def command_that_fetches(repository: Repository, commit: str) -> str:
    """Return the command that brings a rendered commit that is not here."""
    depth = "--depth=1 " if repository.is_shallow else ""
    return f"git fetch {depth}{remote_of_source(repository) or 'REMOTE'} {commit}"


def _is_here(repository: Repository, commit: str) -> bool:
    try:
        return bool(repository.resolve(commit))
    except GitError:
        return False
