"""The outcome of a pass is used as it would be read back, so that nobody has to read it."""

import io
import shutil
from pathlib import Path

import pytest

from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_previous, read_source
from reconciler.console.log import Log
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, commit_outcome, run_pass
from reconciler.repository import open_repository
from render.documents import parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, on_clusters, weighted
from .test_examples import EXAMPLES, NAMES


def committed(path: Path) -> tuple[Outcome, str]:
    """Render the source of a repository for the first time, and commit the outcome."""
    repository = open_repository(path)
    source = read_source(repository, repository.resolve("HEAD"))
    outcome = run_pass(repository, source, None, RenderInputs(), Log(stream=io.StringIO()))
    fleet = source.desired.fleet
    commit = commit_outcome(outcome, publication_of(repository, fleet), fleet.rendered_branch)
    assert commit is not None
    return outcome, commit


@pytest.mark.parametrize("name", NAMES)
def test_what_was_rendered_is_what_is_read_back(name: str, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / name, tmp_path / "fleet", ignore=shutil.ignore_patterns("rendered", "README.md"))
    Repository.create(tmp_path / "fleet").commit({})
    outcome, commit = committed(tmp_path / "fleet")
    known, read = outcome.as_previous(commit), read_previous(outcome.repository, commit)
    assert known is not None
    assert dict(known.bindings) == dict(read.bindings)
    assert (known.commit, known.source, known.version) == (read.commit, read.source, read.version)
    assert (known.tree.root, known.tree.clusters) == (read.tree.root, read.tree.clusters)
    manifests = outcome.manifests()
    contents = outcome.repository.read_blobs(manifests)
    assert {id_: parse_documents(content)[0].value for id_, content in contents.items()} == manifests


def test_an_object_whose_number_is_filled_in_is_known_with_it(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    placement = on_clusters("one", "two", replicaScheduling=weighted(one=1, two=2))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in ("one", "two")}
    web, policy = a_deployment(replicas=3), a_policy(placement=placement)
    repository.commit({**clusters, "web.yaml": web, "policy.yaml": policy})
    outcome, _ = committed(repository.path)
    manifests = outcome.manifests()
    assert sorted(each["spec"]["replicas"] for each in manifests.values()) == [1, 2]
    contents = outcome.repository.read_blobs(manifests)
    assert {id_: parse_documents(content)[0].value for id_, content in contents.items()} == manifests


def test_an_object_of_which_two_numbers_are_filled_in_is_read(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    placement = on_clusters("one", "two", replicaScheduling=weighted(one=1, two=2))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in ("one", "two")}
    pod = {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}
    spec = {"parallelism": 3, "completions": 6, "template": pod}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum", "namespace": "default"}, "spec": spec}
    policy = a_policy(placement=placement, selectors=[{"apiVersion": "batch/v1", "kind": "Job"}])
    repository.commit({**clusters, "job.yaml": job, "policy.yaml": policy})
    outcome, _ = committed(repository.path)
    assert [set(outcome.rendered.tree.clusters), outcome.manifests()] == [{"one", "two"}, {}]


def test_a_pass_that_commits_nothing_leaves_the_commit_before(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path)
    repository.commit(
        {
            "clusters/one.yaml": a_cluster("one"),
            "web.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=on_clusters("one")),
        }
    )
    outcome, commit = committed(repository.path)
    previous = read_previous(outcome.repository, commit)
    again = run_pass(outcome.repository, outcome.source, previous, RenderInputs(), Log(stream=io.StringIO()))
    assert again.as_previous(commit) is previous
