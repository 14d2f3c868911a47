"""``argosy diff`` shows what a change costs where the fleet has prices, and nothing of it where it has none."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reconciler.check import source_warnings
from reconciler.diff import costs
from reconciler.reference.schemas import json_schema_of_kind
from reconciler.rendering import guarded_outcome
from render.prices import cluster_prices

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted

DEPLOYMENTS = {"apiVersion": "apps/v1", "kind": "Deployment"}
DAEMONS = {"apiVersion": "apps/v1", "kind": "DaemonSet"}
EU, US = {"cpu": "0.10", "memory": "0.02"}, {"cpu": "0.05", "memory": "0.01"}


def prices(*entries: Any, currency: str = "EUR") -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PriceList",
        "metadata": {"name": "prices"},
        "spec": {"currency": currency, "prices": list(entries)},
    }


def price_of(cluster: str, per_hour: Any, **more: Any) -> dict[str, Any]:
    return {"clusterAffinity": {"clusterNames": [cluster]}, "perHour": per_hour, **more}


BOTH = prices(price_of("eu", EU), price_of("us", US))


def sized(replicas: int = 4, *, name: str = "web", **requests: str) -> dict[str, Any]:
    """A Deployment each of whose replicas requests so much; without any, nothing."""
    deployment = a_deployment(name, replicas=replicas)
    if requests:
        deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    return deployment


def divided(**weights: int) -> dict[str, Any]:
    placement = on_clusters(*weights, replicaScheduling=weighted(**weights))
    return a_policy("web", selectors=[DEPLOYMENTS], placement=placement)


def a_fleet(folder: Path, capsys: pytest.CaptureFixture[str], **files: Any) -> Repository:
    """Two clusters that share four replicas of one core and a GiB each, rendered once."""
    repository = Repository.create(folder)
    repository.commit(
        {
            "clusters.yaml": [a_cluster("eu"), a_cluster("us")],
            "policies.yaml": divided(eu=1, us=1),
            "web.yaml": sized(cpu="1", memory="1Gi"),
            **{f"{name}.yaml": content for name, content in files.items()},
        }
    )
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def difference(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    ended = argosy(repository, capsys, "diff", "HEAD~1", "HEAD", *options)
    assert ended.code in {0, 1}, ended.err
    return ended.out


def cost_of(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Any:
    document = json.loads(difference(repository, capsys, "-o", "json"))
    Draft202012Validator(json_schema_of_kind("Difference")).validate(document)
    return document.get("cost")


# eu: 0.12 an hour and replica, 87.60 a month; us: half of that.
MOVED = """
COST
  eu: 175.20 -> 262.80 EUR a month (+87.60)
  us: 87.60 -> 43.80 EUR a month (-43.80)
  all clusters: 262.80 -> 306.60 EUR a month (+43.80)
"""


def test_a_move_to_a_dearer_cluster_has_its_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys, prices=BOTH)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    assert MOVED in difference(fleet, capsys)
    assert difference(fleet, capsys, "--stat") == (
        "CLUSTER   ADDED   CHANGED   REMOVED   REPLICAS   COST (EUR A MONTH)\n"
        "eu        +0      ~1        -0        2 -> 3     175.20 -> 262.80 (+87.60)\n"
        "us        +0      ~1        -0        2 -> 1     87.60 -> 43.80 (-43.80)\n"
        "risk: touches 2 of 2 clusters, moves 1 of 4 replicas\n"
        "2 clusters change, 1 object changed, 1 of 4 replicas moves\n"
        "cost of all clusters: 262.80 -> 306.60 EUR a month (+43.80)\n"
    )
    assert cost_of(fleet, capsys) == {
        "currency": "EUR",
        "total": {"before": "262.8", "after": "306.6", "difference": "43.8"},
        "clusters": [
            {"name": "eu", "before": "175.2", "after": "262.8", "difference": "87.6"},
            {"name": "us", "before": "87.6", "after": "43.8", "difference": "-43.8"},
        ],
        "unknown": [],
        "unrequested": [],
    }
    markdown = difference(fleet, capsys, "-o", "markdown")
    assert (
        "| cluster | added | changed | removed | replicas | EUR a month |\n|---|---:|---:|---:|---:|---:|\n" in markdown
    )
    assert "| <code>eu</code> | 0 | 1 | 0 | 2 → 3 | 175.20 → 262.80 (+87.60) |\n" in markdown
    assert "**Cost (1)**\n\n- all clusters&#58; 262.80 → 306.60 EUR a month &#40;+43.80&#41;\n" in markdown


def test_a_fleet_without_prices_is_told_of_no_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    said = [difference(fleet, capsys, *options) for options in ((), ("--stat",), ("-o", "markdown"))]
    assert not any("cost" in each.lower() for each in said)
    assert cost_of(fleet, capsys) is None


def test_a_fleet_without_prices_pays_nothing_for_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No command looks for the prices of its clusters, nor for the requests of what it places."""
    for module in (cluster_prices, costs, guarded_outcome, source_warnings):
        for name in ("prices_of_clusters", "costs_of_bindings"):
            monkeypatch.setattr(module, name, lambda *_: pytest.fail("no PriceList is there"), raising=False)
    fleet = a_fleet(tmp_path, capsys)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    for command, code in (("validate", 0), ("diff HEAD~1 HEAD", 1), ("reconcile", 0)):
        assert argosy(fleet, capsys, *command.split()).code == code, command


def test_what_is_unknown_is_counted_and_is_not_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    daemon = {**a_deployment("agent"), "kind": "DaemonSet"}
    daemon["spec"] = {key: value for key, value in daemon["spec"].items() if key != "replicas"}
    policies = [divided(eu=1, us=1), a_policy("agent", selectors=[DAEMONS], placement=on_clusters("eu"))]
    fleet = a_fleet(tmp_path, capsys, prices=prices(price_of("eu", EU)), policies=policies, bare=sized(2, name="bare"))
    fleet.commit({"web.yaml": sized(8, cpu="1", memory="1Gi"), "agent.yaml": daemon})
    assert difference(fleet, capsys).partition("\nCOST\n")[2] == (
        "  eu: 175.20 -> 350.40 EUR a month (+175.20)\n"
        "  all clusters: 175.20 -> 350.40 EUR a month (+175.20)\n"
        "  not in it: 1 object of unknown cost in eu, as its pods are as many as there are nodes:"
        " DaemonSet.apps default/agent\n"
        "  not in it: 1 object of unknown cost in us, as no price is known there: Deployment.apps default/web\n"
        "  not in it: 1 object that requests nothing: Deployment.apps default/bare\n"
    )
    table = difference(fleet, capsys, "--stat").splitlines()
    assert table[1].endswith("   175.20+ -> 350.40+ (+175.20)")
    assert table[2].endswith("   ?")
    cost = cost_of(fleet, capsys)
    assert (cost["unknown"], cost["unrequested"]) == (
        [
            {"object": "DaemonSet.apps default/agent", "clusters": ["eu"],
             "reason": "its pods are as many as there are nodes"},
            {"object": "Deployment.apps default/web", "clusters": ["us"], "reason": "no price is known there"},
        ],
        ["Deployment.apps default/bare"],
    )  # fmt: skip


def test_other_prices_are_told_apart_from_what_is_placed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys, prices=BOTH)
    fleet.commit({"prices.yaml": prices(price_of("eu", EU), price_of("us", EU))})
    assert difference(fleet, capsys).partition("\nCOST\n")[2] == (
        "  all clusters: 350.40 EUR a month\n"
        "  prices are others: by the former ones, what stands there costs 262.80 EUR a month\n"
    )
    assert (cost_of(fleet, capsys)["total"]["difference"], cost_of(fleet, capsys)["former"]) == ("0", "262.8")


def test_former_prices_in_another_currency_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys, prices=BOTH)
    fleet.commit({"prices.yaml": prices(price_of("eu", EU), price_of("us", US), currency="USD")})
    assert difference(fleet, capsys).partition("\nCOST\n")[2] == (
        "  all clusters: 262.80 USD a month\n"
        "  prices are others: by the former ones, what stands there costs 262.80 EUR a month\n"
    )
    cost = cost_of(fleet, capsys)
    assert (cost["currency"], cost["former"], cost["formerCurrency"]) == ("USD", "262.8", "EUR")


def test_a_cluster_that_leaves_goes_on_costing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is disconnected and keeps its replicas, while others are placed for them."""
    fleet = a_fleet(tmp_path, capsys, prices=prices({"perHour": EU}))
    fleet.commit({"clusters.yaml": [a_cluster("us")]})
    cost = cost_of(fleet, capsys)
    assert [(each["name"], each["before"], each["after"]) for each in cost["clusters"]] == [
        ("eu", "175.2", "175.2"),
        ("us", "175.2", "350.4"),
    ]


def test_what_is_unknown_in_a_cluster_that_leaves_stays_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [
        divided(eu=1, us=1),
        a_policy("bare", selectors=[{**DEPLOYMENTS, "name": "bare"}], placement=on_clusters("eu")),
    ]
    listed = prices(price_of("us", EU), {"carbon": {"cpu": 10, "memory": 0}})
    fleet = a_fleet(tmp_path, capsys, prices=listed, policies=policies, bare=sized(2, name="bare"))
    fleet.commit({"clusters.yaml": [a_cluster("us")]})
    cost = cost_of(fleet, capsys)
    assert [(each["object"], each["clusters"]) for each in cost["unknown"]] == [("Deployment.apps default/web", ["eu"])]
    assert cost["unrequested"] == ["Deployment.apps default/bare"]
    # Two of four replicas stay in eu, and as many are placed anew in us.
    assert cost["carbon"] == {"before": "29200", "after": "43800", "difference": "14600"}


def test_a_renamed_cluster_costs_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys, prices=prices({"perHour": EU}))
    renamed = a_cluster("europe")
    renamed["metadata"]["annotations"] = {"argosy.dev/renamed-from": "eu"}
    fleet.commit({"clusters.yaml": [renamed, a_cluster("us")], "policies.yaml": divided(europe=1, us=1)})
    assert cost_of(fleet, capsys)["total"] == {"before": "350.4", "after": "350.4", "difference": "0"}


def test_carbon_is_experimental(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carbon = {"cpu": 10, "memory": "0.5"}
    fleet = a_fleet(
        tmp_path, capsys, prices=prices(price_of("eu", EU, carbon=carbon), price_of("us", US, carbon=carbon))
    )
    fleet.commit({"web.yaml": sized(6, cpu="1", memory="1Gi")})
    said = "  all clusters: 30660.00 -> 45990.00 g CO2e a month (+15330.00), an experimental figure\n"
    assert said in difference(fleet, capsys)
    assert cost_of(fleet, capsys)["carbon"] == {"before": "30660", "after": "45990", "difference": "15330"}


def test_validate_names_the_clusters_without_prices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = a_fleet(tmp_path, capsys, prices=prices(price_of("eu", EU)))
    ended = argosy(fleet, capsys, "validate")
    said = "prices.yaml:7: spec.prices: no entry has prices for us: what is placed there is of unknown cost\n"
    assert (ended.code, ended.out.startswith(f"warning: {said}")) == (0, True)
    fleet.commit({"prices.yaml": prices(price_of("eu", EU), {"perHour": US})})
    assert "no entry" not in argosy(fleet, capsys, "validate").out
    fleet.commit({"prices.yaml": prices({"carbon": {"cpu": 1}})})
    assert "no entry" not in argosy(fleet, capsys, "validate").out
