"""The repositories of a controller: those that were named, and those in folders that were named."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from reconciler.repository import find_repository, is_address
from render.errors import ConfigError, GitError


class FleetLocation(Struct, frozen=True, kw_only=True, order=True):
    """The repository of a fleet: a folder or an address, under a name of its own."""

    name: str
    location: str

    @property
    def is_local(self) -> bool:
        """True for a folder of this machine."""
        return not is_address(self.location)


def fleets_at_locations(locations: Sequence[str], names: Mapping[str, str] | None = None) -> tuple[FleetLocation, ...]:
    """Return the fleets at some locations: a folder that is in no repository stands for all repositories in it.

    ``names`` are those of locations that somebody named; the others are called like the last part of their location.
    """
    named = {_single_repository(location): name for location, name in (names or {}).items()}
    found = list(dict.fromkeys(each for location in locations for each in _repositories_at_location(location)))
    sources: list[FleetLocation] = []
    for location in found:
        taken = {*named.values(), *(each.name for each in sources)}
        name = named.get(location) or _unused_fleet_name(location, taken)
        sources.append(FleetLocation(name=name, location=location))
    return tuple(sources)


def _single_repository(location: str) -> str:
    """Return the repository that a named location is; ConfigError for a folder of repositories."""
    expanded = tuple(_repositories_at_location(location))
    if len(expanded) != 1 or (not is_address(location) and expanded[0] != str(Path(location).absolute())):
        raise ConfigError(f"{location} is a folder of repositories, and has no name of its own")
    return expanded[0]


def _repositories_at_location(location: str) -> Iterable[str]:
    if is_address(location):
        return (location,)
    folder = Path(location).absolute()
    try:
        find_repository(folder)
    except GitError as error:
        inside = _repositories_in_folder(folder)
        if not inside:
            hint = "name repositories, their addresses, or a folder of repositories"
            raise ConfigError(f"{error.message}, and holds none", hint=hint) from error
        return inside
    return (str(folder),)


def _repositories_in_folder(folder: Path) -> list[str]:
    """Return the repositories in a folder; none where it cannot be read."""
    try:
        return [str(each) for each in sorted(folder.iterdir()) if _is_repository_folder(each)]
    except OSError:
        return []


def _is_repository_folder(folder: Path) -> bool:
    try:
        return folder.is_dir() and not folder.name.startswith(".") and find_repository(folder) is not None
    except GitError:
        return False


def _unused_fleet_name(location: str, taken: Iterable[str]) -> str:
    """Return the last part of a location as a name, with a number where it is taken.

    >>> _unused_fleet_name("git@example.com:shop/eu.git", ["eu"]), _unused_fleet_name("/srv/fleets/us/", [])
    ('eu-2', 'us')
    """
    name = location.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git") or "fleet"
    numbered = (name if number == 1 else f"{name}-{number}" for number in range(1, len(tuple(taken)) + 2))
    return next(each for each in numbered if each not in taken)
