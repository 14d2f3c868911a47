"""A refused source that somebody has accepted meanwhile: by another process, or in the file of accepted settings.

A pass that a guard refuses is not tried again before the source moves, or members are due. But a person who accepts
what it refused moves no source: another run renders it, or the file says so. Both are asked for where the source is
looked at, and only while the last pass was refused.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reconciler.branches.in_force import rendered_tip_asked_of_remote, settings_in_force
from reconciler.repository import open_repository
from render.errors import GitError, GuardRefused

from .fleets import FleetLocation
from .pass_job import PassReport


class Acceptances(Struct, frozen=True):
    """The rendered commit that holds a refused source ("": none does), and the digest of the file of settings."""

    rendered: str = ""
    file: str = ""


def is_refused_by_guard(report: PassReport | None) -> bool:
    """Say whether a guard has refused the source of a pass, which a person may accept."""
    return report is not None and report.code == GuardRefused.exit_code


def acceptances_of_source(location: FleetLocation, source: str, accepted_settings: str) -> Acceptances:
    """Return by what a source commit is accepted now, asking the remote where the rendered branch stands."""
    return Acceptances(rendered_commit_of_source(location, source), digest_of_file(accepted_settings))


def rendered_commit_of_source(location: FleetLocation, source: str) -> str:
    """Return the newest rendered commit if it is of this source; empty for any other, and where nobody can tell."""
    with suppress(GitError), open_repository(location.location, refresh=False) as repository:
        found = settings_in_force(repository, source, rendered_tip_asked_of_remote)
        if found is not None and found.source == source:
            return found.rendered
    return ""


def digest_of_file(path: str) -> str:
    """Return the digest of a file's content; empty where there is none, or it cannot be read."""
    with suppress(OSError):
        return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else ""
    return ""
