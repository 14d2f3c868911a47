"""A commit that goes to a branch of its own: the tree of another one with some files changed, no work tree touched."""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from render.errors import ConfigError
from render.gitobjects import BLOB_MODE, TREE_MODE, TreeEntry, encode_tree, git_object_id

from .access import Repository
from .refs import RefUpdate, is_ref_name

_EXECUTABLE = 0o100755
_Contents = Mapping[str, bytes | None]


def commit_on_new_branch(repository: Repository, branch: str, parent: str, contents: _Contents, message: str) -> str:
    """Commit a tree with other contents of some files (None: gone) on a new branch, and return the commit.

    Nothing else changes: neither the work tree nor the index nor the branch that is checked out.
    """
    made = _MadeTrees(repository=repository)
    root = made.with_files(repository.commit_info(parent).tree, contents)
    repository.store(blobs=made.blobs, trees=made.trees)
    author = repository.author
    identity = (("user.name", author.name or "Argosy"), ("user.email", author.email))
    git = replace(repository.git, extra=(*repository.git.extra, *identity))
    signed = ("-S",) if repository.settings.is_signing else ()
    made_commit = git.run("commit-tree", *signed, "-p", parent, "-F", "-", root.hex(), stdin=message.encode())
    commit = made_commit.stdout.decode().strip()
    repository.update_refs((RefUpdate(f"refs/heads/{branch}", commit, None),), reason="argosy: new branch")
    return commit


def refuse_unusable_branch(repository: Repository, branch: str, remote: str) -> None:
    """Raise ConfigError unless a name is that of a branch which nobody has yet, here or at a remote as far as known."""
    ref = f"refs/heads/{branch}"
    if branch.startswith(("-", "refs/")) or branch in {"HEAD", "@"} or not is_ref_name(ref):
        raise ConfigError(f"{branch!r} is no name of a branch", hint="write it as put-web-back")
    theirs = f"refs/remotes/{remote}/{branch}"
    where = "" if repository.tip(ref) else f" at {remote}" if remote and repository.tip(theirs) else None
    if where is not None:
        raise ConfigError(f"there is a branch {branch!r}{where} already", hint="name another one")
    inside = next((each for each in repository.refs("refs/heads/") if _is_folder_of(each, ref)), "")
    if inside:
        taken = inside.removeprefix("refs/heads/")
        raise ConfigError(f"git keeps no branch {branch!r} beside the branch {taken!r}", hint="name another one")


def _is_folder_of(one: str, other: str) -> bool:
    """Say whether one of two names of refs is a folder of the other."""
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")


class _MadeTrees(Struct, kw_only=True):
    """The blobs and trees that are new, by id."""

    repository: Repository
    blobs: dict[bytes, bytes] = field(default_factory=dict)
    trees: dict[bytes, bytes] = field(default_factory=dict)

    def with_files(self, tree: bytes | None, contents: _Contents) -> bytes:
        """Return the id of a tree (None: empty) with files at these paths; a folder without any file is left out."""
        known = self.repository.read_trees([tree])[tree] if tree is not None else ()
        entries = {each.text: each for each in known}
        below: dict[str, dict[str, bytes | None]] = {}
        for path, content in contents.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = content
            else:
                self._put_file(entries, name, content)
        for name, files in below.items():
            former = entries.pop(name, None)
            id_ = self.with_files(former.id if former and former.mode == TREE_MODE else None, files)
            if self.trees.get(id_, b"x"):
                entries[name] = TreeEntry(name.encode("utf-8", "surrogateescape"), TREE_MODE, id_)
        data = encode_tree(entries.values())
        id_ = git_object_id("tree", data, self.repository.algorithm)
        self.trees[id_] = data
        return id_

    def _put_file(self, entries: dict[str, TreeEntry], name: str, content: bytes | None) -> None:
        former = entries.pop(name, None)
        if content is None:
            return
        mode = _EXECUTABLE if former is not None and former.mode == _EXECUTABLE else BLOB_MODE
        id_ = git_object_id("blob", content, self.repository.algorithm)
        self.blobs[id_] = content
        entries[name] = TreeEntry(name.encode("utf-8", "surrogateescape"), mode, id_)
