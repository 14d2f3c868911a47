"""The output of ``argosy status``: for fleets only rendered, disconnected clusters, and again while it watches."""

import io
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.fleet_context import context_and_source_of_commit
from reconciler.commands.status import StatusOptions, show_status
from reconciler.console.log import Log
from reconciler.repository import open_repository
from reconciler.status.branches import Pacing

from .build import Ended, Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters, weighted
from .memory_fleet import MemoryFleet, settle
from .prepared import prepared
from .waiting import SECONDS, eventually

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
EVERYWHERE = ("ap", "eu", "us")
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def a_shop() -> dict[str, Any]:
    """A workload with what it requires, and settings that an override cannot build in one cluster."""
    web = a_deployment("web", replicas=6, namespace="shop")
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "c", "configMap": {"name": "config"}}]
    equally = weighted(ap=1, eu=1, us=1)
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]
    placement = on_clusters(*EVERYWHERE, replicaScheduling=equally)
    overriders = {"plaintext": [{"path": "/data/no/way", "operator": "replace", "value": "1"}]}
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "bad", "namespace": "shop"},
        "spec": {
            "resourceSelectors": [{**CONFIG_MAP, "name": "settings"}],
            "overrideRules": [{"targetCluster": {"clusterNames": ["eu"]}, "overriders": overriders}],
        },
    }
    settings = [{**CONFIG_MAP, "name": "settings"}]
    return {
        "web.yaml": web,
        "config.yaml": a_config_map("config", namespace="shop", a="1"),
        "settings.yaml": a_config_map("settings", namespace="shop", a="1"),
        "web-policy.yaml": a_policy(
            "web", namespace="shop", selectors=selectors, placement=placement, propagateDeps=True
        ),
        "policy.yaml": a_policy("rest", namespace="shop", selectors=settings, placement=on_clusters(*EVERYWHERE)),
        "override.yaml": override,
    }


@pytest.fixture
def rendered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet that is only rendered."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**{f"clusters/{name}.yaml": a_cluster(name) for name in EVERYWHERE}, **a_shop()})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 1
    return repository


def plain(repository: Repository, text: str) -> str:
    """A text with commits named by what they are."""
    for name, revision in (("RENDERED", "argosy/rendered"), ("HEAD", "HEAD"), ("BEFORE", "HEAD~1")):
        known = repository.git("rev-parse", "-q", "--verify", revision, check=False)
        text = text.replace(known, name).replace(known[:12], name) if known else text
    return text


FAILURE = "eu: OverridePolicy shop/bad: spec.overrideRules[0].overriders.plaintext[0]: 'no' does not exist in /data"


def test_a_rendered_fleet_is_told_by_what_could_not_be_built(
    rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(rendered, capsys, "status", "-o", "wide")
    assert (ended.code, plain(rendered, ended.out)) == (
        1,
        (
            "argosy/rendered RENDERED holds source HEAD\n\n"
            "CLUSTER   OBJECTS   REPLICAS   NOTE\n"
            "ap        4         2\n"
            "eu        3         2          1 not built: OverrideFailed\n"
            "us        4         2\n\n"
            "bindings: 1 Attached, 1 OverrideFailed, 1 Success\n\n"
            "BINDING                    REASON           MESSAGE\n"
            "ConfigMap shop/config      Attached         ap eu us (required by shop/web-deployment)\n"
            f"ConfigMap shop/settings    OverrideFailed   {FAILURE}\n"
            "Deployment.apps shop/web   Success          ap:2 eu:2 us:2\n"
        ),
    )
    page = rendered.show("README.md", "argosy/rendered").splitlines()
    assert page[-5:] == [
        "| bindings | |",
        "|---|---:|",
        "| Attached | 1 |",
        "| OverrideFailed | 1 |",
        "| Success | 1 |",
    ]


def test_the_taints_of_members_are_told(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["cordon", "ap"], ["taint", "ap", "gpu=a100:NoSchedule"], ["drain", "us"]):
        assert argosy(rendered, capsys, "cluster", *words, "--commit").code == 0
    lines = argosy(rendered, capsys, "status").out.splitlines()
    assert lines[2:6] == [
        "CLUSTER   OBJECTS   REPLICAS   NOTE",
        "ap        4         2          cordoned, taint gpu=a100:NoSchedule",
        "eu        3         2          1 not built: OverrideFailed",
        "us        4         2          drained",
    ]
    clusters = json.loads(argosy(rendered, capsys, "status", "-o", "json").out)["clusters"]
    assert {name: cluster.get("taints") for name, cluster in clusters.items()} == {
        "ap": ["cluster.karmada.io/unschedulable:NoSchedule", "gpu=a100:NoSchedule"],
        "eu": None,
        "us": ["argosy.dev/drain:NoExecute", "argosy.dev/drain:NoSchedule"],
    }


VIEWS = {
    "cluster/eu": (
        1,
        (
            "cluster eu\n"
            "folder: argosy/rendered:clusters/eu at RENDERED, source HEAD\n"
            "objects: 3\n"
            "no pass has recorded what is in it: whoever applies the folder knows\n\n"
            "OBJECT                     REPLICAS   STATE\n"
            "ConfigMap shop/config\n"
            "ConfigMap shop/settings               OverrideFailed\n"
            "Deployment.apps shop/web   2\n"
        ),
    ),
    "cluster/us": (
        0,
        (
            "cluster us\n"
            "folder: argosy/rendered:clusters/us at RENDERED, source HEAD\n"
            "objects: 4\n"
            "no pass has recorded what is in it: whoever applies the folder knows\n\n"
            "OBJECT                     REPLICAS   STATE\n"
            "ConfigMap shop/config\n"
            "ConfigMap shop/settings\n"
            "Deployment.apps shop/web   2\n"
        ),
    ),
    "deploy/web": (
        0,
        (
            "Deployment.apps shop/web\n"
            "policy: PropagationPolicy shop/web\n\n"
            "CLUSTER   REPLICAS   STATE\n"
            "ap        2\n"
            "eu        2\n"
            "us        2\n"
        ),
    ),
    "cm/config": (
        0,
        (
            "ConfigMap shop/config\n"
            "policy: none\n"
            "required by: shop/web-deployment\n\n"
            "CLUSTER   REPLICAS   STATE\n"
            "ap\n"
            "eu\n"
            "us\n"
        ),
    ),
    "cm/settings": (
        1,
        (
            "ConfigMap shop/settings\n"
            "policy: PropagationPolicy shop/rest\n"
            f"OverrideFailed: {FAILURE}\n\n"
            "CLUSTER   REPLICAS   STATE\n"
            "ap\n"
            "eu                   OverrideFailed\n"
            "us\n"
        ),
    ),
}


@pytest.mark.parametrize("subject", VIEWS)
def test_a_rendered_fleet_answers_for_a_cluster_and_an_object(
    subject: str, rendered: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(rendered, capsys, "status", subject)
    assert (ended.code, plain(rendered, ended.out), ended.err) == (*VIEWS[subject], "")


def test_what_follows_a_workload_has_no_replicas(rendered: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(rendered, capsys, "render").out.splitlines()[1:] == [
        "shop        ConfigMap/config      ap eu us         required by web-deployment",
        "shop        ConfigMap/settings    ap eu us         PropagationPolicy shop/rest (OverrideFailed)",
        "shop        Deployment.apps/web   ap:2 eu:2 us:2   PropagationPolicy shop/web",
    ]


@pytest.fixture
def clone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A clone whose source is pushed and rendered."""
    hub = Repository.create(tmp_path / "hub.git", bare=True)
    repository = Repository.create(tmp_path / "fleet")
    repository.git("remote", "add", "origin", str(hub.path))
    policy = a_policy(placement=on_clusters("eu"))
    repository.commit({"clusters/eu.yaml": a_cluster("eu"), "nginx.yaml": a_deployment(), "policy.yaml": policy})
    repository.git("push", "-q", "-u", "origin", "main")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def first_line(repository: Repository, ended: Ended) -> str:
    tip = repository.git("rev-parse", "origin/argosy/rendered")
    return plain(repository, ended.out.splitlines()[0].replace(tip[:12], "RENDERED"))


def test_a_commit_nobody_sees_is_not_one_that_nobody_rendered(
    clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """``argosy reconcile`` takes the source from the remote, so that it cannot help here."""
    clone.commit({"nginx.yaml": a_deployment(replicas=3)})
    said = "argosy/rendered RENDERED holds source BEFORE; HEAD HEAD is not pushed, so no pass sees it: git push"
    assert first_line(clone, argosy(clone, capsys, "status")) == said
    ended = argosy(clone, capsys, "wait", "--timeout", "1s")
    assert (ended.code, plain(clone, ended.err)) == (
        1,
        (
            "warning: after 1 s the fleet is not applied\n"
            "warning: source HEAD is not pushed, so no pass sees it\n  hint: git push\n"
        ),
    )
    clone.git("push", "-q")
    said = "argosy/rendered RENDERED holds source BEFORE, but the newest source is HEAD: run argosy reconcile"
    assert first_line(clone, argosy(clone, capsys, "status")) == said
    assert argosy(clone, capsys, "reconcile").code == 0
    assert first_line(clone, argosy(clone, capsys, "status")) == "argosy/rendered RENDERED holds source HEAD"


def test_a_source_that_changes_no_outcome_needs_no_pass(clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    clone.commit({"NOTES.md": "nothing of the fleet"})
    clone.git("push", "-q")
    said = "argosy/rendered RENDERED holds source BEFORE; the newest, HEAD, asks for the same"
    assert first_line(clone, argosy(clone, capsys, "status")) == said


def test_a_clone_that_is_behind_says_so(clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    newest = clone.commit({"nginx.yaml": a_deployment(replicas=3)})
    clone.git("push", "-q")
    assert argosy(clone, capsys, "reconcile").code == 0
    clone.git("reset", "-q", "--hard", "HEAD~1")
    ended = argosy(clone, capsys, "status")
    said = f"argosy/rendered RENDERED holds source {newest[:12]}; HEAD HEAD is older: git pull"
    assert first_line(clone, ended) == said
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    ended = argosy(clone, capsys, "status")
    said = f"argosy/rendered RENDERED holds source {newest[:12]}, which is newer than what is here: git pull"
    assert first_line(clone, ended) == said


def test_a_rendered_source_that_is_not_here_may_be_older(clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    before = clone.git("rev-parse", "HEAD")
    clone.commit({"nginx.yaml": a_deployment(replicas=3)})
    clone.git("push", "-q")
    hub, shallow = clone.path.parent / "hub.git", Repository(clone.path.parent / "shallow")
    clone.git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{hub}", str(shallow.path))
    said = f"argosy/rendered RENDERED holds source {before[:12]}, which is not in this clone: git fetch --unshallow"
    assert first_line(shallow, argosy(shallow, capsys, "status")) == said
    assert json.loads(argosy(shallow, capsys, "status", "-o", "json").out)["current"] is False


def test_a_clone_without_the_rendered_source_fetches_it(clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A colleague pushed and ran a pass: what was rendered is compared, and not called damage."""
    other = Repository(clone.path.parent / "other")
    clone.git("clone", "-q", str(clone.path.parent / "hub.git"), str(other.path))
    newest = clone.commit({"nginx.yaml": a_deployment(replicas=3)})
    clone.git("push", "-q")
    assert argosy(clone, capsys, "reconcile").code == 0
    _, source, rendered = context_and_source_of_commit(open_repository(other.path), "")
    assert [each.manifest["spec"]["replicas"] for each in source.templates] == [3]
    assert (rendered, newest) == (
        clone.git("rev-parse", "origin/argosy/rendered"),
        other.git("rev-parse", "origin/main"),
    )


def test_a_branch_that_was_never_fetched_is_named_with_a_command_that_helps(
    clone: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow = Repository.create(clone.path.parent / "narrow")
    narrow.git("remote", "add", "-t", "main", "origin", str(clone.path.parent / "hub.git"))
    narrow.git("pull", "-q", "origin", "main")
    ended = argosy(narrow, capsys, "status")
    assert (ended.code, ended.err) == (
        4,
        (
            "argosy: branch 'argosy/rendered' of 'origin' was never fetched here, so the fleet's past is not known\n"
            "  hint: git fetch origin '+refs/heads/argosy/rendered:refs/remotes/origin/argosy/rendered',"
            " or run argosy reconcile --bootstrap if the branch does not exist yet\n"
        ),
    )


def test_nobody_looks_at_a_disconnected_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    placement = on_clusters("eu", "us", replicaScheduling=weighted(eu=1, us=1))
    files = {"nginx.yaml": a_deployment(replicas=4), "policy.yaml": a_policy(placement=placement)}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    fleet.run()
    fleet.down = {"us"}
    fleet.run(60)
    fleet.run(60)
    assert argosy(fleet.repository, capsys, "status").code == 1
    fleet.repository.commit({"clusters/us.yaml": None})
    before = dict(fleet.members["us"].objects)
    fleet.run(60)
    settle(fleet.members["eu"])
    fleet.run(60)
    assert fleet.members["us"].objects == before
    held = fleet.recorded("inventory/us.yaml")["converged"][:12]
    ended = fleet.status(capsys, output="wide", later=60)
    commit = fleet.repository.git("rev-parse", "argosy/rendered")[:12]
    assert (ended.code, plain(fleet.repository, ended.out).splitlines()[1:]) == (
        0,
        [
            "recorded 2027-01-15T08:04:00Z, 1m ago",
            "",
            (
                "CLUSTER   READY   VERSION   OBJECTS   UNHEALTHY   REPLICAS   LIVE   CONVERGED      SINCE"
                "                  AGE   NOTE"
            ),
            "eu        True    v0.0.0    1         0           4          4      RENDERED   2027-01-15T08:00:00Z   5m",
            f"us                          1{' ' * 39}{held}{' ' * 32}disconnected: left as it was",
            "",
            "bindings: 1 Success",
            "",
            "BINDING                         REASON    MESSAGE",
            "Deployment.apps default/nginx   Success   eu:4",
        ],
    )
    assert commit != held
    lines = fleet.repository.show("README.md", "argosy/status").splitlines()
    assert lines[-1].startswith("| [us](clusters/us.yaml) |  |  | ")
    assert lines[-1].endswith(" |  |  |  | disconnected: left as it was |")
    binding = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml")
    assert {each["type"]: each["status"] for each in binding["status"]["conditions"]} == {
        "Scheduled": "True",
        "FullyApplied": "True",
    }
    ended = argosy(fleet.repository, capsys, "status", "cluster/us")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "disconnected: left as it was")


def test_an_object_that_stays_in_a_disconnected_cluster_is_judged_by_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A released binding keeps its targets, whatever becomes of them."""
    files = {"nginx.yaml": a_deployment(replicas=2), "policy.yaml": a_policy(placement=on_clusters("eu", "us"))}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    fleet.run()
    fleet.repository.commit({"policy.yaml": None})
    fleet.run(60)
    fleet.repository.commit({"clusters/us.yaml": None})
    settle(fleet.members["eu"])
    fleet.run(60)
    binding = fleet.recorded("bindings/default/Deployment.apps/nginx.yaml")["status"]
    assert [each["status"] for each in binding["conditions"] if each["type"] == "FullyApplied"] == ["True"]
    assert [each["clusterName"] for each in binding["aggregatedStatus"]] == ["eu"]
    ended = argosy(fleet.repository, capsys, "status", "deploy/nginx")
    assert (ended.code, ended.out.splitlines()[4:]) == (
        0,
        [
            "FullyApplied: True FullyAppliedSuccess, since 2027-01-15T08:00:00Z",
            "disconnected, left as it was in: us",
            "",
            "CLUSTER   REPLICAS   LIVE   READY   APPLIED   HEALTH    REASON   SINCE",
            "eu        2          2      2/2     True      Healthy            2027-01-15T08:02:00Z",
        ],
    )


class Moves:
    """A pause in which somebody else gets on with it; in the end the one who watches has seen enough."""

    def __init__(self, *moves: Any) -> None:
        self.left = list(moves)
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        if not self.left:
            raise KeyboardInterrupt
        self.left.pop(0)()


def test_watching_shows_what_is_new_and_nothing_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"nginx.yaml": a_deployment(replicas=4), "policy.yaml": a_policy(placement=on_clusters("eu"))}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"eu": (1, ROOMY)}, files)
    fleet.run()

    def settled() -> None:
        settle(fleet.members["eu"])
        fleet.run(60)

    log, moves = Log(stream=io.StringIO(), repository=str(fleet.repository.path)), Moves(lambda: None, settled)
    with pytest.raises(KeyboardInterrupt):
        show_status(log, StatusOptions(subject="deploy/nginx", watch=True), Pacing(pause=moves))
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if re.match(r"eu\s", line)]
    assert rows == [
        "eu        4          4              True      Unhealthy   ReplicasMissing   2027-01-15T08:00:00Z",
        "eu        4          4      4/4     True      Healthy            2027-01-15T08:01:00Z",
    ]
    assert (moves.seconds, "\x1b" in out) == ([5.0] * 3, False)


def test_watching_outlives_a_remote_that_is_away(clone: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    hub, away = clone.path.parent / "hub.git", clone.path.parent / "away.git"
    moves = Moves(lambda: hub.rename(away), lambda: None, lambda: away.rename(hub))
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        show_status(Log(stream=stream, repository=str(clone.path)), StatusOptions(watch=True), Pacing(pause=moves))
    assert capsys.readouterr().out.count("CLUSTER") == 1
    assert [line.partition(":")[0] for line in stream.getvalue().splitlines() if line.startswith("warning")] == [
        "warning"
    ]


def test_in_a_file_watching_is_plain_and_ends_cleanly(clone: Repository, tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with (
        out.open("w") as stdout,
        err.open("w") as stderr,
        prepared().running(["status", "--watch"], folder=clone.path, stdout=stdout, stderr=stderr) as watcher,
    ):
        eventually(lambda: len(out.read_text().splitlines()) >= 6, "the first table")
        watcher.send_signal(signal.SIGINT)
        code = watcher.wait(SECONDS)
    tip = clone.git("rev-parse", "origin/argosy/rendered")[:12]
    assert plain(clone, out.read_text().replace(tip, "RENDERED")) == (
        "argosy/rendered RENDERED holds source HEAD\n\n"
        "CLUSTER   OBJECTS   REPLICAS   NOTE\n"
        "eu        1         2\n\n"
        "bindings: 1 Success\n"
    )
    assert (code, err.read_text()) == (130, "\nargosy: interrupted\n")
