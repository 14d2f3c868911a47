"""``argosy cluster unjoin``: a member leaves once it holds nothing of ours, is emptied first, or is let go as it is.

1. ``--drain`` taints the member, so that every placement leaves it; the commit carries the allowance guards ask for.
2. A pass renders and applies that.
3. Then the Cluster's file goes. Before, that is refused: objects would stay in the cluster with nobody to prune them.

``--disconnect`` skips all that: the file goes, and what the cluster holds stays there, untouched.
"""

from collections.abc import Iterator

import click

from reconciler.console.log import Log
from reconciler.pipeline.previous import RenderedTree
from reconciler.publish.branches import publication_of, source_remote
from reconciler.publish.status_branch import StatusBranch, read_inventories
from reconciler.repository.trailers import ALLOW_REMOVAL
from render.errors import ConfigError
from render.words import counted

from .cluster_files import MemberSource
from .joining import context_change
from .label_words import DRAIN, TaintWords, taint_edits
from .labels import Told, opened_source, write

_LISTED = 5


def unjoin_member(log: Log, name: str, *, drain: bool, disconnect: bool, commit: bool) -> int:
    """Take a member out of the fleet, or begin to."""
    if drain and disconnect:
        raise click.UsageError("--drain empties the cluster, --disconnect leaves it as it is: choose one")
    with opened_source(log) as source:
        if drain:
            return _drain(source, name, log, commit=commit)
        if not disconnect:
            _refuse_full(source, name)
        place = source.place_of(name)
        contents = {**source.without(place), **context_change(source, name, "")}
        after = source.checked(contents).desired.fleet
        subject = f"Disconnect {name}" if disconnect else f"Let {name} leave"
        write(source, Told(contents=contents, subject=subject), log, commit=commit)
        before = source.fleet
    click.echo(f"cluster/{name} {'disconnected' if disconnect else 'unjoined'}")
    if before.reached and not after.reached:
        log.warning("argosy.yaml lists no cluster any more: argosy reconcile only renders")
    return 0


def _drain(source: MemberSource, name: str, log: Log, *, commit: bool) -> int:
    place = source.place_of(name)
    held = len(_rendered_paths(source, name))
    trailers = (f"{ALLOW_REMOVAL}: {name} {held}",) if held else ()
    edits = taint_edits(place.manifest, TaintWords(DRAIN, ()), overwrite=True)
    if edits:
        contents = source.with_edits(place, edits)
        source.checked(contents)
        write(source, Told(contents=contents, subject=f"Drain {name}", trailers=trailers), log, commit=commit)
    leaving = counted(held, "object is", "objects are")
    click.echo(f"cluster/{name} {'draining' if edits else 'already draining'}: {leaving} to leave")
    if source.fleet.rescheduling != "Source":
        log.warning("with rescheduling: Karmada a taint drives nothing out; set rescheduling: Source in argosy.yaml")
    for line in _next_steps(source, name, trailers):
        click.echo(line)
    return 0


def _next_steps(source: MemberSource, name: str, trailers: tuple[str, ...]) -> Iterator[str]:
    path, repository = source.place_of(name).file.path, source.repository
    yield "next:"
    if path in repository.dirty_paths():
        said = "".join(f" -m '{each}'" for each in trailers)
        yield f"  git commit -m 'Drain {name}'{said} -- {path}"
    if source_remote(repository):
        yield "  git push"
    yield "  argosy reconcile"
    yield f"  argosy cluster unjoin {name}"


def _refuse_full(source: MemberSource, name: str) -> None:
    """Refuse to forget a member that holds something of ours, as far as the branches know."""
    source.place_of(name)
    if paths := _rendered_paths(source, name):
        listed = ", ".join(paths[:_LISTED]) + (f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else "")
        raise ConfigError(
            f"{counted(len(paths), 'object is', 'objects are')} still rendered for {name!r}: {listed}",
            hint=f"argosy cluster unjoin {name} --drain makes them leave, --disconnect leaves them there for good",
        )
    if commits := _unsettled(source, name):
        raise ConfigError(
            f"{name!r} may still hold what rendered commit {commits[0][:12]} asked of it",
            hint=f"argosy apply --cluster {name} removes that; --disconnect leaves it there for good",
        )


def _rendered_paths(source: MemberSource, name: str) -> tuple[str, ...]:
    """Return what the newest rendered commit holds for a member."""
    publication = publication_of(source.repository, source.fleet)
    tip = publication.current_tip(source.fleet.rendered_branch)
    return _paths_at(source, name, tip) if tip else ()


def _paths_at(source: MemberSource, name: str, commit: str) -> tuple[str, ...]:
    repository = source.repository
    tree = RenderedTree.of(repository.commit_info(commit).tree, repository.read_trees)
    folder = tree.clusters.get(name)
    return tuple(sorted("/".join(path) for path, _ in tree.files(folder))) if folder else ()


def _unsettled(source: MemberSource, name: str) -> tuple[str, ...]:
    """Return the commits whose objects the member may hold, as its inventory says."""
    publication = publication_of(source.repository, source.fleet)
    status = StatusBranch(publication=publication, branch=source.fleet.status_branch)
    inventory = read_inventories(status, status.tip()).get(name)
    commits = inventory.commits if inventory else ()
    return tuple(commit for commit in commits if _paths_at(source, name, commit))
