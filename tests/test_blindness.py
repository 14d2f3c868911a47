"""The ways of not seeing how a member is: none is a sign of its death, and each is said with a word of its own.

Each row breaks the sight of one of three members, whose workloads would leave it if it were down, and of which a copy
is unwell. However long that lasts, nothing moves and nothing is deleted.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.orphans import refuse_orphans
from reconciler.members.exchange import Failure, FailureKind, Request
from reconciler.members.refusals import failure_of_refusal
from render.documents import parse_documents

from .build import a_cluster, a_config_map, a_deployment, a_policy, weighted
from .fakes import FakeCluster
from .memory_fleet import MemoryFleet, settle
from .test_failover import DOWN, FIVE_MINUTES, TOLERATED, WEB, a_fleet

ROOMY = {"cpu": "8", "memory": "16Gi", "pods": "110"}
NAMES = ("oslo", "paris", "rome")
BINDING = "bindings/default/Deployment.apps/web.yaml"


def refuses(status: int) -> Callable[[MemoryFleet], None]:
    """Let paris refuse whatever it is asked with an HTTP status."""

    def broken(fleet: MemoryFleet) -> None:
        def refused(request: Request) -> Failure:
            return failure_of_refusal(request, status, {}, b'{"kind":"Status","message":"no","details":{}}')

        fleet.members["paris"].faults.append(refused)

    return broken


def fails(kind: FailureKind, message: str, hint: str) -> Callable[[MemoryFleet], None]:
    """Let the way to paris fail."""

    def broken(fleet: MemoryFleet) -> None:
        fleet.down, fleet.down_failure = {"paris"}, Failure(kind=kind, message=message, hint=hint)

    return broken


def swapped(fleet: MemoryFleet) -> None:
    """Let the context of paris lead to another cluster."""
    fleet.members["paris"].objects["namespaces.", "", "kube-system"]["metadata"]["uid"] = "somebody-else"


class Blindness(NamedTuple):
    """A way of not seeing paris: how it begins, its word, and what the line and the hint say."""

    state: str
    begins: Callable[[MemoryFleet], None]
    line: str
    hint: str


WAYS = [
    Blindness("Unauthorized", refuses(401), "does not accept these credentials", "renew the credentials"),
    Blindness("Forbidden", refuses(403), "Forbidden: no", "see which authorizer or admission plugin"),
    Blindness(
        "NoCredentials",
        fails(FailureKind.CREDENTIALS, "no context named 'paris'", "say which context reaches it"),
        "no context named 'paris'",
        "say which context reaches it",
    ),
    Blindness("WrongCluster", swapped, "leads to another cluster", "correct the context"),
    Blindness(
        "NameNotResolved",
        fails(FailureKind.NAME, "https://paris has no address here", "see whether this machine resolves it"),
        "has no address here",
        "see whether this machine resolves it",
    ),
    Blindness(
        "ProxyFailed",
        fails(FailureKind.PROXY, "the proxy cannot be reached", "see the proxy-url"),
        "the proxy cannot be reached",
        "see the proxy-url",
    ),
    Blindness(
        "CertificateRejected",
        fails(FailureKind.CERTIFICATE, "it shows a certificate", "see certificate-authority-data"),
        "it shows a certificate",
        "see certificate-authority-data",
    ),
    Blindness(
        "NotAnApiServer",
        fails(FailureKind.STRANGER, "what answers is none", "see the server address"),
        "what answers is none",
        "see the server address",
    ),
    Blindness("TooManyRequests", refuses(429), "TooManyRequests", "see what keeps its API server busy"),
]


def a_fleet_that_moves(folder: Path, **spec: Any) -> MemoryFleet:
    """Three members; what is down for five minutes is left, and so is a workload that is unwell for five minutes."""
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    failover = {"cluster": {}, "application": FIVE_MINUTES}
    files = {
        "argosy.yaml": a_fleet(featureGates={"Failover": True}, **spec),
        "down.yaml": DOWN,
        "web.yaml": a_deployment("web", replicas=6),
        "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover=failover, propagateDeps=True),
    }
    fleet = MemoryFleet.create(folder / "fleet", dict.fromkeys(NAMES, (1, ROOMY)), files)
    run(fleet)
    run(fleet)
    return fleet


def run(fleet: MemoryFleet, seconds: float = 60.0, *, but: str = "") -> None:
    """One pass, before which every member but one made its workloads well."""
    for name in fleet.members.keys() - {but}:
        settle(fleet.members[name])
    fleet.run(seconds)


def targets(fleet: MemoryFleet) -> dict[str, int]:
    found = parse_documents(fleet.repository.show(BINDING).encode())[0].value["spec"]
    return {each["name"]: each.get("replicas", 0) for each in found["clusters"]}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.state)
def test_what_we_cannot_see_is_not_dead(way: Blindness, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet_that_moves(tmp_path)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    before = fleet.repository.git("rev-parse", "argosy/rendered^{tree}")
    writes = {name: list(member.writes) for name, member in fleet.members.items()}
    way.begins(fleet)
    run(fleet)
    told = fleet.repository.git("rev-parse", "argosy/status")
    for _ in range(3):
        run(fleet, 600)
    assert fleet.repository.git("rev-parse", "argosy/rendered^{tree}") == before
    assert fleet.repository.git("rev-parse", "argosy/status") == told, "each pass says the same"
    sent = {name: member.writes[len(writes[name]) :] for name, member in fleet.members.items()}
    assert not [each for each in sent["paris"] if not each.endswith("/argosy")]
    assert not [each for name in ("oslo", "rome") for each in sent[name] if each.startswith("DELETE")]

    ended = fleet.status(capsys)
    line, hint = ended.out.partition("paris: not applied: ")[2].splitlines()[:2]
    assert (ended.code, way.state in line, way.line in line) == (1, True, True)
    assert hint.startswith("  hint: ")
    assert way.hint in hint
    found = json.loads(fleet.status(capsys, output="json").out)["clusters"]
    assert (found["paris"]["observation"]["state"], found["paris"]["ready"]) == (way.state, "Unknown")
    assert way.hint in found["paris"]["observation"]["hint"]
    assert [name for name in NAMES if "observation" in found[name]] == ["paris"]


def may_not_list(*plurals: str, space: str) -> Callable[[Request], Failure | None]:
    """Let a member's server refuse to list kinds in a namespace, and in all of them at once."""

    def refused(request: Request) -> Failure | None:
        *_, plural = request.path.split("/")
        if request.method != "GET" or plural not in plurals:
            return None
        is_there = f"/namespaces/{space}/" in request.path
        if "/namespaces/" in request.path and not is_there:
            return None
        where = f'in the namespace "{space}"' if is_there else "at the cluster scope"
        said = f'User "argosy" cannot list resource "{plural}" in API group "" {where}'
        return failure_of_refusal(
            request, 403, {}, json.dumps({"kind": "Status", "message": said, "details": {}}).encode()
        )

    return refused


class Hidden(NamedTuple):
    """The kinds that may not be listed in paris, in the namespace of the workload, and the word for it."""

    state: str
    plurals: tuple[str, ...]


HIDDEN = [
    Hidden("KindForbidden", ("deployments",)),
    Hidden("NamespaceForbidden", ("deployments", "configmaps")),
]


@pytest.mark.parametrize("case", HIDDEN, ids=lambda case: case.state)
def test_what_we_may_not_see_of_a_member_moves_and_deletes_nothing(
    case: Hidden, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = a_fleet_that_moves(tmp_path)
    everything = [{"apiVersion": "v1", "kind": kind} for kind in ("ConfigMap", "Namespace")]
    more = [a_config_map("here"), a_config_map("there", namespace="shop")]
    fleet.repository.commit({"more.yaml": more, "all.yaml": a_policy("all", selectors=everything, placement={})})
    run(fleet)
    fleet.members["paris"].faults.append(may_not_list(*case.plurals, space="default"))
    before, deletions = targets(fleet), [each for each in fleet.members["paris"].writes if each.startswith("DELETE")]
    for _ in range(3):
        run(fleet, 301)
    assert targets(fleet) == before
    assert [each for each in fleet.members["paris"].writes if each.startswith("DELETE")] == deletions
    lines = fleet.status(capsys).out.splitlines()
    number = next(number for number, line in enumerate(lines) if line.startswith(f"paris: {case.state}: "))
    assert lines[number + 1] == (
        "  hint: grant what is missing: argosy rbac --cluster paris | kubectl --context paris apply -f -"
    )
    found = json.loads(fleet.status(capsys, output="json").out)["clusters"]
    assert {name: each.get("observation", {}).get("state") for name, each in found.items()} == {
        "oslo": None,
        "paris": case.state,
        "rome": None,
    }


@pytest.mark.parametrize(("spec", "after"), [({}, 2), ({"compatibility": "Karmada"}, 0)], ids=["ours", "Karmada's"])
def test_an_agent_that_falls_silent_is_no_sign_of_a_dead_cluster(
    spec: dict[str, Any], after: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": weighted(oslo=1, paris=1, rome=1)}
    only = {"clusterAffinity": {"clusterNames": ["paris"]}}
    files = {
        "argosy.yaml": a_fleet(featureGates={"Failover": True}, **spec),
        "down.yaml": DOWN,
        "web.yaml": a_deployment("web", replicas=6),
        "policy.yaml": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
        "only.yaml": a_policy("only", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=only),
    }
    fleet = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(NAMES, (1, ROOMY)), files, by_agent=True)
    fleet.now = float(fleet.repository.git("log", "-1", "--format=%ct"))
    run(fleet)
    run(fleet)
    fleet.repository.commit({"asked.yaml": a_config_map("asked")})
    for _ in range(5):
        run_without(fleet, "paris", 301)
    assert targets(fleet).get("paris", 0) == after
    found = json.loads(fleet.status(capsys, output="json").out)
    spot = found["clusters"]["paris"]["observation"]
    assert (spot["state"], "kubectl -n argosy-system logs" in spot["hint"]) == ("AgentSilent", True)
    text = fleet.status(capsys).out
    assert "paris: not applied: the last look at it failed" in text
    assert ("ClusterUnseen: stays in paris, whose agent has been silent since" in str(found["bindings"])) is bool(after)


def run_without(fleet: MemoryFleet, silent: str, seconds: float) -> None:
    """One pass, the passes of all agents but one, and one more pass."""
    fleet.now += seconds
    for number in range(2):
        fleet._run_pass(None, refuse_orphans, None)
        for name in fleet.members.keys() - {silent} if not number else ():
            settle(fleet.members[name])
            fleet.pull(name)


def test_karmada_takes_a_member_that_refuses_us_for_one_that_is_down(tmp_path: Path) -> None:
    fleet = a_fleet_that_moves(tmp_path, compatibility="Karmada")
    refuses(401)(fleet)
    for _ in range(3):
        run(fleet, 301)
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_a_workload_that_was_unwell_when_sight_was_lost_is_given_its_time_again(tmp_path: Path) -> None:
    """The timer of application failover neither runs on meanwhile, nor fires with the first look afterwards."""
    fleet = a_fleet_that_moves(tmp_path)
    live = fleet.members["paris"].objects["deployments.apps", "default", "web"]
    live["status"] = {"observedGeneration": live["metadata"]["generation"], "replicas": 2, "unavailableReplicas": 2}
    run(fleet, but="paris")
    refuses(401)(fleet)
    for _ in range(4):
        run(fleet, 200, but="paris")
    fleet.members["paris"].faults.clear()
    run(fleet, but="paris")
    run(fleet, 300, but="paris")
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    run(fleet, 1, but="paris")
    assert targets(fleet) == {"oslo": 3, "rome": 3}


def test_nothing_moves_to_what_cannot_be_seen_though_no_cluster_is_known_to_be_well(tmp_path: Path) -> None:
    """The copy was unwell when its cluster went down, and all the others refuse us."""
    fleet = a_fleet_that_moves(tmp_path)
    live = fleet.members["paris"].objects["deployments.apps", "default", "web"]
    live["status"] = {"observedGeneration": live["metadata"]["generation"], "replicas": 2, "unavailableReplicas": 2}
    run(fleet, but="paris")
    fleet.down = {"paris"}
    for name in ("oslo", "rome"):
        fleet.members[name].faults.append(lambda request: failure_of_refusal(request, 401, {}, b""))
    for _ in range(4):
        run(fleet, 200, but="paris")
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}


def test_the_last_copy_that_we_can_see_stays_where_all_others_are_out_of_sight(tmp_path: Path) -> None:
    """Every cluster has a copy, so that none is moved: what would be left is known to be well nowhere."""
    application = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": "Directly"}
    policy = a_policy("web", selectors=[WEB], placement={}, propagateDeps=True, failover={"application": application})
    files = {"argosy.yaml": a_fleet(), "web.yaml": a_deployment("web", replicas=2), "policy.yaml": policy}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"oslo": (1, ROOMY), "paris": (1, ROOMY), "rome": None}, files)
    run(fleet)
    run(fleet, but="paris")
    fleet.members["oslo"].faults.append(lambda request: failure_of_refusal(request, 401, {}, b""))
    for _ in range(3):
        run(fleet, 301, but="paris")
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    assert ("deployments.apps", "default", "web") in fleet.members["paris"].objects


def test_what_was_left_stays_while_nobody_sees_its_replacement(tmp_path: Path) -> None:
    """A copy that was well when it was last seen replaces nothing."""
    fleet = a_fleet_that_moves(tmp_path)
    fleet.down = {"paris"}
    run(fleet)
    run(fleet)
    run(fleet, 300)
    assert targets(fleet) == {"oslo": 3, "rome": 3}
    for name in ("oslo", "rome"):
        fleet.members[name].faults.append(lambda request: failure_of_refusal(request, 401, {}, b""))
    fleet.down = set()
    for _ in range(3):
        run(fleet, 900)
    assert ("deployments.apps", "default", "web") in fleet.members["paris"].objects


def unwell_in_paris(folder: Path, purge_mode: str, *others: str, **spec: Any) -> MemoryFleet:
    """A workload that is unwell in paris for five minutes, and goes to rome by its policy, or else to others."""
    application = {"decisionConditions": {"tolerationSeconds": 300}, "purgeMode": purge_mode}
    groups = [{"affinityName": name, "clusterNames": [name]} for name in ("paris", "rome", *others)]
    policy = a_policy(
        "web",
        selectors=[WEB],
        placement={"clusterAffinities": groups},
        propagateDeps=True,
        failover={"application": application},
    )
    files = {"argosy.yaml": a_fleet(**spec), "web.yaml": a_deployment("web", replicas=6), "policy.yaml": policy}
    members = {name: None if name == "rome" else (1, ROOMY) for name in ("oslo", "paris", "rome")}
    fleet = MemoryFleet.create(folder / "fleet", members, files)
    fleet.run()
    fleet.run(60)
    assert targets(fleet) == {"paris": 6}
    return fleet


@pytest.mark.parametrize("purge_mode", ["Directly", "Gracefully", "Never"])
def test_what_nobody_ever_saw_takes_nothing_and_the_last_copy_stays(
    purge_mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent of rome never reported, so that nobody knows whether it can run anything."""
    fleet = unwell_in_paris(tmp_path, purge_mode)
    for _ in range(3):
        fleet.run(301)
    assert targets(fleet) == {"paris": 6}
    assert ("deployments.apps", "default", "web") in fleet.members["paris"].objects
    said = "EvictionBlocked: stays in paris: no other cluster takes it that is known to be well; not so rome"
    assert said in json.loads(fleet.status(capsys, output="json").out)["bindings"][0]["problems"]
    found = json.loads(fleet.status(capsys, output="json").out)["clusters"]["rome"]
    assert (found["observation"]["state"], bool(found["observation"]["hint"])) == ("NoAgent", True)
    assert "rome: not applied: it pulls, and its agent has reported nothing yet\n  hint: " in fleet.status(capsys).out


def test_what_is_moved_away_goes_where_it_is_known_to_run(tmp_path: Path) -> None:
    fleet = unwell_in_paris(tmp_path, "Directly", "oslo")
    fleet.run(301)
    assert targets(fleet) == {"oslo": 6}


def test_karmada_moves_to_a_member_that_nobody_ever_saw(tmp_path: Path) -> None:
    fleet = unwell_in_paris(tmp_path, "Directly", compatibility="Karmada", requireRecordedAPIs=False)
    fleet.run(301)
    assert targets(fleet) == {"rome": 6}


def test_replicas_that_leave_a_dead_member_do_not_go_where_nobody_sees(tmp_path: Path) -> None:
    """By their weights some would go to oslo: nothing moves until all that get more are known to be well."""
    fleet = a_fleet_that_moves(tmp_path, failover={"massFailure": 100})
    refuses(401)(fleet)
    fleet.down, fleet.down_failure = {"rome"}, Failure(kind=FailureKind.UNREACHABLE, message="it is down")
    for _ in range(3):
        run(fleet, 301)
    assert targets(fleet) == {"oslo": 2, "paris": 2, "rome": 2}
    fleet.members["paris"].faults.clear()
    run(fleet)
    run(fleet)
    assert targets(fleet) == {"oslo": 3, "paris": 3}


def test_a_new_member_that_leads_to_the_cluster_of_another_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its context was mistyped: nothing that is seen there is its own, and nothing is placed by it."""
    fleet = a_fleet_that_moves(tmp_path)
    fleet.repository.commit({"clusters/bern.yaml": a_cluster("bern")})
    fleet.members["bern"] = fleet.members["paris"]
    run(fleet)
    run(fleet)
    found = json.loads(fleet.status(capsys, output="json").out)["clusters"]["bern"]
    assert (found["ready"], found["observation"]["state"]) == ("Unknown", "WrongCluster")
    assert fleet.repository.files(under="facts") == [f"facts/{name}.yaml" for name in NAMES]
    assert "leads to the cluster that this fleet knows as 'paris'" in fleet.status(capsys).out
    del fleet.members["bern"]
    fleet.members["bern"] = FakeCluster(name="bern")
    run(fleet)
    assert json.loads(fleet.status(capsys, output="json").out)["clusters"]["bern"]["ready"] == "True"
