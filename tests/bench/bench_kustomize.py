"""``python -m tests.bench kustomize``: many overlays of one base, against ``kubectl kustomize`` of each of them.

Overlays that only set a namespace are built here, and others by the tool. Each kind is timed as a whole process:
``argosy validate``, which loads and checks everything, with no cache, with nothing changed, and after a change of one
overlay and of the base. Times are CPU seconds of all processes; kubectl builds every overlay in one of its own.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from render.documents import emit
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from tests.kubectl import kubectl_path

OVERLAYS, RESOURCES = 200, 50
KINDS = {"a namespace alone": "", "a namespace and labels": "labels: [{pairs: {team: a}}]\n"}


def main(arguments: Sequence[str]) -> int:
    """Measure both kinds of overlays, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench kustomize")
    parser.add_argument("--overlays", type=int, default=OVERLAYS)
    parser.add_argument("--resources", type=int, default=RESOURCES)
    asked = parser.parse_args(arguments)
    for title, extra in KINDS.items():
        with TemporaryDirectory() as folder:
            measure(title, extra, Path(folder), asked)
    return 0


def measure(title: str, extra: str, folder: Path, asked: argparse.Namespace) -> None:
    """Measure overlays with further lines in their kustomizations."""
    repository = Repository.create(folder / "fleet")
    repository.commit(fleet(extra, asked.overlays, asked.resources))
    print(f"{asked.overlays} overlays x {asked.resources} resources, {title}")
    every = seconds(lambda: by_kubectl(repository.path, asked.overlays))
    show("kubectl kustomize of all", every, every)
    validate = [sys.executable, "-m", "reconciler", "-C", str(repository.path), "validate"]

    def pass_() -> None:
        done = subprocess.run(validate, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr

    show("argosy, no cache", seconds(pass_), every)
    show("argosy, nothing changed", seconds(pass_), every)
    repository.commit({"overlays/o001/kustomization.yaml": overlay("other", extra)})
    show("argosy, one overlay changed", seconds(pass_), every)
    repository.commit({"base/r000.yaml": emit(a_deployment("r000", image="nginx:9"))})
    show("argosy, the base changed", seconds(pass_), every)


ENVIRONMENT = {**os.environ, "PATH": f"{kubectl_path().parent}:{os.environ['PATH']}"}


def fleet(extra: str, overlays: int, resources: int) -> dict[str, object]:
    """Return a base of Deployments and ConfigMaps, overlays of it, and a policy for all."""
    names = [f"r{number:03}" for number in range(resources)]
    base = {
        f"base/{name}.yaml": emit(_without_namespace(a_deployment(name) if number % 2 else a_config_map(name, a="b")))
        for number, name in enumerate(names)
    }
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    return {
        **base,
        "base/kustomization.yaml": f"resources: [{', '.join(f'{name}.yaml' for name in names)}]\n".encode(),
        **{f"overlays/o{number:03}/kustomization.yaml": overlay(f"n{number}", extra) for number in range(overlays)},
        "policies/all.yaml": emit(a_policy("all", selectors=selectors, placement=on_clusters("one"))),
        "clusters/one.yaml": emit(a_cluster("one")),
    }


def _without_namespace(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
    return {**manifest, "metadata": metadata}


def overlay(namespace: str, extra: str) -> bytes:
    """Return the kustomization of one overlay."""
    return f"namespace: {namespace}\nresources: [../../base]\n{extra}".encode()


def by_kubectl(folder: Path, overlays: int) -> None:
    """Build every overlay by a process of its own."""

    def build(number: int) -> None:
        command = [str(kubectl_path()), "kustomize", str(folder / f"overlays/o{number:03}")]
        subprocess.run(command, capture_output=True, check=True, timeout=60)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as workers:
        list(workers.map(build, range(overlays)))


def seconds(work: Callable[[], None]) -> float:
    """Return the CPU time of the processes that a call waits for."""
    before = os.times()
    work()
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def show(what: str, took: float, every: float) -> None:
    """Print one line of the table."""
    print(f"  {what:32} {took:8.2f} s CPU   {every / took:6.1f}x", flush=True)
