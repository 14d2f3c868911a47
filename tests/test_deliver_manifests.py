"""Real manifests that nobody here wrote, applied to three clusters, applied again, drained to nothing.

Where there are none beside the checkout, there are no cases.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.fleet import ClusterJob, FleetOptions, apply_fleet
from reconciler.deliver.results import ApplySettings, ClusterReport, ObjectResult
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.opening import MemberAccess, Members
from reconciler.members.visits import MemberReach
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import held_object_of_desired
from reconciler.plans.model import Action, ClusterDesired, PlanOptions
from render.documents import parse_documents

from .applying import Recorder, desired_objects
from .clusters import Member
from .conftest import REQUIRED

pytestmark = pytest.mark.cluster

REAL = Path(__file__).parents[2] / "shared" / "real"
HEAVY = frozenset({"kube-prometheus"})
FOLDERS = sorted(path.name for path in REAL.glob("*/") if REQUIRED or path.name not in HEAVY)
SCOPE = {"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "APIService"}
NOT_TEMPLATES = "karmada.io"


def manifests(folder: str) -> Iterator[dict[str, Any]]:
    """The templates of a folder, with their namespace written out."""
    for path in sorted((REAL / folder).rglob("*.yaml")):
        for document in parse_documents(path.read_bytes()):
            value = document.value
            for item in value["items"] if value["kind"].endswith("List") else [value]:
                if item["kind"] in SCOPE:
                    yield item
                elif NOT_TEMPLATES not in item["apiVersion"]:
                    namespace = item["metadata"].get("namespace") or "default"
                    yield {**item, "metadata": {**item["metadata"], "namespace": namespace}}


class Fleet:
    """Three members and passes over them, each request recorded."""

    def __init__(self, members: tuple[Member, ...], folder: Path) -> None:
        self.members = members
        self.applyset = ApplySet(namespace=f"argosy-{folder.name.replace('_', '-')}")
        for member in members:
            (folder / member.name).write_text(member.kubeconfig.read_text())
        self.access = Members(MemberAccess(folder=str(folder)))
        self.recorders: dict[str, Recorder] = {}

    def open(self, name: str, deadline: float) -> Any:
        client = self.access.open(name, deadline)
        self.recorders[name] = Recorder(client)  # type: ignore[arg-type]  # these members have a way to them
        return self.recorders[name]

    def pass_over(self, wanted: list[Any], held: list[Any], **chosen: Any) -> list[ClusterReport]:
        options = PlanOptions(applyset=self.applyset, **chosen)
        known = [held_object_of_desired(item, preserve=False) for item in desired_objects(held)]
        jobs = [
            ClusterJob(
                desired=ClusterDesired(cluster=member.name, commit="c0ffee", objects=desired_objects(wanted)),
                inventory=Inventory(cluster=member.name).with_objects(known),
                options=options,
            )
            for member in self.members
        ]
        how = FleetOptions(apply=ApplySettings(settle_seconds=60.0))
        return list(apply_fleet(jobs, MemberReach(open_client=self.open), how))


def results(reports: list[ClusterReport]) -> Iterator[ObjectResult]:
    for report in reports:
        assert report.applied, report.failure
        yield from report.applied.results


@pytest.mark.parametrize("folder", FOLDERS)
def test_applied_to_three_clusters_again_and_drained(folder: str, members: tuple[Member, ...], tmp_path: Path) -> None:
    fleet, templates = Fleet(members, tmp_path), list(manifests(folder))
    first = fleet.pass_over(templates, [])
    assert [str(result) for result in results(first) if result.is_failure] == []
    assert [report.applied and report.applied.count(Action.CREATED) for report in first] == [len(templates)] * 3

    second = fleet.pass_over(templates, templates)
    assert [report.applied and report.applied.count(Action.UNCHANGED) for report in second] == [len(templates)] * 3
    assert {name: recorder.writes for name, recorder in fleet.recorders.items()} == {
        member.name: [] for member in members
    }

    last = fleet.pass_over([], templates, confirm_all=True, allowed_removals=len(templates))
    assert [report.applied and report.applied.outcome for report in last] == [ApplyOutcome.CONVERGED] * 3
    assert {result.reason for result in results(last)} == {"NotWanted"}
    for member in members:
        assert member.read(f"/api/v1/namespaces/{fleet.applyset.namespace}/configmaps/argosy") is None
