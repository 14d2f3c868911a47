"""Live differences: what applying changes, what it leaves to others, and what people added."""

from typing import Any

from reconciler.deliver.deviations import cluster_deviations
from reconciler.deliver.questions import plan_with_answers
from reconciler.deliver.results import ClusterReport
from reconciler.diff.live import is_unwanted, live_changes, live_text
from reconciler.members.exchange import Failure, FailureKind
from reconciler.plans.retention import retention_rule_by_interpreter

from .applying import Cluster
from .build import a_config_map, a_deployment
from .test_plans_retention import a_rule

FORBIDDEN = Failure(kind=FailureKind.FORBIDDEN, message="no", status=403)


def reported(cluster: Cluster, *manifests: dict[str, Any], **chosen: Any) -> ClusterReport:
    """Return what ``argosy diff --live`` finds in a cluster called eu, with these options."""
    observed, plan = cluster.plan(manifests, cluster.inventory(*manifests), **chosen)
    return ClusterReport(cluster="eu", observed=observed, plan=plan_with_answers(cluster.client(), plan))


def shown(cluster: Cluster, *manifests: dict[str, Any]) -> str:
    """Return what ``argosy diff --live`` prints of a cluster called eu, without times."""
    return "".join(live_text([reported(cluster, *manifests)]))


def test_a_key_that_kubectl_added_is_shown(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space, a="1")
    cluster.apply(settings)
    cluster.edit("configmaps", "settings", {"data": {"debug": "on"}})
    assert shown(cluster, settings) == (
        "eu: 1 object differs\n"
        f"    ConfigMap {cluster.space}/settings unchanged (UpToDate)\n"
        "      data.debug: on: added by kubectl-edit, left as it is\n"
    )


KEEP = """
function Retain(desiredObj, observedObj)
  desiredObj.data.size = observedObj.data.size
  return desiredObj
end
"""


def test_what_a_rule_of_retention_keeps_is_expected(cluster: Cluster) -> None:
    """A field beside it that no rule names is an addition, as before."""
    settings = a_config_map("settings", namespace=cluster.space, a="1")
    retain = retention_rule_by_interpreter(a_rule(KEEP))
    cluster.apply(settings, retain=retain)
    cluster.edit("configmaps", "settings", {"data": {"size": "9"}})
    kept = reported(cluster, settings, retain=retain)
    assert not any(map(is_unwanted, live_changes(kept)))
    assert tuple(cluster_deviations(kept)) == ()
    assert "".join(live_text([kept])) == "eu: equal\n"
    assert "".join(live_text([kept], is_full=True)) == (
        "eu: equal\n"
        f"    ConfigMap {cluster.space}/settings unchanged (UpToDate)\n"
        "      data.size: 9: set by kubectl-edit, as a rule of retention provides for\n"
    )
    assert shown(cluster, settings).startswith("eu: 1 object differs\n")
    cluster.edit("configmaps", "settings", {"data": {"debug": "on"}})
    both = reported(cluster, settings, retain=retain)
    (change,) = live_changes(both)
    assert [field.path for field in change.foreign] == [".data.debug"]
    assert [field.path for field in change.expected] == [".data.size"]
    cluster.apply(settings, retain=retain, remove_foreign=True)
    assert cluster.read("configmaps", "settings")["data"] == {"a": "1", "size": "9"}


def test_what_every_cluster_decides_is_expected(cluster: Cluster) -> None:
    """Kubernetes' own kinds state such fields; a person who wrote one added nothing."""
    account: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "robot", "namespace": cluster.space},
    }
    cluster.apply(account)
    cluster.edit("serviceaccounts", "robot", {"secrets": [{"name": "token"}]})
    assert shown(cluster, account) == "eu: equal\n"


def test_what_kubernetes_decides_of_some_objects_of_a_kind_is_an_addition_to_others(cluster: Cluster) -> None:
    """A token's data is its cluster's; that of another Secret is not."""
    secret: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": cluster.space},
        "type": "Opaque",
    }
    cluster.apply(secret)
    cluster.edit("secrets", "key", {"data": {"a": "YQ=="}})
    assert shown(cluster, secret).startswith("eu: 1 object differs\n")


def test_a_container_that_kubectl_added_is_shown(cluster: Cluster) -> None:
    web = a_deployment("web", namespace=cluster.space)
    cluster.apply(web)
    containers = cluster.read("deployments", "web", "apis/apps/v1")["spec"]["template"]["spec"]["containers"]
    added = {"name": "debug", "image": "busybox"}
    patch = {"spec": {"template": {"spec": {"containers": [*containers, added]}}}}
    cluster.edit("deployments", "web", patch, api="apis/apps/v1")
    told = shown(cluster, web)
    assert told.startswith("eu: 1 object differs\n")
    assert 'spec.template.spec.containers[name="debug"]: ' in told
    assert told.endswith(": added by kubectl-edit, left as it is\n")


def test_a_cluster_ip_that_can_never_be_given_is_a_difference(cluster: Cluster) -> None:

    def service(address: str) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": cluster.space},
            "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "clusterIP": address},
        }

    cluster.apply(service("10.0.0.77"))
    given = cluster.read("services", "web")["spec"]["clusterIP"]
    asked = service("10.0.0.99")
    assert shown(cluster, asked) == (
        "eu: 1 object differs\n"
        f"  ! Service {cluster.space}/web blocked (Immutable): of an object that is there already .spec.clusterIP"
        " cannot change\n"
        f"      spec.clusterIP: {given} -> 10.0.0.99\n"
    )
    _, plan = cluster.plan([asked], cluster.inventory(asked))
    assert list(map(is_unwanted, live_changes(ClusterReport(cluster="eu", plan=plan)))) == [True]


def test_what_is_kept_or_hangs_is_shown_and_is_a_difference_while_the_cluster_waits_for_it(cluster: Cluster) -> None:
    kept = a_config_map("kept", namespace=cluster.space, a="1")
    going = a_config_map("going", namespace=cluster.space, a="1")
    kept["metadata"]["annotations"] = {"argosy.dev/prune": "false"}
    going["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.apply(kept, going)
    inventory = cluster.inventory(kept, going)
    removed = cluster.server.request("DELETE", cluster.path("configmaps", "going"))[1]
    observed, plan = cluster.plan((), inventory)
    report = ClusterReport(cluster="eu", observed=observed, plan=plan)
    assert "".join(live_text([report])) == (
        "eu: 1 object differs\n"
        f"  ! ConfigMap {cluster.space}/going kept (Terminating): it is being deleted since"
        f" {removed['metadata']['deletionTimestamp']} and waits for its finalizers example.com/hold\n"
        f"  ! ConfigMap {cluster.space}/kept kept (PruneDisabled): an annotation of its own forbids pruning it\n"
    )
    cluster.edit("configmaps", "going", {"metadata": {"finalizers": None}})


def test_what_git_takes_out_of_one_piece_is_a_difference(cluster: Cluster) -> None:
    """By its looks the rest may be a server's default, and so the server is asked."""
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    whole = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": cluster.space},
        "rules": [{**rule, "resourceNames": ["only-this"]}],
    }
    cluster.apply(whole)
    assert shown(cluster, whole) == "eu: equal\n"
    assert shown(cluster, {**whole, "rules": [rule]}) == (
        "eu: 1 object differs\n"
        f"  ~ Role.rbac.authorization.k8s.io {cluster.space}/reader configured (Changed)\n"
        "      rules: (1 item) -> (1 item)\n"
    )
    assert shown(cluster, whole) == "eu: equal\n"


def test_what_cannot_be_asked_is_not_said_to_be_equal(cluster: Cluster) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": cluster.space},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["only-this"]}],
    }
    cluster.apply(role)
    less = {**role, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]}
    _, plan = cluster.plan([less], cluster.inventory(less))
    client = cluster.client()
    client.wire = lambda request, send: FORBIDDEN if request.method == "PATCH" else send(request)
    asked = plan_with_answers(client, plan)
    assert "".join(live_text([ClusterReport(cluster="eu", plan=asked)])) == (
        "eu: 1 object differs\n"
        f"  ~ Role.rbac.authorization.k8s.io {cluster.space}/reader configured (Unproven): not verified: no\n"
    )
