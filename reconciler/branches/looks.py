"""The last looks at clusters, kept on this machine: since when the recorded health of each is known to be so.

The status branch says how clusters are, and has a commit only when something else is seen. When they were looked at
last, so that what it says is known to be still so, stands here, beside the caches of the repository. It is about one
record of health: where the status branch has another one, or there is no such file, nobody knows of any look. Whoever
asks for the age of a status has to look again then.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import HealthFile
from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from render.json_values import json_text, value_of_json_text
from render.timing import instant_text, parse_instant

FILE_NAME = "looks.json"
"""The name of the file in the repository's cache folder."""
_LARGEST = 8 << 20

Looks = Mapping[str, datetime]
"""The time of the last look at each cluster; of one without any nobody knows."""


class _LooksOfBranch(Struct, frozen=True, kw_only=True):
    """The last looks at the clusters of one status branch; ``health`` is the id of the record that they led to."""

    health: str
    times: dict[str, str]


class _LooksFile(Struct, frozen=True, kw_only=True):
    branches: dict[str, _LooksOfBranch] = field(default_factory=dict)


def _read_file(repository: Repository) -> _LooksFile:
    content = read_privately(repository.cache_dir / FILE_NAME, _LARGEST)
    return (value_of_json_text(content, _LooksFile) if content else None) or _LooksFile()


def _write_file(repository: Repository, file: _LooksFile) -> None:
    with suppress(OSError):  # then the next pass looks again
        write_privately(repository.cache_dir / FILE_NAME, json_text(file).encode())


def are_looks_known(repository: Repository) -> bool:
    """Say whether this machine keeps any looks; a fleet whose gates ask for none has no such file."""
    return (repository.cache_dir / FILE_NAME).exists()


def id_of_recorded_health(repository: Repository, commit: str | None) -> str:
    """Return the id of the record of health that a commit of the status branch has ("": it has none)."""
    tree = repository.commit_info(commit).tree if commit else None
    for name in HealthFile.PATH.split("/"):
        entries = repository.read_trees([tree])[tree] if tree is not None else ()
        tree = next((entry.id for entry in entries if entry.text == name), None)
    return tree.hex() if tree is not None else ""


def known_looks(repository: Repository, health: str) -> Looks:
    """Return the last looks that led to a record of health, by its id; of two fleets with the same one, the older."""
    found: dict[str, datetime] = {}
    for each in _read_file(repository).branches.values() if health else ():
        for name, text in each.times.items() if each.health == health else ():
            at = parse_instant(text)
            if at is not None:
                found[name] = min(at, found.get(name, at))
    return found


def remember_looks(repository: Repository, branch: str, looks: Looks, before: str, after: str) -> None:
    """Keep the time of looks at some clusters of a status branch, and forget of others what is about another record.

    ``before`` is the id of the record of health before the looks, ``after`` the one that they led to.
    """
    file = _read_file(repository)
    known = file.branches.get(branch)
    times = known.times if known is not None and known.health in {before, after} else {}
    times = {**times, **{name: instant_text(at) for name, at in looks.items()}}
    branches = {**file.branches, branch: _LooksOfBranch(health=after, times=times)}
    _write_file(repository, replace(file, branches=branches))


def remember_repeated_looks(
    repository: Repository, branch: str, commit: str | None, names: Iterable[str], at: datetime
) -> None:
    """Keep the time of a look that found clusters as they were, where looks at them are kept at all."""
    if branch not in _read_file(repository).branches:
        return
    health = id_of_recorded_health(repository, commit)
    remember_looks(repository, branch, dict.fromkeys(names, at), health, health)
