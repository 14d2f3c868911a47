"""Passes when the status branch is gone, when a cluster shall hold nothing, and when nothing is to do."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.deliver.reports import exit_code_of_reports
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.exchange import FailureKind
from reconciler.members.options import DeliveryOptions

from .applying import outcomes
from .build import a_config_map, a_policy, on_clusters
from .clusters import remove_namespaces
from .memory_fleet import MemoryFleet

SELECTED = {"apiVersion": "v1", "kind": "ConfigMap"}
NAMES = ("a", "b", "c")


@pytest.fixture(params=["in memory", pytest.param("real", marks=pytest.mark.cluster)])
def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryFleet]:
    """A fleet of one member that holds three ConfigMaps and their namespace."""
    space = f"t{secrets.token_hex(4)}"
    policy = a_policy(selectors=[SELECTED], placement=on_clusters("member1"), namespace=space)
    files = {f"{name}.yaml": a_config_map(name, namespace=space) for name in NAMES}
    made = MemoryFleet.create(tmp_path / "fleet", {"member1": (0, {})}, {**files, "policy.yaml": policy})
    if request.param == "real":
        made.members["member1"] = request.getfixturevalue("members")[0]
    made.run()
    yield made
    if request.param == "real":
        remove_namespaces([made.members["member1"]], space)


def told(reports: tuple[ClusterReport, ...]) -> dict[str, str]:
    (report,) = reports
    assert report.applied is not None, report.failure
    found = outcomes(report.applied).items()
    return {name.split()[0] if "Namespace" in name else name: said for name, said in found}


KEPT = {"ConfigMap a": "unchanged UpToDate", "ConfigMap b": "unchanged UpToDate"}


class TestTheStatusBranchIsGone:
    def test_what_left_the_tree_meanwhile_is_pruned_all_the_same(self, fleet: MemoryFleet) -> None:
        fleet.repository.commit({"c.yaml": None})
        fleet.repository.git("branch", "-D", "argosy/status")
        said = told(fleet.run())
        assert said == {**KEPT, "Namespace": "unchanged UpToDate", "ConfigMap c": "deleted NotWanted"}
        assert fleet.recorded("inventory/member1.yaml")["converged"] == fleet.repository.git(
            "rev-parse", "argosy/rendered"
        )

    def test_what_is_kept_is_remembered_again(self, fleet: MemoryFleet) -> None:
        """Nothing but the namespace is left, and nobody has confirmed that it goes."""
        fleet.repository.commit({f"{name}.yaml": None for name in NAMES})
        fleet.run(allowed={"member1": 3})
        fleet.repository.git("branch", "-D", "argosy/status")
        assert told(fleet.run()) == {"Namespace": "kept NeedsConfirmation"}
        assert [item["kind"] for item in fleet.recorded("inventory/member1.yaml")["left"]] == ["Namespace"]

    def test_what_is_confirmed_by_name_goes_at_once(self, fleet: MemoryFleet) -> None:
        space = policy_namespace(fleet)
        fleet.repository.commit({f"{name}.yaml": None for name in NAMES})
        fleet.run(allowed={"member1": 3})
        fleet.repository.git("branch", "-D", "argosy/status")
        confirmed = DeliveryOptions(confirmed=(f"Namespace/{space}",))
        (result,) = told(fleet.run(options=confirmed)).values()
        assert result.startswith("deleted")

    def test_the_removal_guard_counts_as_ever(self, fleet: MemoryFleet) -> None:
        fleet.repository.commit({f"{name}.yaml": None for name in NAMES})
        fleet.repository.git("branch", "-D", "argosy/status")
        said = told(fleet.run())
        assert {said[f"ConfigMap {name}"] for name in NAMES} == {"kept Held"}

    def test_a_context_that_leads_to_another_member_is_noticed(self, fleet: MemoryFleet) -> None:
        """The pinned UIDs are gone with the branch; the ApplySet's parent knows whose cluster it is."""
        source = fleet.repository.path / "clusters" / "member1.yaml"
        fleet.repository.commit({"clusters/member2.yaml": source.read_text().replace("member1", "member2")})
        fleet.members["member2"] = fleet.members["member1"]
        _, swapped = fleet.run()
        assert swapped.failure is not None
        assert swapped.failure.kind is FailureKind.WRONG_CLUSTER
        assert swapped.failure.message == (
            "the context of 'member2' leads to the cluster that this fleet knows as 'member1'"
        )


class TestAClusterShallHoldNothing:
    def test_it_is_emptied_once_that_is_allowed_whatever_namespaces_are_kept(self, fleet: MemoryFleet) -> None:
        """A namespace that is kept waits for its own confirmation, and keeps nothing else."""
        fleet.repository.commit({f"{name}.yaml": None for name in NAMES})
        (refused,) = fleet.run()
        assert refused.applied is not None
        assert refused.applied.prune_hold == "the cluster would hold nothing"
        (emptied,) = fleet.run(allowed={"member1": 3})
        (after,) = fleet.run()
        assert told((emptied,)) == {
            **{f"ConfigMap {name}": "deleted NotWanted" for name in NAMES},
            "Namespace": "kept NeedsConfirmation",
        }
        assert told((after,)) == {"Namespace": "kept NeedsConfirmation"}
        assert after.applied is not None
        assert (after.applied.prune_hold, after.applied.outcome) == ("", ApplyOutcome.INCOMPLETE)
        (left,) = fleet.recorded("inventory/member1.yaml")["left"]
        confirmed = fleet.run(options=DeliveryOptions(confirmed=(f"Namespace/{left['name']}",)))
        assert exit_code_of_reports(confirmed) == 0


class TestDryRuns:
    def test_all_equal_is_converged(self, fleet: MemoryFleet) -> None:
        reports = fleet.run(dry_run=True)
        assert exit_code_of_reports(reports) == 0

    @pytest.mark.parametrize("change", [{"a.yaml": None}, {"d.yaml": "new"}], ids=["a deletion", "a creation"])
    def test_anything_to_do_is_not(self, fleet: MemoryFleet, change: dict[str, Any]) -> None:
        new = a_config_map("d", namespace=policy_namespace(fleet))
        fleet.repository.commit({path: content and new for path, content in change.items()})
        assert exit_code_of_reports(fleet.run(dry_run=True)) == 1


def policy_namespace(fleet: MemoryFleet) -> str:
    return str(fleet.recorded("policy.yaml", "HEAD")["metadata"]["namespace"])
