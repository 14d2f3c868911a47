"""The page asked without a browser: a client of its WSGI application, and a fleet that has something to show."""

import io
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from wsgiref.util import setup_testing_defaults

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.pages.reader import FleetReader
from reconciler.pages.serving import PageApplication
from reconciler.pages.web_pages import WebPages
from reconciler.run.web.entry import EntryRules
from reconciler.run.web.serving import Application

from .build import Repository, a_cluster, a_deployment, a_policy, on_clusters, weighted
from .memory_fleet import MemoryFleet, settle
from .waiting import eventually

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}


class Shown(NamedTuple):
    """An answer: its code, its headers in lower case, and its content."""

    code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()


class Browser:
    """Whoever asks for pages: by the names and the address it is given."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def get(self, address: str, *, method: str = "GET", source: str = "127.0.0.1", **headers: str) -> Shown:
        path, _, query = address.partition("?")
        environ: dict[str, Any] = {"HTTP_HOST": "localhost:8400"}
        setup_testing_defaults(environ)
        environ |= {"REQUEST_METHOD": method, "REQUEST_URI": address, "PATH_INFO": path, "QUERY_STRING": query}
        environ |= {"REMOTE_ADDR": source, **{f"HTTP_{name.upper()}": value for name, value in headers.items()}}
        begun: list[tuple[str, list[tuple[str, str]]]] = []
        content = self.application(environ, lambda status, given: begun.append((status, given)))
        ((status, given),) = begun
        return Shown(int(status.split()[0]), {name.lower(): value for name, value in given}, b"".join(content))

    def answered(self, address: str) -> Shown:
        """The page of an address, asked for again as long as it says that it is being computed."""
        eventually(lambda: "refresh" not in self.get(address).headers, f"{address} is computed")
        return self.get(address)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in {"href", "src", "action"} and value]


def links_of(page: str) -> list[str]:
    """The addresses that a page leads to, each once."""
    parser = _Links()
    parser.feed(page)
    return list(dict.fromkeys(parser.found))


def browser_of(*repositories: Repository, entry: EntryRules | None = None, base: str = "") -> Browser:
    """Somebody who looks at fleets on this machine, called like their folders where there are several."""
    readers = {each.path.name: FleetReader(str(each.path)) for each in repositories}
    site = WebPages(fleets=lambda: readers, base=base)
    log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
    return Browser(PageApplication(pages=site, entry=entry or EntryRules(is_local=True), log=log))


def a_shown_fleet(path: Path, began: float = 1_800_000_000.0) -> MemoryFleet:
    """A fleet of four members: something is well, something unwell, one is silent, and one left nothing to say."""
    web = a_deployment("web", replicas=9, namespace="shop")
    api = a_deployment("api", replicas=4, namespace="shop")
    batch = a_deployment("batch", replicas=3, namespace="jobs")
    everywhere = on_clusters("paris", "berlin", "oregon", replicaScheduling=weighted(paris=2, berlin=1, oregon=1))
    europe = on_clusters("paris", "berlin", replicaScheduling=weighted(paris=1, berlin=1))
    places = {"paris": "eu", "berlin": "eu", "oregon": "us", "tokyo": "ap"}
    clusters = {
        f"clusters/{name}.yaml": a_cluster(name, region=region, syncMode="Push") for name, region in places.items()
    }
    files = {
        **clusters,
        "web.yaml": web,
        "api.yaml": api,
        "batch.yaml": batch,
        "web-policy.yaml": a_policy("web", namespace="shop", selectors=_deployment("web"), placement=everywhere),
        "api-policy.yaml": a_policy("api", namespace="shop", selectors=_deployment("api"), placement=europe),
        "batch-policy.yaml": a_policy("batch", namespace="jobs", selectors=_deployment("batch"), placement=everywhere),
        "unselected.yaml": a_deployment("forgotten", namespace="shop"),
    }
    fleet = MemoryFleet.create(path, dict.fromkeys(places, (2, ROOMY)), files)
    fleet.now = began
    fleet.run()
    for member in fleet.members.values():
        settle(member)
    fleet.run(60)
    break_web(fleet.members["berlin"], "no minimum")
    fleet.down.add("oregon")
    fleet.run(600)
    fleet.run(600)
    web["spec"]["replicas"] = 12
    fleet.repository.commit({"web.yaml": web}, "Scale web for the sale")
    fleet.run(60)
    return fleet


def _deployment(name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]


def break_web(member: Any, message: str) -> None:
    """Let the Deployment of a member be unwell, for a reason in its controller's words."""
    live = member.objects["deployments.apps", "shop", "web"]
    live.setdefault("status", {}).update({"readyReplicas": 0, "availableReplicas": 0, "unavailableReplicas": 2})
    failing = {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": message}
    live["status"]["conditions"] = [failing]
