"""Time zones by their names, from the database that the package ``tzdata`` ships.

The machine's own database is not asked: it may be older or missing, and the same commit must give the same bytes
everywhere. Names are those of the database, in its own case; an empty one is UTC, and so is ``Local``, for the place
where a pass runs decides nothing.
"""

from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

UTC_NAMES = frozenset({"", "UTC", "Local"})


@cache
def time_zone(name: str) -> ZoneInfo:
    """Return the zone that a name means; a LookupError where there is none.

    >>> time_zone("Europe/Berlin").key, time_zone("").key
    ('Europe/Berlin', 'UTC')
    """
    known = "UTC" if name in UTC_NAMES else name
    if known not in _zone_names():
        raise LookupError(f"there is no time zone {name!r}")
    with resources.files("tzdata").joinpath("zoneinfo", *known.split("/")).open("rb") as stored:
        return ZoneInfo.from_file(stored, key=known)


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())
