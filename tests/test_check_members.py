"""``argosy doctor`` about members: everything that keeps a pass from applying, in whole messages."""

import threading
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from reconciler.check.members import MemberAsking, MemberQuestion, member_checks
from reconciler.check.prerequisites import Check, printed_checks
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import Answer, Client, Failure, FailureKind, Request
from reconciler.members.visits import MemberReach
from reconciler.plans.model import ClusterDesired, DesiredObject
from render.model import ObjectRef

from .build import a_config_map, a_deployment
from .fakes import EVERYTHING, FakeCluster
from .tables import each_row

NOW = parsedate_to_datetime("Sat, 21 Nov 2026 12:00:00 GMT").timestamp()
WIDGET = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}}
GRANT = "grant the user of this context what is missing: argosy rbac --cluster NAME prints all that a pass needs"
WELL = Check(
    name="member eu",
    member="eu",
    is_well=True,
    state="UID uid-of-member1 as recorded, Kubernetes v0.0.0, clock like here, 2 objects of 2 kinds,"
    " may read, apply and delete them",
)


def question(name: str = "eu", *more: dict[str, Any], uid: str = "uid-of-member1") -> MemberQuestion:
    manifests = (a_deployment("web", namespace="shop"), a_config_map("settings", namespace="shop"), *more)
    objects = tuple(DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest) for manifest in manifests)
    inventory = Inventory(cluster=name, uid=uid) if uid else None
    return MemberQuestion(desired=ClusterDesired(cluster=name, objects=objects), inventory=inventory)


def asked(
    member: Client | Failure, *questions: MemberQuestion, clock: Callable[[], float] = lambda: NOW
) -> list[Check]:
    """The printed checks of members that one client answers for."""
    asking = MemberAsking(reach=MemberReach(open_client=lambda _name, _deadline: member, timeout=5.0), clock=clock)
    return list(printed_checks(member_checks(questions or (question(),), asking)))


def failing(name: str, state: str, hint: str = "", *, member: str = "eu") -> Check:
    return Check(name=f"member {member}: {name}", member=member, is_well=False, state=state, hint=hint)


def refusing(path: str, failure: Answer | Failure) -> FakeCluster:
    made = FakeCluster(now=NOW)
    made.faults.append(lambda request: failure if path in request.path else None)
    return made


def allowed(*rules: dict[str, Any]) -> FakeCluster:
    return FakeCluster(rules=list(rules), now=NOW)


def a_rule(verbs: str, resources: str, group: str = "", **more: Any) -> dict[str, Any]:
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **more}


SEEING = a_rule("list", "nodes pods")
OWN = (
    SEEING,
    a_rule("get create patch delete", "configmaps", namespace="argosy-system"),
    a_rule("get create update", "leases", "coordination.k8s.io", namespace="argosy-system"),
    a_rule("get create patch", "namespaces"),
)
SHOP = (
    a_rule("*", "configmaps", namespace="shop"),
    a_rule("*", "deployments", "apps", namespace="shop"),
    a_rule("list", "events", namespace="shop"),
    a_rule("list", "replicasets", "apps", namespace="shop"),
    a_rule("list", "horizontalpodautoscalers", "autoscaling", namespace="shop"),
)


def running(version: str) -> FakeCluster:
    return refusing("/version", Answer(status=200, body={"gitVersion": version}))


class Aged(NamedTuple):
    version: str
    want: list[Check]


CLOCKLESS = replace(WELL, state=WELL.state.replace("Kubernetes v0.0.0, clock like here, ", ""))
BETA = (
    "Kubernetes v1.21.14-eks-1 is older than 1.22: its server-side apply is a beta that does not record who scaled a"
    " workload, so that such replicas are taken back where no autoscaler is listed"
)
AGED = [
    Aged("v1.22.0", [replace(WELL, state=WELL.state.replace("v0.0.0, clock like here", "v1.22.0"))]),
    Aged(
        "v1.21.14-eks-1",
        [CLOCKLESS, replace(failing("version", BETA, "upgrade the cluster"), is_well=True, is_warning=True)],
    ),
    Aged(
        "v1.15.9",
        [
            failing(
                "version",
                "Kubernetes v1.15.9 is older than 1.16, which has the first usable server-side apply",
                "upgrade the cluster",
            )
        ],
    ),
]


@each_row("case", AGED, ids=lambda case: case.version)
def test_a_member_that_is_older_than_an_apply_needs_is_told(case: Aged) -> None:
    assert asked(running(case.version)) == case.want


def test_a_server_without_readyz_is_asked_for_healthz() -> None:
    """An API server answers a path that it does not have as if that were a kind, so that it was never asked."""
    member = refusing("/readyz", Failure(kind=FailureKind.NOT_SERVED, message="not here", status=404))
    member.faults.append(lambda request: Answer(status=200, body="ok") if request.path == "/healthz" else None)
    assert asked(member) == [WELL]


class Broken(NamedTuple):
    why: str
    member: FakeCluster | Failure
    want: list[Check]
    questions: tuple[MemberQuestion, ...] = ()
    clock: float = NOW


NO_CONTEXT = Failure(kind=FailureKind.CREDENTIALS, message="no context named 'eu' in config", hint="say which")
CLOSED = Failure(kind=FailureKind.UNREACHABLE, message="https://eu refuses connections", hint="see whether it is up")
EXPIRED = Failure(
    kind=FailureKind.UNAUTHORIZED, message="the cluster does not accept these credentials", hint="renew them"
)
FORBIDDEN = Failure(kind=FailureKind.FORBIDDEN, message='User "x" cannot get resource "namespaces"', status=403)
HANGING = Failure(kind=FailureKind.WEBHOOK, message="the admission webhook does not answer", hint="see", status=500)
REJOIN = (
    "correct the context; if the cluster was built anew, take it in again:"
    " argosy cluster rejoin eu --accept-uid uid-of-member1"
)
BROKEN = [
    Broken("nothing", FakeCluster(now=NOW), [WELL]),
    Broken(
        "no context",
        NO_CONTEXT,
        [failing("credentials", "NoCredentials: no context named 'eu' in config", "say which")],
    ),
    Broken(
        "nobody answers",
        refusing("/version", CLOSED),
        [failing("connection", "Unreachable: https://eu refuses connections", "see whether it is up")],
    ),
    Broken(
        "an expired token",
        refusing("/namespaces/kube-system", EXPIRED),
        [failing("credentials", "Unauthorized: the cluster does not accept these credentials", "renew them")],
    ),
    Broken(
        "no right to know the cluster",
        refusing("/namespaces/kube-system", FORBIDDEN),
        [failing("permissions", "may not get namespaces: by kube-system a cluster is known", GRANT)],
    ),
    Broken(
        "another cluster",
        FakeCluster(now=NOW),
        [failing("identity", "its context leads to another cluster: the UID is uid-of-member1, not uid-9", REJOIN)],
        (question(uid="uid-9"),),
    ),
    Broken(
        "a clock that is ahead",
        FakeCluster(now=NOW),
        [
            failing(
                "clock", "its clock is 31 s ahead of the one here", "correct one of them: tokens and leases go by time"
            )
        ],
        clock=NOW - 31,
    ),
    Broken(
        "a clock that is behind",
        FakeCluster(now=NOW),
        [
            failing(
                "clock", "its clock is 90 s behind the one here", "correct one of them: tokens and leases go by time"
            )
        ],
        clock=NOW + 90,
    ),
    Broken(
        "a kind that is not served",
        FakeCluster(now=NOW),
        [
            failing(
                "kinds",
                "it does not serve Widget of example.io/v1; ConfigMap of v2 (but v1)",
                "propagate the CustomResourceDefinition, or install what serves the kind",
            )
        ],
        (question("eu", WIDGET, {**a_config_map("new", namespace="shop"), "apiVersion": "v2"}),),
    ),
    Broken("all that is needed, and no more", allowed(*OWN, *SHOP), [WELL]),
    Broken(
        "verbs and kinds that are missing",
        allowed(*OWN, a_rule("get list", "configmaps", namespace="shop")),
        [
            failing(
                "permissions",
                "may not create, patch, delete configmaps in shop; list, get, create, patch, delete deployments.apps"
                " in shop",
                GRANT,
            )
        ],
    ),
    Broken(
        "nothing of our own",
        allowed(SEEING, *SHOP, a_rule("get", "namespaces")),
        [
            failing(
                "permissions",
                "may not get, create, patch, delete configmaps in argosy-system; get, create, update"
                " leases.coordination.k8s.io in argosy-system; create, patch namespaces",
                GRANT,
            )
        ],
    ),
    Broken(
        "a rule for single names",
        allowed(*OWN, SHOP[0], *SHOP[2:], {**SHOP[1], "verbs": ["*"], "resourceNames": ["web"]}),
        [WELL],
    ),
    Broken(
        "no answer about rights",
        refusing("/selfsubjectrulesreviews", CLOSED),
        [
            failing(
                "permissions",
                "it does not say what is allowed: Unreachable: https://eu refuses connections",
                "see whether it is up",
            )
        ],
    ),
    Broken(
        "a server that is not ready",
        refusing("/readyz", CLOSED),
        [
            failing(
                "readiness",
                "it does not say that it is healthy: Unreachable: https://eu refuses connections",
                "see what kubectl get --raw '/readyz?verbose' says there; whoever stands in between must let /readyz"
                " through",
            )
        ],
    ),
    Broken(
        "a kind that cannot be written",
        refusing("/deployments/web", HANGING),
        [
            failing(
                "objects",
                "it cannot write Deployment.apps: WebhookFailed: the admission webhook does not answer",
                "see",
            )
        ],
    ),
    Broken(
        "a single object that is refused",
        refusing("/deployments/web", replace(HANGING, kind=FailureKind.INVALID)),
        [WELL],
    ),
    Broken(
        "two members with one cluster",
        FakeCluster(now=NOW),
        [
            failing(
                "identity",
                f"its context leads to the same cluster as that of {other}",
                "give each member the context of its own cluster; argosy.yaml says which under clusters",
                member=name,
            )
            for name, other in (("eu", "us"), ("us", "eu"))
        ],
        (question("eu"), question("us", uid="")),
    ),
]


def written(member: FakeCluster) -> list[Request]:
    reviews = "/apis/authorization.k8s.io/"
    asked = (item for item in member.requests if not item.path.startswith(reviews) and "dryRun" not in item.query)
    return [item for item in asked if item.method != "GET"]


@each_row("case", BROKEN, ids=lambda case: case.why)
def test_what_keeps_a_pass_from_applying_is_told(case: Broken) -> None:
    found = asked(case.member, *case.questions, clock=lambda: case.clock)
    assert found == case.want
    assert isinstance(case.member, Failure) or written(case.member) == []


def test_what_only_capacity_needs_is_no_fault() -> None:
    (found,) = asked(allowed(*OWN[1:], *SHOP))
    assert found == replace(
        WELL, state=f"{WELL.state}, may not list nodes; list pods, so that its capacity is not known"
    )


def test_a_kind_that_the_tree_defines_is_not_missing() -> None:
    names = {"kind": "Widget", "plural": "widgets"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.io"},
        "spec": {
            "group": "example.io",
            "names": names,
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True}],
        },
    }
    (found,) = asked(FakeCluster(now=NOW), question("eu", WIDGET, crd))
    assert (found.is_well, "4 objects of 4 kinds" in found.state) == (True, True)


def test_one_review_for_each_namespace_is_enough() -> None:
    member = FakeCluster(rules=[EVERYTHING], now=NOW)
    asked(member)
    reviews = [item.path.rpartition("/")[2] for item in member.requests if item.method == "POST"]
    assert sorted(reviews) == ["selfsubjectaccessreviews"] * 5 + ["selfsubjectrulesreviews"] * 2


def test_one_that_hangs_costs_its_own_time_alone() -> None:
    """The others have answered long before; nobody waits for it longer than its time."""

    class Hanging(FakeCluster):
        def send(self, request: Request) -> Answer | Failure:
            threading.Event().wait(timeout=2.0)
            return super().send(request)

    members = {"eu": FakeCluster(now=NOW), "us": Hanging()}
    reach = MemberReach(open_client=lambda name, _deadline: members[name], timeout=0.4, max_parallel=1)
    asking = MemberAsking(reach=reach, grace=0.1, clock=lambda: NOW)
    begun = time.monotonic()
    found = list(printed_checks(member_checks([question("us"), question("eu")], asking)))
    assert time.monotonic() - begun < 2.0
    assert found == [
        failing("connection", "DeadlineExceeded: it did not answer everything within 0.4 s", member="us"),
        WELL,
    ]
