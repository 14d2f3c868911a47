"""Branches that mirror one cluster's folder, for who may or wants to read no more.

Those of clusters that pull, and those of ``mirrors`` in argosy.yaml. A mirror holds the folder at its root, and a
commit for every change of it that names the rendered commit it was taken from. It follows the rendered branch and
decides nothing: one that is behind catches up in the next pass, and that of a cluster that somebody holds at an earlier
commit has the folder of that one for as long. That of a cluster that pulls also has what its agent
must know (``agent_settings``), and its commits allow what left the folder, which a pass has allowed before.
"""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from reconciler.console.log import Log
from reconciler.pipeline.cluster_removals import is_counted_by_guard, lost_files
from reconciler.pipeline.previous import RenderedTree, StoredTrees
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.repository import NewCommit, Repository
from reconciler.repository.trailers import ALLOW_REMOVAL, RENDERED, source_of_rendered_commit
from render.cluster import Cluster, is_applied_by_own_agent
from render.errors import GitError
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, git_object_id
from render.timing import epoch_text

from .agent_settings import FILE, SettingsFiles
from .delivery_rules import rendered_rules
from .mirror_branches import (
    MirrorMove,
    base_of_each_mirror,
    has_remote_branch_moved,
    mirror_tips,
    move_mirrors,
    note_tips_of_mirrors,
)
from .publication import Publication
from .reading import Source, read_previous
from .status_branch import StatusBranch, read_holds

_EVERY = "*"
_NOTHING = git_object_id("tree", b"")


class RenderedFolders(Struct, frozen=True):
    """The rendered commit that mirrors follow: its source, and the folder of each cluster in it.

    ``commit`` is None where nothing is committed yet.
    """

    source: Source
    by_cluster: Mapping[str, bytes]
    commit: str | None

    @property
    def mirrored(self) -> dict[str, bytes]:
        """The folder, by cluster, of the members and former members that have a mirror; an empty one for none."""
        desired, folders = self.source.desired, self.by_cluster
        known, chosen = {*folders, *(cluster.name for cluster in desired.clusters)}, desired.fleet.mirrors
        names = known if _EVERY in chosen else known.intersection(chosen)
        pulling = (cluster.name for cluster in filter(is_applied_by_own_agent, desired.clusters))
        return {name: folders.get(name, _NOTHING) for name in sorted(names.union(pulling))}

    @property
    def branches(self) -> tuple[str, ...]:
        """The branches of the fleet's mirrors."""
        return tuple(map(self.source.desired.fleet.mirror_branch, self.mirrored))


class _MirroredFolder(NamedTuple):
    """The folder that a mirror is to hold, and the rendered commit that has it."""

    id: bytes
    commit: str


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

    def log_mirrored_branches(self, log: Log) -> None:
        """Say what was done."""
        log.warn_of(self.lines)
        if self.branches:
            log.info("mirrored", branches=", ".join(self.branches))


def update_mirrors(rendered: RenderedFolders, publication: Publication) -> Mirrored:
    """Let the mirrors hold what a rendered commit says, and return what moved.

    All move at once, each from where it was seen; SourceMoved means that somebody else was faster. One that somebody
    else wrote to, or rewound, is put back first: each commit of a mirror is the tree of a rendered one, by which it is
    known.
    """
    desired, repository, commit = rendered.source.desired, publication.repository, rendered.commit
    pulling = tuple(filter(is_applied_by_own_agent, desired.clusters))
    if not (desired.fleet.mirrors or pulling) or commit is None:
        return Mirrored()
    folders = _folders_at_holds(rendered, publication, commit)
    made = _mirror_trees_with_settings(repository, rendered.source, folders, commit)
    branches = {name: desired.fleet.mirror_branch(name) for name in made.by_cluster}
    tips = mirror_tips(repository, publication, branches)
    bases = base_of_each_mirror(repository, publication, branches, tips)
    commits = _new_mirror_commits(repository, made, {name: base.commit for name, base in bases.items()}, folders)
    moves = {
        branches[name]: MirrorMove(commits[name].id if name in commits else base.commit, tips.get(name), base.fault)
        for name, base in bases.items()
        if name in commits or base.fault
    }
    note_tips_of_mirrors(
        repository, publication, {branches[name]: base.commit for name, base in bases.items() if not base.fault}
    )
    return _move_mirrors(repository, publication, moves)


def _folders_at_holds(rendered: RenderedFolders, publication: Publication, commit: str) -> dict[str, _MirroredFolder]:
    """Return the folder of each mirror: of a cluster that is held, that of the commit it is held at.

    Where that commit is not here, the mirror stays where it is.
    """
    repository, desired = publication.repository, rendered.source.desired
    found = {name: _MirroredFolder(folder, commit) for name, folder in rendered.mirrored.items()}
    status = StatusBranch(publication=publication, branch=desired.fleet.status_branch, clusters=desired.clusters)
    source = source_of_rendered_commit(repository, commit)
    holds = read_holds(status, status.tip(), source, epoch_text(time.time()))
    commit_by_held_cluster = {name: hold.commit for name, hold in holds.items() if name in found}
    trees = {held: _tree_at_hold(repository, held, desired.clusters) for held in {*commit_by_held_cluster.values()}}
    for name, held in commit_by_held_cluster.items():
        tree = trees[held]
        if tree is None:
            found.pop(name)
        else:
            found[name] = _MirroredFolder(tree.clusters.get(name, _NOTHING), held)
    return found


def _tree_at_hold(repository: Repository, commit: str, clusters: Iterable[Cluster]) -> RenderedTree | None:
    """Return what a commit that clusters are held at says, by the names of now; None where it is not here."""
    try:
        return previous_by_new_names(read_previous(repository, commit), clusters).tree
    except GitError:
        return None


def _new_mirror_commits(
    repository: Repository,
    made: _MirrorTrees,
    parents: Mapping[str, str],
    folders: Mapping[str, _MirroredFolder],
) -> dict[str, NewCommit]:
    """Make the commits of mirrors that hold something else, by cluster; a parent "" is none."""
    infos = {info.id: info for info in repository.commit_infos(set(filter(None, parents.values())))}
    trees = {name: infos[parent].tree for name, parent in parents.items() if parent}
    now, stored = int(time.time()), StoredTrees(repository.read_trees)
    commits: dict[str, NewCommit] = {}
    for name in (name for name, tree in made.by_cluster.items() if trees.get(name) != tree):
        rendered = folders[name].commit
        message, trailers = f"Mirror {name} of {rendered[:12]}", {RENDERED: rendered}
        if name in trees and name in made.pulling:
            left = _count_of_removed_objects(stored, trees[name], folders[name].id)
            trailers |= {ALLOW_REMOVAL: f"{name} {left}"} if left else {}
        # From when on an agent is asked for something new is what its silence is measured by.
        at = now if name in made.pulling else repository.commit_info(rendered).time
        before = [parents[name]] if parents[name] else []
        commits[name] = repository.commit_tree(made.by_cluster[name], before, message, trailers, time=at)
    if commits:
        empty = {_NOTHING: b""} if _NOTHING in made.by_cluster.values() else {}
        repository.store(blobs=made.blobs, trees={**empty, **made.trees}, commits=commits.values())
    return commits


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
            if publication.remote and not has_remote_branch_moved(repository, publication, branch, move):
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


def _mirror_trees_with_settings(
    repository: Repository, source: Source, folders: Mapping[str, _MirroredFolder], rendered: str
) -> _MirrorTrees:
    """Return the trees of mirrors: those of clusters that pull with the settings of their agents."""
    pulling = tuple(each for each in source.desired.clusters if is_applied_by_own_agent(each) and each.name in folders)
    wanted = {name: folder.id for name, folder in folders.items()}
    if not pulling:
        return _MirrorTrees(wanted, {}, {})
    blobs: dict[bytes, bytes] = {}
    trees: dict[bytes, bytes] = {}
    rules = {commit: rendered_rules(repository, commit) for commit in {folder.commit for folder in folders.values()}}
    files = SettingsFiles.of(repository, source, repository.first_commit(rendered), pulling)
    for cluster in pulling:
        folder, commit = folders[cluster.name]
        folder_with_files = None if folder == _NOTHING else folder
        content = files.settings_file_of_cluster(cluster.name, rules[commit].of(cluster.name, folder_with_files))
        blob_id = git_object_id("blob", content)
        entries = repository.read_trees([folder])[folder] if folder_with_files else ()
        tree = encode_tree((TreeEntry(FILE.encode(), BLOB_MODE, blob_id), *entries))
        wanted[cluster.name] = git_object_id("tree", tree)
        blobs[blob_id], trees[wanted[cluster.name]] = content, tree
    return _MirrorTrees(wanted, blobs, trees, frozenset(cluster.name for cluster in pulling))


def _count_of_removed_objects(trees: StoredTrees, before: bytes, after: bytes) -> int:
    """Return how many objects left a folder, counted as the removal guard counts."""
    if before == _NOTHING:
        return 0
    lost = lost_files(before, None if after == _NOTHING else after, lambda id_: trees.entries(id_).values())
    return sum(path != (FILE,) and is_counted_by_guard("/".join(path)) for path, _ in lost)
