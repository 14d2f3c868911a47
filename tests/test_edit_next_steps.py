"""Whatever edits the source names the commands that show the edit, commit it, push it and have it delivered."""

from pathlib import Path

import pytest

from reconciler.commands.cluster import command
from reconciler.edit.labels import taint_as_plain_data
from render.cluster import CORDON

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .test_cluster_drain import DIVIDED, run_steps

FORMS = {
    "join": ("lyon", "--region", "eu"),
    "label": ("paris", "tier=1"),
    "taint": ("paris", "upgrade=now:NoSchedule"),
    "cordon": ("oregon",),
    "uncordon": ("paris",),
    "set": ("paris", "--region", "eu"),
    "drain": ("oregon",),
    "rename": ("paris", "lyon"),
    "unjoin": ("paris", "--disconnect"),
}
WITHOUT_EDIT = {
    "agent": "It prints manifests.",
    "release": "It ends a hold on the status branch, and names what to run next.",
    "forget": "It is for clusters that left, whose tests have its steps.",
    "rejoin": "It records a UID, and names what to run next.",
}
SHOWN = {"drain", "rename", "uncordon", "unjoin"}
"""The commands that show the outcome themselves, so that none of their steps does."""


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    """A fleet with a remote, of which everything is pushed and a pass rendered it."""
    made = Repository.create(tmp_path / "fleet")
    members = {f"clusters/{name}.yaml": a_cluster(name) for name in ("oregon", "rome")}
    cordoned = a_cluster("paris", taints=[taint_as_plain_data(CORDON)])
    policy = a_policy(placement=on_clusters("oregon", "paris", "rome", replicaScheduling=DIVIDED))
    web = {"policy.yaml": policy, "web.yaml": a_deployment("nginx", replicas=6)}
    made.commit({**members, "clusters/paris.yaml": cordoned, **web})
    remote = Repository.create(tmp_path / "remote.git", bare=True)
    made.git("remote", "add", "origin", str(remote.path))
    made.git("push", "-q", "--set-upstream", "origin", "main")
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def test_every_command_about_members_has_steps_or_a_reason_for_none() -> None:
    assert sorted({*FORMS, *WITHOUT_EDIT}) == sorted(command.commands)


@pytest.mark.parametrize("verb", FORMS)
def test_the_steps_after_an_edit_deliver_it(verb: str, fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(fleet, capsys, "cluster", verb, *FORMS[verb])
    assert ended.code == 0, ended.err
    steps = [step.strip() for step in ended.steps]
    assert steps[0].startswith("argosy diff  #") is (verb not in SHOWN)
    last = steps.index("argosy reconcile")
    assert steps[last - 1] == "git push"
    assert set(run_steps(fleet, capsys, steps[: last + 1])) <= {0, 1}
    assert (fleet.git("status", "--porcelain"), fleet.git("rev-parse", "HEAD")) == ("", fleet.git("rev-parse", "@{u}"))


@pytest.mark.parametrize("verb", FORMS)
def test_an_edit_that_is_committed_needs_a_push_and_a_pass(
    verb: str, fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(fleet, capsys, "cluster", verb, *FORMS[verb], "--commit")
    assert ended.code == 0, ended.err
    shown = [] if verb in SHOWN else ["argosy diff HEAD~1 HEAD  # what this changes in the clusters"]
    last = {
        "drain": ["argosy cluster uncordon oregon  # when things may come back"],
        "uncordon": ["argosy rebalance deployment/nginx -n default"],
    }.get(verb, [])
    assert [step.strip() for step in ended.steps] == [*shown, "git push", "argosy reconcile", *last]


@pytest.mark.parametrize("words", [("cordon", "paris"), ("label", "paris", "tier-")], ids=["cordoned", "no label"])
def test_no_edit_has_no_steps(words: tuple[str, ...], fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet, capsys, "cluster", *words).steps == []


def test_an_edit_that_takes_another_back_has_no_steps(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(argosy(fleet, capsys, "cluster", "cordon", "rome").steps) == 4
    assert argosy(fleet, capsys, "cluster", "uncordon", "rome").steps == []


def test_a_rebalance_names_the_commit_of_its_file(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.commit({"clusters/paris.yaml": a_cluster("paris")})
    fleet.git("push", "-q")
    assert argosy(fleet, capsys, "reconcile").code == 0
    ended = argosy(fleet, capsys, "rebalance", "deploy/nginx")
    path, subject = "rebalancers/rebalance-1.yaml", "Rebalance Deployment.apps default/nginx"
    add = [f"  git add -- {path}", f"  git commit -m '{subject}' -- {path}"]
    assert (ended.code, ended.steps) == (0, [*add, "  git push", "  argosy reconcile"])


def test_several_members_of_one_file_leave_it_in_one_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository.create(tmp_path / "fleet")
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    listed = {**settings, "spec": {"clusters": [{"name": name} for name in ("eu-1", "eu-2", "us-1")]}}
    made.commit({"argosy.yaml": [listed, *(a_cluster(name) for name in ("eu-1", "eu-2", "us-1"))]})
    before = (made.path / "argosy.yaml").read_text()
    ended = argosy(made, capsys, "cluster", "unjoin", "eu-*", "--commit")
    assert (ended.code, ended.outcome.splitlines()[:2]) == (0, ["cluster/eu-1 unjoined", "cluster/eu-2 unjoined"])
    assert "SETTINGS" not in ended.outcome  # what argosy.yaml lists no more is the departure itself
    assert made.git("log", "-1", "--format=%s") == "Let eu-1, eu-2 leave"
    after = (made.path / "argosy.yaml").read_text()
    assert [line for line in before.splitlines() if line not in after.splitlines()] == [
        "  - name: eu-1",
        "  - name: eu-2",
        "  name: eu-1",
        "  name: eu-2",
    ]
    assert after.count("kind: Cluster") == 1


def test_settings_that_wait_for_a_person_are_accepted_by_the_pass_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is reached by the context called like it has to be told which context that is."""
    made = Repository.create(tmp_path / "fleet")
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    every = {**settings, "spec": {"clusters": [{"name": "*"}]}}
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("paris"))
    made.commit({"argosy.yaml": every, "paris.yaml": a_cluster("paris"), "c.yaml": a_config_map("c"), "p.yaml": policy})
    assert argosy(made, capsys, "render", "--commit", "--bootstrap").code == 0
    ended = argosy(made, capsys, "cluster", "rename", "paris", "lyon", "--commit")
    assert (ended.code, ended.steps) == (0, ["  argosy reconcile --accept-settings"])
    codes = [argosy(made, capsys, *words, "--dry-run").code for words in (["reconcile"], ended.steps[0].split()[1:])]
    assert codes == [6, 0]
