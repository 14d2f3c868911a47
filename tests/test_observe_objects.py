"""The observation of a cluster: few requests, whole lists or none, and what is not in them asked for by name."""

from typing import Any, NamedTuple

from reconciler.ledger.inventory import Inventory
from reconciler.members.discovery import Resource
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.listing import Listing, list_objects
from reconciler.observe.objects import observe_cluster
from reconciler.plans.model import ClusterDesired, ObservedCluster
from render.model import ObjectRef

from .applying import Cluster, Recorder, Send, desired_objects
from .build import a_config_map, a_deployment
from .fakes import FakeCluster
from .tables import each_row


def looked(
    cluster: Cluster, *manifests: dict[str, Any], client: Recorder | None = None, **known: Any
) -> ObservedCluster:
    desired = ClusterDesired(cluster="member1", objects=desired_objects(manifests))
    inventory = known.pop("inventory", None) or Inventory(cluster="member1", manager=cluster.applyset.manager, **known)
    return observe_cluster(client or cluster.client(), desired, inventory, cluster.applyset)


def paths(client: Recorder) -> list[str]:
    return [request.path for request in client.requests]


def test_an_unchanged_cluster_costs_a_list_per_kind(cluster: Cluster) -> None:
    manifests = [a_config_map(f"c{number}", namespace=cluster.space) for number in range(5)]
    manifests += [a_deployment("web", namespace=cluster.space)]
    cluster.apply(*manifests)
    client = cluster.client()
    seen = looked(cluster, *manifests, client=client)
    assert sorted(seen.live) == sorted(ObjectRef.of(manifest) for manifest in manifests)
    rewriting = "/apis/admissionregistration.k8s.io/v1/mutating"
    # These say when something that rewrites objects changes; not every server has both.
    asked = [path for path in paths(client) if not path.startswith(rewriting)]
    assert sorted({*paths(client)} - {*asked}) in (
        [],
        [f"{rewriting}admissionpolicybindings", f"{rewriting}webhookconfigurations"],
    )
    assert sorted(asked) == sorted(
        [
            "/version",
            "/api/v1/namespaces/kube-system",
            "/api",
            "/apis",
            cluster.path("configmaps", cluster.applyset.name),
            "/api/v1/configmaps",
            "/apis/apps/v1/deployments",
            "/apis/autoscaling/v2/horizontalpodautoscalers",
        ]
    )


def test_listed_objects_say_what_they_are(cluster: Cluster) -> None:
    """The items of a list leave their kind to the list; a Secret that does not say so would not be masked."""
    cluster.apply(a_config_map("a", namespace=cluster.space))
    (live,) = looked(cluster, a_config_map("a", namespace=cluster.space)).live.values()
    assert (live["apiVersion"], live["kind"]) == ("v1", "ConfigMap")


def test_a_cluster_is_known_by_its_kube_system_namespace(cluster: Cluster) -> None:
    observed = looked(cluster)
    system = cluster.server.read("/api/v1/namespaces/kube-system")
    assert (observed.uid, observed.failure) == (system["metadata"]["uid"], None)


def test_another_cluster_is_not_looked_into(cluster: Cluster) -> None:
    client = cluster.client()
    looked(cluster, a_config_map("a", namespace=cluster.space), client=client, uid="another")
    assert paths(client) == ["/version", "/api/v1/namespaces/kube-system"]


def test_a_cluster_that_does_not_answer_is_asked_once(cluster: Cluster) -> None:
    gone = Failure(kind=FailureKind.UNREACHABLE, message="it is gone")
    client = cluster.client()
    client.wire = lambda _request, _send: gone
    assert looked(cluster, client=client) == ObservedCluster(cluster="member1", failure=gone)
    assert [(request.path, request.tries) for request in client.requests] == [("/version", 1)]


def test_what_carries_no_label_is_asked_for_by_name(cluster: Cluster) -> None:
    theirs = a_config_map("theirs", namespace=cluster.space, a="1")
    cluster.create("configmaps", theirs)
    client = cluster.client()
    seen = looked(cluster, theirs, a_config_map("nobodys", namespace=cluster.space), client=client)
    assert list(seen.live) == [ObjectRef.of(theirs)]
    assert cluster.path("configmaps", "nobodys") in paths(client)


def test_many_names_are_first_narrowed_down_to_those_there_are(cluster: Cluster) -> None:
    theirs = a_config_map("c7", namespace=cluster.space, a="1")
    cluster.create("configmaps", theirs)
    wanted = [a_config_map(f"c{number}", namespace=cluster.space) for number in range(30)]
    client = cluster.client()
    seen = looked(cluster, *wanted, client=client)
    assert list(seen.live) == [ObjectRef.of(theirs)]
    asked = [path for path in paths(client) if path.startswith(cluster.path("configmaps"))]
    assert asked == [
        cluster.path("configmaps", cluster.applyset.name),
        cluster.path("configmaps"),
        cluster.path("configmaps", "c7"),
    ]


def test_names_in_a_namespace_that_is_not_there_are_not_asked_for(cluster: Cluster) -> None:
    client = cluster.client()
    looked(cluster, a_config_map("a", namespace="nowhere"), client=client)
    assert [path for path in paths(client) if "nowhere" in path] == ["/api/v1/namespaces/nowhere"]


def test_kinds_that_only_leave_are_listed_without_their_content(cluster: Cluster) -> None:
    cluster.apply(a_config_map("gone", namespace=cluster.space))
    client = cluster.client()
    inventory = cluster.inventory(a_config_map("gone", namespace=cluster.space))
    looked(cluster, client=client, inventory=inventory)
    (listed,) = [request for request in client.requests if request.path == "/api/v1/configmaps"]
    assert listed.accept.startswith("application/json;as=PartialObjectMetadataList")


def test_kinds_the_parent_names_are_listed_even_if_no_commit_does(cluster: Cluster) -> None:
    """A pass that was killed may have left them."""
    cluster.apply(a_config_map("orphan", namespace=cluster.space))
    assert list(looked(cluster).live) == [ObjectRef("", "ConfigMap", cluster.space, "orphan")]


def test_a_kind_that_may_not_be_listed_everywhere_is_listed_where_it_is_used(cluster: Cluster) -> None:
    wanted = a_config_map("a", namespace=cluster.space)
    cluster.apply(wanted)
    client = cluster.client()

    def restricted(request: Request, send: Send) -> Answer | Failure:
        if request.path == "/api/v1/configmaps":
            return Failure(kind=FailureKind.FORBIDDEN, message="not everywhere")
        return send(request)

    client.wire = restricted
    seen = looked(cluster, wanted, client=client)
    assert (list(seen.live), seen.unlisted) == ([ObjectRef.of(wanted)], {})


def test_a_namespace_that_may_not_be_listed_is_unknown_alone(cluster: Cluster) -> None:
    """One new namespace without rights made the whole kind unknown."""
    wanted, other = a_config_map("a", namespace=cluster.space), a_config_map("b", namespace="forbidden")
    cluster.apply(wanted)
    refused = Failure(kind=FailureKind.FORBIDDEN, message="not there")
    client = cluster.client()

    def restricted(request: Request, send: Send) -> Answer | Failure:
        is_refused = request.path in {"/api/v1/configmaps", "/api/v1/namespaces/forbidden/configmaps"}
        return refused if is_refused else send(request)

    client.wire = restricted
    seen = looked(cluster, wanted, other, client=client)
    assert (list(seen.live), seen.unlisted) == ([ObjectRef.of(wanted)], {})
    assert seen.unlisted_places == {("ConfigMap", "forbidden"): refused}
    assert (seen.failure_to_see(ObjectRef.of(wanted)), seen.failure_to_see(ObjectRef.of(other))) == (None, refused)
    assert not [each for each in client.requests if each.path.endswith("/configmaps/b")]


def test_what_may_not_be_listed_at_all_is_unknown_not_absent(cluster: Cluster) -> None:
    wanted = a_config_map("a", namespace=cluster.space)
    refused = Failure(kind=FailureKind.FORBIDDEN, message="not you")
    client = cluster.client()
    client.wire = lambda request, send: refused if request.path.endswith("/configmaps") else send(request)
    seen = looked(cluster, wanted, client=client)
    assert (seen.live, seen.unlisted, seen.failure) == ({}, {"ConfigMap": refused}, None)


def test_an_object_that_may_not_be_read_is_unknown_not_absent(cluster: Cluster) -> None:
    wanted = a_config_map("a", namespace=cluster.space)
    refused = Failure(kind=FailureKind.FORBIDDEN, message="not you")
    client = cluster.client()
    client.wire = lambda request, send: refused if request.path.endswith("/configmaps/a") else send(request)
    assert looked(cluster, wanted, client=client).unread == {ObjectRef.of(wanted): refused}


class TestPages:
    """A list comes whole or not at all."""

    @staticmethod
    def paged(cluster: Cluster, pages: list[Any]) -> tuple[Any, list[str]]:
        """List from a server that answers page after page; return the outcome and the tokens asked for."""
        client, tokens = cluster.client(), []

        def turning(request: Request, _send: Send) -> Answer | Failure:
            tokens.append(request.query.get("continue", ""))
            page = pages.pop(0)
            return page if isinstance(page, Failure) else Answer(status=200, body=page)

        client.wire = turning
        resource = looked(cluster).discovery.resource("v1", "ConfigMap")
        assert resource is not None
        return list_objects(client, Listing(resource=resource)), tokens

    @staticmethod
    def page(name: str, token: str = "") -> dict[str, Any]:
        return {"metadata": {"continue": token}, "items": [{"metadata": {"name": name, "namespace": "x"}}]}

    def test_pages_are_followed_to_the_last(self, cluster: Cluster) -> None:
        found, tokens = self.paged(cluster, [self.page("a", "t1"), self.page("b", "t2"), self.page("c")])
        assert [ref.name for ref in found] == ["a", "b", "c"]
        assert tokens == ["", "t1", "t2"]

    def test_an_expired_list_begins_again(self, cluster: Cluster) -> None:
        expired = Failure(kind=FailureKind.EXPIRED, message="too old")
        found, tokens = self.paged(cluster, [self.page("a", "t1"), expired, self.page("b")])
        assert [ref.name for ref in found] == ["b"]
        assert tokens == ["", "t1", ""]

    def test_a_list_that_keeps_expiring_is_a_failure(self, cluster: Cluster) -> None:
        expired = Failure(kind=FailureKind.EXPIRED, message="too old")
        found, _ = self.paged(cluster, [expired] * 3)
        assert found == expired

    def test_a_page_that_fails_is_a_list_that_failed(self, cluster: Cluster) -> None:
        busy = Failure(kind=FailureKind.UNAVAILABLE, message="busy")
        found, _ = self.paged(cluster, [self.page("a", "t1"), busy])
        assert found == busy


class Size(NamedTuple):
    why: str
    sizes: list[int]
    limits: list[str]


SIZES = [
    Size("small objects come in large pages", [1000, 1000, 1000], ["500", "4194", "4194"]),
    Size("tiny ones in pages that end somewhere", [10, 10], ["500", "5000"]),
    Size("large ones in pages of the usual number", [100_000, 100_000], ["500", "500"]),
    Size("what comes next counts", [1000, 100_000, 1000], ["500", "4194", "500"]),
    Size("no size, no guess", [0, 0], ["500", "500"]),
]


@each_row("case", SIZES, ids=lambda case: case.why)
def test_pages_are_as_large_as_their_objects_allow(case: Size) -> None:
    """A page of four megabytes is what one answer should bring."""
    client = Recorder(FakeCluster())
    limits: list[str] = []

    def turning(request: Request, _send: Send) -> Answer | Failure:
        size = case.sizes[len(limits)]
        limits.append(request.query["limit"])
        items = [{"metadata": {"name": f"{len(limits)}-{number}", "namespace": "x"}} for number in range(10)]
        token = "" if len(limits) == len(case.sizes) else "more"
        return Answer(status=200, body={"metadata": {"continue": token}, "items": items}, size=size * 10)

    client.wire = turning
    resource = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
    found = list_objects(client, Listing(resource=resource))
    assert not isinstance(found, Failure)
    assert (len(found), limits) == (10 * len(case.sizes), case.limits)
