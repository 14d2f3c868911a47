"""What ``argosy reconcile`` does: fetch, render, guard, commit and push, again when somebody else was faster."""

import json
from dataclasses import dataclass

import click

from render.errors import ConfigError, GitError, SourceMoved

from .facts import Facts
from .passes import Outcome, check_guards, check_rewind, commit_outcome, run_pass
from .presentation import problems_of
from .previous import Previous
from .publication import Publication, publication_of, source_remote
from .reading import Source, read_facts, read_previous, read_source
from .rendering import parsed_allowances
from .report import Log
from .repository import Fetching, Repository, open_repository
from .repository.refs import head_branch
from .trailers import engine_version

_TRIES = 5
_WHOLE_HISTORY = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileOptions:
    """The options of ``argosy reconcile``."""

    rev: str = ""
    bootstrap: bool = False
    accept_rewind: bool = False
    allowed: tuple[str, ...] = ()
    dry_run: bool = False
    output: str = "text"


def reconcile_and_show(log: Log, options: ReconcileOptions) -> int:
    """Run one pass and say what it did; return 1 when something could not be placed or built."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        commit = source_commit(repository, options.rev, log)
        for _ in range(_TRIES - 1):
            try:
                return _reconciled(repository, commit, options, log)
            except SourceMoved as error:
                log.info("somebody else was faster; rendering again", reason=error.message)
        return _reconciled(repository, commit, options, log)


def source_commit(repository: Repository, revision: str, log: Log) -> str:
    """Return the commit to render: the revision, or the newest of the remote's branch, or of HEAD without a remote."""
    remote = source_remote(repository)
    if revision:
        return repository.resolve(revision)
    if not remote or repository.mirrors:
        return repository.resolve("HEAD")
    branch = head_branch(repository.folder.git_dir)
    if branch is None:
        return repository.resolve("HEAD")
    with log.timed("fetch source"):
        return _fetched(repository, remote, branch)


def _fetched(repository: Repository, remote: str, branch: str) -> str:
    """Fetch a branch, all of its history if this clone is shallow, and return its tip."""
    tip = repository.remote_tips(remote, [branch]).tips.get(branch)
    if tip is None:
        raise GitError(
            f"{remote!r} has no branch {branch.removeprefix('refs/heads/')!r}",
            hint="push it first, or name the source: --rev REVISION",
        )
    local = f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"
    depth = _WHOLE_HISTORY if repository.is_shallow else None
    if depth or repository.tip(local) != tip:
        repository.fetch(remote, Fetching(refspecs=[f"+{branch}:{local}"], depth=depth))
    return repository.tip(local) or tip


def _reconciled(repository: Repository, commit: str, options: ReconcileOptions, log: Log) -> int:
    source = read_source(repository, commit)
    fleet = source.desired.fleet
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        previous = current_previous(publication, fleet.rendered_branch, bootstrap=options.bootstrap)
    if not options.accept_rewind:
        check_rewind(repository, previous, commit)
    for warning in source.desired.warnings:
        log.warning(str(warning))
    previous = _upgraded(publication, previous, source, options, log)
    return _committed(publication, source, previous, options, log)


def current_previous(publication: Publication, branch: str, *, bootstrap: bool) -> Previous | None:
    """Return the fleet's past as it is now; without one, ``bootstrap`` says that this is the first run."""
    tip = publication.current_tip(branch)
    if tip is None and not bootstrap:
        where = f"at {publication.remote!r}" if publication.remote else "here"
        raise ConfigError(
            f"there is no branch {branch!r} {where}: is this the first run?",
            hint="then pass --bootstrap; otherwise look for who removed the branch, or every workload is dealt anew",
        )
    return read_previous(publication.repository, tip) if tip else None


def _upgraded(
    publication: Publication, previous: Previous | None, source: Source, options: ReconcileOptions, log: Log
) -> Previous | None:
    """Commit what a new engine version alone changes first, so that it is never mixed with a change of the source."""
    if previous is None or previous.version == engine_version() or previous.source == source.commit:
        return previous
    repository, branch = publication.repository, source.desired.fleet.rendered_branch
    before = read_source(repository, previous.source)
    outcome = run_pass(repository, before, previous, _facts(publication, source), log)
    if options.dry_run or not outcome.changed:
        return previous
    check_guards(outcome, parsed_allowances(options.allowed))
    commit = commit_outcome(outcome, publication, branch)
    log.info("committed the engine upgrade", branch=branch, commit=str(commit)[:12], engine=engine_version())
    return read_previous(repository, str(commit))


def _facts(publication: Publication, source: Source) -> Facts:
    return read_facts(publication.repository, publication.current_tip(source.desired.fleet.status_branch))


def _committed(
    publication: Publication, source: Source, previous: Previous | None, options: ReconcileOptions, log: Log
) -> int:
    outcome = run_pass(publication.repository, source, previous, _facts(publication, source), log)
    check_guards(outcome, parsed_allowances(options.allowed))
    branch = source.desired.fleet.rendered_branch
    commit = None
    if not options.dry_run:
        with log.timed("commit"):
            commit = commit_outcome(outcome, publication, branch)
    problems = problems_of(outcome)
    if options.output == "json":
        click.echo(_as_json(outcome, commit))
    else:
        click.echo(_said(outcome, commit, branch, dry_run=options.dry_run))
    for problem in problems:
        log.warning(str(problem))
    return 1 if problems else 0


def _said(outcome: Outcome, commit: str | None, branch: str, *, dry_run: bool) -> str:
    tree = outcome.rendered.tree
    if not outcome.changed:
        tip = outcome.previous.commit[:12] if outcome.previous else ""
        return f"unchanged: {branch} {tip} holds source {outcome.source.commit[:12]}"
    what = f"source {outcome.source.commit[:12]} for {len(tree.clusters)} clusters"
    if dry_run:
        return f"would commit {what} to {branch}"
    return f"committed {str(commit)[:12]} to {branch}: {what}"


def _as_json(outcome: Outcome, commit: str | None) -> str:
    value = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Reconciliation",
        "source": outcome.source.commit,
        "previous": outcome.previous.commit if outcome.previous else None,
        "rendered": commit or (outcome.previous.commit if outcome.previous else None),
        "changed": outcome.changed,
        "removals": [
            {"cluster": removal.cluster, "objects": list(removal.paths), "held": removal.held}
            for removal in outcome.removals
        ],
        "problems": [str(problem) for problem in problems_of(outcome)],
    }
    return json.dumps(value, indent=2, ensure_ascii=False)
