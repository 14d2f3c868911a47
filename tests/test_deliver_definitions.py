"""CustomResourceDefinitions that leave, on real API servers: nothing of theirs is lost, and nothing else holds them."""

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.ledger.inventory import Inventory

from .applying import Cluster, outcomes
from .build import a_config_map
from .fakes import MERGE_PATCH
from .waiting import eventually

pytestmark = pytest.mark.cluster

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def group_of(cluster: Cluster) -> str:
    return f"{cluster.space}.example.com"


def a_definition(cluster: Cluster) -> dict[str, Any]:
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group_of(cluster)}"},
        "spec": {
            "group": group_of(cluster),
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def a_widget(cluster: Cluster, size: Any = 1) -> dict[str, Any]:
    metadata = {"name": "w", "namespace": cluster.space}
    return {"apiVersion": f"{group_of(cluster)}/v1", "kind": "Widget", "metadata": metadata, "spec": {"size": size}}


def api(cluster: Cluster) -> str:
    return f"apis/{group_of(cluster)}/v1"


@pytest.fixture
def defined(real_cluster: Cluster) -> Iterator[Cluster]:
    """A cluster with a kind that a fleet defined, and nothing of it."""
    cluster = real_cluster
    cluster.apply(a_definition(cluster))
    yield cluster
    cluster.server.request("DELETE", f"{CRDS}/widgets.{group_of(cluster)}")
    eventually(lambda: cluster.server.read(f"{CRDS}/widgets.{group_of(cluster)}") is None, "the end of the definition")


def told_of_the_definition(cluster: Cluster, *wanted: dict[str, Any]) -> str:
    """Apply what is wanted where the definition is not any more, and return its result."""
    inventory: Inventory = cluster.inventory(a_definition(cluster))
    applied = cluster.apply(*wanted, inventory=inventory, confirm_all=True, allowed_removals=1)
    return outcomes(applied)[f"CustomResourceDefinition.apiextensions.k8s.io widgets.{group_of(cluster)}"]


def test_a_failure_of_another_kind_holds_no_definition(defined: Cluster) -> None:
    """Any failure anywhere held every definition."""
    bad = {**a_config_map("bad", namespace=defined.space), "immutable": "not a boolean"}
    assert told_of_the_definition(defined, bad).startswith("deleted")


def test_a_failure_of_its_own_kind_holds_a_definition(defined: Cluster) -> None:
    assert told_of_the_definition(defined, a_widget(defined, "not a number")) == "kept Held"


def test_a_definition_of_which_somebody_has_an_object_stays(defined: Cluster) -> None:
    defined.create("widgets", a_widget(defined), api(defined))
    assert told_of_the_definition(defined) == "kept NotEmpty"


def test_a_definition_stays_whose_objects_cannot_be_listed(defined: Cluster) -> None:
    """None of its versions was served, so nothing was found to be in it, and what others had of it was deleted."""
    path = f"{CRDS}/widgets.{group_of(defined)}"
    defined.create("widgets", a_widget(defined), api(defined))
    (version,) = a_definition(defined)["spec"]["versions"]
    for is_served in (False, True):
        versions = {"spec": {"versions": [{**version, "served": is_served}]}}
        assert defined.server.request("PATCH", path, versions, content_type=MERGE_PATCH)[0] == 200
        status = 200 if is_served else 404

        def answers(status: int = status) -> bool:
            return defined.server.request("GET", f"/{api(defined)}/widgets")[0] == status

        eventually(answers, "what the server serves")
        assert told_of_the_definition(defined) == "kept NotEmpty", is_served
    assert defined.read("widgets", "w", api(defined))["spec"] == {"size": 1}
