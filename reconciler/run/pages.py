"""The pages of the inside address for programs: metrics, life and readiness, and how each fleet is."""

import json
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from reconciler.run.web.serving import Application
from reconciler.run.web.webhooks import StartResponse
from render.model import ARGOSY_API_VERSION

from .fleet_run import FleetRun
from .fleets import FleetLocation
from .metrics import CONTENT_TYPE, RunMetrics

Page = tuple[HTTPStatus, str, bytes]
"""A page: its status, its type and its content."""
_TEXT = "text/plain; charset=utf-8"


def wsgi_application_of_pages(
    pages: Mapping[str, Callable[[], Page]], rest: Application | None = None
) -> Callable[[Mapping[str, Any], StartResponse], list[bytes]]:
    """Return the WSGI application that shows these pages, by path, and leaves every other path to the ``rest``."""

    def answer_request(environ: Mapping[str, Any], start_response: StartResponse) -> list[bytes]:
        page = pages.get(str(environ.get("PATH_INFO", "")))
        if page is None and rest is not None:
            answer: list[bytes] = rest(environ, start_response)
            return answer
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

    return answer_request


def text_page(text: str, *, is_well: bool) -> Page:
    """Return a line of text; 503 where something is not well."""
    return (HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE), _TEXT, f"{text}\n".encode()


def json_page(value: Mapping[str, Any], *, is_well: bool) -> Page:
    """Return a JSON document; 503 where something is not well."""
    content = json.dumps(value, indent=1, ensure_ascii=True).encode() + b"\n"
    return (HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE), "application/json", content


BEAT_SECONDS = 120.0
"""The loop beats every 30 seconds at the latest; without a beat for so long it hangs."""


class RunningFleets(Protocol):
    """As much of a controller as its pages show."""

    beat: float
    fleets: dict[FleetLocation, FleetRun]
    metrics: RunMetrics


def fleet_pages(running: RunningFleets) -> Mapping[str, Callable[[], Page]]:
    """Return the pages by path."""

    def health_page() -> Page:
        is_well = time.monotonic() - running.beat < BEAT_SECONDS
        return text_page("ok" if is_well else "the loop hangs", is_well=is_well)

    def readiness_page() -> Page:
        fleets = [fleet_as_plain_data(fleet) for fleet in tuple(running.fleets.values())]
        value = {"apiVersion": ARGOSY_API_VERSION, "kind": "Readiness", "fleets": fleets}
        return json_page(value, is_well=all(each["ready"] for each in fleets))

    def metrics_page() -> Page:
        return HTTPStatus.OK, CONTENT_TYPE, running.metrics.text()

    return {"/healthz": health_page, "/readyz": readiness_page, "/metrics": metrics_page}


def fleet_as_plain_data(fleet: FleetRun) -> dict[str, Any]:
    """Return how a fleet is as plain data; it is ready once a pass over it has ended, or another process leads."""
    report, state = fleet.report, fleet.state
    message = (report.message if report else "") or fleet.fault
    return {
        "name": fleet.source.name,
        "ready": report is not None or not state.is_leading,
        "leading": state.is_leading,
        "activity": str(state.activity),
        "failures": state.failures,
        "code": report.code if report else None,
        "source": report.source if report else "",
        "rendered": report.rendered if report else "",
        "message": message.partition("\n")[0],
        "unplaced": len(report.unplaced) if report else 0,
        "clusters": {name: end.state for name, end in sorted(report.clusters.items())} if report else {},
    }
