"""Branches that mirror one cluster's folder, for who may or wants to read no more.

Those of clusters that pull, and those of ``mirrors`` in argosy.yaml. A mirror holds the folder at its root, and a
commit for every change of it that names the rendered commit it was taken from. It follows the rendered branch and
decides nothing: one that is behind catches up in the next pass. That of a cluster that pulls also has what its agent
must know (``agent_settings``), and its commits allow what left the folder, which a pass has allowed before.
"""

import time
from collections.abc import Iterable, Mapping

from msgspec import Struct

from reconciler.pipeline.cluster_removals import is_counted
from reconciler.pipeline.previous import StoredTrees
from reconciler.repository import Fetching, NewCommit, RefUpdate, Repository
from reconciler.repository.trailers import ALLOW_REMOVAL, RENDERED
from render.cluster import Cluster, is_pulling
from render.fleet import Fleet
from render.gitobjects import BLOB_MODE, TreeEntry, encode_tree, object_id

from .agent_settings import FILE, SettingsFiles
from .branches import Publication
from .delivery_rules import rendered_rules
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
    """The trees of mirrors, and the contents of those that are not in the repository."""

    by_cluster: Mapping[str, bytes]
    blobs: Mapping[bytes, bytes]
    trees: Mapping[bytes, bytes]


def update_mirrors(outcome: Outcome, publication: Publication, commit: str | None) -> tuple[str, ...]:
    """Let the mirrors hold what the outcome's commit says (None: it is the previous one); return what moved.

    All move at once, each from where it was seen; SourceMoved means that somebody else was faster.
    """
    desired, repository = outcome.source.desired, outcome.repository
    rendered = commit or (outcome.previous.commit if outcome.previous else None)
    pulling = tuple(filter(is_pulling, desired.clusters))
    if not (desired.fleet.mirrors or pulling) or rendered is None:
        return ()
    members = dict.fromkeys(cluster.name for cluster in desired.clusters)
    names = [cluster.name for cluster in pulling]
    folders = mirrored_clusters(desired.fleet, outcome.rendered.tree.clusters, members, names)
    made = _with_settings(outcome, folders, pulling, rendered)
    wanted = made.by_cluster
    branches = {name: desired.fleet.mirror_branch(name) for name in wanted}
    tips = _tips(repository, publication, branches)
    infos = {info.id: info for info in repository.commit_infos(set(tips.values()))}
    stale = [name for name, tree in wanted.items() if name not in tips or infos[tips[name]].tree != tree]
    if not stale:
        return ()
    rendered_at, now = repository.commit_info(rendered).time, int(time.time())
    commits: dict[str, NewCommit] = {}
    for name in stale:
        parents = [tips[name]] if name in tips else []
        message, trailers = f"Mirror {name} of {rendered[:12]}", {RENDERED: rendered}
        if parents and name in names:
            left = _left(repository, infos[tips[name]].tree, folders[name])
            trailers |= {ALLOW_REMOVAL: f"{name} {left}"} if left else {}
        # From when on an agent is asked for something new is what its silence is measured by.
        at = now if name in names else rendered_at
        commits[name] = repository.commit_tree(wanted[name], parents, message, trailers, time=at)
    empty = {_NOTHING: b""} if _NOTHING in wanted.values() else {}
    repository.store(blobs=made.blobs, trees={**empty, **made.trees}, commits=commits.values())
    _move(repository, publication, {branches[name]: (commits[name].id, tips.get(name)) for name in stale})
    return tuple(branches[name] for name in stale)


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
    return _MirrorTrees(wanted, blobs, trees)


def _left(repository: Repository, before: bytes, after: bytes) -> int:
    """Return how many objects left a folder, counted as the removal guard counts."""
    trees = StoredTrees(repository.read_trees)
    paths = [
        {"/".join(path) for path, _ in trees.files(tree) if path != (FILE,)} if tree != _NOTHING else set()
        for tree in (before, after)
    ]
    return sum(map(is_counted, paths[0] - paths[1]))


def _tips(repository: Repository, publication: Publication, branches: Mapping[str, str]) -> dict[str, str]:
    """Return where mirrors stand now, by cluster, with their commits here; those that do not exist yet are left out."""
    remote = publication.remote
    here = {name: repository.tip(publication.ref(branch)) for name, branch in branches.items()}
    if not remote:
        return {name: tip for name, tip in here.items() if tip}
    named = {name: f"refs/heads/{branch}" for name, branch in branches.items()}
    there = repository.remote_tips(remote, sorted(named.values())).tips
    tips = {name: there[ref] for name, ref in named.items() if ref in there}
    unknown = [name for name, tip in tips.items() if here[name] != tip]
    if unknown:
        refspecs = [f"+{named[name]}:{publication.ref(branches[name])}" for name in unknown]
        repository.fetch(remote, Fetching(refspecs=refspecs))
    return tips


def _move(repository: Repository, publication: Publication, moves: Mapping[str, tuple[str, str | None]]) -> None:
    if publication.remote:
        updates = [RefUpdate(f"refs/heads/{branch}", *move) for branch, move in moves.items()]
        repository.push(publication.remote, updates)
    refs = {publication.ref(branch): new for branch, (new, _) in moves.items()}
    here = [RefUpdate(ref, new, repository.tip(ref)) for ref, new in refs.items()]
    repository.update_refs(here, reason="argosy: mirror")
