"""Fields that are fixed once an object is there: one that states them otherwise is not as its commit says."""

from typing import Any

import pytest

from reconciler.ledger.inventory import ApplyOutcome

from .applying import QUICK, Cluster, outcomes

BATCH = "apis/batch/v1"


def service(cluster: Cluster, *, port: int = 80, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": cluster.space},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": port, "protocol": "TCP"}], **spec},
    }


def job(
    cluster: Cluster, *, is_suspended: bool = False, annotations: dict[str, str] | None = None, **labels: str
) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "busybox"}], "restartPolicy": "Never"}
    metadata: dict[str, Any] = {"name": "load", "namespace": cluster.space, "annotations": annotations or {}}
    spec = {"suspend": is_suspended, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def test_a_service_that_states_another_address_is_not_applied(cluster: Cluster) -> None:
    cluster.apply(service(cluster, clusterIP="10.0.7.77"))
    given = cluster.read("services", "web")["spec"]["clusterIP"]
    asked = service(cluster, clusterIP="10.0.7.99", port=81)
    first = cluster.apply(asked)
    hint = "undo the change, or rename the object"
    (result,) = first.results
    assert str(result) == (
        f"Service {cluster.space}/web: failed (Immutable): of an object that is there already .spec.clusterIP cannot"
        f" change\n  hint: {hint}"
    )
    assert first.outcome is ApplyOutcome.INCOMPLETE
    live = cluster.read("services", "web")["spec"]
    assert (live["clusterIP"], live["ports"][0]["port"]) == (given, 80)
    client = cluster.client()
    second = cluster.apply(asked, client=client)
    assert outcomes(second) == {"Service web": "failed Immutable"}
    assert [(each.path, each.live, each.want) for each in second.results[0].changes if "IP" in each.path] == [
        (".spec.clusterIP", given, "10.0.7.99")
    ]
    assert client.writes == [f"PATCH {cluster.path('services', 'web')}"]


@pytest.mark.parametrize("stated", [{}, {"clusterIP": ""}], ids=["nothing", "any address"])
def test_a_service_that_states_no_address_is_as_wanted(cluster: Cluster, stated: dict[str, Any]) -> None:
    cluster.apply(service(cluster, clusterIP="10.0.7.78"))
    assert cluster.apply(service(cluster, **stated)).outcome is ApplyOutcome.CONVERGED


def test_labels_of_a_job_that_change_are_told(cluster: Cluster) -> None:
    cluster.apply(job(cluster, app="load", tier="a"))
    changes: list[dict[str, Any]] = [{"app": "load", "tier": "b"}, {"app": "load"}]
    for labels in changes:
        applied = cluster.apply(job(cluster, annotations={"note": str(len(labels))}, **labels))
        (result,) = applied.results
        assert (result.action, result.reason) == ("failed", "Immutable"), labels
        assert ".spec.template.metadata.labels.tier cannot change" in result.message
        assert "argosy.dev/recreate" in result.hint
        live = cluster.read("jobs", "load", BATCH)
        assert live["spec"]["template"]["metadata"]["labels"]["tier"] == "a"
        assert "note" not in (live["metadata"].get("annotations") or {})


def test_a_job_keeps_the_labels_that_its_controller_gave_it(cluster: Cluster) -> None:
    """The server labels the pods of a Job itself; no manifest has to state that."""
    cluster.apply(job(cluster, app="load"))
    client = cluster.client()
    again = cluster.apply(job(cluster, app="load"), client=client)
    assert outcomes(again) == {"Job.batch load": "unchanged UpToDate"}
    assert client.writes == []


@pytest.mark.cluster
def test_a_job_that_may_be_recreated_gets_its_labels(real_cluster: Cluster) -> None:
    allowed = {"argosy.dev/recreate": "true"}
    real_cluster.apply(job(real_cluster, annotations=allowed, app="load", tier="a"))
    (result,) = real_cluster.apply(job(real_cluster, annotations=allowed, app="load", tier="b")).results
    assert (result.action, result.reason) == ("created", "Recreated")
    labels = real_cluster.read("jobs", "load", BATCH)["spec"]["template"]["metadata"]["labels"]
    assert labels["tier"] == "b"


@pytest.mark.cluster
def test_a_job_that_is_suspended_gets_its_labels(real_cluster: Cluster) -> None:
    """The server makes an exception, and so it is asked."""
    real_cluster.apply(job(real_cluster, is_suspended=True, app="load", tier="a"))
    applied = real_cluster.apply(job(real_cluster, is_suspended=True, app="load", tier="b"))
    assert outcomes(applied) == {"Job.batch load": "configured Changed"}
    labels = real_cluster.read("jobs", "load", BATCH)["spec"]["template"]["metadata"]["labels"]
    assert labels["tier"] == "b"


def test_a_dry_run_says_the_same(cluster: Cluster) -> None:
    cluster.apply(service(cluster, clusterIP="10.0.7.79"))
    dry = type(QUICK)(dry_run=True)
    asked = service(cluster, clusterIP="10.0.7.80", port=82)
    assert outcomes(cluster.apply(asked, how=dry)) == {"Service web": "failed Immutable"}
