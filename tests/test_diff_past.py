"""``argosy diff A B`` uses the past of A's rendering, so that a pass in between changes nothing about the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

ON_B = {"dispatchingOnClusters": {"clusterNames": ["b"]}}


def files(image: str, **spec: Any) -> dict[str, Any]:
    """Nginx in a and b, and its policy; what a suspended cluster has depends on the past."""
    return {"nginx.yaml": a_deployment(image=image), "policy.yaml": a_policy(placement=on_clusters("a", "b"), **spec)}


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """Rendered while dispatching to b is suspended, which has an older image."""
    made = Repository.create(tmp_path / "fleet")
    made.commit({"clusters.yaml": [a_cluster("a"), a_cluster("b")], **files("nginx:1.28")})
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    made.commit(files("nginx:1.29", suspension=ON_B), "suspended")
    assert argosy(made, capsys, "reconcile").code == 0
    return made


def difference(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(argosy(repository, capsys, "diff", "-o", "json", *words).out)
    return told


def test_the_answer_is_the_same_before_and_after_passes(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    base, rendered = repository.git("rev-parse", "HEAD"), repository.git("rev-parse", "argosy/rendered")
    head = repository.commit(files("nginx:1.30"), "resumed")
    before = difference(repository, capsys, base, head)
    assert (before["previous"], before["summary"]["text"]) == (
        rendered,
        "2 clusters change, 1 object changed, 1 object no longer pending",
    )
    assert [each["fields"][0]["before"] for each in before["objects"]] == ["nginx:1.29", "nginx:1.28"]
    assert argosy(repository, capsys, "reconcile").code == 0
    assert difference(repository, capsys, base, head) == before
    repository.commit(files("nginx:1.31"), "newer")
    assert argosy(repository, capsys, "reconcile").code == 0
    assert difference(repository, capsys, base, head) == before


def test_the_past_is_that_of_the_newest_rendering_before_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commits that no pass rendered, or that render the same, have the past of the one before them."""
    rendered = repository.git("rev-parse", "argosy/rendered")
    base = repository.commit({"README.md": "nothing of the fleet"})
    head = repository.commit(files("nginx:1.30"))
    assert argosy(repository, capsys, "reconcile").code == 0
    assert difference(repository, capsys, base, head)["previous"] == rendered
    assert difference(repository, capsys)["previous"] == repository.git("rev-parse", "argosy/rendered")


def test_before_the_first_rendering_there_is_no_past(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    young = Repository.create(tmp_path / "young")
    young.commit({"clusters.yaml": [a_cluster("a"), a_cluster("b")], **files("nginx:1.28")})
    young.commit(files("nginx:1.29"))
    before = difference(young, capsys, "HEAD~1", "HEAD")
    assert before["previous"] is None
    assert argosy(young, capsys, "reconcile", "--bootstrap").code == 0
    assert difference(young, capsys, "HEAD~1", "HEAD") == before


def test_a_branch_beside_the_rendered_one_has_the_past_they_share(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    rendered = repository.git("rev-parse", "argosy/rendered")
    repository.git("checkout", "-q", "-b", "feature")
    base = repository.commit({"README.md": "a feature"})
    head = repository.commit(files("nginx:2.0", suspension=ON_B))
    repository.git("checkout", "-q", "main")
    repository.commit(files("nginx:1.30"))
    assert argosy(repository, capsys, "reconcile").code == 0
    assert difference(repository, capsys, base, head)["previous"] == rendered


def test_where_history_is_cut_off_the_newest_rendering_counts(
    repository: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    repository.commit({"README.md": "one"})
    repository.commit({"README.md": "two"})
    Repository(tmp_path).git("clone", "-q", "--depth", "1", f"file://{repository.path}", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    branch = "argosy/rendered"
    clone.git("fetch", "-q", "--depth", "1", "origin", f"+refs/heads/{branch}:refs/remotes/origin/{branch}")
    clone.write(files("nginx:1.30", suspension=ON_B))
    assert difference(clone, capsys)["previous"] == repository.git("rev-parse", branch)
