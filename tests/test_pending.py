"""Suspension and laziness, told everywhere: what a cluster does not get counts nowhere and is never unsaid."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from reconciler.deliver.results import ClusterReport
from reconciler.diff.difference import PendingChange
from reconciler.diff.live import live_text
from reconciler.diff.words import words_of_ended_pending
from reconciler.outputs.document import plain_document
from reconciler.outputs.live_difference import live_difference_document
from reconciler.pipeline.pending import LAZY as LAZY_ACTIVATION
from reconciler.pipeline.pending import OTHER_SCHEDULER, SCHEDULING_SUSPENDED, SUSPENDED
from reconciler.plans.model import SUSPENDED_AND_DIFFERENT, SUSPENDED_AND_MISSING, Action, Plan, PlannedObject
from render.documents import parse_documents
from render.model import ObjectRef

from .build import (
    Ended,
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    copied,
    on_clusters,
    weighted,
)
from .fakes import MERGE_PATCH
from .memory_fleet import MemoryFleet, settle
from .test_failover import a_fleet

pytestmark = pytest.mark.xdist_group("pending")  # one process makes the shared fleet for all of them

NGINX = "Deployment.apps default/nginx"
POLICY = "PropagationPolicy default/nginx"
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
ON_B = {"dispatchingOnClusters": {"clusterNames": ["b"]}}
EVERYWHERE = {"dispatching": True}
ABSENT = "not dispatched to b: dispatching is suspended; b does not have it"
OUTDATED = "not dispatched to b: dispatching is suspended; b keeps an older version"
CURRENT = "not dispatched to b: dispatching is suspended; b has what it would get"
LAZY = f"waiting: {POLICY} is lazy, so its placement takes effect when the template changes"

TAKEOVER = "waiting: PropagationPolicy default/other is lazy, so it claims this when the template changes"


def the_policy(*clusters: str, **spec: Any) -> dict[str, Any]:
    """A policy that divides nginx equally among clusters."""
    names = clusters or ("a", "b")
    placement = on_clusters(*names, replicaScheduling=weighted(**dict.fromkeys(names, 1)))
    return a_policy(placement=placement, **spec)


class Fleet(NamedTuple):
    """A fleet of three clusters, and the command line on it."""

    repository: Repository
    capsys: pytest.CaptureFixture[str]

    def run(self, *words: str) -> Ended:
        return argosy(self.repository, self.capsys, *words)

    def commit(self, **files: Any) -> str:
        return self.repository.commit({f"{name}.yaml": content for name, content in files.items()})

    def reconcile(self, *words: str) -> Ended:
        ended = self.run("reconcile", *words)
        assert ended.code == 0, ended.err
        return ended

    def diff(self) -> list[str]:
        """The lines of the difference of the work tree, without its first."""
        return self.run("diff").out.splitlines()[1:]

    def binding(self) -> Any:
        path = "bindings/default/Deployment.apps/nginx.yaml"
        return parse_documents((self.repository.show(path) + "\n").encode())[0].value


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Six replicas of nginx, equally in a and b, rendered; c has nothing. It is to be copied."""
    made = Repository.create(tmp_path_factory.mktemp("rendered") / "fleet")
    files = {"clusters.yaml": [a_cluster(name) for name in "abc"], "nginx.yaml": a_deployment(replicas=6)}
    made.commit({**files, "policy.yaml": the_policy()})
    assert run(["-q", "-C", str(made.path), "reconcile", "--bootstrap"]) == 0
    return made


@pytest.fixture
def fleet(rendered: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    return Fleet(copied(tmp_path, rendered)[0], capsys)


def suspended(fleet: Fleet) -> None:
    fleet.commit(policy=the_policy(suspension=ON_B))
    fleet.reconcile()


def suspended_before_it_came(fleet: Fleet) -> None:
    fleet.commit(policy=the_policy("a"))
    fleet.reconcile("--allow-removal", "b=1")
    fleet.commit(policy=the_policy(suspension=ON_B))
    fleet.reconcile()


def outdated(fleet: Fleet) -> None:
    suspended(fleet)
    fleet.commit(nginx=a_deployment(replicas=10, image="nginx:1.30"))
    fleet.reconcile()


class State(NamedTuple):
    why: str
    prepare: Callable[[Fleet], None]
    message: str
    kept: list[dict[str, Any]]
    replicas: dict[str, int]
    is_pending: bool


STATES = [
    State("a cluster that has it", suspended, CURRENT, [{"clusters": ["b"], "replicas": 3}], {"a": 3, "b": 3}, False),
    State(
        "a cluster that does not have it",
        suspended_before_it_came,
        ABSENT,
        [{"clusters": ["b"], "absent": True}],
        {"a": 3},
        True,
    ),
    State(
        "a cluster with an older version",
        outdated,
        OUTDATED,
        [{"clusters": ["b"], "replicas": 3, "outdated": True}],
        {"a": 5, "b": 3},
        True,
    ),
]


@pytest.mark.parametrize("case", STATES, ids=lambda case: case.why)
def test_a_suspended_cluster_counts_with_what_it_has(case: State, fleet: Fleet) -> None:
    case.prepare(fleet)
    status = fleet.binding()["status"]
    (condition,) = (each for each in status["conditions"] if each["type"] == "Dispatching")
    assert (condition["status"], condition["reason"], condition["message"], condition["clusters"]) == (
        "False",
        "SuspendDispatching",
        case.message,
        ["b"],
    )
    assert status["kept"] == case.kept

    numbers = " ".join(f"{name}:{count}" for name, count in case.replicas.items())
    render = fleet.run("render")
    assert render.out.splitlines()[1].split() == [
        "default", "Deployment.apps/nginx", *numbers.split(), *POLICY.split(), "(SuspendDispatching)",
    ]  # fmt: skip
    pending = [{"object": NGINX, "clusters": ["b"], "reason": "SuspendDispatching", "message": case.message}]
    pending = pending if case.is_pending else []
    warning = f"warning: {NGINX} is {case.message}\n" if case.is_pending else ""
    assert (render.code, render.err) == (0, warning)
    for words in (("render", "-o", "json"), ("reconcile", "-o", "json"), ("status", "-o", "json")):
        assert json.loads(fleet.run(*words).out)["pending"] == pending

    page = fleet.repository.show("README.md").splitlines()
    assert [line for line in page if line.startswith(("| [b]", "| b"))] == (
        [f"| [b](clusters/b) | 1 | {case.replicas['b']} |  |", "| bindings | |"]
        if "b" in case.replicas
        else ["| b | 0 | 0 |  |", "| bindings | |"]
    )
    assert "| SuspendDispatching | 1 |" in page
    told = fleet.run("status")
    table = {line.split()[0]: line.split()[2] for line in told.out.splitlines()[3:6]}
    assert (told.code, table) == (0, {**dict.fromkeys("abc", "0"), **{n: str(c) for n, c in case.replicas.items()}})
    assert told.out.endswith(f"{NGINX}   SuspendDispatching   {case.message}\n")
    value = json.loads(fleet.run("status", "-o", "json").out)
    assert (value["bindings"][0]["clusters"], value["bindings"][0]["problems"]) == (case.replicas, [])
    assert fleet.run("status", "deploy/nginx").code == 0


def test_a_pass_repeats_what_is_pending_and_changes_nothing(fleet: Fleet) -> None:
    outdated(fleet)
    tip = fleet.repository.git("rev-parse", "argosy/rendered")
    for _ in range(2):
        ended = fleet.reconcile()
        assert ended.err == f"warning: {NGINX} is {OUTDATED}\n"
    fleet.repository.git("commit", "-q", "--allow-empty", "-m", "nothing")
    (fleet.repository.path / ".git/argosy/checkpoint.json").unlink()
    fleet.reconcile()
    assert fleet.repository.git("rev-parse", "argosy/rendered") == tip
    assert fleet.run("verify").code == 0


def lazy(fleet: Fleet) -> None:
    fleet.commit(policy=the_policy(activationPreference="Lazy"), nginx=a_deployment(replicas=6))
    fleet.reconcile()
    fleet.commit(nginx=a_deployment(replicas=6, image="nginx:1.28"))
    fleet.reconcile()


def lazy_and_changed(fleet: Fleet) -> None:
    lazy(fleet)
    fleet.commit(policy=the_policy("a", "c", activationPreference="Lazy"))
    fleet.reconcile()


class Change(NamedTuple):
    why: str
    prepare: Callable[[Fleet], None]
    files: dict[str, Any]
    summary: str
    lines: list[str]


FROM_B_TO_C = [
    '      placement.clusterAffinity.clusterNames[1]: "b" -> "c"',
    '      placement.replicaScheduling.weightPreference.staticWeightList[1].targetCluster.clusterNames[0]: "b" -> "c"',
]
IMAGE = '      spec.template.spec.containers[nginx].image: "nginx:1.29" -> "nginx:1.30"'
CHANGES = [
    Change(
        "dispatching to one cluster is suspended",
        lambda _: None,
        {"policy.yaml": the_policy(suspension=ON_B)},
        "1 object pending",
        ["", "PENDING", f"  ! {NGINX} is not dispatched to b, which has what it would get"],
    ),
    Change(
        "dispatching is suspended everywhere",
        lambda _: None,
        {"policy.yaml": the_policy(suspension=EVERYWHERE)},
        "1 object pending",
        ["", "PENDING", f"  ! {NGINX} is not dispatched to a, b, which have what they would get"],
    ),
    Change(
        "a new image of a suspended object",
        suspended,
        {"nginx.yaml": a_deployment(replicas=6, image="nginx:1.30")},
        "1 cluster changes, 1 object changed, 1 object pending",
        [
            "",
            "OBJECTS",
            f"  ~ {NGINX} in a",
            IMAGE,
            "",
            "PENDING",
            f"  ! {NGINX} is not dispatched to b, where it would change",
            IMAGE,
        ],
    ),
    Change(
        "another number of replicas",
        suspended,
        {"nginx.yaml": a_deployment(replicas=8)},
        "1 cluster changes, 1 object changed, 1 object pending",
        [
            "",
            "OBJECTS",
            "  ~ 1 by its replicas",
            "",
            "PENDING",
            f"  ! {NGINX} is not dispatched to b, where it would change",
            "      spec.replicas: 3 -> 4",
            "",
            "REPLICAS",
            f"  {NGINX}: 6 -> 7 replicas, 0 moved",
            "      a 3 -> 4",
        ],
    ),
    Change(
        "a new image where the object never came",
        suspended_before_it_came,
        {"nginx.yaml": a_deployment(replicas=6, image="nginx:1.30")},
        "1 cluster changes, 1 object changed, 1 object pending",
        [
            "",
            "OBJECTS",
            f"  ~ {NGINX} in a",
            IMAGE,
            "",
            "PENDING",
            f"  ! {NGINX} is not dispatched to b, which would get it",
        ],
    ),
    Change(
        "the suspension ends",
        outdated,
        {"policy.yaml": the_policy()},
        "1 cluster changes, 1 object changed, 1 object no longer pending",
        [
            "",
            "OBJECTS",
            f"  ~ {NGINX} in b",
            "      spec.replicas: 3 -> 5",
            IMAGE,
            "",
            "PENDING",
            f"    {NGINX} is no longer held back from b",
            "",
            "REPLICAS",
            f"  {NGINX}: 8 -> 10 replicas, 0 moved",
            "      b 3 -> 5",
        ],
    ),
    Change(
        "a lazy policy changes",
        lazy,
        {"policy.yaml": the_policy("a", "c", activationPreference="Lazy")},
        "1 object pending",
        [
            "",
            "PENDING",
            f"  ! {NGINX} is {LAZY}",
            *FROM_B_TO_C,
        ],
    ),
    Change(
        "a lazy policy is suspended",
        lazy,
        {"policy.yaml": the_policy("a", "c", activationPreference="Lazy", suspension=EVERYWHERE)},
        "1 object pending",
        [
            "",
            "PENDING",
            f"  ! {NGINX} is {LAZY.replace('placement takes', 'placement, suspension take')}",
            *FROM_B_TO_C,
            '      suspension: added {"dispatching":true}',
        ],
    ),
    Change(
        "a lazy policy is as it was again",
        lazy_and_changed,
        {"policy.yaml": the_policy(activationPreference="Lazy")},
        "1 object no longer pending",
        [
            "",
            "REVERT",
            "  the source is again that of rendered commit; replicas are where they were",
            "",
            "PENDING",
            f"    {NGINX} is no longer waiting",
        ],
    ),
    Change(
        "a lazy policy takes over from another",
        lazy,
        {
            "other.yaml": {
                **the_policy(
                    priority=5, preemption="Always", activationPreference="Lazy", conflictResolution="Overwrite"
                ),
                "metadata": {"name": "other", "namespace": "default"},
            }
        },
        "1 object pending",
        [
            "",
            "PENDING",
            f"  ! {NGINX} is {TAKEOVER}",
            '      conflictResolution: added "Overwrite"',
        ],
    ),
]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.why)
def test_no_change_of_it_is_no_difference(case: Change, fleet: Fleet) -> None:
    case.prepare(fleet)
    fleet.repository.write(case.files)
    ended = fleet.run("diff")
    first, risk, *lines = re.sub("rendered commit [0-9a-f]+", "rendered commit", ended.out).splitlines()
    if not risk.startswith("risk: "):  # nothing is touched where all of it is pending
        lines = [risk, *lines]
    assert (ended.code, first.partition(": ")[2], lines) == (1, case.summary, case.lines)
    assert json.loads(fleet.run("diff", "-o", "json").out)["different"] is True
    assert fleet.run("diff", "--stat").out.splitlines()[-1] == case.summary


def test_many_objects_of_which_the_same_is_pending_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    suspended_policy = a_policy(selectors=selectors, placement=on_clusters("a", "b"), suspension=ON_B)
    repository.commit({"policy.yaml": suspended_policy, "a.yaml": a_cluster("a"), "b.yaml": a_cluster("b")})
    repository.commit({f"maps/{number:02}.yaml": a_config_map(f"map-{number:02}") for number in range(11)})

    def pending(*arguments: str) -> list[str]:
        out = argosy(repository, capsys, *arguments, "diff", "--bootstrap", "HEAD~", "HEAD").out
        return out.partition("\nPENDING\n")[2].partition("\n\n")[0].splitlines()

    assert pending() == ["  ! 11 objects (11 ConfigMap) are not dispatched to b, which would get them"]
    assert pending("-v")[:2] == [
        "  ! ConfigMap default/map-00 is not dispatched to b, which would get it",
        "  ! ConfigMap default/map-01 is not dispatched to b, which would get it",
    ]
    repository.commit({"policy.yaml": {**suspended_policy, "spec": {**suspended_policy["spec"], "suspension": {}}}})
    assert pending() == ["    11 objects (11 ConfigMap) are no longer held back from b"]


def test_once_a_change_of_it_is_rendered_there_is_no_difference(fleet: Fleet) -> None:
    outdated(fleet)
    assert fleet.run("diff") == Ended(
        0, f"{fleet.repository.git('rev-parse', 'HEAD')[:12]}..work tree: no difference\n", ""
    )


def test_json_tells_what_suspended_clusters_miss(fleet: Fleet) -> None:
    suspended(fleet)
    fleet.repository.write({"nginx.yaml": a_deployment(replicas=6, image="nginx:1.30")})
    told = json.loads(fleet.run("diff", "-o", "json").out)
    ref = {"group": "apps", "kind": "Deployment", "namespace": "default", "name": "nginx"}
    path = "spec.template.spec.containers[nginx].image"
    missed = {
        "object": ref,
        "reason": "SuspendDispatching",
        "message": "",
        "clusters": ["b"],
        "action": "changed",
        "fields": [{"path": path, "operator": "replace", "before": "nginx:1.29", "after": "nginx:1.30"}],
    }
    assert (told["pending"], told["ended"], told["summary"]["pending"]) == ([missed], [], 1)


def test_a_pull_request_says_what_suspended_clusters_miss(fleet: Fleet) -> None:
    suspended(fleet)
    fleet.repository.write({"nginx.yaml": a_deployment(replicas=6, image="nginx:1.30")})
    text = fleet.run("diff", "-o", "markdown").out
    _, _, title, body, *_ = text.split("\n\n")
    assert title == "**Pending (1)**"
    assert body.splitlines() == [
        "```diff",
        f"! {NGINX} is not dispatched to b, where it would change",
        '- spec.template.spec.containers[nginx].image: "nginx:1.29"',
        '+ spec.template.spec.containers[nginx].image: "nginx:1.30"',
        "```",
    ]


def test_a_secret_that_is_pending_is_never_shown(fleet: Fleet) -> None:
    def secret(value: str) -> dict[str, Any]:
        """A Secret with a value."""
        return {**a_config_map("key"), "kind": "Secret", "data": {"key": value}}

    secrets: dict[str, Any] = {"selectors": [{"apiVersion": "v1", "kind": "Secret"}], "placement": on_clusters("b")}
    fleet.commit(key=secret("b25l"), keys=a_policy("keys", **secrets))
    fleet.reconcile()
    fleet.commit(keys=a_policy("keys", suspension=EVERYWHERE, **secrets))
    fleet.reconcile()
    fleet.repository.write({"key.yaml": secret("dHdv")})
    assert fleet.diff() == [
        "",
        "PENDING",
        "  ! Secret default/key is not dispatched to b, where it would change",
        "      data.key: (hidden) -> (hidden)",
    ]


COPY = "clusters/{}/default/Deployment.apps/nginx.yaml"
STAYS_IN_A = "stays in a: its new place does not get it while dispatching is suspended"
ONE_CLUSTER = {"spreadConstraints": [{"spreadByField": "cluster", "maxGroups": 1}]}


def drain_of_a(fleet: Fleet) -> None:
    assert fleet.run("cluster", "drain", "a", "--commit").code == 0


def drain_that_allows_the_loss(fleet: Fleet) -> None:
    assert fleet.run("cluster", "drain", "a", "--commit", "--allow-unplaced").code == 0


def edit_of_the_policy(fleet: Fleet) -> None:
    fleet.commit(policy=a_policy(placement=on_clusters("b"), suspension=EVERYWHERE))


class Left(NamedTuple):
    """An object is placed by something, leaves cluster a by something, and stays there as no other has all of it."""

    why: str
    placement: dict[str, Any]
    leave: Callable[[Fleet], None]
    stays: bool = True
    settings: Mapping[str, Any] = MappingProxyType({})


LEFT = [
    Left("its one copy, by a drain", ONE_CLUSTER, drain_of_a),
    Left("its one copy, by an edit", on_clusters("a"), edit_of_the_policy),
    Left("replicas that others are to get", the_policy()["spec"]["placement"], drain_of_a),
    Left("a copy that another cluster has as well", on_clusters("a", "b"), drain_of_a, stays=False),
    Left("its one copy, by a drain that allows the loss", ONE_CLUSTER, drain_that_allows_the_loss, stays=False),
    Left(
        "its one copy, where last copies are not kept",
        ONE_CLUSTER,
        drain_of_a,
        stays=False,
        settings={"failover": {"lastCopy": "Evict"}},
    ),
]


@pytest.mark.parametrize("case", LEFT, ids=lambda case: case.why)
def test_nothing_leaves_a_cluster_while_its_new_place_does_not_get_it(case: Left, fleet: Fleet) -> None:
    def policy(**spec: Any) -> dict[str, Any]:
        return a_policy(placement=case.placement, **spec)

    settings = {"removalGuard": {"whole": 100, "count": 100}, **case.settings}
    fleet.commit(argosy=a_fleet(**settings), policy=policy())
    fleet.reconcile("--accept-settings", "--allow-movement", "*=100", "--allow-removal", "b=1")
    fleet.commit(policy=policy(suspension=EVERYWHERE))
    fleet.reconcile()
    copy = fleet.repository.show(COPY.format("a"))
    case.leave(fleet)
    for _ in range(3):
        ended = fleet.run("reconcile", "--allow-movement", "*=100", "--allow-removal", "a=1")
        assert ended.code == (1 if case.stays else 0), ended.err
        assert (STAYS_IN_A in ended.err) is case.stays
        assert (COPY.format("a") in fleet.repository.files()) is case.stays
    notes = [each["message"] for each in fleet.binding()["status"].get("conditions", []) if each["type"] == "Evicted"]
    assert notes == ([STAYS_IN_A] if case.stays else [])
    if case.stays:
        assert fleet.repository.show(COPY.format("a")) == copy
        assert STAYS_IN_A in fleet.run("explain", "cluster/a").out
        explained = fleet.run("explain", "deploy/nginx").out
        assert STAYS_IN_A in explained, explained
        assert "suspends dispatching, but nothing differs" not in explained
        assert "a" in {line.split()[0] for line in fleet.run("status", "deploy/nginx").out.splitlines() if line}
    text = (fleet.repository.path / "policy.yaml").read_text()
    document = parse_documents(text.encode())[0].value
    document["spec"].pop("suspension")
    fleet.commit(policy=document)
    fleet.reconcile("--allow-movement", "*=100", "--allow-removal", "a=1")
    assert COPY.format("a") not in fleet.repository.files()
    assert COPY.format("b") in fleet.repository.files()


def test_a_lazy_policy_waits_until_the_template_changes(fleet: Fleet) -> None:
    lazy_and_changed(fleet)
    assert fleet.reconcile().err == f"warning: {NGINX} is {LAZY}\n"
    (condition,) = (each for each in fleet.binding()["status"]["conditions"] if each["type"] == "Activated")
    assert (condition["reason"], condition["message"]) == ("LazyActivation", LAZY)
    status = fleet.run("status")
    assert (status.code, status.out.splitlines()[-1].split("   ")) == (0, [NGINX, "LazyActivation", LAZY])
    assert fleet.run("status", "deploy/nginx").out.splitlines()[2] == f"LazyActivation: {LAZY}"
    assert fleet.run("explain", "deploy/nginx").out.splitlines()[3] == f"  It is {LAZY}."
    assert json.loads(fleet.run("render", "-o", "json").out)["pending"] == [
        {"object": NGINX, "clusters": [], "reason": "LazyActivation", "message": LAZY}
    ]
    fleet.commit(nginx=a_deployment(replicas=6, image="nginx:1.30"))
    assert fleet.reconcile("--allow-removal", "b=1").err == ""
    assert "kept" not in fleet.binding()["status"]
    assert [each["type"] for each in fleet.binding()["status"]["conditions"]] == ["Scheduled"]


def test_another_scheduler_s_object_is_not_scheduled(fleet: Fleet) -> None:
    fleet.repository.write({"policy.yaml": the_policy("c", schedulerName="mine")})
    said = "not scheduled: scheduler 'mine' is to place it; its clusters and replicas stay as they are"
    assert fleet.diff() == ["", "PENDING", f"  ! {NGINX} is {said}"]
    fleet.commit()
    fleet.reconcile()
    (condition,) = (each for each in fleet.binding()["status"]["conditions"] if each["type"] == "Scheduling")
    assert (condition["reason"], condition["message"]) == ("OtherScheduler", said)


KEPT = [
    (suspended, "but nothing differs (3 replicas)"),
    (suspended_before_it_came, "and it is not there yet"),
    (outdated, "so an older version stays (3 replicas)"),
]


@pytest.mark.parametrize(("prepare", "end"), KEPT)
def test_explain_says_because_of_what_a_cluster_keeps_it(
    prepare: Callable[[Fleet], None], end: str, fleet: Fleet
) -> None:
    prepare(fleet)
    lines = fleet.run("explain", "deploy/nginx").out.splitlines()
    at = lines.index("Kept as an earlier commit had it")
    row = f"  b          SuspendDispatching   {POLICY} suspends dispatching, {end}"
    assert lines[at + 1 :] == ["  CLUSTERS   REASON               MESSAGE", row]


def test_explain_does_not_count_what_a_cluster_does_not_get(fleet: Fleet) -> None:
    suspended_before_it_came(fleet)
    assert fleet.run("explain", "cluster/b").out.splitlines()[3:] == [
        "  It holds 0 objects.",
        "",
        "It does not hold",
        "  OBJECT                          REASON",
        f"  {NGINX}   {POLICY} suspends dispatching to the cluster",
    ]
    assert fleet.run("explain", "policy/nginx").out.splitlines()[-1].split() == [*NGINX.split(), "name", "a:3"]
    assert f"It is {ABSENT}." in fleet.run("explain", "deploy/nginx").out


def test_status_of_a_cluster_lists_what_it_does_not_get(fleet: Fleet) -> None:
    suspended_before_it_came(fleet)
    told = fleet.run("status", "cluster/b")
    assert (told.code, told.out.splitlines()[4:]) == (
        0,
        [
            "",
            "PENDING                         REASON               MESSAGE",
            f"{NGINX}   SuspendDispatching   {ABSENT}",
        ],
    )
    value = json.loads(fleet.run("status", "cluster/b", "-o", "json").out)
    assert (value["objects"], [each["message"] for each in value["pending"]]) == ([], [ABSENT])
    assert json.loads(fleet.run("status", "cluster/a", "-o", "json").out)["pending"] == []


@pytest.fixture
def applied(tmp_path: Path) -> MemoryFleet:
    """Members a and b; nginx is in a, healthy, and dispatching to b was suspended before it came there."""
    files = {"nginx.yaml": a_deployment(replicas=6), "policy.yaml": the_policy(suspension=ON_B)}
    made = MemoryFleet.create(tmp_path / "fleet", {"a": (1, ROOMY), "b": (1, ROOMY)}, files)
    made.run()
    settle(made.members["a"])
    made.run(60)
    return made


def test_an_object_is_well_though_a_suspended_cluster_does_not_have_it(
    applied: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    told = applied.status(capsys, "deploy/nginx")
    lines = told.out.splitlines()
    assert (told.code, [line.split() for line in lines[-2:]]) == (
        0,
        [
            ["a", "3", "3", "3/3", "True", "Healthy", "2027-01-15T08:01:00Z"],
            ["b", "-", "False", "Unknown", "SuspendDispatching"],
        ],
    )
    assert f"  {ABSENT}" in lines
    assert applied.status(capsys).code == 0
    told = applied.status(capsys, "cluster/b")
    row = f"{NGINX}   SuspendDispatching   {ABSENT}\n"
    assert (told.code, told.out.endswith(f"PENDING                         REASON               MESSAGE\n{row}")) == (
        0,
        True,
    )


def test_an_older_version_is_told_from_the_wanted_one(applied: MemoryFleet, capsys: pytest.CaptureFixture[str]) -> None:
    applied.repository.commit({"policy.yaml": the_policy()})
    applied.run(60)
    settle(applied.members["b"])
    applied.run(60)
    applied.repository.commit(
        {"policy.yaml": the_policy(suspension=ON_B), "nginx.yaml": a_deployment(replicas=10, image="nginx:1.30")}
    )
    applied.run(60)
    settle(applied.members["a"])
    applied.run(60)
    told = applied.status(capsys, "deploy/nginx")
    rows = [line.split()[:-1] for line in told.out.splitlines()[-2:]]
    assert (told.code, rows) == (
        0,
        [["a", "5", "5", "5/5", "True", "Healthy"], ["b", "3", "3", "3/3", "True", "Healthy", "SuspendDispatching"]],
    )


def test_waiting_ends_though_something_is_pending_and_says_so(
    applied: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ((), ("deploy/nginx",), ("cluster/b",)):
        ended = argosy(applied.repository, capsys, "wait", "--timeout", "0s", *words)
        subject = words[0] if words else "the fleet"
        assert ended == (0, f"{subject} is applied\n", f"warning: {NGINX} is {ABSENT}\n")
    told = json.loads(argosy(applied.repository, capsys, "wait", "--timeout", "0s", "-o", "json").out)
    assert (told["cameTrue"], [each["message"] for each in told["pending"]]) == (True, [ABSENT])
    assert argosy(applied.repository, capsys, "wait", "--timeout", "0s", "cluster/a").err == ""


def test_what_is_dispatched_nowhere_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"nginx.yaml": a_deployment(), "policy.yaml": the_policy("a", suspension=EVERYWHERE)}
    fleet = MemoryFleet.create(tmp_path / "fleet", {"a": (1, ROOMY)}, files)
    fleet.run()
    ended = argosy(fleet.repository, capsys, "wait", "--timeout", "0s", "deploy/nginx")
    said = f"warning: {NGINX} is not dispatched: dispatching is suspended everywhere"
    assert (ended.code, ended.err.splitlines()[1:]) == (1, [said])


HELD_ROW = "  b          RemovalHeld   b: 1 of 1 object would leave (more than 0)"


def test_explain_says_that_the_removal_guard_holds_a_cluster_back(fleet: Fleet) -> None:
    argosy_yaml = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": {"removalGuard": {"scope": "Cluster", "count": 0, "percent": 0}},
    }
    fleet.commit(argosy=argosy_yaml, policy=the_policy("a"))
    assert fleet.run("reconcile").code == 6
    lines = fleet.run("explain", "deploy/nginx").out.splitlines()
    at = lines.index("Kept as an earlier commit had it")
    assert lines[at + 1 :] == ["  CLUSTERS   REASON        MESSAGE", HELD_ROW]
    assert fleet.run("explain", "cluster/b").out.splitlines()[3:] == [
        "  It holds 1 object.",
        "",
        "It holds",
        "  OBJECT                          WHY",
        f"  {NGINX}   RemovalHeld: too much would leave the cluster at once",
    ]


def test_kept_objects_are_counted_beside_those_that_differ() -> None:
    ref = ObjectRef("apps", "Deployment", "default", "nginx")

    def words_about(*objects: PlannedObject) -> str:
        return next(live_text([ClusterReport(cluster="a", plan=Plan(cluster="a", objects=objects))])).strip()

    missing, different = (
        PlannedObject(ref=ref, action=Action.KEPT, reason="SuspendDispatching", message=message)
        for message in (SUSPENDED_AND_MISSING, SUSPENDED_AND_DIFFERENT)
    )
    created = PlannedObject(ref=ref, action=Action.CREATED, reason="Missing")
    both = "2 kept objects are missing, 1 kept object is different"
    assert words_about(missing, missing, different) == f"a: equal but for this: {both}"
    assert words_about(created, missing, missing, different) == f"a: 1 object differs, and {both}"
    assert words_about(created) == "a: 1 object differs"


def test_a_live_difference_names_what_a_run_leaves_because_of_it() -> None:
    """It is no difference from the commit, which holds what the cluster keeps."""
    item = PlannedObject(
        ref=ObjectRef("apps", "Deployment", "default", "nginx"),
        action=Action.KEPT,
        reason="SuspendDispatching",
        message="its dispatch is suspended",
    )
    told = live_text([ClusterReport(cluster="b", plan=Plan(cluster="b", objects=(item,)))])
    assert "".join(told) == f"b: equal\n  ! {NGINX} kept (SuspendDispatching): its dispatch is suspended\n"


def test_what_is_missing_or_differs_while_it_is_suspended_is_not_called_equal(
    applied: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    applied.repository.commit({"policy.yaml": the_policy(suspension=EVERYWHERE)})
    applied.run()
    member, key = applied.members["a"], ("deployments.apps", "default", "nginx")

    def said_of_it() -> tuple[str, str, list[str]]:
        """The line about the member, and in JSON what is said of its object, with the fields that differ."""
        reports = tuple(each for each in applied.run(dry_run=True) if each.cluster == "a")
        document = plain_document(live_difference_document("", reports))
        (listed,) = document["clusters"]["a"]["objects"]
        differing = [f"{each['path']} {each['live']} {each['want']}" for each in listed["fields"]]
        return "".join(live_text(reports)).splitlines()[0], listed["message"], differing

    kept = "its dispatch is suspended"
    assert said_of_it() == ("a: equal", kept, [])
    path = "/apis/apps/v1/namespaces/default/deployments/nginx?fieldManager=kubectl"
    assert member.request("PATCH", path, {"spec": {"replicas": 9}}, content_type=MERGE_PATCH)[0] == 200
    different = "a: equal but for this: 1 kept object is different"
    assert said_of_it() == (different, f"{kept}; it differs in the cluster", [".spec.replicas 9 3"])
    del member.objects[key]
    missing = "a: equal but for this: 1 kept object is missing"
    assert said_of_it() == (missing, f"{kept}; it is missing in the cluster", [])
    applied.run(60)
    assert "it is missing in the cluster" in applied.status(capsys, "deploy/nginx").out


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (SUSPENDED, "no longer held back from b"),
        (LAZY_ACTIVATION, "no longer waiting"),
        (SCHEDULING_SUSPENDED, "scheduled again"),
        (OTHER_SCHEDULER, "scheduled again"),
    ],
)
def test_the_end_of_every_reason_is_told_in_its_words(reason: str, said: str) -> None:
    change = PendingChange(ref=ObjectRef("apps", "Deployment", "shop", "web"), reason=reason, clusters=("b",))
    assert words_of_ended_pending(change, ("a", "b")) == said
