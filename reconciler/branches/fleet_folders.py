"""The fleets of one repository: one at or above a folder, or those in the folders below it."""

from collections.abc import Mapping
from pathlib import Path

from reconciler.repository import is_address, open_repository
from reconciler.source.fleet_file import fleet_paths
from render.errors import GitError


def locations_of_fleets(location: str) -> Mapping[str, str]:
    """Return where each fleet is that is meant by a location, by folder, or under the empty name for the only one."""
    if is_address(location):
        return {"": location}
    with open_repository(location, refresh=False) as repository:
        try:
            files = repository.snapshot(repository.resolve("HEAD")).files
        except GitError:  # whoever reads the fleet says what is wrong
            return {"": location}
        paths = fleet_paths({file.path for file in files}, repository.folder.under)
    if len(paths) < 2:
        return {"": location}
    here, under = Path(location), repository.folder.under
    folders = [path.rpartition("/")[0].removeprefix(f"{under}/" if under else "") for path in paths]
    return {folder: str(here / folder) for folder in folders}
