"""The page over HTTP: a WSGI application that reads, and never writes, for those whom its entry lets in."""

import gzip
import hashlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote

from msgspec import Struct

from reconciler.console.bugs import lines_naming_bug
from reconciler.console.log import Log
from reconciler.run.web.entry import EntryRefusal, EntryRules
from reconciler.run.web.webhooks import StartResponse

from .web_pages import PageRequest, WebPage, WebPages

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SECURITY_HEADERS = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)
_MOST_QUERY, _MOST_FIELDS, _WORTH_COMPRESSING = 8192, 64, 1024
_TEXT = "text/plain; charset=utf-8"


class PageApplication(Struct, frozen=True, kw_only=True):
    """The WSGI application of a site."""

    pages: WebPages
    entry: EntryRules
    log: Log

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        """Answer one request."""
        refusal = self.entry.refusal(environ)
        page = _page_of_refusal(refusal) if refusal else self._page(environ)
        headers = [*(refusal.headers if refusal else ())]
        return _send(page, environ, start_response, headers)

    def _page(self, environ: Mapping[str, Any]) -> WebPage:
        if environ.get("REQUEST_METHOD") not in {"GET", "HEAD"}:
            return WebPage(status=HTTPStatus.METHOD_NOT_ALLOWED, type=_TEXT, content=b"the page only reads\n")
        query = _fields_of_query(str(environ.get("QUERY_STRING", "")))
        if query is None:
            return self.pages.problem_page(HTTPStatus.BAD_REQUEST, "What is asked behind the address is too long.")
        try:
            return self.pages.page(PageRequest(path=self._path(environ), query=query))
        except Exception as error:  # noqa: BLE001 - the boundary of a request: the next one is answered
            for line in lines_naming_bug(error):
                self.log.error(line)  # noqa: TRY400 - our log has no traces
            return self.pages.problem_page(
                HTTPStatus.INTERNAL_SERVER_ERROR, "This is a bug in Argosy. Its log names the place."
            )

    def _path(self, environ: Mapping[str, Any]) -> str:
        """Return the path as it was sent, below the address of the site."""
        sent = str(environ.get("REQUEST_URI", "")).partition("?")[0]
        path = sent if sent.startswith("/") else quote(str(environ.get("PATH_INFO", "")).encode("latin-1"), safe="/")
        return path.removeprefix(self.pages.base) or "/"


def _fields_of_query(query: str) -> Mapping[str, str] | None:
    """Return what is asked behind an address, the last of each name; None for too much."""
    if len(query) > _MOST_QUERY:
        return None
    try:
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return None


def _page_of_refusal(refusal: EntryRefusal) -> WebPage:
    return WebPage(status=refusal.status, type=_TEXT, content=f"{refusal.message}\n".encode())


def _send(
    page: WebPage, environ: Mapping[str, Any], start_response: StartResponse, headers: list[tuple[str, str]]
) -> list[bytes]:
    tag = f'W/"{hashlib.sha256(page.content).hexdigest()[:32]}"'
    headers += [("Content-Type", page.type), ("ETag", tag), ("Vary", "Accept-Encoding"), *SECURITY_HEADERS]
    kept = "private, max-age=31536000, immutable" if page.is_constant else "private, no-cache"
    headers += [("Cache-Control", kept)]
    headers += [("Location", page.location)] if page.location else []
    headers += [("Refresh", str(page.again))] if page.again else []
    if page.status is HTTPStatus.OK and tag in str(environ.get("HTTP_IF_NONE_MATCH", "")):
        start_response("304 Not Modified", headers)
        return []
    content = page.content
    if len(content) > _WORTH_COMPRESSING and "gzip" in str(environ.get("HTTP_ACCEPT_ENCODING", "")):
        content = gzip.compress(content, 5, mtime=0)
        headers += [("Content-Encoding", "gzip")]
    start_response(f"{page.status.value} {page.status.phrase}", [*headers, ("Content-Length", str(len(content)))])
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [content]
