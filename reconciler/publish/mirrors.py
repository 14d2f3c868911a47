"""Branches that mirror one cluster's folder, for who may or wants to read no more.

Those of clusters that pull, and those of ``mirrors`` in argosy.yaml. A mirror holds the folder at its root, and a
commit for every change of it that names the rendered commit it was taken from. It follows the rendered branch and
decides nothing: one that is behind catches up in the next pass. That of a cluster that pulls also has what its agent
must know (``agent_settings``), and its commits allow what left the folder, which a pass has allowed before.
"""

import time
from collections.abc import Iterable, Mapping

from msgspec import Struct

from reconciler.console.log import Log
from reconciler.pipeline.cluster_removals import is_counted
from reconciler.pipeline.previous import StoredTrees
from reconciler.repository import NewCommit, Repository
from reconciler.repository.trailers import ALLOW_REMOVAL, RENDERED
from render.cluster import Cluster, is_pulling
from render.errors import GitError
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, object_id
from render.settings.fleet import Fleet

from .agent_settings import FILE, SettingsFiles
from .branches import Publication
from .delivery_rules import rendered_rules
from .mirror_branches import MirrorMove, bases_of, has_moved, mirror_tips, move_mirrors, note_left
from .outcome import Outcome

_EVERY = "*"
_NOTHING = object_id("tree", b"")


def mirrored_clusters(
    fleet: Fleet, folders: Mapping[str, bytes], members: Mapping[str, object], pulling: Iterable[str] = ()
) -> dict[str, bytes]:
    """Return the folder, by cluster, of the members and former members that have a mirror; an empty one for none."""
    names = {*folders, *members} if _EVERY in fleet.mirrors else set(fleet.mirrors) & {*folders, *members}
    return {name: folders.get(name, _NOTHING) for name in sorted(names.union(pulling))}


class _MirrorTrees(Struct, frozen=True):
    """The trees of mirrors, and the contents of those that are not in the repository; ``pulling`` have an agent."""

    by_cluster: Mapping[str, bytes]
    blobs: Mapping[bytes, bytes]
    trees: Mapping[bytes, bytes]
    pulling: frozenset[str] = frozenset()


class Mirrored(Struct, frozen=True, kw_only=True):
    """The mirrors that moved, a line for each that was put back, and the error of those that could not be."""

    branches: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    fault: GitError | None = None

    def tell(self, log: Log) -> None:
        """Say what was done."""
        for line in self.lines:
            log.warning(line)
        if self.branches:
            log.info("mirrored", branches=", ".join(self.branches))


def update_mirrors(outcome: Outcome, publication: Publication, commit: str | None) -> Mirrored:
    """Let the mirrors hold what the outcome's commit says (None: it is the previous one); return what moved.

    All move at once, each from where it was seen; SourceMoved means that somebody else was faster. One that somebody
    else wrote to, or rewound, is put back first: each commit of a mirror is the tree of a rendered one, by which it is
    known.
    """
    desired, repository = outcome.source.desired, outcome.repository
    rendered = commit or (outcome.previous.commit if outcome.previous else None)
    pulling = tuple(filter(is_pulling, desired.clusters))
    if not (desired.fleet.mirrors or pulling) or rendered is None:
        return Mirrored()
    folders = _folders(outcome)
    made = _with_settings(outcome, folders, pulling, rendered)
    branches = {name: desired.fleet.mirror_branch(name) for name in made.by_cluster}
    tips = mirror_tips(repository, publication, branches)
    bases = bases_of(repository, publication, branches, tips)
    commits = _commits(repository, made, rendered, {name: base.commit for name, base in bases.items()}, folders)
    moves = {
        branches[name]: MirrorMove(commits[name].id if name in commits else base.commit, tips.get(name), base.fault)
        for name, base in bases.items()
        if name in commits or base.fault
    }
    note_left(repository, publication, {branches[name]: base.commit for name, base in bases.items() if not base.fault})
    return _move_mirrors(repository, publication, moves)


def _commits(
    repository: Repository,
    made: _MirrorTrees,
    rendered: str,
    parents: Mapping[str, str],
    folders: Mapping[str, bytes],
) -> dict[str, NewCommit]:
    """Make the commits of mirrors that hold something else, by cluster; a parent "" is none."""
    infos = {info.id: info for info in repository.commit_infos(set(filter(None, parents.values())))}
    trees = {name: infos[parent].tree for name, parent in parents.items() if parent}
    rendered_at, now = repository.commit_info(rendered).time, int(time.time())
    commits: dict[str, NewCommit] = {}
    for name in (name for name, tree in made.by_cluster.items() if trees.get(name) != tree):
        message, trailers = f"Mirror {name} of {rendered[:12]}", {RENDERED: rendered}
        if name in trees and name in made.pulling:
            left = _count_of_removed(repository, trees[name], folders[name])
            trailers |= {ALLOW_REMOVAL: f"{name} {left}"} if left else {}
        # From when on an agent is asked for something new is what its silence is measured by.
        at = now if name in made.pulling else rendered_at
        before = [parents[name]] if parents[name] else []
        commits[name] = repository.commit_tree(made.by_cluster[name], before, message, trailers, time=at)
    if commits:
        empty = {_NOTHING: b""} if _NOTHING in made.by_cluster.values() else {}
        repository.store(blobs=made.blobs, trees={**empty, **made.trees}, commits=commits.values())
    return commits


def mirror_branches_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the branches of a fleet's mirrors."""
    return tuple(map(outcome.source.desired.fleet.mirror_branch, _folders(outcome)))


def _folders(outcome: Outcome) -> dict[str, bytes]:
    """Return the folder of every cluster that has a mirror."""
    desired = outcome.source.desired
    members = dict.fromkeys(cluster.name for cluster in desired.clusters)
    pulling = [cluster.name for cluster in filter(is_pulling, desired.clusters)]
    return mirrored_clusters(desired.fleet, outcome.rendered.tree.clusters, members, pulling)


def _move_mirrors(repository: Repository, publication: Publication, moves: Mapping[str, MirrorMove]) -> Mirrored:
    """MirrorMove mirrors: all at once, but for those that are put back, each of which the remote may refuse."""
    plain = {branch: move for branch, move in moves.items() if not move.fault}
    move_mirrors(repository, publication, plain)
    done, lines, refused = list(plain), list[str](), list[str]()
    for branch, move in moves.items():
        if not move.fault:
            continue
        try:
            move_mirrors(repository, publication, {branch: move})
        except GitError as error:
            if publication.remote and not has_moved(repository, publication, branch, move):
                refused.append(f"{branch} {move.fault}, and the remote does not let it be put back: {error.message}")
                continue
            raise
        done.append(branch)
        lines.append(f"{branch} {move.fault}: it is put back, for a mirror holds what is rendered and nothing else")
    fault = None
    if refused:
        names = " ".join(line.partition(" ")[0] for line in refused)
        deleting = f"git push {publication.remote} -d {names}"
        fault = GitError("\n".join(refused), hint=f"delete the branch, and the next pass makes it again: {deleting}")
    return Mirrored(branches=tuple(done), lines=tuple(lines), fault=fault)


def _with_settings(
    outcome: Outcome, folders: Mapping[str, bytes], pulling: tuple[Cluster, ...], rendered: str
) -> _MirrorTrees:
    """Return the trees of mirrors: those of clusters that pull with the settings of their agents."""
    if not pulling:
        return _MirrorTrees(folders, {}, {})
    repository, wanted = outcome.repository, dict(folders)
    blobs: dict[bytes, bytes] = {}
    trees: dict[bytes, bytes] = {}
    rules = rendered_rules(repository, rendered)
    files = SettingsFiles.of(repository, outcome.source, repository.first_commit(rendered), pulling)
    for cluster in pulling:
        folder = folders[cluster.name]
        held = None if folder == _NOTHING else folder
        content = files.file(cluster.name, rules.of(cluster.name, held))
        blob_id = object_id("blob", content)
        entries = repository.read_trees([folder])[folder] if held else ()
        tree = encode_tree((TreeEntry(FILE.encode(), BLOB_MODE, blob_id), *entries))
        wanted[cluster.name] = object_id("tree", tree)
        blobs[blob_id], trees[wanted[cluster.name]] = content, tree
    return _MirrorTrees(wanted, blobs, trees, frozenset(cluster.name for cluster in pulling))


def _count_of_removed(repository: Repository, before: bytes, after: bytes) -> int:
    """Return how many objects left a folder, counted as the removal guard counts."""
    trees = StoredTrees(repository.read_trees)
    paths = [
        {"/".join(path) for path, _ in trees.files(tree) if path != (FILE,)} if tree != _NOTHING else set()
        for tree in (before, after)
    ]
    return sum(map(is_counted, paths[0] - paths[1]))
