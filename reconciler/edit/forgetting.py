"""``argosy cluster forget``: clusters that left the source and never come back are listed in argosy.yaml.

The rendered branch keeps the folder of a cluster that was disconnected, and the status branch keeps what pruning goes
by, for the cluster may come back. Of one that is listed as forgotten, the next pass keeps neither. Nothing is deleted
in the cluster itself, and nobody deletes it later.
"""

from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch, cluster_of_path
from reconciler.console.cleaning import safe_for_terminal
from render.documents import emit
from render.documents.editing import Edit
from render.errors import ConfigError
from render.model import ARGOSY_API_VERSION

from .cluster_files import MemberSource, SourceChange
from .joining import place_of_fleet_settings
from .leaving import folders_in_rendered_tree
from .member_selection import names_in_subject

_FOLDERS = frozenset({"clusters", "facts", "inventory", "schemas"})


def change_that_forgets(source: MemberSource, names: tuple[str, ...]) -> SourceChange:
    """Return the change of argosy.yaml that lists clusters as forgotten; any that is a member or unknown is refused."""
    names = tuple(dict.fromkeys(names))
    disconnected = disconnected_clusters(source)
    for name in names:
        _refuse_cluster_that_is_not_disconnected(source, name, disconnected)
    new = [name for name in names if name not in source.fleet.forgotten]
    path = source.home.path or source.home.expected_path
    content = source.content(path)
    subject = f"Forget {names_in_subject(names)}"
    if not new:
        return SourceChange(contents={}, subject=subject)
    if content is None:
        head = {"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet", "metadata": {"name": "default"}}
        return SourceChange(contents={path: emit({**head, "spec": {"forgotten": new}})}, subject=subject)
    listed = len(source.fleet.forgotten)
    edits = [Edit(("spec", "forgotten", listed + number), name) for number, name in enumerate(new)]
    place = place_of_fleet_settings(source, path, content)
    if not listed:
        edits = [Edit(("spec", "forgotten"), new)]
    return SourceChange(contents=source.with_edits(place, edits), subject=subject)


def disconnected_clusters(source: MemberSource) -> frozenset[str]:
    """Return the clusters that left the source and of which the branches still have a folder or a file."""
    return clusters_on_branches(source) - {cluster.name for cluster in source.loaded.desired.clusters}


def clusters_on_branches(source: MemberSource) -> frozenset[str]:
    """Return the clusters, and those that left, of which the branches have a folder or a file."""
    fleet, clusters = source.published_fleet, source.loaded.desired.clusters
    publication = publication_of(source.repository, fleet)
    status = StatusBranch(publication=publication, branch=fleet.status_branch, clusters=clusters)
    recorded = {cluster_of_path(path) for path in status.files(status.tip(), _FOLDERS)}
    return frozenset({*folders_in_rendered_tree(source), *recorded} - {""})


def _refuse_cluster_that_is_not_disconnected(source: MemberSource, name: str, disconnected: frozenset[str]) -> None:
    if name in disconnected or name in source.fleet.forgotten:
        return
    if any(cluster.name == name for cluster in source.loaded.desired.clusters):
        raise ConfigError(
            f"{name!r} is a member of the fleet",
            hint=f"argosy cluster unjoin {name} takes it out, with --disconnect where it is gone for good",
        )
    known = ", ".join(sorted(disconnected))
    raise ConfigError(
        f"no cluster called {safe_for_terminal(name)!r} left this fleet: the branches have nothing of it",
        hint=f"disconnected here: {known}" if known else "argosy status lists the clusters",
    )
