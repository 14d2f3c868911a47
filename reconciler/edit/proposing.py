"""A change of the source as a branch of its own, for a person to look at and to merge: no other branch moves.

The change is made on top of a commit and in no work tree. It is loaded first, and new problems refuse it. A branch that
is there already, here or at a remote as far as this clone knows, is never moved. What a person alone decides cannot be
proposed along with it: the allowances that trailers of a commit give, and files that are none of the fleet's, such as
those of a pipeline.
"""

import shlex
import time
from collections.abc import Iterator, Mapping

from msgspec import Struct

from reconciler.branches.publication import branch_of_head, remote_of_source
from reconciler.branches.reading import read_loaded, reader_of_recorded_facts
from reconciler.forge.address import kind_of_forge_at
from reconciler.repository import File, Repository, is_ref_name
from reconciler.repository.trailers import RENDERED, SOURCE, VERSION, commit_written_by_argosy
from reconciler.source.loading import Loaded
from render.errors import ConfigError, InputError
from render.expressions import lazy_expression
from render.gitobjects import BLOB_MODE, TreeEntry, git_object_id
from render.settings.fleet import Fleet
from render.settings.rendered import ForgeKind
from render.tree import TreeStore, build_nested_tree
from render.words import first_few

_LONGEST_PATH = 500
_LONGEST_NAME = 200
_PLAIN_FILES = frozenset({0o100644, 0o100755})
_CONTROL = lazy_expression(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\\]")
_DECIDING_TRAILER = lazy_expression(r"(?im)^[ \t]*(argosy-[a-z-]*)[ \t]*:")
_SHORT_NAME_OF_GIT = lazy_expression(r"(?i)git~\d+")
_BRANCH = lazy_expression(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_BRANCH_OF_ARGOSY = lazy_expression(r"argosy(?:-[^/]+)?/.*|refs/.*|HEAD")

_COMMANDS = {
    ForgeKind.GITHUB: "gh pr create --base {base} --head {branch} --fill",
    ForgeKind.GITLAB: "glab mr create --target-branch {base} --source-branch {branch} --fill",
    ForgeKind.GITEA: "tea pulls create --base {base} --head {branch}",
}


class SourceProposal(Struct, frozen=True, kw_only=True):
    """A change that somebody proposes: files by path (None: such a file is to go), on top of ``base`` ("": HEAD)."""

    branch: str
    message: str
    contents: Mapping[str, bytes | None]
    base: str = ""


class PlannedProposal(Struct, frozen=True, kw_only=True):
    """A proposal that can be made: the commit below it, the mode of each file, and the settings of the fleet then."""

    proposal: SourceProposal
    base: str
    modes: Mapping[str, int]
    fleet: Fleet


class MadeProposal(Struct, frozen=True, kw_only=True):
    """A branch that was made, and the commands by which people look at it and go on with it."""

    branch: str
    commit: str
    base: str
    written: tuple[str, ...]
    removed: tuple[str, ...]
    look: tuple[str, ...]
    go_on: tuple[str, ...]


def planned_proposal(repository: Repository, proposal: SourceProposal) -> PlannedProposal:
    """Return what a proposal comes to, and write nothing; an error says why it cannot be made."""
    _check_message(proposal.message)
    base = repository.resolve(proposal.base or "HEAD")
    info = commit_written_by_argosy(repository, base)
    if any(info.trailer(name) for name in (SOURCE, RENDERED, VERSION)):
        raise ConfigError(
            f"{proposal.base or 'HEAD'} is a commit that Argosy wrote: there is no source of a fleet in it"
        )
    modes = _modes_of_changed_files(repository.snapshot(base).files, proposal.contents)
    loaded = _checked_source(repository, base, proposal.contents)
    fleet = loaded.desired.fleet
    _check_branch(repository, proposal.branch, fleet)
    return PlannedProposal(proposal=proposal, base=base, modes=modes, fleet=fleet)


def made_proposal(repository: Repository, planned: PlannedProposal) -> MadeProposal:
    """Make the branch of a proposal: one commit, and a name that nothing had before."""
    proposal = planned.proposal
    store, blobs = TreeStore(), dict[bytes, bytes]()
    entries: dict[tuple[str, ...], TreeEntry | bytes | None] = {}
    for path, content in proposal.contents.items():
        parts = tuple(path.split("/"))
        if content is None:
            entries[parts] = None
            continue
        blob = git_object_id("blob", content, repository.algorithm)
        blobs[blob] = content
        entries[parts] = TreeEntry(parts[-1].encode(), planned.modes.get(path, BLOB_MODE), blob)

    def entries_of_tree(tree: bytes) -> Mapping[str, TreeEntry]:
        found = repository.read_trees([tree])[tree]
        return {each.name.decode("utf-8", "surrogateescape"): each for each in found}

    root = repository.commit_info(planned.base).tree
    tree = build_nested_tree(entries, store, entries_of_tree(root), entries_of_tree) or store.add(b"")
    commit = repository.commit_tree(tree, [planned.base], proposal.message, {}, time=int(time.time()))
    repository.store(blobs=blobs, trees=store.trees, commits=[commit])
    repository.update_ref(f"refs/heads/{proposal.branch}", commit.id, None, reason="argosy mcp: proposed")
    return MadeProposal(
        branch=proposal.branch,
        commit=commit.id,
        base=planned.base,
        written=tuple(sorted(path for path, content in proposal.contents.items() if content is not None)),
        removed=tuple(sorted(path for path, content in proposal.contents.items() if content is None)),
        look=(f"git show {commit.id[:12]}", f"argosy diff {planned.base[:12]} {proposal.branch}"),
        go_on=tuple(_commands_to_go_on(repository, planned)),
    )


def _check_message(message: str) -> None:
    if not message.strip():
        raise ConfigError("the message is empty", hint="say in its first line what the change is, and below it why")
    if found := _DECIDING_TRAILER.search(message):
        raise ConfigError(
            f"the message has the trailer {found[1]}, by which a person allows something",
            hint="leave it out; whoever merges the branch can add it",
        )


def _modes_of_changed_files(files: tuple[File, ...], contents: Mapping[str, bytes | None]) -> Mapping[str, int]:
    """Return the modes that changed files have; ConfigError for a path that no proposal may write to."""
    mode_by_path = {file.path: file.mode for file in files}
    folders = {path[:end] for path in mode_by_path for end, letter in enumerate(path) if letter == "/"}
    if not contents:
        raise ConfigError("no file is changed", hint="name a file with its whole content, or one to remove")
    for path, content in contents.items():
        _check_path(path)
        above = [path[:end] for end, letter in enumerate(path) if letter == "/"]
        if found := next((each for each in above if each in mode_by_path or each in contents), ""):
            raise ConfigError(f"{path!r}: {found!r} is no folder")
        if path in folders:
            raise ConfigError(f"{path!r} is a folder", hint="name each file")
        if mode_by_path.get(path, BLOB_MODE) not in _PLAIN_FILES:
            raise ConfigError(f"{path!r} is a symbolic link or a submodule")
        if content is None and path not in mode_by_path:
            raise ConfigError(f"{path!r} is to be removed, and there is no such file")
    return {path: mode_by_path[path] for path in contents if path in mode_by_path}


def _check_path(path: str) -> None:
    """Raise ConfigError for a path that leads out of the repository, or to files by which something is run."""
    parts = path.split("/")
    if not path or len(path) > _LONGEST_PATH or _CONTROL.search(path):
        raise ConfigError(f"{path[:_LONGEST_PATH]!r} is no path of a file")
    if any(not part or part.startswith(".") or _SHORT_NAME_OF_GIT.fullmatch(part) for part in parts):
        raise ConfigError(
            f"{path!r} is outside of what a proposal may change",
            hint="it is for files below the root of the repository, in no folder and of no name that begins with a dot",
        )


def _check_branch(repository: Repository, branch: str, fleet: Fleet) -> None:
    """Raise ConfigError for a name that a new branch of the source cannot have."""
    ref = f"refs/heads/{branch}"
    if not _BRANCH.fullmatch(branch) or len(branch) > _LONGEST_NAME or not is_ref_name(ref):
        raise ConfigError(f"{branch[:_LONGEST_NAME]!r} is no name for a branch", hint="write one such as 'more-web'")
    own = (fleet.rendered_branch, fleet.status_branch, fleet.proposed_branch, fleet.source.branch)
    if branch in own or _BRANCH_OF_ARGOSY.fullmatch(branch):
        raise ConfigError(f"{branch!r} is a branch that the fleet is rendered from or that Argosy writes")
    if branch == branch_of_head(repository) or repository.tip(ref) is not None:
        raise ConfigError(f"branch {branch!r} is there already, and is not moved", hint="choose another name")
    remotes = [each for each in repository.refs("refs/remotes/") if each.endswith(f"/{branch}")]
    if remotes:
        raise ConfigError(f"branch {branch!r} is at a remote already: {first_few(remotes)}", hint="choose another name")


def _checked_source(repository: Repository, base: str, contents: Mapping[str, bytes | None]) -> Loaded:
    """Return the source with the change; InputError lists the problems that are new, ConfigError one of no change."""
    facts = reader_of_recorded_facts(repository)
    before = read_loaded(repository, base, facts=facts)
    snapshot = repository.edited_snapshot(base, contents)
    if {(each.path, each.id) for each in snapshot.files} == {
        (each.path, each.id) for each in repository.snapshot(base).files
    }:
        raise ConfigError("the proposal changes nothing: the files are so already")
    after = read_loaded(repository, base, facts=facts, snapshot=snapshot)
    known = {(problem.path, problem.field, problem.message) for problem in before.problems}
    new = [each for each in after.problems if (each.path, each.field, each.message) not in known]
    if new:
        raise InputError(new)
    return after


def _commands_to_go_on(repository: Repository, planned: PlannedProposal) -> Iterator[str]:
    """Yield the commands by which a person pushes the branch and asks for a pull request, or merges it."""
    branch, fleet = shlex.quote(planned.proposal.branch), planned.fleet
    base = shlex.quote(fleet.source.branch or branch_of_head(repository) or "main")
    remote = remote_of_source(repository)
    if not remote:
        yield f"git switch {base} && git merge {branch}"
        return
    yield f"git push --set-upstream {shlex.quote(remote)} {branch}"
    kind = fleet.rendered.forge or kind_of_forge_at(repository.settings.last(f"remote.{remote}.url"))
    if kind is not None:
        yield _COMMANDS[kind].format(base=base, branch=branch)
