"""``argosy status`` where much is not well: a row for each reason, the most important first, and each name with -v."""

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from reconciler.commands.status import StatusOptions, show_status
from reconciler.console.log import Log
from reconciler.ledger.cluster import Deviation
from reconciler.record.cluster_files import ObjectReason
from reconciler.status.branches import Pacing
from reconciler.status.state_tables import table_of_bindings, table_of_deviations, table_of_unwell_objects
from render.model import ObjectRef

from .build import a_deployment, a_policy, on_clusters
from .memory_fleet import MemoryFleet

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}
SINCE = "2027-01-15T08:00:00Z"


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Three members with four workloads that no controller makes pods of."""
    files: dict[str, Any] = {f"{name}.yaml": a_deployment(name, replicas=size) for size, name in enumerate("abcd", 2)}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    files["policy.yaml"] = a_policy(selectors=selectors, placement=on_clusters("eu", "me", "us"))
    made = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(("eu", "me", "us"), (1, ROOMY)), files)
    made.run()
    return made


def printed(fleet: MemoryFleet, capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    log = Log(stream=io.StringIO(), repository=str(fleet.repository.path))
    show_status(log, StatusOptions(**options), Pacing(clock=lambda: fleet.now))
    return capsys.readouterr().out


def test_twelve_objects_unwell_for_one_reason_are_one_row(
    fleet: MemoryFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    above, _, table = printed(fleet, capsys).partition("\nNOT WELL")
    message = "readyReplicas: 0 of 2 (Deployment.apps default/a; other numbers elsewhere)"
    row = ["Deployment.apps default/a and 3 more", "eu, me, us", "ReplicasMissing", SINCE, message]
    assert cells(table)[1:] == [row, ["argosy status -v names each"]], above
    each = printed(fleet, capsys, tells_each=True).partition("\nNOT WELL")[2].splitlines()[1:]
    assert each == printed(fleet, capsys, output="wide").partition("\nNOT WELL")[2].splitlines()[1:]
    names = [(row.split()[1], row.split()[2]) for row in each]
    assert names == [(f"default/{name}", member) for name in "abcd" for member in ("eu", "me", "us")]
    unwell = json.loads(printed(fleet, capsys, output="json"))["unwell"]
    assert [(each["object"].split()[1], each["cluster"]) for each in unwell] == names


def unwell(name: str, cluster: str, reason: str, message: str = "", **known: Any) -> ObjectReason:
    return ObjectReason(object=f"ConfigMap shop/{name}", cluster=cluster, reason=reason, message=message, **known)


def test_what_is_not_applied_stands_before_what_is_unhealthy_and_many_before_few() -> None:
    rows = [
        unwell("a", "eu", "Odd", "is odd", since="2027-01-03T00:00:00Z"),
        *(unwell("b", name, "Late", f"0 of {size} in 'eu'", since=SINCE) for size, name in enumerate(("m1", "m2"))),
        *(unwell(name, "us", "Slow", since=f"2027-01-0{name}T00:00:00Z") for name in "543"),
        *(unwell(f"x{each}", "eu", "Forbidden", f'"x{each}" is forbidden', is_applied=False) for each in range(3)),
        unwell("y", "us", "Invalid", "is wrong", is_applied=False),
    ]
    assert cells(table_of_unwell_objects(rows, tells_each=False)) == [
        ["NOT WELL", "CLUSTER", "REASON", "SINCE", "MESSAGE"],
        ["ConfigMap shop/x0 and 2 more", "eu", "Forbidden", '"x0" is forbidden'],
        ["ConfigMap shop/y", "us", "Invalid", "is wrong"],
        ["ConfigMap shop/5 and 2 more", "us", "Slow", "2027-01-03T00:00:00Z"],
        ["ConfigMap shop/b", "m1", "Late", SINCE, "0 of 0 in 'eu'"],
        ["ConfigMap shop/b", "m2", "Late", SINCE, "0 of 1 in 'eu'"],
        ["ConfigMap shop/a", "eu", "Odd", "2027-01-03T00:00:00Z", "is odd"],
        ["argosy status -v names each"],
    ]
    assert len(cells(table_of_unwell_objects(rows, tells_each=True))) == 1 + len(rows)
    assert list(table_of_unwell_objects((), tells_each=False)) == []


def deviation(name: str, action: str, message: str = "") -> Deviation:
    return Deviation(ref=ObjectRef("", "ConfigMap", "shop", name), action=action, reason="Why", message=message)


def test_what_failed_to_leave_stands_before_what_is_kept_in_any_number_of_clusters() -> None:
    kept = [(cluster, deviation("a", "kept", "is not ours")) for cluster in ("m1", "m2", "m3", "m4", "m5")]
    others = [("m1", deviation("b", "kept", "is odd")), ("m1", deviation("c", "failed"))]
    assert cells(table_of_deviations([*kept, *others], tells_each=False)) == [
        ["NOT AS COMMITTED", "CLUSTER", "ACTION", "REASON", "MESSAGE"],
        ["ConfigMap shop/c", "m1", "failed", "Why"],
        ["ConfigMap shop/a", "m1, m2, m3 and 2 more", "kept", "Why", "is not ours"],
        ["ConfigMap shop/b", "m1", "kept", "Why", "is odd"],
        ["argosy status -v names each"],
    ]
    here = [("", deviation(name, "kept", f"{name} is odd")) for name in "ab"]
    assert cells(table_of_deviations(here, tells_each=False)) == [
        ["NOT AS COMMITTED", "ACTION", "REASON", "MESSAGE"],
        ["ConfigMap shop/a", "kept", "Why", "a is odd"],
        ["ConfigMap shop/b", "kept", "Why", "b is odd"],
    ]


def test_bindings_without_a_cluster_for_one_reason_are_one_row() -> None:
    rows = [(f"ConfigMap shop/{name}", "NoClusterFit", "0/3 clusters are available") for name in "abcd"]
    assert cells(table_of_bindings(rows, tells_each=False)) == [
        ["BINDING", "REASON", "MESSAGE"],
        ["ConfigMap shop/a and 3 more", "NoClusterFit", "0/3 clusters are available"],
        ["argosy status -v names each"],
    ]


def cells(parts: Iterable[str]) -> list[list[str]]:
    return [re.split(r" {2,}", line) for line in "".join(parts).splitlines() if line]
