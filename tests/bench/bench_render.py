"""A fleet rendered into a commit, each run a fresh process: cold, again with nothing new, and after small changes.

Shapes: ``shared`` has few distinct results, ``scattered`` 10 % of distinct ones, ``distinct`` nothing else. ``beside``
has a policy for each template, in the file of that template: with ``--clusters 300``, 1,000 policies in 1,000 files,
and 302,000 files rendered.

Floors, by profiles. A pass over a changed template spends half of its time on the import of 720 modules: a third of
that is reading and unmarshalling their code, a third makes 1,400 classes (a named tuple takes 0.3 ms, a struct 0.08),
and a tenth finds the files. PyYAML and click are a tenth of it. What holds changes back is left to fleets that have
it. Two fifths of the modules are imported though such a pass calls nothing in them, a quarter of that time: they are
the types of settings and values, and the kinds of the source, which are needed once any function that names them is
defined. To leave out what can be left out beside these would save a thirtieth of the pass. The rest loads the source:
no file is read, checked, listed or compared again that is as it was, but each is a line of a listing and a value of a
cache, which are made into manifests, templates, clusters and policies; at 10,000 clusters that is the half, of which
each cluster takes 50 microseconds. To go on from those of the last pass, one process would have to live on, as
``argosy run`` does. Facts of 10,000 clusters are two fifths more: an eighth of such a pass writes those that the
rendered commit does not have yet, because it is not committed for facts alone.

A label that no policy and no override chooses clusters by concerns nothing. One by which an override goes, or an
override of everything, changes every binding, because these count the clusters of each rule: all of them are read, made
and stored again, and so are all works, twelve classes of each here, of which a label changes none but moves one
cluster. Of such a pass, works are a third (emitting 13 %, overriding 8 %, ids 5 %, pruning 2 %, sharing the targets
the rest), reading bindings 13 % (8 % parses YAML that the last pass wrote), imports 12 %, records 6 %, loading 6 %,
writing bindings and objects 7 %; no function has more than a twentieth for itself. To keep the works of each class
from pass to pass (blob, numbers, record and the verdict of its schema, by the digests of template and rules) would
save 30 % of it, and bindings as plain data 6 %: both together would not lead to what the bar asks, and all that reads
the manifest of a class would have to do without. To emit what classes share as bytes instead of text gains a hundredth.

Where everything is distinct, a million lines of target clusters are written and read, 200,000 blobs are spliced and
hashed, and the folders of each cluster are made of a million entries: a sixth of a pass, a third of that SHA-1.
``reconcile --jobs`` has several processes parse files (1 MiB and more that no cache knows) and store objects (16 MiB
and more): with two of them a first pass keeps seven tenths of its work for itself. Works are made by one process. To
hand one back as bytes takes a third of the time of making it, half where all is distinct, so that two processes would
save a quarter to a third of that stage.

A fresh clone goes by the record in the newest rendered commit (``passes/recorded_pass``) and reads few bindings. It has
no cache, so all files are parsed and checked, and all facts read: at 10,000 clusters a third of what the source takes
looks for secrets in what may be remembered. The commits of passes that reach members have no record, for they store
facts only afterwards; nor have sources that kustomize or helm build.
"""

import argparse
import cProfile
import os
import pstats
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.ledger.facts import ClusterFacts
from tests.build import Repository, a_cluster, a_deployment

from .bars import (
    CLONE,
    COLD,
    FACTS,
    FIRST_FACTS,
    HELP,
    LABEL,
    NOTHING,
    OVERRIDE,
    PEAK,
    PYTHON,
    TEMPLATE,
    UNREAD,
    render_scenario,
)
from .bench_apply import compile_modules, environment
from .figures import CPU, MEMORY, Figure, figure

REGIONS = ("eu", "us", "ap", "sa")
NAMESPACES = 20


class Run(NamedTuple):
    """The cost of one process: wall and CPU seconds with children, peak memory in MiB."""

    wall: float
    cpu: float
    peak: float


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of every change, or print a profile."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench render")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=40)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--shape", choices=["shared", "scattered", "distinct", "beside"], default="shared")
    parser.add_argument("--profile", action="store_true", help="print the profile's top ten of one cold run instead")
    options = parser.parse_args(arguments)
    compile_modules()
    with tempfile.TemporaryDirectory() as folder:
        origin = Path(folder) / "origin"
        make_fleet(origin, options)
        if options.profile:
            profiled(origin)
            return
        scenario = render_scenario(options.shape, options.clusters, options.templates)
        peak = 0.0
        for what, beside, runs in changes(origin, Path(folder), options):
            peak = max(peak, *(run.peak for run in runs))
            yield figure_of(scenario, what, runs, beside=beside)
        yield figure(scenario, PEAK, peak, MEMORY)


def changes(origin: Path, folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, str, Sequence[Run]]]:
    """Yield every change, the measure that it is told beside, and what its passes took."""
    turns = range(options.runs)
    yield COLD, HELP, [timed(copied(origin, folder / f"cold{number}")) for number in turns]
    work = copied(origin, folder / "work")
    timed(work)
    yield NOTHING, HELP, [timed(work, "reconcile") for _ in turns]
    yield TEMPLATE, COLD, [changed(work, number) for number in turns]
    yield FIRST_FACTS, COLD, [observed(work, options.clusters, 0)]
    timed(work, "reconcile")
    yield FACTS, COLD, [observed(work, options.clusters, number + 1) for number in turns]
    yield LABEL, COLD, [relabelled(work, number) for number in turns]
    yield UNREAD, COLD, [owned(work, number) for number in turns]
    yield OVERRIDE, COLD, [overridden(work, number) for number in turns]
    clones = [cloned(work, folder / f"clone{number}") for number in turns]
    yield CLONE, COLD, [changed(clone, (50 + number) % options.templates) for number, clone in enumerate(clones)]
    yield HELP, PYTHON, [measured(["-m", "reconciler", "--help"]) for _ in turns]
    yield PYTHON, "", [measured(["-c", "pass"]) for _ in turns]


def make_fleet(path: Path, options: argparse.Namespace) -> None:
    """Write and commit the source of a fleet."""
    repository = Repository.create(path)
    clusters = [
        a_cluster(f"member{number:04}", region=REGIONS[number % 4], labels={"stage": f"s{number % 3}"})
        for number in range(options.clusters)
    ]
    for cluster in clusters:
        repository.write({f"clusters/{cluster['metadata']['name']}.yaml": cluster})
    for number in range(options.templates):
        documents = [a_template(number, options)]
        documents += [a_placing_policy(number, options)] if options.shape == "beside" else []
        repository.write({f"apps/t{number:04}.yaml": documents})
    for number in range(options.policies if options.shape != "beside" else 0):
        repository.write({f"policies/p{number:02}.yaml": a_placing_policy(number, options)})
    repository.write({"policies/overrides.yaml": list(overrides(options))})
    repository.commit({}, "the fleet")


def a_template(number: int, options: argparse.Namespace) -> dict[str, Any]:
    replicas = 2000 + number if options.shape == "distinct" else 10 + number % 5
    is_beside = options.shape == "beside"
    spaces, policies = (3, options.templates) if is_beside else (NAMESPACES, options.policies)
    made = a_deployment(f"app{number:04}", replicas=replicas, namespace=f"team{number % spaces:02}")
    made["metadata"]["labels"]["policy"] = f"p{number % policies:02}"
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": f"SETTING_{index}", "value": f"value {index} of {number}"} for index in range(16)]
    container["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    return made


def a_placing_policy(number: int, options: argparse.Namespace) -> dict[str, Any]:
    """Policies in turn duplicate and divide by static weights; scattered and distinct ones all divide."""
    placement: dict[str, Any] = {"clusterAffinity": {}}
    if options.shape == "distinct" or (options.shape == "scattered" and number % 10 == 0):
        weights = [
            {"targetCluster": {"clusterNames": [f"member{index:04}"]}, "weight": 1 + (index * 7 + number) % 97}
            for index in range(options.clusters)
        ]
        placement["replicaScheduling"] = {
            "replicaSchedulingType": "Divided",
            "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": weights},
        }
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": f"p{number:02}"},
        "spec": {
            "resourceSelectors": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "labelSelector": {"matchLabels": {"policy": f"p{number:02}"}},
                }
            ],
            "placement": placement,
        },
    }


def overrides(options: argparse.Namespace) -> Sequence[dict[str, Any]]:
    """A registry per region and a label per stage: twelve classes of clusters."""
    del options
    rules = [
        {
            "targetCluster": {
                "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": [region]}]}
            },
            "overriders": {
                "imageOverrider": [{"component": "Registry", "operator": "replace", "value": f"{region}.example.com"}]
            },
        }
        for region in REGIONS
    ]
    stages = [
        {
            "targetCluster": {"labelSelector": {"matchLabels": {"stage": f"s{stage}"}}},
            "overriders": {"labelsOverrider": [{"operator": "add", "value": {"stage": f"s{stage}"}}]},
        }
        for stage in range(3)
    ]
    return [_cluster_override("registry", rules), _cluster_override("stage", stages)]


def _cluster_override(name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": name},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "overrideRules": rules,
        },
    }


def copied(origin: Path, target: Path) -> Path:
    """Return a fresh copy of the repository, without any cache."""
    shutil.copytree(origin, target)
    return target


def timed(path: Path, *arguments: str) -> Run:
    """Run one pass in a process of its own."""
    words = arguments or ("reconcile", "--bootstrap")
    return measured(["-m", "reconciler", "-C", str(path), *words])


def changed(path: Path, number: int) -> Run:
    """Change one template's image and run a pass."""
    name = f"apps/t{number:04}.yaml"
    content = (path / name).read_text().replace("nginx:1.29", f"nginx:1.29.{number}")
    Repository(path).commit({name: content}, "one template")
    return timed(path, "reconcile")


def observed(path: Path, clusters: int, number: int) -> Run:
    """Record facts of every cluster, those of the first with other capacity than before, and run a pass."""
    seen = Repository(path.parent / f"{path.name}-seen")
    if not seen.path.exists():
        Repository.create(seen.path)
    names = [f"member{index:04}" for index in range(clusters)]
    seen.commit({f"facts/{name}.yaml": facts_of(name, number if name == names[0] else 0) for name in names})
    Repository(path).git("fetch", "-q", str(seen.path), "+main:argosy/status")
    return timed(path, "reconcile")


def facts_of(name: str, number: int) -> bytes:
    """Return the facts of a cluster: a dozen groups of APIs, its health, its room."""
    kinds = [{"name": f"things{index}", "kind": f"Thing{index}"} for index in range(8)]
    apis = [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]
    apis += [{"groupVersion": f"group{index}.example.com/v1", "resources": kinds} for index in range(12)]
    room = {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": str(500 + number)}}
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"apiEnablements": apis, "conditions": conditions, "resourceSummary": room}
    return ClusterFacts(name=name, status=status).content()


def relabelled(path: Path, number: int) -> Run:
    """Move one cluster to another stage and run a pass."""
    name = "clusters/member0007.yaml"
    content = re.sub(r"stage: \"?s\d+\"?", f"stage: s{(number + 2) % 3}", (path / name).read_text())
    Repository(path).commit({name: content}, "one label")
    return timed(path, "reconcile")


def owned(path: Path, number: int) -> Run:
    """Give one cluster a label that no policy and no override chooses clusters by, and run a pass."""
    name = "clusters/member0008.yaml"
    content = re.sub(r"stage:", f'owner: "team{number}"\n    stage:', (path / name).read_text())
    content = re.sub(r'(    owner: "team\d+"\n)    owner: "team\d+"\n', r"\1", content)
    Repository(path).commit({name: content}, "another label")
    return timed(path, "reconcile")


def overridden(path: Path, number: int) -> Run:
    """Change what one override writes into every template and run a pass."""
    name = "policies/overrides.yaml"
    content = re.sub(r"eu\d*\.example\.com", f"eu{number}.example.com", (path / name).read_text())
    Repository(path).commit({name: content}, "one override")
    return timed(path, "reconcile")


def cloned(path: Path, target: Path) -> Path:
    """Return a clone that has the rendered branch and no cache."""
    subprocess.run(["git", "clone", "-q", "--mirror", str(path), str(target / ".git")], check=True)
    clone = Repository(target)
    clone.git("config", "--bool", "core.bare", "false")
    clone.git("config", "--unset", "remote.origin.url")
    clone.git("reset", "-q", "--hard", "main")
    return target


def measured(arguments: list[str]) -> Run:
    """Run python and return what it took; its output is thrown away unless it fails."""
    start = time.monotonic()
    command = [sys.executable, *arguments]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment())
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        assert process.returncode == 0, output.read().decode()[-2000:]
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def figure_of(scenario: str, what: str, runs: Sequence[Run], *, beside: str = "") -> Figure:
    """Return the median of what runs took."""
    wall, cpu = statistics.median(run.wall for run in runs), statistics.median(run.cpu for run in runs)
    remark = f"{wall:.3f} s wall, peak {max(run.peak for run in runs):.0f} MiB"
    return figure(scenario, what, cpu, CPU, beside=beside, remark=remark)


def profiled(path: Path) -> None:
    """Run one cold pass in this process and print where its time went."""
    from reconciler.cli import run

    profile = cProfile.Profile()
    profile.enable()
    run(["-q", "-C", str(path), "reconcile", "--bootstrap"])
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)
