"""The pages of a site: an address answered with a page, a document, or a file that pages load."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from msgspec.structs import replace

from reconciler import VERSION
from reconciler.console.cleaning import json_safe_for_terminal
from reconciler.overview.asked_times import time_in_full
from reconciler.overview.instants import FleetInstant
from render.errors import NoSuchRevision, ReconcileError, UnknownName
from render.model import ARGOSY_API_VERSION

from .links import JSON_SUFFIX, Links
from .look import Look, ViewAnswer
from .reader import FleetReader
from .templating import compile_templates, rendered_page, static_files
from .view import PageView, ViewGroup
from .views import VIEWS

HTML = "text/html; charset=utf-8"
JSON = "application/json"
LARGEST_PAGE = 8 << 20
_MOST_PATH, _MOST_PARTS = 8192, 12

Fleets = Callable[[], Mapping[str, FleetReader]]
"""The fleets that are shown, by name."""


class WebPage(Struct, frozen=True, kw_only=True):
    """An answer: its status, its type, its content, and whether a browser may keep it without asking again."""

    status: HTTPStatus = HTTPStatus.OK
    type: str = HTML
    content: bytes = b""
    is_constant: bool = False
    location: str = ""
    again: int = 0


class PageRequest(Struct, frozen=True, kw_only=True):
    """An address below the site's own: its path as it was sent, and what is asked behind it."""

    path: str
    query: Mapping[str, str]


class WebPages(Struct, frozen=True, kw_only=True):
    """The pages of some fleets, below an address; ``are_fixed``: for a report, in which nothing else is asked."""

    fleets: Fleets
    base: str = ""
    are_fixed: bool = False
    clock: Callable[[], float] = time.time

    def page(self, request: PageRequest) -> WebPage:
        """Return the answer to a request; what goes wrong is a page as well."""
        segments = segments_of_path(request.path)
        if segments is None:
            return self.problem_page(HTTPStatus.NOT_FOUND, "There is no such page.")
        if segments[:1] == ("static",):
            return _static_page(segments[1:])
        fleets = self.fleets()
        if segments[:1] == ("f",) and len(segments) > 1:
            return self._page_of_fleet(fleets, segments[1], segments[2:], request)
        if len(fleets) == 1:
            return self._page_of_fleet(fleets, "", segments, request)
        if segments == ("",):
            return self._list_of_fleets(fleets)
        return self.problem_page(HTTPStatus.NOT_FOUND, "There is no such page.")

    def problem_page(self, status: HTTPStatus, message: str, hint: str = "", look: Look | None = None) -> WebPage:
        """Return a page that says what is wrong."""
        title = _TITLES.get(status, "This cannot be answered")
        values = {**self._values_of_every_page(look), "message": message, "hint": hint, "status": status.value}
        content = rendered_page("problem.html", {**values, "title": title, "view": None})
        return WebPage(status=status, content=content.encode())

    def _list_of_fleets(self, fleets: Mapping[str, FleetReader]) -> WebPage:
        values = {**self._values_of_every_page(None), "fleets": sorted(fleets), "view": None}
        return WebPage(content=rendered_page("fleets.html", {**values, "title": "Which fleet?"}).encode())

    def _page_of_fleet(
        self, fleets: Mapping[str, FleetReader], fleet: str, segments: tuple[str, ...], request: PageRequest
    ) -> WebPage:
        reader = next(iter(fleets.values())) if not fleet else fleets.get(fleet)
        if reader is None:
            return self.problem_page(HTTPStatus.NOT_FOUND, f"There is no fleet {fleet!r}.", "The first page lists all.")
        if segments == ("newest",):
            return _page_of_newest_commits(reader)
        view, parts, is_json = view_at_address(segments)
        if view is None:
            return self.problem_page(HTTPStatus.NOT_FOUND, "There is no such page.")
        wanted = time_in_full(request.query.get("at", "").strip(), self.clock())
        at = "" if view.is_of_now else wanted
        links = Links(paths=_PATHS, base=self.base, fleet=fleet, at=wanted)
        look = Look(
            reader=reader,
            commits=NO_COMMITS,
            links=links,
            parts=parts,
            query=request.query,
            at=at,
            is_fixed=self.are_fixed,
        )
        try:
            look = replace(look, commits=reader.commits_shown(at, waits=is_json))
            answer = view.answer(look)
        except ReconcileError as error:
            return self._error_page(error, look, is_json=is_json)
        if is_json:
            return _json_page(answer)
        return self._page_of_answer(view, answer, look)

    def _page_of_answer(self, view: PageView, answer: ViewAnswer, look: Look) -> WebPage:
        shown = {"title": answer.title or view.question.format(**look.parts), "view": view, "document": answer.document}
        asked = {**look.parts, **look.query}
        here = partial(look.links.address_of_present_page, view.name, asked)
        views = {"here": here, "look_json": look.links.address_of_json(view.name, **asked)}
        command = ("argosy", *answer.command, "-o", "json") if answer.command else ()
        values = {**self._values_of_every_page(look), **shown, **views, "command": command, **answer.shown}
        template = (answer.template or view.template) if answer.is_ready else "computing.html"
        content = rendered_page(template, values).encode()
        if len(content) > LARGEST_PAGE:
            return self.problem_page(HTTPStatus.INTERNAL_SERVER_ERROR, "This page would be too large.", "", look)
        return WebPage(content=content, again=0 if answer.is_ready else 2)

    def _error_page(self, error: ReconcileError, look: Look, *, is_json: bool) -> WebPage:
        is_missing = isinstance(error, UnknownName | NoSuchRevision)
        status = HTTPStatus.NOT_FOUND if is_missing else HTTPStatus.UNPROCESSABLE_ENTITY
        if is_json:
            value = {"apiVersion": ARGOSY_API_VERSION, "kind": "Problem", "message": error.message, "hint": error.hint}
            return WebPage(status=status, type=JSON, content=_json_bytes(value))
        return self.problem_page(status, error.message, error.hint or "", look)

    def _values_of_every_page(self, look: Look | None) -> dict[str, Any]:
        links = look.links if look else Links(paths=_PATHS, base=self.base)
        return {
            "links": links,
            "url": links.address_of_view,
            "look": look,
            "groups": _GROUPS,
            "now": (look.commits.now if look else 0) or self.clock(),
            "version": VERSION,
            "command": (),
            "here": lambda **_: links.home,
            "look_json": "",
            "document": {},
            "fleet": _name_of_fleet(look),
        }


def read_ahead(reader: FleetReader, commits: FleetInstant) -> None:
    """Make the documents of the pages that people look at first, of some commits, and all templates once."""
    compile_templates()
    look = Look(reader=reader, commits=commits, links=Links(paths=_PATHS), parts={}, query={})
    for name in _AHEAD:
        with suppress(ReconcileError):  # the page says so, once somebody asks for it
            VIEWS[name].answer(look)


NO_COMMITS = FleetInstant(source="", rendered=None, status=None)
_TITLES = {HTTPStatus.NOT_FOUND: "There is nothing here", HTTPStatus.INTERNAL_SERVER_ERROR: "This is our fault"}
_AHEAD = ("overview", "objects", "matrix", "clusters", "namespaces", "policies", "rollouts")
"""The views of which the documents are made before somebody asks; all others are made of the same survey."""
_PATHS = {name: view.path for name, view in VIEWS.items()}
_GROUPS = {
    group: [view for view in VIEWS.values() if view.group is group and view.label]
    for group in ViewGroup
    if group is not ViewGroup.NONE
}


def _name_of_fleet(look: Look | None) -> str:
    try:
        return look.links.fleet or look.reader.name if look else ""
    except ReconcileError:
        return ""


def view_at_address(segments: tuple[str, ...]) -> tuple[PageView | None, Mapping[str, str], bool]:
    """Return the view at an address with the parts of it, and whether its document is asked for."""
    whole = segments if segments[-1:] != ("",) else segments[:-1]
    is_json = bool(segments) and segments[-1].endswith(JSON_SUFFIX)
    if is_json:
        whole = (*whole[:-1], whole[-1].removesuffix(JSON_SUFFIX))
    for view in VIEWS.values():
        parts = view.parts_of_address(whole or ("overview",))
        if parts is not None and all(parts.values()):
            return view, parts, is_json
    return None, {}, False


def segments_of_path(path: str) -> tuple[str, ...] | None:
    """Return the parts of a path, decoded; None for what is no path of ours, such as one that climbs out of a folder.

    >>> segments_of_path("/objects/a%2Fb/"), segments_of_path("/static/../x")
    (('objects', 'a/b', ''), None)
    """
    if len(path) > _MOST_PATH or not path.startswith("/"):
        return None
    try:
        parts = tuple(unquote_to_bytes(part).decode() for part in path[1:].split("/"))
    except UnicodeDecodeError:
        return None
    is_strange = len(parts) > _MOST_PARTS or any(part in {".", ".."} or "\0" in part for part in parts)
    return None if is_strange else parts


def _static_page(segments: tuple[str, ...]) -> WebPage:
    found = static_files().get(segments[0]) if len(segments) == 1 else None
    if found is None:
        return WebPage(status=HTTPStatus.NOT_FOUND, type="text/plain; charset=utf-8", content=b"not found\n")
    return WebPage(type=found.type, content=found.content, is_constant=True)


def _page_of_newest_commits(reader: FleetReader) -> WebPage:
    """Return the commits that stand now, by which a page in a browser sees that something newer stands."""
    try:
        commits = reader.commits_shown("", waits=False)
    except ReconcileError as error:
        return WebPage(
            status=HTTPStatus.UNPROCESSABLE_ENTITY, type=JSON, content=_json_bytes({"message": error.message})
        )
    value = {"source": commits.source, "rendered": commits.rendered, "status": commits.status}
    return WebPage(type=JSON, content=_json_bytes(value))


def _json_page(answer: ViewAnswer) -> WebPage:
    problem = {"apiVersion": ARGOSY_API_VERSION, "kind": "Problem"}
    if not answer.is_ready:
        value = {**problem, "message": "not computed yet"}
        return WebPage(status=HTTPStatus.ACCEPTED, type=JSON, content=_json_bytes(value), again=2)
    if not answer.document:
        value = {**problem, "message": answer.why_no_document}
        return WebPage(status=HTTPStatus.NOT_FOUND, type=JSON, content=_json_bytes(value))
    return WebPage(type=JSON, content=_json_bytes(answer.document))


def _json_bytes(value: Any) -> bytes:
    return (json_safe_for_terminal(json.dumps(value, indent=2, ensure_ascii=False)) + "\n").encode()
