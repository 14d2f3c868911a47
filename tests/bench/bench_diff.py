"""``python -m tests.bench diff [FOLDER]``: five changes to 200 templates on 50 clusters, and saves under --watch.

With a folder, the markdown of every change is written there. Times are CPU seconds of this process, and of the clock.
"""

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reconciler.commands.diff import DiffOptions, diff_and_show
from reconciler.commands.render import RenderOptions, render_and_show
from reconciler.commands.validate import ValidateOptions, validate_and_show
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.console.printing import LogFormat
from reconciler.rendering.memory import SourceMemory
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy

REGIONS = ("eu", "us", "ap", "sa", "af")
TEAMS = 10
TEMPLATES, CLUSTERS = 200, 50


def a_member(number: int) -> dict[str, Any]:
    """A cluster with room: capacity is declared, so that dynamic weights have something to go by."""
    labels = {"env": "prod" if number % 3 else "stage"}
    capacity = {"cpu": "400", "memory": "1000Gi", "pods": "2000"}
    summary = {"resourceSummary": {"allocatable": capacity, "allocated": {"cpu": str(number)}}}
    return {**a_cluster(f"m{number:02}", region=REGIONS[number % 5], labels=labels), "status": summary}


def by_region(**weights: int) -> dict[str, Any]:
    """Static weights by region."""
    listed = [
        {
            "targetCluster": {
                "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": [name]}]}
            },
            "weight": weight,
        }
        for name, weight in weights.items()
    ]
    division = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    return {"replicaScheduling": {**division, "weightPreference": {"staticWeightList": listed}}}


def spread(clusters: int) -> dict[str, Any]:
    """Replicas by free capacity over at most so many clusters."""
    constraints = [
        {"spreadByField": "region", "minGroups": 2, "maxGroups": 4},
        {"spreadByField": "cluster", "minGroups": 2, "maxGroups": clusters},
    ]
    division = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    dynamic = {**division, "weightPreference": {"dynamicWeight": "AvailableReplicas"}}
    return {"spreadConstraints": constraints, "replicaScheduling": dynamic}


WORKLOADS = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
EVERYTHING = [*WORKLOADS, {"apiVersion": "v1", "kind": "ConfigMap"}]
PROD = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}}}


def policies(team: int, *, eu: int = 3, most: int = 12, first: int = 2) -> list[dict[str, Any]]:
    """A team's two policies: even teams divide by weight, odd ones spread over regions."""
    own = spread(most) if team % 2 else {**PROD, **by_region(eu=eu, us=2, ap=1, sa=1, af=1)}
    namespace = f"team{team}"
    return [
        a_policy("own", namespace=namespace, selectors=EVERYTHING, priority=first, placement=own),
        a_policy("stage", namespace=namespace, selectors=EVERYTHING, priority=1, placement=by_region(eu=1, us=1)),
    ]


def an_override(tag: str) -> dict[str, Any]:
    """A tag for the clusters of one region."""
    field = {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}
    image = [{"component": "Tag", "operator": "replace", "value": tag}]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "tag"},
        "spec": {
            "resourceSelectors": WORKLOADS,
            "overrideRules": [{"targetCluster": field, "overriders": {"imageOverrider": image}}],
        },
    }


def fleet() -> dict[str, Any]:
    """Two hundred templates of ten teams, fifty clusters in five regions."""
    files: dict[str, Any] = {f"clusters/m{number:02}.yaml": a_member(number) for number in range(CLUSTERS)}
    for number in range(TEMPLATES):
        namespace, name = f"team{number % TEAMS}", f"app{number:03}"
        is_workload = number // TEAMS % 2 == 0
        files[f"apps/{namespace}/{name}.yaml"] = (
            a_deployment(name, replicas=6 + number % 40, namespace=namespace)
            if is_workload
            else a_config_map(name, namespace=namespace, number=str(number))
        )
    files |= {f"policies/team{team}.yaml": policies(team) for team in range(TEAMS)}
    return {**files, "overrides.yaml": an_override("1.29")}


CHANGES: dict[str, dict[str, Any]] = {
    "weight": {"policies/team2.yaml": policies(2, eu=6)},
    "cluster": {"clusters/m50.yaml": a_member(50)},
    "spread": {"policies/team3.yaml": policies(3, most=4)},
    "image": {"overrides.yaml": an_override("1.30")},
    "priority": {"policies/team4.yaml": policies(4, first=0)},
}


def timed(what: str, work: Callable[[], object]) -> str:
    """Do something with its output caught; print and return."""
    out = io.StringIO()
    cpu, clock = time.process_time(), time.monotonic()
    with contextlib.redirect_stdout(out):
        work()
    cpu, clock = time.process_time() - cpu, time.monotonic() - clock
    last = next((line for line in out.getvalue().splitlines() if line.startswith("###")), "")
    print(f"{what:24} {cpu * 1000:6.0f} ms CPU {clock * 1000:6.0f} ms  {last}")
    return out.getvalue()


def main(arguments: list[str]) -> int:
    """Make the fleet, render it once, and time every change."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository.create(Path(folder))
        repository.commit(fleet())
        log = Log(stream=sys.stderr, level=ERRORS_ONLY, format=LogFormat.TEXT, repository=folder)
        render_and_show(log, RenderOptions(commit=True, bootstrap=True))
        for name, files in CHANGES.items():
            repository.git("checkout", "-q", "-B", name, "main")
            repository.commit(files, name)
            options = DiffOptions(base="main", head=name, output="markdown")
            markdown = timed(f"diff main {name}", lambda options=options: diff_and_show(log, options))  # type: ignore[misc]  # mypy knows no defaults of lambdas
            if arguments:
                Path(arguments[0], f"{name}.md").write_text(markdown, encoding="utf-8")
        repository.git("checkout", "-q", "main")
        _saves(repository, log)
    return 0


def _saves(repository: Repository, log: Log) -> None:
    memory = SourceMemory()
    options = RenderOptions(worktree=True, output="name")
    runs: dict[str, Callable[[], object]] = {
        "diff": lambda: diff_and_show(log, DiffOptions(), memory),
        "render": lambda: render_and_show(log, options, memory),
        "validate": lambda: validate_and_show(log, ValidateOptions(), memory),
    }
    for name, work in runs.items():
        for save in range(3):
            repository.write({"apps/team0/app000.yaml": a_deployment("app000", namespace="team0", replicas=9 + save)})
            timed(f"{name}, save {save + 1}", work)
