"""Rollouts beside what else moves and holds objects: failover, lazy policies, and definitions of kinds."""

from typing import Any

from render.model import ObjectRef

from .build import a_cluster, a_cluster_policy, a_policy, on_clusters
from .rolling import WEB, WEB_REF, RollingFleet, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest"))
FAILOVER = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"featureGates": {"Failover": True}},
}
TAINT = {"key": "down", "effect": "NoExecute", "timeAdded": "2026-03-01T00:00:00Z"}
WIDGETS = {"apiVersion": "example.com/v1", "kind": "Widget"}
DEFINITION = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}


def stuck(fleet: RollingFleet, *names: str) -> RollingFleet:
    fleet.unwell = set(names)
    return fleet


def a_fleet_in_two_of_three(**policy: Any) -> RollingFleet:
    """A fleet in which web is in oslo and paris; what is tainted is left, and another cluster takes over."""
    placement = on_clusters(spreadConstraints=[{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}])
    placed = a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {"purgeMode": "Gracefully"}})
    files = {"argosy": FAILOVER, "policy": placed, "web": web(1, replicas=4)}
    fleet = RollingFleet.of(CLUSTERS, files, waves=WAVES, **policy)
    assert sorted(fleet.images()) == ["oslo", "paris"]
    return fleet


def binding_of_web(fleet: RollingFleet) -> Any:
    assert fleet.previous is not None
    return fleet.previous.bindings[WEB_REF]


def test_a_cluster_that_takes_over_gets_the_bytes_of_the_version_that_it_is_due() -> None:
    fleet = stuck(a_fleet_in_two_of_three(), "oslo").commit(web=web(2, replicas=4))
    fleet.run()
    assert fleet.images() == {"oslo": "2", "paris": "1"}
    fleet.commit(paris=a_cluster("paris", taints=[TAINT])).run()
    assert {each.name for each in binding_of_web(fleet).targets} == {"oslo", "rome"}
    assert fleet.images()["rome"] == "1", "the wave of rome is not due"


def test_a_copy_that_leaves_gracefully_is_waited_for_by_nobody() -> None:
    fleet = stuck(a_fleet_in_two_of_three(), "oslo").commit(web=web(2, replicas=4))
    fleet.run()
    fleet.commit(oslo=a_cluster("oslo", taints=[TAINT])).run()
    assert [each.from_cluster for each in binding_of_web(fleet).eviction_tasks] in (["oslo"], [])
    assert "oslo" not in {each.name for each in binding_of_web(fleet).targets}
    fleet.run()
    assert fleet.state().is_completed, "oslo never got well, and is asked no more"
    assert {fleet.images()[name] for name in ("paris", "rome")} == {"2"}


def test_what_a_lazy_policy_has_not_activated_is_no_change() -> None:
    placed = a_policy("web", selectors=[WEB], placement=on_clusters(), activationPreference="Lazy")
    fleet = RollingFleet.of(CLUSTERS, {"policy": placed}, waves=WAVES)
    narrowed = a_policy("web", selectors=[WEB], placement=on_clusters("oslo"), activationPreference="Lazy")
    fleet.commit(policy=narrowed).run()
    assert (list(fleet.images()), fleet.state()) == (list(CLUSTERS), None)
    stuck(fleet, "oslo").commit(web=web(2)).run()
    assert fleet.images() == {"oslo": "2"}


def a_definition(version: str) -> dict[str, Any]:
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": version, "served": True, "storage": True, "schema": schema}]
    spec = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": served}
    return {**DEFINITION, "metadata": {"name": "widgets.example.com"}, "spec": spec}


def a_widget(version: str) -> dict[str, Any]:
    return {"apiVersion": f"example.com/{version}", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}}


def test_a_definition_and_the_objects_of_its_kind_go_together_and_stay_so_where_they_are_not_due() -> None:
    """Within a cluster definitions come first by the stages of applying; another version waits in no other cluster."""
    kinds = [DEFINITION, WIDGETS, {**WIDGETS, "apiVersion": "example.com/v2"}]
    rollout = a_rollout_policy(selectors=kinds, waves=WAVES, group={"by": "Object"})
    rollout |= {"kind": "ClusterRolloutPolicy", "metadata": {"name": "widgets"}}
    files = {
        "rollout": rollout,
        "placed": a_cluster_policy("widgets", selectors=kinds, placement=on_clusters()),
        "crd": a_definition("v1"),
        "widget": a_widget("v1"),
    }
    fleet = stuck(RollingFleet.of(CLUSTERS, files), "oslo")
    fleet.commit(crd=a_definition("v2"), widget=a_widget("v2")).run()
    widget = ObjectRef("example.com", "Widget", "default", "w")
    assert [fleet.manifest(name, widget)["apiVersion"] for name in CLUSTERS] == [
        "example.com/v2",
        "example.com/v1",
        "example.com/v1",
    ]
    assert fleet.previous is not None
    path = ("_cluster", "CustomResourceDefinition.apiextensions.k8s.io", "widgets.example.com.yaml")
    tree = fleet.previous.tree
    crds = [tree.trees.entry(folder, path) for _, folder in sorted(tree.clusters.items())]
    assert (crds[0] != crds[1], crds[1] == crds[2]) == (True, True)
    assert [path for path in fleet.files_below("rollouts") if path.startswith("_cluster/widgets/")] == [
        "_cluster/widgets/%57idget.example.com%20default%2Fw.yaml"
    ]
