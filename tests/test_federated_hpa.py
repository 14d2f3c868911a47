"""FederatedHPA in whole passes: its bounds, what explain says of them, and how a commit replays."""

from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_deployment, a_policy, argosy
from .test_failover import WEB

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
METADATA = {"name": "web", "namespace": "default"}


def an_autoscaling(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": kind, "metadata": METADATA, "spec": spec}


BOUNDS = an_autoscaling("FederatedHPA", scaleTargetRef=TARGET, minReplicas=3, maxReplicas=9)
NIGHT = an_autoscaling(
    "CronFederatedHPA",
    scaleTargetRef={"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA", "name": "web"},
    rules=[{"name": "night", "schedule": "0 20 * * *", "targetMinReplicas": 1, "targetMaxReplicas": 1}],
)


def test_bounds_hold_are_moved_by_rules_and_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    policy = a_policy("web", selectors=[WEB], placement={})
    fleet.commit(
        {
            "c.yaml": a_cluster("paris"),
            "web.yaml": a_deployment("web"),
            "p.yaml": policy,
            "h.yaml": BOUNDS,
            "n.yaml": NIGHT,
        }
    )
    manifest = "clusters/paris/default/Deployment.apps/web.yaml"
    assert argosy(fleet, capsys, "reconcile", "--bootstrap", "--now", "2026-03-01T19:00:00Z").code == 0
    assert "replicas: 3" in fleet.show(manifest)
    said = argosy(fleet, capsys, "explain", "deploy/web", "--now", "2026-03-01T19:00:00Z").out
    assert (
        "FederatedHPA web keeps it between 3 and 9, where 2 would be asked for; next, web keeps Deployment.apps"
        " default/web between 1 and 1 at 2026-03-01T20:00:00Z." in " ".join(said.split())
    )
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T20:00:30Z").code == 0
    assert "replicas: 1" in fleet.show(manifest)
    assert argosy(fleet, capsys, "verify", "-n", "2").out.count("equal") == 2


def test_a_federated_hpa_that_is_not_there_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit({"c.yaml": a_cluster("paris"), "web.yaml": a_deployment("web"), "n.yaml": NIGHT})
    said = argosy(fleet, capsys, "validate").out
    assert "there is no FederatedHPA default/web in the source, so nothing is scaled" in said


def test_a_script_that_cannot_write_the_number_stops_its_object_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the whole pass ended with a bug to report."""
    script = "function ReviseReplica(object, replicas) error('only by hand') end"
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "deployments"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "customizations": {"replicaRevision": {"luaScript": script}},
        },
    }
    policy = a_policy("web", selectors=[WEB, {"apiVersion": "v1", "kind": "ConfigMap"}], placement={})
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit({"c.yaml": a_cluster("paris"), "web.yaml": a_deployment("web"), "p.yaml": policy})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": {"level": "info"}}
    fleet.commit({"h.yaml": BOUNDS, "k.yaml": customization, "s.yaml": settings})
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, "line 1: only by hand" in ended.err) == (1, True)
    assert "replicas: 2" in fleet.show("clusters/paris/default/Deployment.apps/web.yaml")
    assert "level: info" in fleet.show("clusters/paris/default/ConfigMap/web.yaml")
    (fleet.path / "k.yaml").unlink()
    fleet.commit({})
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert "replicas: 3" in fleet.show("clusters/paris/default/Deployment.apps/web.yaml")
