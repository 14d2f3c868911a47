"""Applying in tests: a cluster - in memory or real - with a namespace of the test's own, and passes over it."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from msgspec.structs import replace

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.holder import LeaseHolder
from reconciler.deliver.results import ApplySettings, ClusterReport, ClusterResult, answer_digests_to_remember
from reconciler.ledger.inventory import Inventory
from reconciler.members.client import KubeClient
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import APPLY, JSON, Answer, Client, Failure, Request
from reconciler.members.kubeconfig import Contexts
from reconciler.observe.objects import observe_cluster
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import held_object_of_desired, make_plan
from reconciler.plans.model import ClusterDesired, DesiredObject, ObservedCluster, Plan, PlanOptions
from render.model import ObjectRef

from .clusters import Server
from .fakes import MERGE_PATCH, FakeCluster

QUICK = ApplySettings(settle_seconds=10.0, lease_seconds=2.0, holder=LeaseHolder(name="this pass"), version="1.0.0")


class Answering(Protocol):
    """A server that answers a test as the cluster's administrator."""

    name: str

    def request(self, method: str, path: str, body: Any = None, *, content_type: str = JSON) -> tuple[int, Any]: ...

    def read(self, path: str) -> Any: ...


Send = Callable[[Request], Answer | Failure]


def straight(request: Request, send: Send) -> Answer | Failure:
    return send(request)


@dataclass
class Recorder:
    """A client that remembers what was sent, over a wire that a test may meddle with."""

    client: Client
    requests: list[Request] = field(default_factory=list)
    wire: Callable[[Request, Send], Answer | Failure] = straight
    pinned: str = ""

    @property
    def stopped(self) -> Failure | None:
        return self.client.stopped

    @property
    def concurrency(self) -> int:
        return self.client.concurrency

    def send(self, request: Request) -> Answer | Failure:
        self.requests.append(request)
        return self.wire(request, self.client.send)

    def wait(self, seconds: float) -> bool:
        return self.client.wait(seconds)

    def require_cluster_uid(self, uid: str) -> None:
        self.pinned = uid
        self.client.require_cluster_uid(uid)

    def within(self, _seconds: float) -> Self:
        return self

    @property
    def writes(self) -> list[str]:
        """The requests that may have changed something, as ``METHOD path``."""
        return [f"{item.method} {item.path}" for item in self.requests if item.method != "GET"]


@dataclass
class Cluster:
    """A cluster with a namespace of the test's own, in which the set's parent stands as well.

    ``answered`` is what its server answered to the applies of the test, as an inventory remembers it.
    """

    server: Answering
    space: str
    answered: frozenset[str] | None = None

    @property
    def is_real(self) -> bool:
        """True where a server's own code answers, over an etcd or not."""
        return isinstance(self.server, Server)

    @property
    def applyset(self) -> ApplySet:
        return ApplySet(name=f"argosy-{self.space}", namespace=self.space)

    def client(self, seconds: float = 120.0) -> Recorder:
        if isinstance(self.server, Server):
            return Recorder(client_of(self.server, seconds))
        assert isinstance(self.server, FakeCluster)
        return Recorder(self.server)

    def path(self, plural: str, name: str = "", api: str = "api/v1") -> str:
        """The path of a namespaced object of the test."""
        return f"/{api}/namespaces/{self.space}/{plural}" + (f"/{name}" if name else "")

    def read(self, plural: str, name: str, api: str = "api/v1") -> Any:
        return self.server.read(self.path(plural, name, api))

    def edit(self, plural: str, name: str, patch: Any, *, api: str = "api/v1", manager: str = "kubectl-edit") -> Any:
        """Change an object as somebody else."""
        path = f"{self.path(plural, name, api)}?fieldManager={manager}"
        status, body = self.server.request("PATCH", path, patch, content_type=MERGE_PATCH)
        assert status == 200, body
        return body

    def apply_as(self, manager: str, plural: str, manifest: Mapping[str, Any], api: str = "api/v1") -> Any:
        """Apply an object as another tool."""
        path = f"{self.path(plural, manifest['metadata']['name'], api)}?fieldManager={manager}&force=true"
        status, body = self.server.request("PATCH", path, manifest, content_type=APPLY)
        assert status in {200, 201}, body
        return body

    def create(self, plural: str, manifest: Mapping[str, Any], api: str = "api/v1", manager: str = "somebody") -> Any:
        """Create an object as somebody else."""
        path = f"{self.path(plural, api=api)}?fieldManager={manager}"
        status, body = self.server.request("POST", path, manifest)
        assert status == 201, body
        return body

    def options(self, **chosen: Any) -> PlanOptions:
        return PlanOptions(**{"applyset": self.applyset, **chosen})

    def inventory(self, *manifests: Mapping[str, Any], preserve: bool = False, **fields: Any) -> Inventory:
        """An inventory whose commits' trees held these manifests."""
        held = (held_object_of_desired(wanted, preserve=preserve) for wanted in desired_objects(manifests))
        return Inventory(cluster=self.server.name, **fields).with_objects(held)

    def plan(
        self, manifests: Iterable[Mapping[str, Any]], inventory: Inventory | None = None, **chosen: Any
    ) -> tuple[ObservedCluster, Plan]:
        return planned(self, self.client(), tuple(manifests), inventory, self.options(**chosen))

    def apply(
        self,
        *manifests: Mapping[str, Any] | DesiredObject,
        inventory: Inventory | None = None,
        client: Recorder | None = None,
        how: ApplySettings = QUICK,
        **chosen: Any,
    ) -> ClusterResult:
        """One pass: look, plan, carry out."""
        sender = client or self.client()
        known = replace(inventory or Inventory(cluster=self.server.name), answered=self.answered)
        observed, plan = planned(self, sender, manifests, known, self.options(**chosen))
        applied = apply_plan(sender, plan, how)
        report = ClusterReport(cluster=self.server.name, observed=observed, plan=plan, applied=applied)
        if not how.dry_run:
            self.answered = answer_digests_to_remember(report, self.answered)
        return applied


def planned(
    cluster: Cluster,
    client: Client,
    manifests: tuple[Mapping[str, Any] | DesiredObject, ...],
    inventory: Inventory | None,
    options: PlanOptions,
) -> tuple[ObservedCluster, Plan]:
    name = cluster.server.name
    desired = ClusterDesired(cluster=name, commit="c0ffee", objects=desired_objects(manifests))
    known = inventory or Inventory(cluster=name)
    observed = observe_cluster(client, desired, known, options.applyset)
    return observed, make_plan(desired, observed, known, options)


def desired_objects(manifests: Iterable[Mapping[str, Any] | DesiredObject]) -> tuple[DesiredObject, ...]:
    return tuple(
        item if isinstance(item, DesiredObject) else DesiredObject(ref=ObjectRef.of(item), manifest=item)
        for item in manifests
    )


def client_of(member: Server, seconds: float = 120.0) -> KubeClient:
    """A client for a real member, as a pass would open it."""
    context = Contexts(files=[member.kubeconfig]).find(member.name)
    assert not isinstance(context, Failure), context
    connection = open_connection(context, AuthPlugins(environment=os.environ))
    assert not isinstance(connection, Failure), connection
    return KubeClient(connection, deadline=time.monotonic() + seconds)


def outcomes(applied: ClusterResult) -> dict[str, str]:
    """Return each object's result, as ``Kind.group name`` -> ``action reason``."""
    return {
        f"{result.ref.group_kind} {result.ref.name}": f"{result.action} {result.reason}".strip()
        for result in applied.results
    }
