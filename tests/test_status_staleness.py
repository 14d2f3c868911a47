"""``argosy status`` and ``argosy wait`` about clusters whose last look or last run failed, or left something undone."""

import io
import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.commands.wait import WaitOptions, wait_and_show
from reconciler.console.log import Log
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.status.branches import Pacing

from .build import a_config_map, a_deployment, a_policy, argosy, on_clusters
from .memory_fleet import MemoryFleet, settle
from .schemas import faults
from .served import serving_members

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
RECORDED = "recorded 2027-01-15T08:02:00Z, 5m ago"
HEADER = "CLUSTER   READY   VERSION   OBJECTS   UNHEALTHY   REPLICAS   LIVE   CONVERGED      AGE   NOTE"
EU = "eu        True    v0.0.0    1         0           2          2      RENDERED   7m"
CONTEXT = "the context of 'us' leads to another cluster: the UID of its kube-system namespace is"
LATER = 300.0


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Two members that have a Deployment, and are healthy."""
    files = {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("eu", "us"))}
    made = MemoryFleet.create(tmp_path / "fleet", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    made.run()
    for member in made.members.values():
        settle(member)
    made.run(60)
    return made


def waited(fleet: MemoryFleet, *, subject: str = "", wish: str = "applied", output: str = "text") -> tuple[int, str]:
    """The exit code of a wait without patience, and what it said on stderr."""
    stream = io.StringIO()
    log = Log(stream=stream, repository=str(fleet.repository.path))
    options = WaitOptions(subject=subject, wish=wish, timeout=0, output=output)
    return wait_and_show(log, options, Pacing(now=lambda: 0.0, clock=lambda: fleet.now + LATER)), plain(
        fleet, stream.getvalue()
    )


def plain(fleet: MemoryFleet, text: str) -> str:
    return text.replace(fleet.repository.git("rev-parse", "argosy/rendered")[:12], "RENDERED")


def narrow(text: str) -> str:
    """Return tables as wide as they would be with the shortest words."""
    return re.sub(" {3,}", "   ", text)


def swapped(fleet: MemoryFleet) -> None:
    """The context of a member leads to another cluster from now on."""
    system = fleet.members["us"].objects["namespaces.", "", "kube-system"]["metadata"]
    system["uid"] = f"other-{system['uid']}"


def refused(fleet: MemoryFleet) -> None:
    """A member does not list anything of ours any more."""

    def refuses(request: Request) -> Answer | Failure | None:
        failure = Failure(kind=FailureKind.UNAUTHORIZED, message="the cluster does not accept these credentials")
        return failure if "/namespaces/kube-system" in request.path else None

    fleet.members["us"].faults.append(refuses)


class Unknown(NamedTuple):
    why: str
    change: Callable[[MemoryFleet], object]
    reason: str
    message: str
    hint: str = ""
    look: str = ""
    ready: str = "Unknown"


UNKNOWN = [
    Unknown(
        "a swapped cluster",
        swapped,
        "WrongCluster",
        f"{CONTEXT} other-uid-of-us, not uid-of-us",
        "correct the context; if the cluster was built anew, take it in again: argosy cluster rejoin us --accept-uid"
        " other-uid-of-us",
    ),
    Unknown("a dead cluster", lambda fleet: fleet.down.add("us"), "Unreachable", "member is down", ready="True"),
    Unknown("a cluster that refuses", refused, "Unauthorized", "the cluster does not accept these credentials"),
]


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.why)
def test_old_health_counts_for_nothing(case: Unknown, fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    assert (fleet.status(capsys).code, waited(fleet, wish="healthy")) == (0, (0, ""))
    case.change(fleet)
    fleet.run(60)
    why = f"the last run failed (first at 2027-01-15T08:02:00Z): {case.reason}: {case.message}"
    hint = f"\n  hint: {case.hint}" if case.hint else ""
    ended = fleet.status(capsys, later=LATER)
    us = f"us   {case.ready}   v0.0.0   1   <unknown>   2   -   RENDERED   5m   {case.reason}"
    shown = [HEADER, EU, us, "", *f"us: not applied: {why}{hint}".splitlines(), "", "bindings: 1 Success"]
    assert (ended.code, narrow(plain(fleet, ended.out)).splitlines()[1:]) == (
        1,
        [RECORDED, "", *map(narrow, shown)],
    )
    said = f"warning: us: not applied: {why}{hint}\n"
    for subject, words in (("", "the fleet"), ("cluster/us", "cluster/us"), ("deploy/nginx", "deploy/nginx")):
        for wish in ("applied", "healthy"):
            first = f"warning: after 0 s {words} is not {wish}\n"
            assert waited(fleet, subject=subject, wish=wish) == (1, first + said), subject
    assert waited(fleet, subject="cluster/eu", wish="healthy") == (0, "")
    ended = fleet.status(capsys, "deploy/nginx", later=LATER)
    assert (ended.code, ended.out.splitlines()[3:]) == (
        1,
        [
            "FullyApplied: Unknown NotKnown",
            "  it was applied when that was last known; it is not known of us",
            "",
            f"CLUSTER   REPLICAS   LIVE   READY   APPLIED   HEALTH    REASON{' ' * (len(case.reason) - 6)}   SINCE",
            f"eu        2          2      2/2     True      Healthy   {' ' * len(case.reason)}   2027-01-15T08:01:00Z",
            f"us        2          -      2/2     Unknown   Unknown   {case.reason}   2027-01-15T08:02:00Z",
            "",
            f"us: {case.reason}: {why}",
        ],
    )
    value = json.loads(fleet.status(capsys, output="json").out)
    assert {key: value["clusters"]["us"].get(key) for key in ("applied", "known", "reason", "hint")} == {
        "applied": False,
        "known": False,
        "reason": case.reason,
        "hint": case.hint or None,
    }
    assert value["clusters"]["eu"]["applied"]
    assert fleet.status(capsys, "cluster/us").code == 1
    before = fleet.repository.git("rev-parse", "argosy/status")
    for _ in range(3):
        fleet.run(5)
    assert fleet.repository.git("rev-parse", "argosy/status") == before


def test_a_wait_tells_programs_what_it_waited_for(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.down = {"us"}
    fleet.run(60)
    assert waited(fleet, subject="cluster/us", output="json") == (1, "")
    value = json.loads(plain(fleet, capsys.readouterr().out))
    assert faults(value, "Waiting") == []
    why = "the last run failed (first at 2027-01-15T08:02:00Z): Unreachable: member is down"
    value["rendered"] = value["rendered"][:8]
    assert value == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Waiting",
        "subject": "cluster/us",
        "for": "applied",
        "cameTrue": False,
        "seconds": 0.0,
        "rendered": "RENDERED",
        "missing": [
            {
                "text": f"us: not applied: {why}",
                "reason": "Unreachable",
                "cluster": "us",
                "message": why,
                "since": "2027-01-15T08:02:00Z",
            }
        ],
        "pending": [],
    }


def test_what_a_run_left_keeps_a_cluster_from_being_applied(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """The inventory has the commit as converged, for what waits is remembered by itself."""
    space = a_config_map("one", namespace="shop")
    policy = a_policy("maps", namespace="shop", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}])
    policy["spec"]["placement"] = on_clusters("us")
    fleet.repository.commit({"one.yaml": space, "maps.yaml": policy})
    fleet.run(60)
    assert waited(fleet) == (0, "")
    fleet.repository.commit({"one.yaml": None, "maps.yaml": None})
    fleet.run(60, allowed={"us": 9})
    assert fleet.recorded("inventory/us.yaml")["converged"] == fleet.repository.git("rev-parse", "argosy/rendered")
    said = (
        "warning: after 0 s the fleet is not applied\n"
        "warning: Namespace shop is kept in us: NeedsConfirmation: deleting it may delete much more\n"
    )
    assert (waited(fleet), fleet.status(capsys).code) == ((1, said), 1)
    assert fleet.status(capsys, "cluster/us").code == 1


def test_a_namespace_that_nobody_selected_has_a_status(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("maps", namespace="shop", selectors=selectors, placement=on_clusters("us"))
    fleet.repository.commit({"one.yaml": a_config_map("one", namespace="shop"), "maps.yaml": policy})
    fleet.run(60)
    ended = fleet.status(capsys, "ns/shop")
    assert (ended.code, ended.out) == (
        0,
        (
            "Namespace shop\n"
            "policy: none, it is propagated with the objects in it\n\n"
            "CLUSTER   REPLICAS   READY   APPLIED   HEALTH    REASON   SINCE\n"
            "us                           True      Healthy            2027-01-15T08:02:00Z\n"
        ),
    )
    assert waited(fleet, subject="namespace/shop", wish="healthy") == (0, "")


def test_a_member_that_argosy_yaml_leaves_to_others_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings: dict[str, Any] = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    files = {
        "argosy.yaml": {**settings, "spec": {"clusters": [{"name": "eu"}]}},
        "one.yaml": a_config_map("one"),
        "policy.yaml": a_policy(
            selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("eu", "us")
        ),
    }
    fleet = MemoryFleet.create(tmp_path / "mixed", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    fleet.run(only={"eu"})
    assert (waited(fleet), fleet.status(capsys).code) == ((0, ""), 0)
    left = "argosy.yaml does not say how it is reached: whoever applies its folder knows what is in it"
    code, said = waited(fleet, subject="cluster/us")
    assert (code, said.splitlines()[1:]) == (1, [f"warning: us: not applied: {left}"])
    ended = fleet.status(capsys, "cluster/us")
    assert (ended.code, ended.out.splitlines()[3]) == (0, left)


def test_a_member_that_argosy_yaml_lists_no_more_is_behind_with_what_to_do(tmp_path: Path) -> None:
    """It was applied to, so that somebody may do so again, by its name."""
    settings: dict[str, Any] = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("eu", "us"))
    both = {**settings, "spec": {"clusters": [{"name": "eu"}, {"name": "us"}]}}
    files = {"argosy.yaml": both, "one.yaml": a_config_map("one"), "policy.yaml": policy}
    fleet = MemoryFleet.create(tmp_path / "mixed", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    fleet.run()
    before = fleet.repository.git("rev-parse", "argosy/rendered")
    left = {**settings, "spec": {"clusters": [{"name": "eu"}]}}
    fleet.repository.commit({"argosy.yaml": left, "one.yaml": a_config_map("one", a="2")})
    fleet.run(only={"eu"})
    assert waited(fleet)[1].splitlines()[1:] == [
        f"warning: us: not applied: no run has got to RENDERED yet; it has {before[:12]}",
        "  hint: argosy.yaml lists other clusters and not this one: list it there, or run argosy apply --cluster us",
    ]


def test_a_member_that_is_applied_to_and_not_observed_says_how_to_find_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gateway lets everything through but the path by which a server says that it is ready."""

    def refuse_readiness(handler: BaseHTTPRequestHandler) -> bool:
        if handler.path != "/readyz":
            return False
        handler.send_response(403)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True

    files = {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("eu", "us"))}
    made = MemoryFleet.create(tmp_path / "gateway", {"eu": (1, ROOMY), "us": (1, ROOMY)}, files)
    with serving_members(made.members.values(), tmp_path / "kubeconfigs", {"us": refuse_readiness}) as served:
        passed = argosy(made.repository, capsys, "reconcile", "--bootstrap", "--kubeconfigs", str(served.kubeconfigs))
    assert (passed.code, [line for line in passed.err.splitlines() if line.startswith("warning")]) == (
        0,
        ["warning: us could not be observed, so that it does not count: Forbidden: HTTP status 403"],
    )
    waiting = argosy(made.repository, capsys, "wait", "--timeout", "0s")
    assert waiting.code == 1
    assert re.sub(r"first at [^)]+", "first at TIME", waiting.err).splitlines()[1:] == [
        "warning: us: not applied: it cannot be seen (first at TIME): Forbidden: HTTP status 403",
        "  hint: what answers may be no API server: see what stands before it",
    ]


def test_a_message_that_differs_in_its_numbers_is_recorded_once(fleet: MemoryFleet) -> None:
    for number in range(4):
        fleet.down_failure = Failure(kind=FailureKind.UNREACHABLE, message=f"no answer after {number}.5 s")
        fleet.down = {"us"}
        fleet.run(5)
    words = fleet.recorded("clusters/us.yaml")["metadata"]["annotations"]
    assert words["argosy.dev/outcome-message"] == "no answer after 0.5 s"
    assert fleet.status_commits()[-1].endswith("us Unreachable")
