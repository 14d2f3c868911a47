"""Branches that mirror one cluster's folder, for who may or wants to read no more: ``mirrors`` in argosy.yaml.

A mirror holds the folder at its root, and a commit for every change of it that names the rendered commit it was taken
from. It follows the rendered branch and decides nothing: one that is behind catches up in the next pass.
"""

from collections.abc import Mapping

from reconciler.repository import Fetching, NewCommit, RefUpdate, Repository
from render.fleet import Fleet
from render.gitobjects import object_id

from .branches import Publication
from .outcome import Outcome

RENDERED = "Argosy-Rendered"
_EVERY = "*"
_NOTHING = object_id("tree", b"")


def mirrored_clusters(fleet: Fleet, folders: Mapping[str, bytes], members: Mapping[str, object]) -> dict[str, bytes]:
    """Return the folder, by cluster, of the members and former members that have a mirror; an empty one for none."""
    names = {*folders, *members} if _EVERY in fleet.mirrors else set(fleet.mirrors) & {*folders, *members}
    return {name: folders.get(name, _NOTHING) for name in sorted(names)}


def update_mirrors(outcome: Outcome, publication: Publication, commit: str | None) -> tuple[str, ...]:
    """Let the mirrors hold what the outcome's commit says (None: it is the previous one); return what moved.

    All move at once, each from where it was seen; SourceMoved means that somebody else was faster.
    """
    desired, repository = outcome.source.desired, outcome.repository
    rendered = commit or (outcome.previous.commit if outcome.previous else None)
    if not desired.fleet.mirrors or rendered is None:
        return ()
    members = dict.fromkeys(cluster.name for cluster in desired.clusters)
    wanted = mirrored_clusters(desired.fleet, outcome.rendered.tree.clusters, members)
    branches = {name: desired.fleet.mirror_branch(name) for name in wanted}
    tips = _tips(repository, publication, branches)
    infos = {info.id: info for info in repository.commit_infos(set(tips.values()))}
    stale = [name for name, tree in wanted.items() if name not in tips or infos[tips[name]].tree != tree]
    if not stale:
        return ()
    time = repository.commit_info(rendered).time
    commits: dict[str, NewCommit] = {}
    for name in stale:
        parents = [tips[name]] if name in tips else []
        message = f"Mirror {name} of {rendered[:12]}"
        commits[name] = repository.commit_tree(wanted[name], parents, message, {RENDERED: rendered}, time=time)
    repository.store(trees={_NOTHING: b""} if _NOTHING in wanted.values() else {}, commits=commits.values())
    _move(repository, publication, {branches[name]: (commits[name].id, tips.get(name)) for name in stale})
    return tuple(branches[name] for name in stale)


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
