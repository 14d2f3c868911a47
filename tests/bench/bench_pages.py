"""Pages of a large fleet: seconds and bytes of each view, when it is first asked for, when it is known, and when it is
the first that is asked for after a commit.

Each view that needs no name is asked for after a commit of its own: of the source, and then of the pass over it.

Options: ``--clusters --objects --namespaces``, each a number, and ``--seen``, with which members in memory are applied
to and looked at once.
"""

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.cli import run
from reconciler.pages.views import VIEWS
from tests.build import AUTHOR, Repository, a_cluster, a_config_map, a_deployment, a_policy
from tests.memory_fleet import MemoryFleet, settle
from tests.paged import Browser, browser_of, links_of

from .bench_apply import compile_modules, cost_of
from .figures import CPU, Figure, figure

_NODE = {"cpu": "64", "memory": "256Gi", "pods": "500"}
_REGIONS = 20


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Print a line for each view, and yield the slowest and the largest."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench pages")
    for name, default in (("clusters", 1000), ("objects", 1000), ("namespaces", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seen", action="store_true")
    options = parser.parse_args(arguments)
    os.environ.update(AUTHOR)
    compile_modules()
    with tempfile.TemporaryDirectory() as folder:
        repository = _rendered_fleet(Path(folder) / "fleet", options)
        gc.collect()
        seen = ", all of them seen" if options.seen else ""
        scenario = f"pages, {options.objects} objects x {options.clusters} clusters{seen}"
        browser = browser_of(repository)
        yield from _of_views(scenario, browser)
        yield from _of_new_commits(scenario, browser, repository, options)


def _rendered_fleet(path: Path, options: argparse.Namespace) -> Repository:
    began = time.perf_counter()
    files = {f"objects/{number}.yaml": _an_object(number, options.namespaces) for number in range(options.objects)} | {
        f"policies/{number}.yaml": _policies_of(number) for number in range(options.namespaces)
    }
    clusters = {f"member{number:04}": f"region{number % _REGIONS:02}" for number in range(options.clusters)}
    placed = {
        f"clusters/{name}.yaml": a_cluster(name, region=region, syncMode="Push") for name, region in clusters.items()
    }
    if options.seen:
        fleet = MemoryFleet.create(path, dict.fromkeys(clusters, (1, _NODE)), {**files, **placed})
        fleet.now = time.time() - 600
        fleet.run()
        for member in fleet.members.values():
            settle(member)
        fleet.run(300)
        repository = fleet.repository
    else:
        repository = Repository.create(path)
        repository.commit({**files, **placed})
        assert run(["-q", "-C", str(path), "reconcile", "--bootstrap"]) == 0
    repository.commit({"objects/0.yaml": _an_object(0, options.namespaces, version="2")}, "A newer version")
    assert run(["-q", "-C", str(path), "reconcile"]) in {0, 5, 7}
    print(f"{options.objects} objects, {options.clusters} clusters: made in {time.perf_counter() - began:.1f} s")
    return repository


def _an_object(number: int, namespaces: int, version: str = "1") -> dict[str, Any]:
    """A workload divided over a region; each fifth is settings for every cluster of one; some are everywhere."""
    namespace = f"team-{number % namespaces:02}"
    if number % 5 == 0:
        made = a_config_map(f"settings-{number:04}", namespace=namespace, version=version)
    else:
        made = a_deployment(f"app-{number:04}", replicas=6, namespace=namespace, image=f"app:{version}")
    made["metadata"]["labels"] = {"reach": "everywhere" if number % 50 == 0 else "region"}
    return made


def _policies_of(number: int) -> list[dict[str, Any]]:
    kinds = (("apps/v1", "Deployment"), ("v1", "ConfigMap"))

    def selecting(reach: str) -> list[dict[str, Any]]:
        labels = {"labelSelector": {"matchLabels": {"reach": reach}}}
        return [{"apiVersion": version, "kind": kind, **labels} for version, kind in kinds]

    region = {"fieldSelector": {"matchExpressions": [_in_region(number % _REGIONS)]}}
    placement = {"clusterAffinity": region, "replicaScheduling": {"replicaSchedulingType": "Divided"}}
    namespace = f"team-{number:02}"
    return [
        a_policy("here", namespace=namespace, selectors=selecting("region"), placement=placement),
        a_policy("everywhere", namespace=namespace, selectors=selecting("everywhere"), placement={}),
    ]


def _in_region(number: int) -> dict[str, Any]:
    return {"key": "region", "operator": "In", "values": [f"region{number:02}"]}


class ViewCost(NamedTuple):
    """The cost of a view: CPU seconds when it is first asked for and when it is known, and its bytes."""

    name: str
    first: float
    known: float
    size: int


def _of_views(scenario: str, browser: Browser) -> Iterator[Figure]:
    """Ask for one page of each view several times."""
    costs = []
    for name, address in _addresses(browser):
        first, _ = _timed(browser, address)
        known, size = min(_timed(browser, address) for _ in range(3))
        costs.append(ViewCost(name, first, known, size))
        print(f"{name:12} first {first:6.2f} s  known {1000 * known:6.0f} ms  {size / 1000:6.0f} kB", flush=True)
    last, slowest, largest = (max(costs, key=lambda each, part=part: each[part]) for part in (1, 2, 3))  # type: ignore[misc]  # mypy knows no defaults of lambdas
    yield figure(scenario, "the slowest page, asked for first", last.first, CPU, remark=last.name)
    yield figure(scenario, "the slowest page that is known", 1000 * slowest.known, "CPU ms", remark=slowest.name)
    yield figure(scenario, "the largest page", largest.size / 1000, "kB", remark=largest.name)


def _of_new_commits(
    scenario: str, browser: Browser, repository: Repository, options: argparse.Namespace
) -> Iterator[Figure]:
    """Ask for one page after each of many new commits, for another view every time."""
    costs: dict[str, list[ViewCost]] = {"source": [], "rendered": []}
    command = [sys.executable, "-m", "reconciler", "-q", "-C", str(repository.path), "reconcile"]
    for number, (name, address) in enumerate(_plain_addresses(), start=1):
        newer = _an_object(number, options.namespaces, version=f"new{number}")
        repository.commit({f"objects/{number}.yaml": newer}, f"Newer version {number}")
        costs["source"].append(_cost_now(browser, name, address))
        cost_of(command, codes=(0, 5, 7))
        costs["rendered"].append(_cost_now(browser, name, address))
        source, rendered = (1000 * each[-1].first for each in costs.values())
        print(f"{name:12} new source {source:6.0f} ms  new rendered commit {rendered:6.0f} ms", flush=True)
    for what, found in costs.items():
        last, usual = max(found, key=lambda each: each.first), statistics.median(each.first for each in found)
        remark = f"{last.name}; half of {len(found)} views take up to {1000 * usual:.0f} ms"
        yield figure(scenario, f"the first page of a new {what} commit", 1000 * last.first, "CPU ms", remark=remark)


def _cost_now(browser: Browser, name: str, address: str) -> ViewCost:
    first, size = _timed(browser, address)
    return ViewCost(name, first, first, size)


def _plain_addresses() -> list[tuple[str, str]]:
    return [(name, view.path) for name, view in VIEWS.items() if "{" not in view.path]


def _addresses(browser: Browser) -> Iterable[tuple[str, str]]:
    """Yield an address of each view: those without names, and the first of the others that a page leads to."""
    plain = _plain_addresses()
    yield from plain
    links = [link for _, address in plain for link in links_of(browser.answered(address).text) if link[0] == "/"]
    for name, view in VIEWS.items():
        paths = (tuple(link.partition("?")[0].strip("/").split("/")) for link in links)
        found = next((each for each in paths if "{" in view.path and view.parts_of_address(each)), None)
        if found is not None:
            yield name, "/" + "/".join(found)


def _timed(browser: Browser, address: str) -> tuple[float, int]:
    """Return the CPU seconds and the bytes of a page, without what a command computes in a process of its own."""
    began = time.thread_time()
    shown = browser.answered(address)
    assert shown.code in {200, 422}, (address, shown.code)
    return time.thread_time() - began, len(shown.content)
