"""The checkpoint of the last reconcile pass: one record that lets the next pass do less, and never something else.

A pass is a function of the source, the facts and the previous rendered commit, and doing it again changes nothing. So a
pass writes down where its branches stood, which contents it saw and what it reported. While every branch still stands
there, the next pass repeats the report and ends; where only templates changed, it renders only those (``incremental``).

The record is disposable. It is never trusted over Git: it applies to the rendered commit it names and compares contents
by their ids. Without it, or with anything unexpected in it, the whole pass is done.
"""

from contextlib import suppress
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from reconciler.repository.refs import head_branch
from reconciler.repository.trailers import engine_version
from render.errors import GitError
from render.json_values import json_text, value_of_json_text

FILE_NAME = "checkpoint.json"
"""The name of the record in the repository's cache folder."""
_LARGEST = 256 << 20
_INPUTS = frozenset({"facts", "schemas"})
"""The folders of the status branch that a pass reads which reaches no member."""


class BranchTips(Struct, frozen=True, kw_only=True):
    """The commits of the source, the rendered branch and the status branch (None: there is no such branch)."""

    source: str
    rendered: str | None
    status: str | None


class BranchNames(Struct, frozen=True, kw_only=True):
    """The places where a pass reads its branches; a remote is a name or an address, empty for this repository."""

    source_remote: str
    source_ref: str
    publish_remote: str
    rendered_ref: str
    status_ref: str


class PassContents(Struct, frozen=True, kw_only=True):
    """The contents a pass saw, as plain data: JSON in and out without a second form.

    ``source_digest`` covers everything in the source but ordinary templates, ``rest_digest`` the same without the
    ``parts``: kind, namespace, name, path and digest of each object that decides on some others alone. ``digests``
    lists each template as group, kind, namespace, name and digest (none: everything has to be looked at again).
    ``volatile`` lists the objects that every pass decides anew. ``facts`` is the hex id of the folder of facts ("":
    none). ``tally`` holds the counts of the rendered branch's README. ``waits`` lists the objects that change by
    themselves, each with the time and with what happens then.
    """

    source_digest: str
    rest_digest: str
    parts: list[list[str]]
    digests: list[list[str]]
    volatile: list[list[str]]
    facts: str
    tally: dict[str, dict[str, int]]
    waits: list[list[str]]


class ProposedCommit(Struct, frozen=True, kw_only=True):
    """A commit that waits for a person: the path of the fleet's argosy.yaml, and the words for what is proposed."""

    commit: str
    fleet_path: str
    what: str


NO_CONTENTS = PassContents(
    source_digest="", rest_digest="", parts=[], digests=[], volatile=[], facts="", tally={}, waits=[]
)
"""The contents of a pass that nothing may be rendered by: what it saw is not what the rendered branch holds."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """One pass: its fleet (a folder of the repository) and branch, its inputs, and what it reported.

    ``next_flip`` is the time at which a pass would decide otherwise by itself ("": never). ``waits_for_clusters``: a
    rollout or a move goes on by what is seen of members.

    ``members`` is None where the pass reached no member, else what is known of those it left idle, as plain data
    (empty: there were none). ``mirrors`` are the refs of mirrors with their tips. ``proposed`` is the commit that it
    proposed, if it did. ``version`` and ``clone`` are set when the record is written: the engine, and the configuration
    of the clone.
    """

    folder: str
    branch: str
    names: BranchNames
    tips: BranchTips
    contents: PassContents
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    next_flip: str = ""
    members: dict[str, Any] | None = None
    mirrors: dict[str, str] = field(default_factory=dict)
    proposed: ProposedCommit | None = None
    waits_for_clusters: bool = False
    version: str = ""
    clone: str = ""


def write_checkpoint(repository: Repository, checkpoint: Checkpoint) -> None:
    """Write the record beside the repository's cache, readable by this user alone; a full disk is no failure."""
    record = replace(checkpoint, version=engine_version(), clone=_branch_and_configuration_of_clone(repository))
    with suppress(OSError):
        write_privately(repository.cache_dir / FILE_NAME, json_text(record).encode())


def read_checkpoint(repository: Repository) -> Checkpoint | None:
    """Return the checkpoint of this engine and this folder of the repository; None if there is none to trust."""
    found = value_of_json_text(read_privately(repository.cache_dir / FILE_NAME, _LARGEST) or b"", Checkpoint)
    is_ours = found is not None and found.version == engine_version() and found.folder == repository.folder.under
    return found if is_ours else None


def are_branches_as_left(repository: Repository, checkpoint: Checkpoint) -> bool:
    """Return whether every branch still stands where the pass left it, asking remotes where it names them.

    For a pass that reaches no member, the status branch may have moved on, if what was seen there is the same.
    """
    if checkpoint.clone != _branch_and_configuration_of_clone(repository):
        return False
    if not _are_mirrors_as_left(repository, checkpoint):
        return False
    before, tips = checkpoint.tips, current_tips(repository, checkpoint.names)
    if tips == before:
        return True
    is_status_alone = checkpoint.members is None and replace(tips, status=before.status) == before
    return is_status_alone and _have_same_inputs(repository, before.status, tips.status)


def _are_mirrors_as_left(repository: Repository, checkpoint: Checkpoint) -> bool:
    """Say whether mirrors stand where the pass left them; the remote is asked for its other branches as well, once."""
    names, mirrors = checkpoint.names, checkpoint.mirrors
    if not mirrors or not names.publish_remote:
        return all(repository.tip(ref) == tip for ref, tip in mirrors.items())
    source = [names.source_ref] if names.source_remote == names.publish_remote else []
    refs = sorted({*mirrors, names.rendered_ref, names.status_ref, *source})
    found = repository.known_tips(names.publish_remote, refs)
    return all(found[ref] == tip for ref, tip in mirrors.items())


def _have_same_inputs(repository: Repository, before: str | None, after: str | None) -> bool:
    """Return whether two commits of the status branch give a pass the same inputs; not if one is not known here."""
    try:
        one, other = (_input_files_of_status(repository, commit) for commit in (before, after))
    except GitError:
        return False
    return one == other


def _input_files_of_status(repository: Repository, commit: str | None) -> dict[str, bytes]:
    tree = repository.commit_info(commit).tree if commit else None
    entries = repository.read_trees([tree])[tree] if tree else ()
    return {entry.text: entry.id for entry in entries if entry.text in _INPUTS}


def _branch_and_configuration_of_clone(repository: Repository) -> str:
    """Return what decides where the source comes from: the branch this clone is on, and its configuration."""
    with suppress(OSError):
        configuration = (repository.folder.common_dir / "config").stat()
        return f"{head_branch(repository.folder.git_dir)} {configuration.st_mtime_ns} {configuration.st_size}"
    return ""


def current_tips(repository: Repository, names: BranchNames) -> BranchTips:
    """Return where the branches stand now; each remote is asked once for all of its branches."""
    source = names.source_remote, names.source_ref
    rendered, status = (names.publish_remote, names.rendered_ref), (names.publish_remote, names.status_ref)
    tips: dict[tuple[str, str], str | None] = {}
    for remote in {source[0], rendered[0]}:
        refs = sorted({ref for where, ref in (source, rendered, status) if where == remote})
        if remote:
            tips.update({(remote, ref): tip for ref, tip in repository.known_tips(remote, refs).items()})
        else:
            tips.update({("", ref): repository.tip(ref) for ref in refs})
    return BranchTips(source=tips[source] or "", rendered=tips[rendered], status=tips[status])
