"""The open repository: one class with everything Argosy asks of Git, each question passed on to the module for it.

The methods come in this order: reading commits, files and history; writing objects and branches; the work tree;
remotes. Ids of commits are text, as people and trailers write them; ids of blobs and trees are raw, as trees contain
them. Opening costs nothing but a look at files: git itself first runs when a question needs it. Modules that are not
needed in every pass are imported by the methods that use them.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import replace

from render.errors import GitError, SourceMoved
from render.gitobjects import Blob, TreeEntry, git_object_id, parse_tree

from .command import GitCommand
from .commits import SOURCE, CommitInfo, CommitText, NewCommit, Signature, encode_commit, parse_commit
from .failures import error_of_cut_off_history
from .history import history_without_process, resolve_revision
from .known_listing import Listings
from .location import GitFolder
from .objects import WHOLE_ID, Snapshot, read_objects
from .refs import RefUpdate, checked_ref_name, has_ref_files, is_ref_name, read_ref_fast, update_refs
from .settings import Settings, git_without_own_programs
from .stored_objects import StoredObjects

if TYPE_CHECKING:
    from .history import RemovedFile
    from .porcelain import Progress
    from .remotes import Fetching, ReachedRemote, RemoteTips
    from .worktree import Wanted


_Content = TypeVar("_Content")


class Repository:
    """A repository on this machine, or the mirror of a remote one; use it in a ``with`` block."""

    def __init__(self, folder: GitFolder, git: GitCommand | None = None, *, mirrors: str = "") -> None:
        self.folder, self.mirrors, self.processes = folder, mirrors, 1
        self._command = git or GitCommand(folder=folder.folder)
        self._unstored: dict[bytes, bytes] = {}
        self._commits: dict[str, CommitInfo] = {}
        self._remotes: dict[tuple[str, bool], ReachedRemote] = {}
        self._known_tips: dict[tuple[str, str], str | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the repository: the packs that were opened are let go, and opened again should more be asked."""
        self.__dict__.pop("_stored_objects_of_clone", None)

    @cached_property
    def git(self) -> GitCommand:
        """The git command in this repository, after it has agreed that this is one and whose it is."""
        # git reads no configuration of a repository that it does not agree to.
        return git_without_own_programs(self._command, self.settings)

    @cached_property
    def settings(self) -> Settings:
        """The repository's configuration, from all of git's files."""
        return Settings.read(self._command)

    @cached_property
    def _is_partial(self) -> bool:
        return self.settings.is_partial

    @cached_property
    def _stored_objects_of_clone(self) -> StoredObjects:
        return StoredObjects(self.folder.objects, self.algorithm)

    @property
    def algorithm(self) -> str:
        """The hash of the repository's objects, for ``render.gitobjects``."""
        return self.settings.algorithm

    @property
    def is_shallow(self) -> bool:
        """Say whether the clone is shallow: its history ends before the first commit."""
        return (self.folder.common_dir / "shallow").exists()

    @property
    def cache_dir(self) -> Path:
        """The folder for disposable files about this repository."""
        return self.folder.common_dir / "argosy"

    def resolve(self, revision: str) -> str:
        """Return the commit that a branch, tag, id or other revision names; a ``GitError`` says why there is none."""
        if self.mirrors and (tip := self._mirrored_commit(revision)):
            return tip
        if WHOLE_ID.fullmatch(revision) and self._stored_objects_of_clone.read([bytes.fromhex(revision)], "commit"):
            return revision
        if not self.mirrors and revision != "HEAD":
            from .rendered_names import name_at_remote

            revision = name_at_remote(self.git, revision, self.tip, self._is_rendered) or revision
        return resolve_revision(self.git, self.folder, revision, shallow=self.is_shallow)

    def _is_rendered(self, commit: str) -> bool:
        """Say whether Argosy rendered a commit, or one that a merge took over."""
        info = self.commit_info(commit)
        return any(each.trailer(SOURCE) for each in (info, *self.commit_infos(info.parents[1:])))

    def _mirrored_commit(self, revision: str) -> str | None:
        """Return the tip of a branch of the mirrored repository; in a mirror no other branch is meant."""
        ref = f"refs/remotes/{self.mirrors}/{revision.removeprefix('refs/heads/')}"
        return self.tip(ref) if is_ref_name(ref) else None

    def tip(self, ref: str) -> str | None:
        """Return the commit at ``HEAD`` or a whole ref name, None if there is none; costs no process."""
        if has_ref_files(self.folder.common_dir):
            return read_ref_fast(self.folder.git_dir, ref)
        answer = self.git.run("rev-parse", "--verify", "-q", "--end-of-options", ref, answers=frozenset({0, 1}))
        return answer.stdout.decode().strip() or None

    def snapshot(self, commit: str) -> Snapshot:
        """Return the files of a commit (or tree), with modes, blob ids and sizes."""
        return self.listings.snapshot(commit)

    @cached_property
    def listings(self) -> Listings:
        """The files of its commits."""
        stored = lambda: self._stored_objects_of_clone
        return Listings(self.git, stored, self.cache_dir, partial=self._is_partial)

    def edited_snapshot(self, snapshot: "str | Snapshot", contents: Mapping[str, bytes | None]) -> Snapshot:
        """Return the files of a commit or a snapshot with other contents (None: gone); nothing of that is stored."""
        unstored = {git_object_id("blob", each, self.algorithm): each for each in contents.values() if each is not None}
        self._unstored |= unstored
        files = self.snapshot(snapshot) if isinstance(snapshot, str) else snapshot
        return files.with_contents(contents, self.algorithm)

    def read_blobs(self, ids: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the contents of blobs, also of a work tree just read; what is missing is a ``GitError``."""
        wanted = list(dict.fromkeys(ids))
        unstored = {id_: self._unstored[id_] for id_ in wanted if id_ in self._unstored}
        stored = (id_ for id_ in wanted if id_ not in unstored)
        return {
            **read_objects(self.git, self._stored_objects_of_clone, stored, "blob", partial=self._is_partial),
            **unstored,
        }

    def worktree_snapshot(self, wanted: "Wanted" = lambda _path, _size: True) -> Snapshot:
        """Return the files as they stand in the work tree: tracked, or new and not ignored.

        Files that are not ``wanted`` by path and size are listed without an id and not read.
        """
        from .worktree import read_work_tree

        if self.folder.work_tree is None:
            raise GitError("a bare repository has no work tree", hint="name a revision: --rev main")
        work_tree = read_work_tree(self.git, wanted, self.algorithm)
        self._unstored |= work_tree.contents
        return Snapshot(commit="", files=work_tree.files)

    def read_trees(self, ids: Iterable[bytes]) -> dict[bytes, tuple[TreeEntry, ...]]:
        """Return the entries of trees, which name further trees and blobs."""
        return {id_: parse_tree(data, self.algorithm) for id_, data in self.tree_contents(ids).items()}

    def tree_contents(self, ids: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return trees as Git stores them."""
        return read_objects(self.git, self._stored_objects_of_clone, ids, "tree", partial=self._is_partial)

    def commit_info(self, commit: str) -> CommitInfo:
        """Return the header, the message and the trailers of a commit."""
        return self.commit_infos((commit,))[0]

    def commit_infos(self, commits: Iterable[str]) -> tuple[CommitInfo, ...]:
        """Return the same of many commits, in their order."""
        ids = tuple(commits)
        unread = [bytes.fromhex(commit) for commit in ids if commit not in self._commits]
        contents = (
            read_objects(self.git, self._stored_objects_of_clone, unread, "commit", partial=self._is_partial)
            if unread
            else {}
        )
        self._commits |= {id_.hex(): parse_commit(id_.hex(), content) for id_, content in contents.items()}
        return tuple([self._commits[commit] for commit in ids])

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Say whether ``commit`` is or follows ``ancestor``; a ``GitError`` where a shallow clone cannot know."""
        if ancestor == commit or self._history_without_process(commit, ancestor) is not None:
            return True
        answers = frozenset({0, 1})
        answer = self.git.run("merge-base", "--is-ancestor", "--end-of-options", ancestor, commit, answers=answers)
        if answer.returncode and self.is_shallow:
            raise error_of_cut_off_history(ancestor, commit)
        return not answer.returncode

    def _history_without_process(self, commit: str, until: str = "", limit: int = 0) -> tuple[str, ...] | None:
        """Return a short history, as ``history_without_process`` does, where none of it can be cut off."""
        is_whole = WHOLE_ID.fullmatch(commit) and not self.is_shallow
        return history_without_process(self._stored_objects_of_clone, commit, until, limit) if is_whole else None

    @property
    def author(self) -> Signature:
        """The author of new commits."""
        return self.settings.author_of_commits(self._command.environment)

    def commit_tree(
        self, tree: bytes, parents: Iterable[str], message: str, trailers: Mapping[str, str], *, time: int
    ) -> NewCommit:
        """Return a commit of a tree that is still to be stored; without parents it begins a history of its own."""
        text = CommitText(message=message, trailers=trailers, author=self.author, time=time)
        commit = encode_commit(tree, parents, text, self.algorithm)
        key = self._command.environment.get("ARGOSY_SIGN_KEY")
        if not key:
            return commit
        from .signing import sign_commit

        return sign_commit(commit, key, self.algorithm)

    def signature_fault(self, commit: str, allowed_signers: str) -> str:
        """Return why a commit is not signed by one of the signers that a file lists; empty for one that is."""
        from .signing import fault_of_signature

        return fault_of_signature(self.git, commit, allowed_signers)

    def store(
        self,
        *,
        blobs: Mapping[bytes, Blob] | None = None,
        trees: Mapping[bytes, bytes] | None = None,
        commits: Iterable[NewCommit] = (),
    ) -> Path | None:
        """Write those of these objects that the repository lacks as one pack and return it, None if it lacks none.

        Nothing refers to them until ``update_refs`` does; an interruption between the two loses nothing.
        """
        from .pack import refuse_ids_of_other_hash, write_pack
        from .pack_index import ids_of_present_objects

        new = {bytes.fromhex(commit.id): commit.data for commit in commits}
        wanted = {*(blobs or ()), *(trees or ()), *new}
        refuse_ids_of_other_hash(wanted, self.algorithm)
        present = ids_of_present_objects(self.folder.objects, wanted, self.algorithm)
        directory = self.folder.objects / "pack"
        directory.mkdir(exist_ok=True)
        return write_pack(
            directory,
            blobs=_without_present_objects(blobs or {}, present),
            trees=_without_present_objects(trees or {}, present),
            commits=_without_present_objects(new, present),
            algorithm=self.algorithm,
            processes=self.processes,
        )

    def update_refs(self, updates: Iterable[RefUpdate], *, reason: str = "argosy") -> None:
        """Move branches in one transaction, each only from where it was expected; else ``SourceMoved``."""
        updates = tuple(updates)
        try:
            update_refs(self.git, self.folder, updates, reason=reason)
        except GitError as error:
            if isinstance(error, SourceMoved) or all(self.tip(update.ref) == update.expected for update in updates):
                raise
            raise SourceMoved(error.message, hint="somebody was faster; run again") from error

    def update_ref(self, ref: str, new: str | None, expected: str | None, *, reason: str = "argosy") -> None:
        """Move one branch from ``expected`` (None: absent) to ``new`` (None: delete it); else ``SourceMoved``."""
        self.update_refs((RefUpdate(ref, new, expected),), reason=reason)

    def refs(self, prefix: str) -> dict[str, str]:
        """Return the tips of all refs below a prefix (``refs/heads/argosy/``)."""
        listing = self.git.text(
            "for-each-ref", "--format=%(objectname) %(refname)", "--", checked_ref_name(prefix + "x")[:-1]
        )
        return {ref: id_ for id_, _, ref in (line.partition(" ") for line in listing.splitlines())}

    def history(self, revision: str, limit: int) -> tuple[CommitInfo, ...]:
        """Return a commit and those before it, the newest first."""
        commit = self.resolve(revision)
        near = self._history_without_process(commit, limit=limit)
        ids = near or self.git.text("rev-list", f"--max-count={limit}", "--end-of-options", commit).split()
        return self.commit_infos(ids)

    def commits_between(self, old: str, new: str, limit: int) -> tuple[CommitInfo, ...]:
        """Return the commits that lead to ``new`` and not to ``old``, the newest first."""
        near = self._history_without_process(new, old)
        if near is not None:
            return self.commit_infos(near[:limit])
        ids = self.git.text("rev-list", f"--max-count={limit}", "--end-of-options", new, f"^{old}")
        return self.commit_infos(ids.split())

    def first_commit(self, commit: str) -> str:
        """Return the commit a history began with; a ``GitError`` where a shallow clone cannot know."""
        from .history import first_commit_of_history

        return first_commit_of_history(self.git, self.folder, self._stored_objects_of_clone, commit)

    def removed_files(self, commits: Iterable[str], folder: str) -> "tuple[RemovedFile, ...]":
        """Return the files below a folder that the commits and those before them removed, each as it was last."""
        from .history import files_removed_by_commits

        return files_removed_by_commits(self.git, commits, folder)

    def dirty_paths(self) -> tuple[str, ...]:
        """Return the paths of the work tree that differ from the last commit."""
        from .worktree import changed_paths_of_work_tree

        if self.folder.work_tree is None:
            return ()
        return changed_paths_of_work_tree(self._without_filters)

    @property
    def _without_filters(self) -> GitCommand:
        """The git command without content filters: they are programs, which attributes in the source would start.

        They are silenced in the environment, not by options: git ends the name of an option at its first "=", and the
        name of a filter may have one.
        """
        silent = {"clean": "", "smudge": "", "process": "", "required": "false"}
        names = self.settings.filters
        extra = tuple((f"filter.{name}.{part}", value) for name in names for part, value in silent.items())
        return replace(self.git, extra=(*self.git.extra, *extra))

    def work_tree_for_verb(self, verb: str) -> Path:
        """Return the work tree; GitError where there is none to change, to commit, or whatever the verb says."""
        if self.folder.work_tree is None:
            raise GitError(f"a bare repository has no work tree to {verb}", hint="run this in a clone of it")
        return self.folder.work_tree

    def put_files(self, contents: Mapping[str, bytes | None]) -> None:
        """Write files of the work tree, or remove those that are None."""
        from .worktree import put_files

        put_files(self.work_tree_for_verb("change"), contents)

    def ignored_paths(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of these files that git ignores, so that nothing reads them as they stand in the work tree."""
        from .worktree import ignored_paths

        return ignored_paths(self.git, paths)

    def restore_files(self, contents: Mapping[str, bytes | None]) -> None:
        """Give files that could not be committed the contents they had, in the index too where it can be written."""
        from .worktree import stage_paths

        self.put_files(contents)
        with suppress(GitError):
            stage_paths(self._without_filters, sorted(contents))

    def commit_paths(self, paths: Iterable[str], message: str) -> str:
        """Commit these files of the work tree, and nothing else of it, to the current branch; return the commit."""
        from .worktree import commit_paths

        commit_paths(self._without_filters, sorted(paths), message, self.author)
        return self.resolve("HEAD")

    def remote_tips(self, remote: str, refs: Iterable[str] = ()) -> "RemoteTips":
        """Return the tips of a remote now - of all its refs, or of those named in full - without fetching anything."""
        from .remotes import list_remote_refs

        return list_remote_refs(self._resolved_remote(remote), refs)

    def known_tips(self, remote: str, refs: Iterable[str], *, again: bool = False) -> dict[str, str | None]:
        """Return where refs of a remote stand, asking for those that it was not asked for since this was opened.

        ``again``: for all of them. A connection takes longer than most passes compute, so a pass asks for a ref once.
        What is pushed is known; a push that is refused, because somebody else moved a ref meanwhile, lets all of them
        be asked for again.
        """
        names = tuple(refs)
        unknown = [name for name in names if again or (remote, name) not in self._known_tips]
        if unknown:
            tips = self.remote_tips(remote, unknown).tips
            self._known_tips |= {(remote, name): tips.get(name) for name in unknown}
        return {name: self._known_tips[remote, name] for name in names}

    def fetch(self, remote: str, fetching: "Fetching", progress: "Progress | None" = None) -> None:
        """Fetch refs of a remote, a configured one or an address."""
        from .remotes import fetch_refs

        fetch_refs(self._resolved_remote(remote), fetching, progress)

    def push(self, remote: str, updates: Iterable[RefUpdate], progress: "Progress | None" = None) -> None:
        """Move branches of a remote, all or none, each only from where it was expected; else ``SourceMoved``."""
        from .remotes import push_refs

        updates, known = tuple(updates), self._known_tips
        self._known_tips = {}
        push_refs(self._resolved_remote(remote, is_push=True), updates, progress)
        self._known_tips = known | {(remote, update.ref): update.new for update in updates}

    def check_push_is_accepted(self, remote: str, updates: Iterable[RefUpdate]) -> None:
        """Ask a remote whether it takes these updates from us, and send none; GitError when it does not."""
        from .remotes import push_refs

        push_refs(self._resolved_remote(remote, is_push=True), updates, None, dry_run=True)

    def _resolved_remote(self, remote: str, *, is_push: bool = False) -> "ReachedRemote":
        """Return how a remote is reached, found out once."""
        from .remotes import resolve_remote

        key = (remote, is_push)
        if key not in self._remotes:
            is_plain = not self.settings.may_have_passwords(remote)
            self._remotes[key] = resolve_remote(self.git, remote, is_push=is_push, is_plain=is_plain)
        return self._remotes[key]

    def maintain_packs(self, *, packs: int = 50) -> bool:
        """Join packs once there are ``packs`` of them; slow, so for after a pass. Say whether anything was done."""
        count = len(list((self.folder.objects / "pack").glob("pack-*.pack")))
        if count < packs or self._is_partial:
            return False
        self.git.run("repack", "--geometric=2", "-d", "-q")
        if not self.is_shallow:
            self.git.run("commit-graph", "write", "--reachable", "--no-progress")
        return True


def _without_present_objects(objects: Mapping[bytes, _Content], present: set[bytes]) -> Mapping[bytes, _Content]:
    return {id_: data for id_, data in objects.items() if id_ not in present} if present else objects
