"""Objects that intercept the writes of others leave whatever these fail for, and a failure holds what depends on it."""

from typing import Any

import pytest

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.results import ClusterResult
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.observe.objects import observe_cluster
from reconciler.plans.cluster import make_plan
from reconciler.plans.model import ClusterDesired

from .applying import QUICK, Cluster, Recorder, Send, desired_objects, outcomes
from .build import a_config_map
from .waiting import eventually

ADMISSION = "admissionregistration.k8s.io"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]


def a_guard(cluster: Cluster, name: str = "guard", policy: str = "Fail") -> dict[str, Any]:
    """A webhook over the ConfigMaps of the test's namespace, the ApplySet's parent among them, that nobody answers."""
    webhook = {
        "name": f"{name}.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": RULES,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.space}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": policy,
    }
    return {
        "apiVersion": f"{ADMISSION}/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": f"{cluster.space}-{name}"},
        "webhooks": [webhook],
    }


def a_policy(cluster: Cluster) -> tuple[dict[str, Any], ...]:
    """A policy that refuses every ConfigMap of the test's namespace, and its binding."""
    name = f"{cluster.space}-policy"
    rules = [{**rule, "operations": ["CREATE", "UPDATE"]} for rule in RULES]
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": "false", "message": "no"}],
    }
    chosen = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.space}}}
    bound = {"policyName": name, "validationActions": ["Deny"], "matchResources": chosen}
    kinds = (("ValidatingAdmissionPolicy", spec), ("ValidatingAdmissionPolicyBinding", bound))
    return tuple(
        {"apiVersion": f"{ADMISSION}/v1", "kind": kind, "metadata": {"name": name}, "spec": each}
        for kind, each in kinds
    )


def a_cluster_role(cluster: Cluster, name: str, *, rules: Any = ()) -> dict[str, Any]:
    metadata = {"name": f"{cluster.space}-{name}"}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def passed(
    cluster: Cluster, commit: str, *manifests: dict[str, Any], held_objects: Inventory, client: Recorder | None = None
) -> ClusterResult:
    """One pass for a commit of its own, which the parent is to name."""
    sender = client or cluster.client()
    desired = ClusterDesired(cluster=cluster.server.name, commit=commit, objects=desired_objects(manifests))
    observed = observe_cluster(sender, desired, held_objects, cluster.applyset)
    return apply_plan(sender, make_plan(desired, observed, held_objects, cluster.options()), QUICK)


def await_guard(cluster: Cluster, *, is_there: bool) -> None:
    """Wait until the server has heard of a guard over the ConfigMaps of the test's namespace, or that there is none."""

    def is_refused() -> bool:
        path = f"{cluster.path('configmaps')}?dryRun=All"
        return cluster.server.request("POST", path, a_config_map("tried", namespace=cluster.space))[0] >= 400

    eventually(lambda: is_refused() is is_there, "the word of a guard at the server")


def named_commit(cluster: Cluster) -> str:
    return cluster.applyset.set_recorded_on_parent(cluster.read("configmaps", cluster.applyset.name)).commit


class TestOnServers:
    pytestmark = pytest.mark.cluster

    @pytest.mark.parametrize("what", ["webhook", "policy"])
    def test_what_refuses_every_write_of_the_parent_leaves_and_the_rest_follows(
        self, what: str, real_cluster: Cluster
    ) -> None:
        cluster = real_cluster
        settings = a_config_map("settings", namespace=cluster.space, a="1")
        guards = (a_guard(cluster),) if what == "webhook" else a_policy(cluster)
        passed(cluster, "c1", settings, *guards, held_objects=Inventory(cluster="member1"))
        await_guard(cluster, is_there=True)
        held_objects = cluster.inventory(settings, *guards, converged="c1")
        changed = {**settings, "data": {"a": "2"}}
        first = passed(cluster, "c2", changed, held_objects=held_objects)
        told = outcomes(first)
        assert {told[f"{guard['kind']}.{ADMISSION} {guard['metadata']['name']}"] for guard in guards} == {
            "deleted NotWanted"
        }
        # A server hears of it a moment later, and refuses what is written within that.
        await_guard(cluster, is_there=False)
        second = passed(
            cluster, "c2", changed, held_objects=cluster.inventory(changed, converged="c1", attempted=("c2",))
        )
        assert second.outcome is ApplyOutcome.CONVERGED
        assert cluster.read("configmaps", "settings")["data"] == {"a": "2"}
        assert named_commit(cluster) == "c2"

    def test_an_interceptor_that_another_takes_the_place_of_leaves_in_the_end_whatever_failed(
        self, real_cluster: Cluster
    ) -> None:
        cluster = real_cluster
        settings, new = a_config_map("settings", namespace=cluster.space, a="1"), a_guard(cluster, "new", "Ignore")
        old = a_guard(cluster)
        passed(cluster, "c1", settings, old, held_objects=Inventory(cluster="member1"))
        changed, role = {**settings, "data": {"a": "2"}}, a_cluster_role(cluster, "reader")
        await_guard(cluster, is_there=True)
        held_objects = cluster.inventory(settings, old, converged="c1")
        client = cluster.client()
        first = passed(cluster, "c2", changed, new, role, held_objects=held_objects, client=client)
        told = outcomes(first)
        # The parent could not be written, and would have to name another kind: everything else waits for it.
        assert told["ConfigMap settings"] == "failed WebhookFailed"
        assert told[f"ValidatingWebhookConfiguration.{ADMISSION} {cluster.space}-new"] == "created Missing"
        assert told[f"ValidatingWebhookConfiguration.{ADMISSION} {cluster.space}-guard"] == "deleted NotWanted"
        assert first.outcome is ApplyOutcome.INCOMPLETE
        written = [write.split("/")[-1] for write in client.writes if "webhookconfigurations" in write]
        assert written == [f"{cluster.space}-new", f"{cluster.space}-guard"]
        held_objects = cluster.inventory(changed, new, role, converged="c1", attempted=("c2",))
        assert passed(cluster, "c2", changed, new, role, held_objects=held_objects).outcome is ApplyOutcome.CONVERGED
        passed(cluster, "c3", changed, held_objects=cluster.inventory(changed, new, role, converged="c2"))

    def test_an_aggregated_api_without_its_backend_leaves_though_its_objects_are_not_known(
        self, real_cluster: Cluster
    ) -> None:
        cluster = real_cluster
        group = f"{cluster.space}.example.com"
        service = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1.{group}"},
            "spec": {
                "group": group,
                "version": "v1",
                "groupPriorityMinimum": 10,
                "versionPriority": 10,
                "insecureSkipTLSVerify": True,
                "service": {"name": "nowhere", "namespace": cluster.space},
            },
        }
        settings, going = (a_config_map(name, namespace=cluster.space) for name in ("settings", "going"))
        passed(cluster, "c1", settings, going, service, held_objects=Inventory(cluster="member1"))
        metadata = {"name": "held", "namespace": cluster.space}
        of_it = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": metadata}
        held_objects = cluster.inventory(settings, going, service, of_it, converged="c1")
        told = outcomes(passed(cluster, "c2", settings, held_objects=held_objects))
        assert told[f"APIService.apiregistration.k8s.io v1.{group}"] == "deleted NotWanted"
        assert told["ConfigMap going"] == "kept Held"


def refusing(part: str) -> Any:
    """A wire that refuses every write of what has a part in its path."""

    def wire(request: Request, send: Send) -> Answer | Failure:
        if request.method in {"PATCH", "DELETE"} and part in request.path:
            return Failure(kind=FailureKind.WEBHOOK, message="a webhook could not be called")
        return send(request)

    return wire


class TestHolds:
    """A failure holds what depends on it, and nothing else."""

    def test_a_cluster_role_that_is_revoked_goes_whatever_else_fails_in_the_cluster(self, cluster: Cluster) -> None:
        wanted, revoked = (a_cluster_role(cluster, name) for name in ("wanted", "revoked"))
        settings = a_config_map("settings", namespace=cluster.space)
        passed(cluster, "c1", settings, wanted, revoked, held_objects=Inventory(cluster="member1"))
        held_objects = cluster.inventory(settings, wanted, revoked, converged="c1")
        client = cluster.client()
        client.wire = refusing("-wanted")
        changed = {**wanted, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
        told = outcomes(passed(cluster, "c2", settings, changed, held_objects=held_objects, client=client))
        role = "ClusterRole.rbac.authorization.k8s.io"
        assert told[f"{role} {cluster.space}-wanted"] == "failed WebhookFailed"
        assert told[f"{role} {cluster.space}-revoked"] == "deleted NotWanted"
        passed(cluster, "c3", settings, held_objects=cluster.inventory(settings, wanted, converged="c1"))

    def test_a_parent_that_names_everything_already_need_not_be_written_for_deletions(self, cluster: Cluster) -> None:
        kept, going = (a_config_map(name, namespace=cluster.space) for name in ("kept", "going"))
        passed(cluster, "c1", kept, going, held_objects=Inventory(cluster="member1"))
        client = cluster.client()
        client.wire = refusing(cluster.applyset.name)
        held_objects = cluster.inventory(kept, going, converged="c1")
        result = passed(cluster, "c2", kept, held_objects=held_objects, client=client)
        assert outcomes(result) == {"ConfigMap kept": "unchanged UpToDate", "ConfigMap going": "deleted NotWanted"}
        # That it does not name the commit is told, and set right by the next pass.
        assert result.outcome is ApplyOutcome.INCOMPLETE
        assert (
            result.reason_for_no_convergence
            == "the ApplySet's parent could not be written: a webhook could not be called"
        )
        assert named_commit(cluster) == "c1"
        again = cluster.inventory(kept, converged="c1", attempted=("c2",))
        assert passed(cluster, "c2", kept, held_objects=again).outcome is ApplyOutcome.CONVERGED
        assert named_commit(cluster) == "c2"

    def test_a_parent_that_would_have_to_name_more_holds_what_could_be_lost(self, cluster: Cluster) -> None:
        kept, going = (a_config_map(name, namespace=cluster.space) for name in ("kept", "going"))
        passed(cluster, "c1", kept, going, held_objects=Inventory(cluster="member1"))
        client = cluster.client()
        client.wire = refusing(cluster.applyset.name)
        role = a_cluster_role(cluster, "new")
        held_objects = cluster.inventory(kept, going, converged="c1")
        result = passed(cluster, "c2", kept, role, held_objects=held_objects, client=client)
        assert outcomes(result)["ConfigMap going"] == "kept Held"
        assert result.prune_hold == "the ApplySet's parent could not be written (a webhook could not be called)"
        passed(cluster, "c3", kept, held_objects=cluster.inventory(kept, going, role, converged="c1"))
