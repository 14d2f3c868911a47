"""Objects that kubectl made in another version than their manifests have, taken over where both say the same."""

from collections.abc import Iterator
from typing import Any

import pytest

from .applying import Cluster, outcomes
from .clusters import Member
from .fakes import MERGE_PATCH
from .test_deliver_former_versions import CRDS, a_gadget, api, define, entries, group_of, label
from .test_deliver_takeover import CREATE, kubectl

pytestmark = pytest.mark.cluster


@pytest.fixture
def both(real_cluster: Cluster) -> Iterator[Cluster]:
    """A cluster whose gadgets are served in v1 and in v2, which have the field "a" in common."""
    define(real_cluster, "v1", "v2")
    yield real_cluster
    real_cluster.server.request("DELETE", f"{CRDS}/gadgets.{group_of(real_cluster)}")


def managed(cluster: Cluster) -> list[dict[str, Any]]:
    live = cluster.read("gadgets", "g", api(cluster, "v2"))
    return list(live["metadata"]["managedFields"])


def told(cluster: Cluster, wanted: dict[str, Any]) -> str:
    return outcomes(cluster.apply(wanted))[f"Gadget.{group_of(cluster)} g"]


@pytest.mark.parametrize("words", [CREATE, ("apply",), ("apply", "--server-side")], ids=" ".join)
def test_what_kubectl_made_in_a_former_version_is_taken_over(words: tuple[str, ...], both: Cluster) -> None:
    """A field that left Git stayed for ever, for kubectl owned it as well."""
    kubectl(both, a_gadget(both, "v1", a="1"), *words)
    assert told(both, a_gadget(both, "v2", a="1")) == "adopted Equal"
    assert entries(both) == {both.applyset.manager: "v2"}
    assert told(both, a_gadget(both, "v2", b="2")) == "configured Changed"
    assert both.read("gadgets", "g", api(both, "v2"))["spec"] == {"b": "2"}


def test_what_kubectl_wrote_in_two_versions_is_taken_over(both: Cluster) -> None:
    """Each of its managers has an entry for each version."""
    kubectl(both, a_gadget(both, "v1", a="1"), *CREATE)
    label(both, "kubectl-label", "v2", team="shop")
    label(both, "kubectl-create", "v2", stage="prod")
    owners = [(each["manager"], each["apiVersion"].rpartition("/")[2]) for each in managed(both)]
    assert sorted(owners) == [("kubectl-create", "v1"), ("kubectl-create", "v2"), ("kubectl-label", "v2")]
    wanted = a_gadget(both, "v2", a="1")
    wanted["metadata"]["labels"] = {"team": "shop", "stage": "prod"}
    assert told(both, wanted) == "adopted Equal"
    assert entries(both) == {both.applyset.manager: "v2"}
    told(both, a_gadget(both, "v2", b="2"))
    live = both.read("gadgets", "g", api(both, "v2"))
    assert (live["spec"], list(live["metadata"]["labels"])) == ({"b": "2"}, ["applyset.kubernetes.io/part-of"])


def test_what_only_the_former_version_has_keeps_its_owner(both: Cluster) -> None:
    """Both versions are stored as v2 here, so that what v1 alone has is lost, and nothing reads otherwise but that."""
    path = f"{CRDS}/gadgets.{group_of(both)}"
    versions = both.server.read(path)["spec"]["versions"]
    stored = [{**each, "storage": each["name"] == "v1"} for each in versions]
    assert both.server.request("PATCH", path, {"spec": {"versions": stored}}, content_type=MERGE_PATCH)[0] == 200
    kubectl(both, a_gadget(both, "v1", a="1", old="x"), *CREATE)
    assert told(both, a_gadget(both, "v2", a="1")) == "adopted Equal"
    assert entries(both) == {both.applyset.manager: "v2", "kubectl-create": "v1"}


def test_a_field_that_the_manifest_lacks_is_a_difference_in_any_version(both: Cluster) -> None:
    kubectl(both, a_gadget(both, "v1", a="1"), *CREATE)
    assert told(both, a_gadget(both, "v2")) == "conflict NotOurs"
    assert entries(both) == {"kubectl-create": "v1"}


def test_an_autoscaler_of_the_first_version_is_taken_over(real_cluster: Cluster) -> None:
    cluster = real_cluster
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metadata = {"name": "web", "namespace": cluster.space}
    head = {"kind": "HorizontalPodAutoscaler", "metadata": metadata}
    spec: dict[str, Any] = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 3}
    assert isinstance(cluster.server, Member)
    kubectl(cluster, {"apiVersion": "autoscaling/v1", **head, "spec": spec}, *CREATE)
    wanted = {"apiVersion": "autoscaling/v2", **head, "spec": spec}
    name = "HorizontalPodAutoscaler.autoscaling web"
    assert outcomes(cluster.apply(wanted))[name] == "adopted Equal"
    less = {name: value for name, value in spec.items() if name != "minReplicas"}
    assert outcomes(cluster.apply({**wanted, "spec": less}))[name].startswith("configured")
    live = cluster.read("horizontalpodautoscalers", "web", "apis/autoscaling/v2")
    assert live["spec"]["minReplicas"] == 1


def test_objects_of_one_kind_are_compared_each_in_the_version_of_its_manifest(real_cluster: Cluster) -> None:
    """All were listed in the version of the first; the others were sent again in each pass, and shown as drift."""
    cluster = real_cluster
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}}
    by_version: dict[str, Any] = {"v1": {"targetCPUUtilizationPercentage": 50}, "v2": {"metrics": [cpu]}}
    wanted = [
        {
            "apiVersion": f"autoscaling/{version}",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": version, "namespace": cluster.space},
            "spec": {"scaleTargetRef": target, "maxReplicas": 5, **field},
        }
        for version, field in by_version.items()
    ]
    for order in (wanted, wanted[::-1]):
        cluster.apply(*order)
        again = cluster.client()
        assert set(outcomes(cluster.apply(*order, client=again)).values()) == {"unchanged UpToDate"}
        assert [each for each in again.writes if "horizontalpodautoscalers" in each] == []
        assert [item.changes for item in cluster.plan(order)[1].objects] == [(), ()]
    observed = cluster.plan(wanted)[0]
    assert {ref.name: live["apiVersion"] for ref, live in observed.live.items()} == {
        version: f"autoscaling/{version}" for version in by_version
    }
