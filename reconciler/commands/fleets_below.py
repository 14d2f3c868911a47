"""The fleets below a folder, listed where a command that shows one fleet was given none."""

from collections.abc import Iterator
from contextlib import contextmanager

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.console.printing import print_error
from render.errors import InputError, ReconcileError

_MOST = 20


@contextmanager
def fleets_listed_on_error(log: Log) -> Iterator[None]:
    """Print a table of the fleets before the error of a command that stands above several."""
    try:
        yield
    except InputError:
        for part in _parts_of_table(log):
            print_error(part)
        raise


def _parts_of_table(log: Log) -> Iterator[str]:
    """Yield the table, and a line for fleets that are left out of it; nothing where one fleet is meant."""
    from reconciler.branches.fleet_folders import locations_of_fleets
    from reconciler.console.tables import text_table

    try:
        fleets = locations_of_fleets(log.repository)
    except ReconcileError:
        return
    if len(fleets) < 2:
        return
    rows = [(*_name_and_state(location, log, folder), folder) for folder, location in list(fleets.items())[:_MOST]]
    cells = [(name, folder, commit, rendered, state) for name, commit, rendered, state, folder in rows]
    yield str(text_table(("FLEET", "FOLDER", "RENDERED", "AGE", "STATE"), cells)).removesuffix("\n")
    if len(fleets) > _MOST:
        yield f"and {len(fleets) - _MOST} more"


def _name_and_state(location: str, log: Log, folder: str) -> tuple[str, str, str, str]:
    """Return a fleet's name, its newest rendered commit, the age of that, and how the fleet is."""
    from msgspec.structs import replace

    from reconciler.branches.fleet_context import context_and_source_of_commit
    from reconciler.console.clock import age_in_words
    from reconciler.repository import open_repository
    from reconciler.status.branches import read_recorded_fleet
    from reconciler.status.fleet_views import is_fleet_well

    name = folder.rpartition("/")[2]
    try:
        with open_repository(location, refresh=False) as repository:
            name = context_and_source_of_commit(repository, "")[0].fleet.name
            branches = read_recorded_fleet(repository, replace(log, level=ERRORS_ONLY))
            commit = branches.fleet.previous.commit
            if not commit:
                return name, "-", "-", "nothing is rendered yet"
            age = age_in_words(int(branches.now - repository.commit_info(commit).time))
    except InputError as error:
        return name, "-", "-", error.summary.partition(";")[0]
    except ReconcileError as error:
        return name, "-", "-", error.message.partition("\n")[0]
    return name, commit[:12], age, "well" if is_fleet_well(branches) else "not well, or not known to be"
