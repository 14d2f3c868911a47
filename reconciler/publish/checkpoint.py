"""The pass in which nothing is new, answered by looking at branches alone.

A pass is a function of the source, the facts and the previous rendered commit, and doing it again changes nothing. So
the last pass leaves a note of what it was made from; while every branch stands where the note says, its answer stands
too. The note is disposable: without it, or with anything it does not expect, the whole pass is done.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from reconciler.repository import Repository
from reconciler.repository.cache import write_privately
from reconciler.repository.refs import head_branch
from reconciler.repository.trailers import engine_version

_FILE = "last-pass.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchTips:
    """Where the branches of a pass stand: the commits of source, rendered branch and status branch (None: absent)."""

    source: str
    rendered: str | None
    status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the last pass was made from and what it said; remotes are names or addresses, empty for this repository."""

    folder: str
    branch: str
    source_remote: str
    source_ref: str
    publish_remote: str
    rendered_ref: str
    status_ref: str
    standing: BranchTips
    warnings: tuple[str, ...]
    problems: tuple[str, ...]
    version: str = ""
    place: str = ""

    def write(self, repository: Repository) -> None:
        """Leave the note beside the repository's cache, for this user alone."""
        value = {**asdict(self), "version": engine_version(), "place": _place(repository)}
        with suppress(OSError):
            write_privately(repository.cache_dir / _FILE, json.dumps(value).encode())


def read_note(repository: Repository) -> Note | None:
    """Return the last note of this engine about this folder of the repository, None if there is none to trust."""
    try:
        plain = json.loads(Path(repository.cache_dir / _FILE).read_text(encoding="utf-8"))
        note = Note(
            **{
                **plain,
                "standing": BranchTips(**plain["standing"]),
                "warnings": tuple(plain["warnings"]),
                "problems": tuple(plain["problems"]),
            }
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    is_ours = note.version == engine_version() and note.folder == repository.folder.under
    return note if is_ours and note.place == _place(repository) else None


def _place(repository: Repository) -> str:
    """Return what decides where the source comes from: the branch this clone is on, and its configuration."""
    with suppress(OSError):
        configuration = (repository.folder.common_dir / "config").stat()
        return f"{head_branch(repository.folder.git_dir)} {configuration.st_mtime_ns} {configuration.st_size}"
    return ""


def standing_now(repository: Repository, note: Note) -> BranchTips:
    """Return where the branches of a note stand now, asking remotes where it names them."""
    wanted = {(note.source_remote, note.source_ref)}
    wanted |= {(note.publish_remote, note.rendered_ref), (note.publish_remote, note.status_ref)}
    found: dict[tuple[str, str], str | None] = {}
    for remote in {remote for remote, _ in wanted}:
        refs = sorted(ref for where, ref in wanted if where == remote)
        if remote:
            answer = repository.remote_tips(remote, refs).tips
            found.update({(remote, ref): answer.get(ref) for ref in refs})
        else:
            found.update({("", ref): repository.tip(ref) for ref in refs})
    return BranchTips(
        source=found[note.source_remote, note.source_ref] or "",
        rendered=found[note.publish_remote, note.rendered_ref],
        status=found[note.publish_remote, note.status_ref],
    )
