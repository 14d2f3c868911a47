"""The inside address: metrics, whether the process lives, and whether its fleets are looked after."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from .webhooks import StartResponse

Page = tuple[HTTPStatus, str, bytes]
"""A page: its status, its type and its content."""
_TEXT = "text/plain; charset=utf-8"


def inside_pages(pages: Mapping[str, Callable[[], Page]]) -> Callable[[Mapping[str, Any], StartResponse], list[bytes]]:
    """Return the WSGI application that shows these pages, by path."""

    def application(environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        page = pages.get(str(environ.get("PATH_INFO", "")))
        if environ.get("REQUEST_METHOD") not in {"GET", "HEAD"}:
            status, kind, content = HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, b"method not allowed\n"
        elif page is None:
            status, kind, content = HTTPStatus.NOT_FOUND, _TEXT, b"not found\n"
        else:
            status, kind, content = page()
        start_response(
            f"{status.value} {status.phrase}", [("Content-Type", kind), ("Content-Length", str(len(content)))]
        )
        return [content]

    return application


def text_page(text: str, *, is_well: bool) -> Page:
    """Return a line of text; 503 where something is not well."""
    return (HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE), _TEXT, f"{text}\n".encode()


def json_page(value: Mapping[str, Any], *, is_well: bool) -> Page:
    """Return a JSON document; 503 where something is not well."""
    content = json.dumps(value, indent=1, ensure_ascii=True).encode() + b"\n"
    return (HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE), "application/json", content
