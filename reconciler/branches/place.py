"""The place where a command is run: it has a fleet, and does not stand on a branch that Argosy writes.

1. A commit that Argosy wrote says so in its trailers. On such a branch there is no source, and files of members would
   be taken for one.
2. A fleet has an argosy.yaml, or some Kubernetes manifest, committed or not; or something of it was rendered here.

Both are looked at without a process where that is possible, for every command asks.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from reconciler.repository import Repository
from reconciler.repository.commits import CommitInfo, parse_commit
from reconciler.repository.stored_objects import StoredObjects
from reconciler.repository.trailers import BRANCH, RENDERED, SOURCE, VERSION
from render.errors import ConfigError, GitError
from render.gitobjects import parse_tree

from .publication import branch_of_head

if TYPE_CHECKING:  # an ordinary command has found the file of its fleet, and looks at no other
    from reconciler.source.files import SourceFile

_FLEET_FILE = "argosy.yaml"
_RENDERED = ("refs/heads/argosy/rendered", "refs/remotes/origin/argosy/rendered")
"""The rendered branch by its usual name: here, and in most clones that of a remote."""
_AT_ONCE = 64
"""So many files are read before it is looked whether one of them is a manifest: most fleets begin with one."""


def check_place_of_pass(repository: Repository) -> None:
    """Raise ConfigError where no pass can be run: there is no source, or nothing of a fleet."""
    check_source_is_checked_out(repository)
    check_fleet_is_there(repository)


def check_source_is_checked_out(repository: Repository) -> None:
    """Raise ConfigError where HEAD is a commit that Argosy wrote: rendered, of a status branch or a mirror."""
    head = _commit_of_head(repository)
    if head is None or not any(head.trailer(name) for name in (SOURCE, RENDERED, VERSION)):
        return
    branch = branch_of_head(repository)
    place = (
        f"branch {branch!r} is checked out, which Argosy writes" if branch else "a commit of Argosy's is checked out"
    )
    raise ConfigError(f"{place}: there is no source of a fleet on it", hint=_way_back(repository, head))


def check_fleet_is_there(repository: Repository) -> None:
    """Raise ConfigError where there is nothing of a fleet: no argosy.yaml, and no manifest; nor was any rendered."""
    if _has_fleet_file(repository) or _known_rendered_tip(repository) is not None:
        return
    try:
        is_fleet = _has_manifest(repository)
    except GitError:  # whoever reads the source says what is wrong with it
        return
    if not is_fleet:
        raise ConfigError(
            "there is no fleet here: no argosy.yaml, and no file holds a Kubernetes manifest",
            hint="argosy init writes the first files of one; -C names the folder of another",
        )


def _commit_of_head(repository: Repository) -> CommitInfo | None:
    """Return the commit at HEAD, or of a merge the one that it merged if Argosy wrote that; None if not easily read."""
    with suppress(GitError):
        head = repository.tip("HEAD")
        info = _stored_commit(repository, head) if head else None
        merged = info.parents if info is not None and len(info.parents) > 1 else ()
        written = (_stored_commit(repository, commit) for commit in merged)
        tree = info.tree if info is not None else b""
        return next((each for each in written if each and each.tree == tree and each.trailer(SOURCE)), info)
    return None


def _known_rendered_tip(repository: Repository) -> str | None:
    tips = (repository.tip(ref) for ref in _RENDERED)
    return next((tip for tip in tips if tip is not None), None)


def _stored_commit(repository: Repository, commit: str) -> CommitInfo | None:
    content = _stored_object(repository, bytes.fromhex(commit), "commit")
    return parse_commit(commit, content) if content is not None else None


def _stored_object(repository: Repository, id_: bytes, kind: str) -> bytes | None:
    """Return a commit or tree without asking git, which would read its configuration first; None if not easily read."""
    return StoredObjects(repository.folder.objects, _algorithm_of_id(id_)).read((id_,), kind).get(id_)


def _algorithm_of_id(id_: bytes) -> str:
    return "sha1" if len(id_) == 20 else "sha256"


def _way_back(repository: Repository, head: CommitInfo) -> str:
    """Return how to get to the branch that the fleet is rendered from."""
    known = "".join(head.trailer(BRANCH)[:1])
    rendered = _known_rendered_tip(repository)
    if not known and rendered is not None and (info := _stored_commit(repository, rendered)):
        known = "".join(info.trailer(BRANCH)[:1])
    if known:
        return f"git switch {known}: the fleet is rendered from that branch"
    return "git switch to the branch that you commit the source to"


def _has_fleet_file(repository: Repository) -> bool:
    folder = repository.folder
    if folder.work_tree is None:
        return _has_committed_fleet_file(repository)
    return any((folder.work_tree / under / _FLEET_FILE).is_file() for under in {"", folder.under})


def _has_committed_fleet_file(repository: Repository) -> bool:
    """Say whether the commit at HEAD has an argosy.yaml at its root; False as well where that is not easily read."""
    head = _commit_of_head(repository)
    content = _stored_object(repository, head.tree, "tree") if head is not None else None
    with suppress(ValueError):
        entries = parse_tree(content, _algorithm_of_id(head.tree)) if head is not None and content is not None else ()
        return any(entry.text == _FLEET_FILE for entry in entries)
    return False


def _has_manifest(repository: Repository) -> bool:
    """Say whether a file is that of a fleet, a manifest or a kustomization, at HEAD or as the files stand."""
    from reconciler.source.files import may_be_read

    head = repository.tip("HEAD")
    if head is not None and _is_any_manifest(repository, repository.snapshot(head).files):
        return True
    if repository.folder.work_tree is None:
        return False
    return _is_any_manifest(repository, repository.worktree_snapshot(wanted=may_be_read).files)


def _is_any_manifest(repository: Repository, files: Iterable["SourceFile"]) -> bool:
    """Say whether one of these files is that of a fleet, a kustomization, or may be a manifest by its words."""
    from reconciler.source.files import FLEET_FILE, KUSTOMIZATIONS, may_be_read
    from reconciler.source.manifests import may_hold_manifest

    readable = [file for file in files if may_be_read(file.path, file.size)]
    if any(file.path.rpartition("/")[2] in {FLEET_FILE, *KUSTOMIZATIONS} for file in readable):
        return True
    for first in range(0, len(readable), _AT_ONCE):
        ids = [file.id for file in readable[first : first + _AT_ONCE]]
        if any(map(may_hold_manifest, repository.read_blobs(ids).values())):
            return True
    return False
