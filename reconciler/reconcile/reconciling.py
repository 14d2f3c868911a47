"""What ``argosy reconcile`` does: fetch, render, guard, commit and push, again when somebody else was faster."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from reconciler.console.idle_options import refuse_options
from reconciler.console.log import Log
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.released import plain_released, released_lines
from reconciler.pipeline.scope import footing_of
from reconciler.publish.branches import Publication, maintain_repository, publication_of, source_remote
from reconciler.publish.checkpoint import BranchTips, Note
from reconciler.publish.guards import Allowed, check_guards
from reconciler.publish.incremental import on_footing, write_footing
from reconciler.publish.mirrors import update_mirrors
from reconciler.publish.outcome import Outcome, check_rewind, commit_outcome, run_pass
from reconciler.publish.problems import plain_problem, problems_of
from reconciler.publish.reading import (
    ObservedInputs,
    Source,
    read_again_with_facts,
    read_observed_inputs,
    read_previous,
    read_source,
    read_source_without_facts,
)
from reconciler.publish.uncommitted import warn_of_uncommitted
from reconciler.repository import Fetching, Repository
from reconciler.repository.refs import head_branch
from reconciler.repository.trailers import engine_version
from render.errors import ConfigError, GitError, SourceMoved
from render.words import counted

from .options import ReconcileOptions, is_reaching

if TYPE_CHECKING:
    from .members import PassDelivery


_TRIES = 5
_REACHING = "clusters or kubeconfigs in argosy.yaml, --kubeconfig, --kubeconfigs or --in-cluster say how"
_WHOLE_HISTORY = 2**31 - 1


def reconcile_and_show(log: Log, repository: Repository, options: ReconcileOptions) -> int:
    """Run one pass and say what it did; return 1 when something could not be placed or built."""
    origin = source_origin(repository, options.rev)
    commit = source_commit(repository, origin, options.rev, log)
    if origin == ("", "HEAD"):
        warn_of_uncommitted(repository, log)
    code = _tried(repository, SourceOrigin(commit, *origin), options, log)
    maintain_repository(repository, log)
    return code


def _tried(repository: Repository, origin: "SourceOrigin", options: ReconcileOptions, log: Log) -> int:
    for _ in range(_TRIES - 1):
        try:
            return _reconciled(repository, origin, options, log)
        except SourceMoved as error:
            log.info("somebody else was faster; rendering again", reason=error.message)
    return _reconciled(repository, origin, options, log)


class SourceOrigin(NamedTuple):
    """Where the source comes from: the commit, the remote ("": here) and the ref it was found at ("": a revision)."""

    commit: str
    remote: str
    ref: str


def source_origin(repository: Repository, revision: str) -> tuple[str, str]:
    """Return the remote and the ref whose tip is the source; no ref for a revision."""
    if revision:
        return "", ""
    remote, branch = source_remote(repository), head_branch(repository.folder.git_dir)
    if not remote or repository.mirrors or branch is None:
        return "", "HEAD"
    return remote, branch


def source_commit(repository: Repository, origin: tuple[str, str], revision: str, log: Log) -> str:
    """Return the commit to render: the revision, or the newest of the remote's branch, or HEAD without a remote."""
    remote, ref = origin
    if not remote:
        return repository.resolve(revision or "HEAD")
    with log.timed("fetch source"):
        return _fetched(repository, remote, ref)


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


def _reconciled(repository: Repository, origin: SourceOrigin, options: ReconcileOptions, log: Log) -> int:
    source = read_source_without_facts(repository, origin.commit)
    fleet = source.desired.fleet
    publication = publication_of(repository, fleet)
    with log.timed("read previous"):
        previous = current_previous(publication, fleet.rendered_branch, bootstrap=options.bootstrap)
    is_rewound = check_rewind(repository, previous, origin.commit, is_accepted=options.accept_rewind)
    if not is_rewound:
        previous = _upgraded(publication, previous, source, options, log)
    members = _members(source, publication, options, log)
    evidence = members.evidence if members else _evidence(publication, source)
    source = read_again_with_facts(repository, source, evidence.facts)
    for warning in source.desired.warnings:
        log.warning(str(warning))
    if previous and not members:
        previous = on_footing(publication.repository, previous, source.desired, evidence.folder)
    outcome = run_pass(repository, source, previous, evidence, log)
    if members:
        outcome = members.interpreted(outcome, log)
    outcome = replace(outcome, is_rewound=is_rewound)
    commit = _committed(outcome, publication, options, log)
    worst = 1 if problems_of(outcome) else 0
    if members:
        from .members import show_reports

        tip = commit or (outcome.previous.commit if outcome.previous else "")
        reports = members.apply(outcome, tip, log)
        return show_reports(reports, told=_plain(outcome, commit), output=options.output) or worst
    if options.output == "json":
        from reconciler.console.json_values import as_json

        click.echo(as_json(_plain(outcome, commit)), nl=False)
    if origin.ref and not options.dry_run:
        _remember(outcome, origin, publication, commit, evidence)
    return worst


def _members(source: Source, publication: Publication, options: ReconcileOptions, log: Log) -> "PassDelivery | None":
    """Look at the members this pass is for; what speaks to clusters is only imported for those who have any."""
    if not is_reaching(source.desired.fleet, options):
        if not options.dry_run:
            refuse_options(options.delivery, f"goes with clusters that are reached: {_REACHING}")
        return None
    from .members import look_at_members

    return look_at_members(source, publication, options, log)


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
    evidence = _evidence(publication, source)
    before = read_source(repository, previous.source, facts=lambda _fleet: evidence.facts)
    outcome = run_pass(repository, before, previous, evidence, log)
    if options.dry_run or not outcome.changed:
        return previous
    check_guards(outcome, Allowed.parse(options.allowed, options.allowed_moves))
    commit = commit_outcome(outcome, publication, branch)
    log.info("committed the engine upgrade", branch=branch, commit=str(commit)[:12], engine=engine_version())
    return read_previous(repository, str(commit))


def _evidence(publication: Publication, source: Source) -> ObservedInputs:
    tip = publication.current_tip(source.desired.fleet.status_branch)
    return read_observed_inputs(publication.repository, tip)


def _committed(outcome: Outcome, publication: Publication, options: ReconcileOptions, log: Log) -> str | None:
    """Guard a pass, commit it and say so; return the new commit, None when nothing changed."""
    check_guards(outcome, Allowed.parse(options.allowed, options.allowed_moves))
    branch = outcome.source.desired.fleet.rendered_branch
    commit = None
    if not options.dry_run:
        with log.timed("commit"):
            commit = commit_outcome(outcome, publication, branch)
            mirrored = update_mirrors(outcome, publication, commit)
        if mirrored:
            log.info("mirrored", branches=", ".join(mirrored))
    if options.output != "json":
        click.echo(_said(outcome, commit, branch, dry_run=options.dry_run))
    for line in (*released_lines(outcome.released), *map(str, problems_of(outcome))):
        log.warning(line)
    return commit


def _remember(
    outcome: Outcome, origin: SourceOrigin, publication: Publication, commit: str | None, evidence: ObservedInputs
) -> None:
    """Leave a note so that a pass with nothing new need not be done, and one with little new not as a whole."""
    fleet, tip = outcome.source.desired.fleet, outcome.previous.commit if outcome.previous else None
    refs = [_published_ref(publication, branch) for branch in (fleet.rendered_branch, fleet.status_branch)]
    standing = BranchTips(
        source=origin.commit,
        rendered=commit or tip,
        status=publication.repository.tip(publication.ref(fleet.status_branch)),
    )
    Note(
        folder=outcome.repository.folder.under,
        branch=fleet.rendered_branch,
        source_remote=origin.remote,
        source_ref=origin.ref,
        publish_remote="" if outcome.repository.mirrors else publication.remote,
        rendered_ref=refs[0],
        status_ref=refs[1],
        standing=standing,
        warnings=(*map(str, outcome.source.desired.warnings), *released_lines(outcome.released)),
        problems=tuple(map(str, problems_of(outcome))),
    ).write(outcome.repository)
    if standing.rendered:
        troubled = (trouble.ref for trouble in problems_of(outcome))
        bindings = outcome.rendered.built.bindings
        footing = footing_of(outcome.source.desired, standing.rendered, bindings, troubled)
        write_footing(publication.repository, replace(footing, facts=(evidence.folder or b"").hex()))


def _published_ref(publication: Publication, branch: str) -> str:
    is_asked = publication.remote and not publication.repository.mirrors
    return f"refs/heads/{branch}" if is_asked else publication.ref(branch)


def _said(outcome: Outcome, commit: str | None, branch: str, *, dry_run: bool) -> str:
    tree = outcome.rendered.tree
    if not outcome.changed:
        tip = outcome.previous.commit[:12] if outcome.previous else ""
        return f"unchanged: {branch} {tip} holds source {outcome.source.commit[:12]}"
    what = f"source {outcome.source.commit[:12]} for {counted(len(tree.clusters), 'cluster')}"
    if dry_run:
        return f"would commit {what} to {branch}"
    return f"committed {str(commit)[:12]} to {branch}: {what}"


def _plain(outcome: Outcome, commit: str | None) -> dict[str, Any]:
    return {
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
        "released": [plain_released(each) for each in outcome.released],
        "problems": [plain_problem(problem) for problem in problems_of(outcome)],
    }
