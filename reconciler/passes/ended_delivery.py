"""The end of delivery: a pass reaches no member, but would have by the argosy.yaml that was rendered before."""

from reconciler.branches.known_fleets import read_fleet, read_known_fleet
from reconciler.branches.reading import Source
from reconciler.console.log import Log
from reconciler.members.options import AccessOptions, names_of_reached_members
from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from render.errors import GitError, InputError

WAYS = "clusters or kubeconfigs in argosy.yaml, --kubeconfig, --kubeconfigs or --in-cluster"
"""All that can say how clusters are reached."""
_SAID = "argosy.yaml reached clusters until now and reaches none now: they stay as they are, and nothing heals drift"


def warn_of_ended_delivery(
    repository: Repository, previous: Previous | None, source: Source, options: AccessOptions, log: Log
) -> None:
    """Warn where a pass reaches no cluster, but would have by the argosy.yaml that was rendered before.

    A commit that is not here, or whose argosy.yaml cannot be read, is no reason to warn.
    """
    fleet = source.desired.fleet
    if previous is None or previous.source == source.commit or names_of_reached_members(fleet, options) != frozenset():
        return
    try:
        path, commit = fleet.path, previous.source
        before = read_known_fleet(repository, commit, path) if path else read_fleet(repository, commit)
    except (GitError, InputError):
        return
    if names_of_reached_members(before, options) != frozenset():
        log.warning(f"{_SAID}\n  hint: {WAYS} say how; 'argosy cluster unjoin' takes out one that shall be left alone")
