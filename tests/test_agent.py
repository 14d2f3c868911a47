"""The agent of a cluster that pulls: what it fetches, applies and tells, and what it refuses."""

import subprocess
from pathlib import Path

import pytest

from reconciler.members.exchange import Request
from render.errors import ConfigError, GitError, GuardRefused

from .agents import PulledFleet
from .build import Repository, a_config_map, a_deployment, a_policy, on_clusters

pytestmark = pytest.mark.xdist_group("agent")  # one process makes the shared fleet for all of them

EVERYTHING = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
BOTH = on_clusters("member1", "member2")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> PulledFleet:
    files = {
        "policy.yaml": a_policy(selectors=EVERYTHING, placement=BOTH),
        "web.yaml": a_deployment("web"),
        "settings.yaml": a_config_map("settings", color="green"),
    }
    return PulledFleet.rendered(tmp_path_factory.mktemp("rendered"), files, "member1", "member2")


@pytest.fixture
def fleet(rendered: PulledFleet, tmp_path: Path) -> PulledFleet:
    return rendered.copied(tmp_path)


def held(fleet: PulledFleet, name: str = "member1") -> list[str]:
    kinds = {"Deployment", "ConfigMap"}
    return sorted(
        f"{value['kind']}/{value['metadata']['name']}"
        for value in fleet.members[name].objects.values()
        if value.get("kind") in kinds and value["metadata"].get("namespace") == "default"
    )


def test_an_agent_applies_its_mirror_and_tells_what_it_did(fleet: PulledFleet) -> None:
    ended = fleet.pull()
    assert (ended.exit_code, ended.lines) == (0, ())
    assert ended.commit == fleet.hub.git("rev-parse", "argosy/rendered")
    assert held(fleet) == ["ConfigMap/settings", "Deployment/web"]
    assert fleet.told("inventory/member1.yaml")["converged"] == ended.commit
    assert fleet.hub.files("argosy/agent/member1") == [
        "clusters/member1.yaml",
        "facts/member1.yaml",
        "inventory/member1.yaml",
        "works/member1/default/ConfigMap/settings.yaml",
        "works/member1/default/Deployment.apps/web.yaml",
    ]


def test_it_fetches_nothing_of_other_clusters_or_of_the_source(fleet: PulledFleet) -> None:
    fleet.pull()
    stored = fleet.agent().repository
    text = stored.git.text("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    assert sorted(text.split()) == sorted(
        ["commit"] * 3  # the mirror's, an attempt, and its report
        + ["tree"] * stored.git.text("cat-file", "--batch-all-objects", "--batch-check").count(" tree ")
        + ["blob"] * 9  # two objects and the settings, then the cluster's own files and its inventory twice
    )
    assert set(stored.refs("refs/")) == {
        "refs/argosy/accepted/argosy/cluster/member1",
        "refs/heads/argosy/agent/member1",
        "refs/remotes/origin/argosy/agent/member1",
        "refs/remotes/origin/argosy/cluster/member1",
    }


def test_a_pass_that_finds_nothing_new_commits_nothing(fleet: PulledFleet) -> None:
    for seconds in (0, 60, 60):
        fleet.pull(seconds=seconds)
    before = fleet.hub.git("for-each-ref")
    for _ in range(3):
        fleet.pull(seconds=1200)
    assert fleet.hub.git("for-each-ref") == before


def test_what_leaves_the_mirror_is_pruned_as_the_pass_allowed(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.pull()
    fleet.source.commit({"web.yaml": None, "settings.yaml": None}, message="Close\n\nArgosy-Allow-Removal: * 4")
    assert fleet.reconcile(capsys).code == 0
    assert fleet.hub.git("log", "-1", "--format=%(trailers:key=Argosy-Allow-Removal)", "argosy/cluster/member1") == (
        "Argosy-Allow-Removal: member1 2"
    )
    ended = fleet.pull(seconds=60)
    assert (ended.exit_code, held(fleet)) == (0, [])


def test_the_rules_of_bindings_reach_the_agent(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """A foreign object is taken over where its policy says so; the other one stays what it is."""
    for name, found in (("taken", "red"), ("left", "red")):
        body = a_config_map(name, namespace="default", color=found)
        fleet.members["member1"].request("POST", "/api/v1/namespaces/default/configmaps", body)
    taken = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "taken"}]
    fleet.source.commit(
        {
            "taken.yaml": a_config_map("taken", color="blue"),
            "left.yaml": a_config_map("left", color="blue"),
            "taking.yaml": a_policy("taking", selectors=taken, placement=BOTH, conflictResolution="Overwrite"),
        }
    )
    assert fleet.reconcile(capsys).code == 0
    assert fleet.pull().exit_code == 1
    colors = {
        name: fleet.members["member1"].objects["configmaps.", "default", name]["data"] for name in ("taken", "left")
    }
    assert colors == {"taken": {"color": "blue"}, "left": {"color": "red"}}


def test_while_git_is_away_drift_is_healed_and_told_when_it_is_back(fleet: PulledFleet) -> None:
    fleet.pull()
    before = fleet.commits("argosy/agent/member1")
    fleet.away()
    for _ in range(10):
        del fleet.members["member1"].objects["configmaps.", "default", "settings"]
        ended = fleet.pull(seconds=60)
        assert (ended.exit_code, held(fleet)) == (4, ["ConfigMap/settings", "Deployment/web"])
    assert ended.lines[0].startswith(f"Git is away; {ended.commit[:12]} stays applied: ")
    assert fleet.back().commits("argosy/agent/member1") == before
    assert (fleet.pull(seconds=60).exit_code, fleet.pull(seconds=60).lines) == (0, ())


def test_what_was_seen_while_git_was_away_is_pushed_later(fleet: PulledFleet) -> None:
    fleet.pull()
    fleet.away()
    deployment = fleet.members["member1"].objects["deployments.apps", "default", "web"]
    deployment["status"] = {
        "observedGeneration": 1,
        "conditions": [{"type": "Progressing", "status": "False", "reason": "X"}],
    }
    fleet.pull(seconds=700)
    fleet.back()
    fleet.pull(seconds=60)
    subjects = fleet.commits("argosy/agent/member1")
    assert subjects[-1].endswith(": 1 object of member1")


@pytest.mark.parametrize("is_beside", [False, True])
def test_what_it_left_here_never_takes_back_what_the_remote_has(fleet: PulledFleet, is_beside: bool) -> None:
    """An agent killed between a push and its own branch has the commit before; a restored store may have another."""
    for seconds in (0, 60, 60):
        fleet.pull(seconds=seconds)
    branch = "argosy/agent/member1"
    pushed = fleet.hub.git("rev-parse", branch)
    beside = fleet.hub.git("commit-tree", f"{branch}~1^{{tree}}", "-p", f"{branch}~1", "-m", "Beside")
    store = Repository(fleet.agent().repository.folder.git_dir)
    fleet.hub.git("push", "-q", str(store.path), f"{beside}:refs/heads/beside")
    store.git("update-ref", f"refs/heads/{branch}", "beside" if is_beside else f"{branch}~1")
    ended = fleet.pull(seconds=60)
    assert (ended.exit_code, ended.lines, fleet.hub.git("rev-parse", branch)) == (0, (), pushed)


def test_what_a_slow_agent_writes_after_another_one_is_removed_though_it_never_says_so(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other one has applied the next commit meanwhile, and with it settled what was recorded of this one's."""
    other = {"XDG_CACHE_HOME": str(fleet.folder / "other")}
    fleet.pull()
    fleet.source.commit({"more.yaml": a_config_map("more")})
    fleet.reconcile(capsys)
    codes: list[int] = []

    def overtaken(request: Request) -> None:
        if not codes and fleet.commits("argosy/agent/member1")[-1].startswith("Attempt"):
            codes.append(1)
            fleet.source.commit({"more.yaml": None})
            fleet.reconcile(capsys)
            codes[0] = fleet.pull(environment=other).exit_code
        elif request.method == "PATCH" and request.path.endswith("/more"):
            fleet.away()

    fleet.members["member1"].faults.append(overtaken)
    with pytest.raises(GitError):
        fleet.pull(seconds=60)
    fleet.members["member1"].faults.clear()
    assert (codes, "ConfigMap/more" in held(fleet)) == ([0], True)
    fleet.back()
    assert fleet.pull(seconds=60, environment=other).exit_code == 0
    assert held(fleet) == ["ConfigMap/settings", "Deployment/web"]


def test_of_two_agents_with_one_store_none_takes_back_what_the_other_one_pushed(fleet: PulledFleet) -> None:
    fleet.pull()
    ours, theirs = (agent.report(agent.uplink()).status for agent in (fleet.agent(), fleet.agent()))
    folder, pushed = "works/member1/default/ConfigMap", list[str | None]()

    def made(_tip: str | None) -> dict[str, bytes | None]:
        if not pushed:
            pushed.append(theirs.commit(lambda _: {f"{folder}/b.yaml": b"b: 1\n"}, "Theirs", time=1_800_000_001))
        return {f"{folder}/a.yaml": b"a: 1\n"}

    ours.commit(made, "Ours", time=1_800_000_002)
    assert fleet.commits("argosy/agent/member1")[-2:] == ["Theirs", "Ours"]


def test_a_first_commit_needs_git(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """It is known to Git that a cluster may hold an object before the object is written."""
    fleet.pull()
    agent = fleet.agent()
    fleet.source.commit({"more.yaml": a_config_map("more")})
    fleet.reconcile(capsys)
    agent.fetch()
    fleet.away()
    ended = fleet.pull(seconds=60)
    assert ended.exit_code == 4
    assert held(fleet) == ["ConfigMap/settings", "Deployment/web"]


def test_a_mirror_that_was_rewound_is_refused_and_the_last_commit_stays(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    old = fleet.hub.git("rev-parse", "argosy/cluster/member1")
    fleet.source.commit({"more.yaml": a_config_map("more")})
    fleet.reconcile(capsys)
    fleet.pull()
    fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", old)
    ended = fleet.pull(seconds=60)
    assert ended.exit_code == 6
    assert str(ended.refusal).startswith(f"commit {old[:12]} of 'argosy/cluster/member1' does not follow ")
    assert held(fleet) == ["ConfigMap/more", "ConfigMap/settings", "Deployment/web"]
    assert refused_on_its_branch(fleet) == str(ended.refusal)
    before = fleet.commits("argosy/agent/member1")
    assert before[-1] == "member1 refuses a commit"
    assert fleet.pull(seconds=60).exit_code == 6
    assert fleet.commits("argosy/agent/member1") == before
    assert fleet.pull(seconds=60, accepts_rewind=True).refusal is None
    assert refused_on_its_branch(fleet) == ""


def refused_on_its_branch(fleet: PulledFleet) -> str:
    """The message and the hint that the agent has on its branch."""
    words = fleet.told("clusters/member1.yaml")["metadata"]["annotations"]
    found = [words.get(f"argosy.dev/{name}", "") for name in ("refused", "refused-hint")]
    return "\n  hint: ".join(filter(None, found))


def test_the_mirror_of_a_renamed_fleet_is_a_new_one_and_no_rewound_one(
    fleet: PulledFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its agent has the store in which the mirror under the former name was taken, and that one's agent goes on."""
    former = fleet.pull().commit
    renamed = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "shop"}}
    fleet.source.commit({"argosy.yaml": renamed, "more.yaml": a_config_map("more")})
    assert fleet.reconcile(capsys, "--accept-settings").code == 0
    new = fleet.hub.git("rev-parse", "argosy-shop/rendered")
    ended = {name: fleet.pull(seconds=60, fleet=name) for name in ("default", "shop")}
    assert {name: (each.commit, each.lines) for name, each in ended.items()} == {
        "default": (former, ()),
        "shop": (new, ()),
    }


def test_a_mirror_written_anew_is_refused_by_an_agent_that_lost_its_store(fleet: PulledFleet, tmp_path: Path) -> None:
    applied = fleet.pull().commit
    tree = fleet.hub.git("rev-parse", "argosy/cluster/member1^{tree}")
    other = fleet.hub.git("commit-tree", tree, "-m", f"Mirror\n\nArgosy-Rendered: {'a' * 40}")
    fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", other)
    (tmp_path / "cache-member1").rename(tmp_path / "lost")
    with pytest.raises(GuardRefused) as refused:
        fleet.pull(seconds=60)
    assert str(refused.value) == (
        f"the mirror of 'member1' never had rendered commit {applied[:12]}, which the cluster may hold\n"
        "  hint: its branch was rewound or written anew; if that was meant, run once with --accept-rewind"
    )
    assert fleet.pull(accepts_rewind=True).exit_code == 0


def test_only_commits_of_allowed_signers_are_taken(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fleet.folder
    for name in ("pass", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True, timeout=30)
    key = (folder / "pass.pub").read_text()
    (folder / "signers").write_text(f'passes namespaces="git" {key}')
    signers = str(folder / "signers")
    with pytest.raises(GuardRefused) as refused:
        fleet.pull(allowed_signers=signers)
    assert str(refused.value).splitlines()[0].endswith(f"{folder}/signers lists who may sign it, and it is not signed")
    for number, (name, code) in enumerate([("pass", 0), ("other", 6)]):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("ARGOSY_SIGN_KEY", str(folder / name))
            fleet.source.commit({"more.yaml": a_config_map("more", number=str(number))})
            assert fleet.reconcile(capsys).code == 0
        ended = fleet.pull(seconds=60, allowed_signers=signers, environment={"ARGOSY_SIGN_KEY": str(folder / "pass")})
        assert ended.exit_code == code
    assert "it is signed by none of them" in str(ended.refusal)
    agents = fleet.agent().repository.signature_fault(fleet.hub.git("rev-parse", "argosy/agent/member1"), signers)
    assert agents == ""


def test_a_mirror_of_another_cluster_is_refused(fleet: PulledFleet) -> None:
    other = fleet.hub.git("rev-parse", "argosy/cluster/member2")
    fleet.hub.git("update-ref", "refs/heads/argosy/cluster/member1", other)
    with pytest.raises(GitError) as refused:
        fleet.pull()
    assert refused.value.message == f".argosy in mirror commit {other[:12]} is not the settings of 'member1''s agent"


def test_without_a_mirror_it_says_what_makes_one(fleet: PulledFleet) -> None:
    fleet.hub.git("update-ref", "-d", "refs/heads/argosy/cluster/member1")
    with pytest.raises(ConfigError) as refused:
        fleet.pull()
    assert str(refused.value) == (
        f"there is no branch 'argosy/cluster/member1' at '{fleet.hub.path.as_uri()}'\n"
        "  hint: a pass makes it once 'member1' is a Cluster of the source with syncMode: Pull"
    )


def test_a_heartbeat_is_recorded_where_it_is_asked_for(fleet: PulledFleet) -> None:
    for seconds in (0, 60, 60):
        fleet.pull(seconds=seconds, heartbeat=600.0)
    beats = [subject for subject in fleet.commits("argosy/agent/member1") if subject == "member1 is alive"]
    assert beats == ["member1 is alive"]
    assert (
        fleet.told("clusters/member1.yaml")["metadata"]["annotations"]["argosy.dev/heartbeat"] == "2027-01-15T08:00:00Z"
    )


def test_a_heartbeat_that_a_wrong_clock_wrote_is_written_again_once_the_clock_is_right(fleet: PulledFleet) -> None:
    for seconds in (0, 86400, 660 - 86400, 660):
        fleet.pull(seconds=seconds, heartbeat=600.0)
    beats = fleet.hub.git("log", "--reverse", "--format=%ct", "--grep=is alive", "argosy/agent/member1").splitlines()
    assert [int(beat) - 1_800_000_000 for beat in beats] == [0, 86400, 660, 1320]


def test_an_agent_goes_on_while_settings_wait(fleet: PulledFleet, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of the change reaches its mirror; what it has is healed and told, until somebody accepts the change."""
    first = fleet.pull().commit
    mirror = fleet.hub.git("rev-parse", "argosy/cluster/member1")
    weaker = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    weaker["spec"] = {"validation": "Off", "secrets": "Allow", "rendered": {"branch": "feature"}}
    fleet.source.commit({"argosy.yaml": weaker, "more.yaml": a_config_map("more")})
    refused = fleet.reconcile(capsys)
    assert (refused.code, "spec.rendered.branch: none -> feature" in refused.err) == (6, True)
    assert fleet.hub.git("rev-parse", "argosy/cluster/member1") == mirror
    del fleet.members["member1"].objects["configmaps.", "default", "settings"]
    ended = fleet.pull(seconds=60)
    assert (ended.exit_code, ended.commit, ended.refusal) == (0, first, None)
    assert held(fleet) == ["ConfigMap/settings", "Deployment/web"]
    assert fleet.told("inventory/member1.yaml")["converged"] == first
    assert fleet.reconcile(capsys).code == 6
    assert fleet.reconcile(capsys, "--accept-settings").code == 0
    accepted = fleet.pull(seconds=60)
    assert (accepted.exit_code, accepted.commit) == (0, fleet.hub.git("rev-parse", "feature"))
    assert held(fleet) == ["ConfigMap/more", "ConfigMap/settings", "Deployment/web"]
    assert fleet.reconcile(capsys).code == 0
