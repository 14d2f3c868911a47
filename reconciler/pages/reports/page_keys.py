"""The pages of a report by what they show, whatever their addresses are on a server or in a folder.

Pages of a report are fixed at one instant of each fleet. Those that ask somebody something, such as a difference of any
two revisions, and those of other instants need a server; a report has no links to them. Its page of the search lists
all that can be found.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from reconciler.pages.links import encoded_part
from reconciler.pages.views import VIEWS
from reconciler.pages.web_pages import segments_of_path, view_at_address
from render.expressions import lazy_expression

_ASKING = frozenset({"diff", "whatif"})
"""The views that answer what somebody asks, so that there is no end of their pages."""
_PLAIN = lazy_expression(r"[A-Za-z0-9][A-Za-z0-9.-]{0,79}")
_PAGE, _AT = "page", "at"
_FLEETS, _SEARCH = "fleets", "search"
_LISTED, _DETAILS = 1, 4
_RANKS = {"object": 2, "commit": 3}
"""The order in which views get into a report that has no room for all; others than these are by their place."""


class PageKey(NamedTuple):
    """A page: the fleet ("": the only one), its view, the parts of its address, and the page of a list."""

    fleet: str
    view: str
    parts: tuple[str, ...] = ()
    number: str = ""

    @property
    def rank(self) -> int:
        """The place among pages: those of the navigation first, then lists, objects, and details of objects."""
        if self.view in {_FLEETS, _SEARCH} or VIEWS[self.view].label:
            return 0 if not self.number else _LISTED
        return _DETAILS if self.view.startswith("object_") else _RANKS.get(self.view, _LISTED)

    def file(self, *, is_first: bool) -> str:
        """Return the path of its file in a folder, without the ending."""
        if is_first:
            return "index"
        below = ["f", file_part(self.fleet)] if self.fleet else []
        given = iter(self.parts)
        path = VIEWS[self.view].segments if self.view != _FLEETS else (_FLEETS,)
        below += [file_part(next(given)) if each.startswith("{") else each for each in path]
        return "/".join(below) + (f"~{file_part(self.number)}" if self.number else "")

    def address(self, at: str) -> str:
        """Return its address on a server, about the instant that the report is fixed at."""
        if self.view == _FLEETS:
            return "/"
        given = iter(self.parts)
        path = [encoded_part(next(given)) if each.startswith("{") else each for each in VIEWS[self.view].segments]
        below = f"/f/{encoded_part(self.fleet)}/" if self.fleet else "/"
        query = {_AT: "" if VIEWS[self.view].is_of_now else at, _PAGE: self.number}
        asked = "&".join(f"{name}={encoded_part(value)}" for name, value in query.items() if value)
        return below + "/".join(path) + (f"?{asked}" if asked else "")


def file_part(text: str) -> str:
    """Return a part of a path that every file system takes; a digest tells those apart that are changed for that.

    >>> file_part("web-1"), file_part("../x:y")[:4], len(file_part("a" * 300))
    ('web-1', 'x-y~', 91)
    """
    if text == "-" or (_PLAIN.fullmatch(text) and not text.endswith(".")):
        return text
    readable = re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.")[:80]
    return f"{readable or 'x'}~{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def page_key_of_address(address: str, instants: Mapping[str, str]) -> PageKey | None:
    """Return the page at an address of a server; None where a report has no such page.

    ``instants`` are those that the fleets are shown at, by the names of the fleets.
    """
    parts = urlsplit(address)
    segments = segments_of_path(parts.path) if not (parts.scheme or parts.netloc) else None
    if segments is None:
        return None
    fleet = ""
    if segments[:1] == ("f",) and len(segments) > 1:
        fleet, segments = segments[1], segments[2:]
    elif "" not in instants:
        return PageKey("", _FLEETS) if segments == ("",) else None
    if fleet not in instants:
        return None
    return _page_key_of_fleet(fleet, segments, dict(parse_qsl(parts.query)), instants[fleet])


def _page_key_of_fleet(fleet: str, segments: tuple[str, ...], query: Mapping[str, str], instant: str) -> PageKey | None:
    view, found, is_json = view_at_address(segments)
    if view is None or is_json or view.name in _ASKING or query.keys() - {_AT, _PAGE}:
        return None
    is_elsewhen = query.get(_AT, instant) != instant and not view.is_of_now
    number = query.get(_PAGE, "")
    return None if is_elsewhen else PageKey(fleet, view.name, tuple(found.values()), "" if number == "1" else number)


def first_page_keys(fleets: Mapping[str, str]) -> tuple[PageKey, ...]:
    """Return the pages that a report begins with: the list of several fleets, and first page and search of each."""
    listed = () if "" in fleets else (PageKey("", _FLEETS),)
    return (*listed, *(PageKey(fleet, view) for view in ("overview", _SEARCH) for fleet in fleets))
