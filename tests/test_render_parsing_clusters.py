"""Admitted Clusters become values, field by field."""

from render.cluster import Cluster, ResourceModel, ResourceModelRange, ResourceSummary, Taint
from render.parsing import parse_cluster


def test_every_field_the_scheduler_reads_is_read() -> None:
    manifest = {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "eu-1", "labels": {"env": "prod"}, "deletionTimestamp": "2026-01-02T03:04:05Z"},
        "spec": {
            "syncMode": "Pull",
            "provider": "aws",
            "region": "eu",
            "zones": ["a", "b"],
            "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
            "resourceModels": [{"grade": 0, "ranges": [{"name": "cpu", "min": 0, "max": "9223372036854775807"}]}],
        },
        "status": {
            "apiEnablements": [
                {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]},
                {"groupVersion": "v1"},
            ],
            "resourceSummary": {
                "allocatable": {"cpu": 8, "memory": "16Gi"},
                "allocated": {"cpu": "500m"},
                "allocatableModelings": [{"grade": 0, "count": 3}],
            },
        },
    }
    assert parse_cluster(manifest, path="clusters/eu.yaml", document=1) == Cluster(
        name="eu-1",
        labels={"env": "prod"},
        provider="aws",
        region="eu",
        zones=("a", "b"),
        taints=(Taint(key="gpu", value="yes", effect="NoSchedule"),),
        resource_models=(
            ResourceModel(grade=0, ranges=(ResourceModelRange(name="cpu", min="0", max="9223372036854775807"),)),
        ),
        api_enablements=frozenset({("apps/v1", "Deployment")}),
        resource_summary=ResourceSummary(
            allocatable={"cpu": "8", "memory": "16Gi"},
            allocated={"cpu": "500m"},
            modelings=((0, 3),),
            is_declared=True,
        ),
        is_terminating=True,
        sync_mode="Pull",
        path="clusters/eu.yaml",
        document=1,
    )


def test_without_a_status_nothing_is_known_of_apis_and_capacity() -> None:
    manifest = {"metadata": {"name": "eu-1"}, "spec": {"syncMode": "Push"}}
    assert parse_cluster(manifest) == Cluster(name="eu-1", sync_mode="Push")
