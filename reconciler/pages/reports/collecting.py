"""The pages of a report, collected: from the first one along links, as many as there is room for."""

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from html import escape, unescape
from http import HTTPStatus
from itertools import count
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.pages.reader import FleetReader
from reconciler.pages.views import VIEWS
from reconciler.pages.web_pages import PageRequest, WebPage, WebPages
from render.errors import ConfigError
from render.expressions import lazy_expression
from render.timing import parse_instant
from render.words import counted_noun

from .page_keys import PageKey, first_page_keys, page_key_of_address
from .page_links import is_document_address

LINK = lazy_expression(r'(<a\b[^<>]*?)\shref="([^"]*)"')
"""A link of a page: our templates escape the quotes and brackets of everything else."""
_FORM = lazy_expression(r'<form\b(?![^>]*(?:method="dialog"|class="find")).*?</form>', re.DOTALL)
_NEWEST = lazy_expression(r'\sdata-newest="[^"]*"')
_PATIENCE, _PAUSE = 300.0, 0.2


class CollectedPage(Struct, frozen=True, kw_only=True):
    """A page as a server shows it, and the document behind it (b"": there is none)."""

    html: str
    document: bytes = b""


class CollectedPages(Struct, frozen=True, kw_only=True):
    """The pages of a report, in the order in which they count, and how many are left out, by view.

    ``instants`` are those that the fleets are shown at, by the names of the fleets. ``failed`` counts the pages that
    could not be made. ``unrendered`` are fleets that have no page, for nothing is rendered of them. ``full`` is the
    room in bytes, where that is why pages are left out.
    """

    pages: Mapping[PageKey, CollectedPage]
    instants: Mapping[str, str]
    left_out: Mapping[str, int]
    failed: int = 0
    unrendered: tuple[str, ...] = ()
    full: int = 0

    @property
    def first(self) -> PageKey:
        """The page that a reader comes to first."""
        return next(iter(self.pages))

    def key_of_address(self, address: str) -> PageKey | None:
        """Return the page of the report that an address of a server leads to; None where it has no such page."""
        key = page_key_of_address(address, self.instants)
        key = self.first if key is None and urlsplit(address).path == "/" else key
        return key if key in self.pages else None

    def sentences(self) -> list[str]:
        """Return how much there is as of when, and how much is not, by number."""
        instants = ", ".join(f"{name}: {at[:20]}" if name else at[:20] for name, at in sorted(self.instants.items()))
        lines = [f"a report of {counted_noun(len(self.pages), 'page')}, as of {instants}"]
        if self.left_out:
            counts = ", ".join(
                f"{number} of {name.replace('_', ' ')}" for name, number in sorted(self.left_out.items())
            )
            room = f" ({self.full / 1e6:.1f} MB)" if self.full else ""
            more = "" if self.full else "; --max-pages takes more"
            lines.append(f"left out for want of room{room}: {counts}, and what only these lead to{more}")
        if self.failed:
            lines.append(f"{counted_noun(self.failed, 'page')} could not be made")
        lines += [f"nothing is rendered yet of {name}, which is left out" for name in self.unrendered]
        return lines


class ReportBounds(Struct, frozen=True, kw_only=True):
    """The room of a report: so many pages, and so many bytes of HTML and documents."""

    pages: int
    bytes: int = 64 << 20


def collected_pages(
    readers: Mapping[str, FleetReader], at: str, bounds: ReportBounds, log: Log, *, has_documents: bool = True
) -> CollectedPages:
    """Collect the pages of fleets at an instant ("": the newest rendered commits) along links, the nearest first."""
    found = {name: _fixed_instant(reader, at) for name, reader in readers.items()}
    instants = {name: instant for name, instant in found.items() if instant}
    if not instants:
        name = next(iter(readers.values())).name
        raise ConfigError(f"nothing is rendered yet of {name}", hint="argosy reconcile --bootstrap")
    collector = _Collector(readers, instants)
    with log.timed("collect pages"), log.counted("collect pages", bounds.pages) as count_one:
        while collector.has_more and len(collector.pages) < bounds.pages and collector.size < bounds.bytes:
            count_one(collector.collect_next(has_document=has_documents))
    if not collector.pages:
        raise ConfigError("no page can be made of this fleet", hint="argosy status says why")
    full = bounds.bytes if collector.size >= bounds.bytes else 0
    return collector.collected(tuple(sorted(found.keys() - instants.keys())), full)


def keys_of_links(html: str, instants: Mapping[str, str]) -> Iterator[PageKey]:
    """Yield the pages of a report that a page of a server leads to."""
    for found in LINK.finditer(html):
        key = page_key_of_address(unescape(found[2]), instants)
        if key is not None:
            yield key


def _fixed_instant(reader: FleetReader, at: str) -> str:
    """Return an instant that stays what it is: a commit, or the time that was given; "" where nothing is rendered."""
    commits = reader.commits_shown(at)
    if commits.preview:
        return commits.source
    if commits.rendered is None:
        return ""
    return at if parse_instant(at) else commits.rendered


class _Collector:
    """The pages so far, and those that they lead to."""

    def __init__(self, readers: Mapping[str, FleetReader], instants: Mapping[str, str]) -> None:
        self.pages: dict[PageKey, CollectedPage] = {}
        self.size = 0
        self._instants = instants
        self._pages_of_server = WebPages(fleets=lambda: readers, are_fixed=True)
        self._failed = 0
        self._order = count()
        self._queue: list[tuple[int, int, PageKey]] = []
        self._known: set[PageKey] = set()
        for key in first_page_keys(instants):
            self._await(key, rank=-1)

    @property
    def has_more(self) -> bool:
        """Say whether there is a page that is not collected yet."""
        return bool(self._queue)

    def collect_next(self, *, has_document: bool) -> str:
        """Collect the page that counts most of those that are known, and return its address."""
        key = heappop(self._queue)[2]
        address = key.address(self._instants.get(key.fleet, ""))
        page = self._answered(address)
        if page.status is not HTTPStatus.OK:
            self._failed += 1
            return address
        html = _FORM.sub("", _NEWEST.sub("", page.content.decode()))
        document = self._document(html) if has_document else b""
        self.pages[key] = CollectedPage(html=html, document=document)
        self.size += len(html) + len(document)
        for each in keys_of_links(html, self._instants):
            self._await(each, rank=each.rank)
        return address

    def collected(self, unrendered: tuple[str, ...], full: int) -> CollectedPages:
        """Return what is collected, and how much is left out."""
        left_out = Counter(VIEWS[key.view].name for _, _, key in self._queue)
        made = CollectedPages(
            pages=self.pages,
            instants=self._instants,
            left_out=left_out,
            failed=self._failed,
            unrendered=unrendered,
            full=full,
        )
        words = "".join(f"<p>{escape(line)}</p>\n" for line in made.sentences())
        first = self.pages[made.first]
        noted = replace(
            first, html=first.html.replace("</main>", f'<footer class="same">\n{words}</footer>\n</main>', 1)
        )
        return replace(made, pages={**self.pages, made.first: noted})

    def _await(self, key: PageKey, *, rank: int) -> None:
        if key not in self._known:
            self._known.add(key)
            heappush(self._queue, (rank, next(self._order), key))

    def _document(self, html: str) -> bytes:
        """Return the document that a page names as its own; nothing where it names none, or that cannot be had."""
        found = next((each[2] for each in LINK.finditer(html) if is_document_address(unescape(each[2]))), "")
        page = self._answered(unescape(found)) if found else WebPage(status=HTTPStatus.NOT_FOUND)
        return page.content if page.status is HTTPStatus.OK else b""

    def _answered(self, address: str) -> WebPage:
        """Return the answer at an address, once it is computed."""
        parts = urlsplit(address)
        request = PageRequest(path=parts.path, query=dict(parse_qsl(parts.query)))
        end = time.monotonic() + _PATIENCE
        page = self._pages_of_server.page(request)
        while page.again and time.monotonic() < end:
            time.sleep(_PAUSE)
            page = self._pages_of_server.page(request)
        return replace(page, status=HTTPStatus.GATEWAY_TIMEOUT) if page.again else page
