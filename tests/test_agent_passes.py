"""Passes over a fleet that pulls: what they take from agents' branches, what they leave, and what status says then."""

import shutil
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import checked_source, read_loaded
from reconciler.cli import run
from reconciler.members.visits import MemberReach
from reconciler.observe.members import ObserveOptions
from reconciler.passes.observation import Observation, observe_members
from reconciler.repository import open_repository
from render.documents import emit
from render.errors import GuardRefused

from .agents import PulledFleet
from .build import Repository, a_config_map, a_deployment, a_policy, argosy, on_clusters

pytestmark = pytest.mark.xdist_group("agent passes")  # one process makes the shared fleet for all of them

EVERYTHING = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
BOTH = on_clusters("member1", "member2")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> PulledFleet:
    only_first = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "more"}]
    files = {
        "policy.yaml": a_policy(selectors=EVERYTHING, placement=BOTH),
        "first.yaml": a_policy("first", selectors=only_first, placement=on_clusters("member1")),
        "web.yaml": a_deployment("web"),
    }
    return PulledFleet.rendered(tmp_path_factory.mktemp("rendered"), files, "member1", "member2")


@pytest.fixture
def fleet(rendered: PulledFleet, tmp_path: Path) -> PulledFleet:
    return rendered.copied(tmp_path)


@pytest.fixture(scope="module")
def reported_once(rendered: PulledFleet, tmp_path_factory: pytest.TempPathFactory) -> PulledFleet:
    """The fleet after its agents' first passes and a pass that took what they said, copied to ``kept`` as well."""
    folder = tmp_path_factory.mktemp("reported")
    fleet = rendered.copied(folder / "fleet")
    for name in ("member1", "member2"):
        fleet.pull(name)
    assert run(["-q", "-C", str(fleet.source.path), "reconcile"]) == 0
    shutil.copytree(fleet.folder, folder / "kept")
    return fleet


@pytest.fixture
def reported(reported_once: PulledFleet) -> PulledFleet:
    """The same, in the folder where the agents have their stores."""
    shutil.rmtree(reported_once.folder)
    shutil.copytree(reported_once.folder.parent / "kept", reported_once.folder)
    return replace(reported_once, members=deepcopy(reported_once.members))


def observed(fleet: PulledFleet, now: float) -> Observation:
    """The observation of a pass at this time, before it renders."""
    with open_repository(str(fleet.source.path)) as repository:
        desired = checked_source("", read_loaded(repository, repository.resolve("HEAD"), facts=None)).desired
        context = FleetContext.of(desired.fleet, desired, publication_of(repository, desired.fleet))
        return observe_members(context, (), ObserveOptions(reach=MemberReach(open_client=_nobody)), lambda: now)


def _nobody(_name: str, _deadline: float) -> Any:
    raise AssertionError("a pass reaches no cluster that pulls")


def push_as_agent(fleet: PulledFleet, name: str, files: Mapping[str, Any]) -> None:
    """Put files on an agent's branch, on top of what it has."""
    clone = Repository(fleet.folder / f"forged-{name}")
    fleet.hub.git("clone", "-q", "-b", f"argosy/agent/{name}", str(fleet.hub.path), str(clone.path))
    clone.commit(files)
    clone.git("push", "-q", "origin", f"HEAD:argosy/agent/{name}")


def status_lines(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    fleet.source.git("fetch", "-q")
    text = argosy(fleet.source, capsys, "status").out
    return {line.split()[0]: " ".join(line.split()) for line in text.splitlines() if line.startswith("member")}


def test_what_agents_did_is_what_status_and_wait_tell(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.pull("member1")
    assert fleet.reconcile(capsys).code == 0
    waited = argosy(fleet.source, capsys, "wait", "--timeout", "1s")
    assert waited.code == 1
    assert "member2: not applied: it pulls, and its agent has reported nothing yet" in waited.err + waited.out
    fleet.pull("member2")
    assert fleet.reconcile(capsys).code == 0
    fleet.source.git("fetch", "-q")
    assert argosy(fleet.source, capsys, "wait", "--timeout", "1s").code == 0
    assert fleet.hub.show("inventory/member2.yaml", "argosy/status") == fleet.hub.show(
        "inventory/member2.yaml", "argosy/agent/member2"
    )


def test_a_commit_that_an_agent_refuses_is_told_with_the_reason(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """One agent had an earlier commit, which stays; the other one has never taken any."""
    signers = fleet.folder / "signers"
    signers.write_text("")
    fleet.pull("member1")
    old = fleet.hub.git("rev-parse", "argosy/cluster/member1")
    fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", forged(fleet, old))
    assert fleet.pull("member1", seconds=60).exit_code == 6
    with pytest.raises(GuardRefused):
        fleet.pull("member2", allowed_signers=str(signers))
    assert fleet.reconcile(capsys).code == 0
    lines = argosy(fleet.source, capsys, "status").out.splitlines()
    told = [line for line in lines if "refuses" in line]
    refused = "not applied: its agent refuses what its mirror has: commit"
    unsigned = f"is not taken: {signers} lists who may sign it, and it is not signed"
    new, other = (fleet.hub.git("rev-parse", f"argosy/cluster/{name}")[:12] for name in ("member1", "member2"))
    assert told == [
        f"member1: {refused} {new} of 'argosy/cluster/member1' does not follow {old[:12]}, which was taken",
        f"member2: {refused} {other} of 'argosy/cluster/member2' {unsigned}",
    ]
    assert {line.split()[-1] for line in lines if line.startswith("member") and ":" not in line} == {"Refused"}
    assert "its agent refuses" in argosy(fleet.source, capsys, "wait", "--timeout", "1s").err


def forged(fleet: PulledFleet, old: str) -> str:
    """A commit of member1's mirror that follows none."""
    rendered = fleet.hub.git("rev-parse", "argosy/rendered")
    return fleet.hub.git("commit-tree", f"{old}^{{tree}}", "-m", f"Mirror\n\nArgosy-Rendered: {rendered}")


def test_an_agent_goes_on_once_a_pass_has_put_its_mirror_back(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody pushed to the mirror; the next pass takes that away, and what the agent had taken is still followed."""
    fleet.pull("member1")
    mirror = "argosy/cluster/member1"
    own = fleet.hub.git("rev-parse", mirror)
    foreign = fleet.hub.git("commit-tree", f"{own}^{{tree}}", "-p", own, "-m", "By hand")
    fleet.hub.git("update-ref", f"refs/heads/{mirror}", foreign)
    assert fleet.pull("member1", seconds=60).exit_code == 6
    fleet.source.commit({"more.yaml": a_config_map("more")})
    ended = fleet.reconcile(capsys)
    assert (ended.code, f"{mirror} has commit {foreign[:12]}, which no pass wrote" in ended.err) == (0, True)
    assert fleet.pull("member1", seconds=60).exit_code == 0
    assert fleet.reconcile(capsys).code == 0
    assert "refuses" not in argosy(fleet.source, capsys, "status").out


def test_a_commit_that_asks_nothing_new_of_a_cluster_is_one_it_has(
    reported: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    reported.source.commit({"more.yaml": a_config_map("more")})
    assert reported.reconcile(capsys).code == 0
    assert argosy(reported.source, capsys, "wait", "cluster/member2", "--timeout", "1s").code == 0
    assert argosy(reported.source, capsys, "wait", "cluster/member1", "--timeout", "1s").code == 1
    reported.pull("member1", seconds=60)
    assert reported.reconcile(capsys).code == 0
    assert argosy(reported.source, capsys, "wait", "--timeout", "1s").code == 0
    before = reported.hub.git("for-each-ref")
    assert reported.reconcile(capsys).code == 0
    assert reported.hub.git("for-each-ref") == before


def test_whatever_is_wrong_on_an_agents_branch_is_a_finding_of_its_cluster_alone(
    reported: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Inventory", "cluster": "member2", "clusterUID": "x"}
    swapped = {**other, "converged": "", "metadata": {"name": "member1"}}
    push_as_agent(
        reported,
        "member1",
        {
            "inventory/member1.yaml": emit(swapped),
            "inventory/member2.yaml": emit(other),
            "clusters/member1.yaml": "a: [",
            "facts/member1.yaml": b"#" * ((8 << 20) + 1),
            "works/member1/default/Deployment.apps/web.yaml": emit({"metadata": {"name": "x"}, "status": 3}),
            "works/member2/default/Deployment.apps/web.yaml": "a: b",
            "anything": "at all",
        },
    )
    before = reported.hub.git("rev-parse", "argosy/status^{tree}")
    ended = reported.reconcile(capsys)
    assert ended.code == 0
    branch = "argosy/agent/member1"
    assert [line.partition("ignored: ")[2] for line in ended.err.splitlines() if "ignored" in line] == [
        f"{branch}: anything is not this cluster's to say",
        f"{branch}: clusters/member1.yaml holds no object",
        f"{branch}: facts/member1.yaml has 8388609 bytes, but at most 8388608 are read",
        (
            f"{branch}: inventory/member1.yaml is not this cluster's to say (and 2 like it: inventory/member2.yaml,"
            " works/member2/default/Deployment.apps/web.yaml)"
        ),
        f"{branch}: works/member1/default/Deployment.apps/web.yaml is not as agents write it: status is no object",
    ]
    assert reported.hub.git("rev-parse", "argosy/status^{tree}") == before


def test_what_a_newer_agent_tells_is_left_out_and_what_it_told_before_stays(
    reported: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is known of what the file says, so that neither it nor a part of it is recorded."""
    work = "works/member1/default/Deployment.apps/web.yaml"
    push_as_agent(reported, "member1", {work: emit({"metadata": {"name": "x"}, "status": {}, "version": 9})})
    before = reported.hub.git("show", f"argosy/status:{work}")
    ended = reported.reconcile(capsys)
    newer = "has version 9, and this Argosy knows 1 at most: a newer Argosy wrote it"
    assert f"ignored: argosy/agent/member1: {work} {newer}" in ended.err
    assert reported.hub.git("show", f"argosy/status:{work}") == before


def test_an_agent_that_is_asked_and_says_nothing_leaves_its_cluster_unknown(
    reported: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    last = reported.now
    # An agent that is asked for nothing new may be silent for ever.
    assert observed(reported, last + 1e6).turned == {}
    reported.source.commit({"more.yaml": a_config_map("more")})
    assert reported.reconcile(capsys).code == 0
    assert observed(reported, last + 600).turned == {}
    assert {name: state.ready for name, state in observed(reported, last + 601).turned.items()} == {
        "member1": "Unknown"
    }
    reported.pull("member1", seconds=700)
    assert observed(reported, last + 701).turned == {}


def test_clusters_that_pull_are_never_reached(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    ended = fleet.reconcile(capsys, "--cluster", "member1")
    assert ended.code == 0
    assert "left to their agents, for they pull: member1" in ended.err
