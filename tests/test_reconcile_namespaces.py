"""Namespaces that change behind our back, with the controllers running: deleted, on their way out, under a quota."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.deliver.reports import exit_code_of_reports
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.inventory import ApplyOutcome

from .applying import outcomes
from .build import a_config_map, a_policy, on_clusters
from .clusters import Member, remove_namespaces
from .memory_fleet import REAL_WAYS, MemoryFleet, Way
from .waiting import eventually

pytestmark = pytest.mark.cluster

NAMES = ("a", "b", "c")


class Shop:
    """A fleet of one member with three ConfigMaps in a namespace that nobody wrote a template for."""

    def __init__(self, folder: Path, member: Member, *, by_agent: bool) -> None:
        self.member, self.space = member, f"t{secrets.token_hex(4)}"
        selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
        policy = a_policy(selectors=selectors, placement=on_clusters("member1"), namespace=self.space)
        files = {f"{name}.yaml": a_config_map(name, namespace=self.space) for name in NAMES}
        files["policy.yaml"] = policy
        self.fleet = MemoryFleet.create(folder, {"member1": (0, {})}, files, by_agent=by_agent)
        self.fleet.members["member1"] = member
        self.path = f"/api/v1/namespaces/{self.space}"

    def applied(self) -> tuple[dict[str, str], ClusterReport]:
        """One pass: what came of the objects, by their short names, and the report."""
        (report,) = self.fleet.run()
        assert report.applied is not None, report.failure
        found = outcomes(report.applied).items()
        return {name.replace(f" {self.space}", ""): said for name, said in found}, report

    def is_gone(self) -> bool:
        return self.member.read(self.path) is None


@pytest.fixture(params=REAL_WAYS)
def shop(request: pytest.FixtureRequest, members: tuple[Member, ...], tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path / "fleet", members[0], by_agent=Way(request.param).by_agent)
    yield made
    remove_namespaces([made.member], made.space)


def test_a_namespace_that_was_deleted_behind_our_back_is_made_again_with_all_that_is_in_it(shop: Shop) -> None:
    shop.applied()
    remove_namespaces([shop.member], shop.space)
    said, report = shop.applied()
    assert said == {"Namespace": "created Missing", **{f"ConfigMap {name}": "created Missing" for name in NAMES}}
    assert exit_code_of_reports([report]) == 0
    assert set(shop.applied()[0].values()) == {"unchanged UpToDate"}


def test_a_namespace_on_its_way_out_is_waited_for_and_nothing_is_pruned_meanwhile(shop: Shop) -> None:
    shop.applied()
    shop.fleet.repository.commit({"c.yaml": None})
    held = a_config_map("held", namespace=shop.space)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    assert shop.member.request("POST", f"{shop.path}/configmaps", held)[0] == 201
    shop.member.request("DELETE", shop.path)
    eventually(lambda: shop.member.read(f"{shop.path}/configmaps/a") is None, "the contents are gone")
    said, report = shop.applied()
    assert said == {
        "Namespace": "blocked Terminating",
        "ConfigMap a": "blocked DependencyFailed",
        "ConfigMap b": "blocked DependencyFailed",
    }
    assert exit_code_of_reports([report]) == 1
    release = {"metadata": {"finalizers": None}}
    path = f"{shop.path}/configmaps/held"
    shop.member.request("PATCH", path, release, content_type="application/merge-patch+json")
    eventually(shop.is_gone, "the namespace is gone")
    said, report = shop.applied()
    assert said == {"Namespace": "created Missing", "ConfigMap a": "created Missing", "ConfigMap b": "created Missing"}
    assert exit_code_of_reports([report]) == 0


def test_a_quota_that_is_exceeded_fails_what_is_too_much_and_is_made_good_when_it_is_raised(shop: Shop) -> None:
    shop.applied()
    quota = {"metadata": {"name": "few"}, "spec": {"hard": {"count/configmaps": "4"}}}
    assert shop.member.request("POST", f"{shop.path}/resourcequotas", quota)[0] == 201

    def is_counted() -> bool:
        used = (shop.member.read(f"{shop.path}/resourcequotas/few").get("status") or {}).get("used") or {}
        return used.get("count/configmaps") == "4"

    eventually(is_counted, "the quota counts the three and the cluster's own certificate authority")
    shop.fleet.repository.commit({"c.yaml": None, "d.yaml": a_config_map("d", namespace=shop.space)})
    said, report = shop.applied()
    assert said == {
        "Namespace": "unchanged UpToDate",
        "ConfigMap a": "unchanged UpToDate",
        "ConfigMap b": "unchanged UpToDate",
        "ConfigMap c": "kept Held",
        "ConfigMap d": "failed Forbidden",
    }
    assert report.applied is not None
    refused = next(result for result in report.applied.results if result.is_failure)
    assert "exceeded quota: few" in refused.message
    assert report.applied.outcome is ApplyOutcome.INCOMPLETE
    shop.member.request("DELETE", f"{shop.path}/resourcequotas/few")
    eventually(lambda: shop.member.read(f"{shop.path}/resourcequotas/few") is None, "the quota is gone")
    said, report = shop.applied()
    assert (said["ConfigMap d"], said["ConfigMap c"]) == ("created Missing", "deleted NotWanted")
    assert exit_code_of_reports([report]) == 0
