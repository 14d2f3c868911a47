"""The rendered commit to apply, and the fleet that its source describes."""

from reconciler.deliver.delivery import FleetContext
from reconciler.members.webhooks import calling_interpreter
from reconciler.publish.branches import Publication, publication_of
from reconciler.publish.reading import Source, read_fleet, read_observed_inputs, read_source
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from reconciler.source.desired import Desired
from render.errors import ConfigError, GitError
from render.fleet import Fleet


def applied_commit(repository: Repository, revision: str) -> tuple[FleetContext, Desired, str]:
    """Return the fleet and the source of a rendered commit, and the commit.

    How members are reached is said by that source; of the newest commit by ``HEAD``, for a change of argosy.yaml alone
    renders nothing new.
    """
    if revision:
        commit = repository.resolve(revision)
        desired = _rendered_source(repository, commit).desired
        return _fleet_context(desired.fleet, desired, publication_of(repository, desired.fleet)), desired, commit
    fleet = read_fleet(repository, repository.resolve("HEAD"))
    publication, branch = publication_of(repository, fleet), fleet.rendered_branch
    tip = publication.current_tip(branch)
    if tip is None:
        raise ConfigError(
            f"nothing is rendered yet: there is no branch {branch!r}", hint="argosy reconcile --bootstrap"
        )
    desired = _rendered_source(repository, tip).desired
    return _fleet_context(fleet, desired, publication), desired, tip


def _rendered_source(repository: Repository, commit: str) -> Source:
    observed = read_observed_inputs(repository, commit)
    return read_source(repository, _source_of(repository, commit), facts=lambda _fleet: observed.facts)


def _source_of(repository: Repository, commit: str) -> str:
    named = repository.commit_info(commit).trailer(SOURCE)
    if len(named) != 1:
        raise GitError(
            f"commit {commit[:12]} was not rendered by Argosy",
            hint="name a commit of the rendered branch: git log argosy/rendered",
        )
    return named[0]


def _fleet_context(fleet: Fleet, desired: Desired, publication: Publication) -> FleetContext:
    return FleetContext(
        publication=publication,
        fleet=fleet,
        members=desired.clusters,
        interpreter=calling_interpreter(desired),
    )
