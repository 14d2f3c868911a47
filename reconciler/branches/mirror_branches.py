"""The branches of mirrors: where they stand, what of them passes wrote, and how they move.

A commit of a mirror names the rendered commit that it was taken from, and has the tree of a folder of that. So a pass
knows its own commits, whoever pushes to the branch. Where it left a branch last is kept in a ref of its own, by which
it knows a branch that was rewound since.
"""

from collections.abc import Mapping
from typing import NamedTuple

from reconciler.repository import CommitInfo, Fetching, RefUpdate, Repository
from reconciler.repository.trailers import RENDERED
from render.errors import GitError
from render.gitobjects import TreeEntry, encode_tree, git_object_id

from .agent_settings import FILE
from .publication import Publication

MOST_COMMITS = 10_000
"""The commits of a mirror that are looked through for the newest one that a pass wrote."""


class MirrorBase(NamedTuple):
    """The commit that a mirror goes on from ("": none), and what is wrong with where it stands ("": nothing)."""

    commit: str
    fault: str = ""


class MirrorMove(NamedTuple):
    """The move of a mirror to a commit, from where it was seen (None: there was none), and why it is put back."""

    new: str
    seen: str | None
    fault: str = ""


def mirror_tips(repository: Repository, publication: Publication, branches: Mapping[str, str]) -> dict[str, str]:
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


def base_of_each_mirror(
    repository: Repository, publication: Publication, branches: Mapping[str, str], tips: Mapping[str, str]
) -> dict[str, MirrorBase]:
    """Return what each mirror goes on from: where it stands, or the newest commit there that a pass wrote."""
    left = {name: repository.tip(ref_of_mirror_as_left(publication, branch)) for name, branch in branches.items()}
    return {name: _base_of_mirror(repository, name, tips.get(name), left[name]) for name in branches}


def _base_of_mirror(repository: Repository, cluster: str, tip: str | None, left: str | None) -> MirrorBase:
    if tip == left:
        return MirrorBase(tip or "")
    if tip is None:
        return MirrorBase(left or "", "was deleted" if left else "")
    if left is not None and repository.is_ancestor(tip, left):
        return MirrorBase(left, f"was rewound to {tip[:12]}")
    if is_mirror_commit_by_pass(repository, cluster, repository.commit_info(tip)):
        return MirrorBase(tip)
    own = next(
        (
            each.id
            for each in repository.history(tip, MOST_COMMITS)
            if is_mirror_commit_by_pass(repository, cluster, each)
        ),
        "",
    )
    return MirrorBase(own, f"has commit {tip[:12]}, which no pass wrote")


def is_mirror_commit_by_pass(repository: Repository, cluster: str, info: CommitInfo) -> bool:
    """Say whether a pass wrote a commit of a cluster's mirror: it has the folder of the rendered commit it names.

    One that names a commit which is not here is believed: the rendered branch may have been set back since.
    """
    named = info.trailer(RENDERED)
    if len(named) != 1:
        return False
    try:
        root = repository.commit_info(repository.resolve(named[0])).tree
    except GitError:
        return True
    folder = _id_of_tree_entry(repository, _id_of_tree_entry(repository, root, "clusters"), cluster)
    entries = repository.read_trees([info.tree])[info.tree]
    without_settings = encode_tree(tuple(entry for entry in entries if entry.text != FILE))
    return git_object_id("tree", without_settings) == (folder or git_object_id("tree", b""))


def _id_of_tree_entry(repository: Repository, tree: bytes | None, name: str) -> bytes | None:
    entries: tuple[TreeEntry, ...] = repository.read_trees([tree])[tree] if tree else ()
    return next((entry.id for entry in entries if entry.text == name), None)


def has_remote_branch_moved(repository: Repository, publication: Publication, branch: str, move: MirrorMove) -> bool:
    """Say whether a branch of the remote is no longer where it was seen, so that somebody was faster."""
    ref = f"refs/heads/{branch}"
    return repository.known_tips(publication.remote, [ref], again=True)[ref] != move.seen


def move_mirrors(repository: Repository, publication: Publication, moves: Mapping[str, MirrorMove]) -> None:
    """MirrorMove mirrors, all or none, each from where it was seen, and note where they are left."""
    if not moves:
        return
    if publication.remote:
        updates = [RefUpdate(f"refs/heads/{branch}", move.new, move.seen) for branch, move in moves.items()]
        repository.push(publication.remote, updates)
    refs = {publication.ref(branch): move.new for branch, move in moves.items()}
    here = [RefUpdate(ref, new, repository.tip(ref)) for ref, new in refs.items()]
    repository.update_refs([each for each in here if each.new != each.expected], reason="argosy: mirror")
    note_tips_of_mirrors(repository, publication, {branch: move.new for branch, move in moves.items()})


def note_tips_of_mirrors(repository: Repository, publication: Publication, tips: Mapping[str, str]) -> None:
    """Note where a pass leaves mirrors, by their branches; those that do not exist yet ("") are left out."""
    refs = {ref_of_mirror_as_left(publication, branch): tip for branch, tip in tips.items() if tip}
    here = [RefUpdate(ref, tip, repository.tip(ref)) for ref, tip in refs.items()]
    repository.update_refs([each for each in here if each.new != each.expected], reason="argosy: mirror")


def ref_of_mirror_as_left(publication: Publication, branch: str) -> str:
    """Return the ref that says where a pass left a mirror."""
    return f"refs/argosy/mirrored/{publication.ref(branch).removeprefix('refs/')}"
