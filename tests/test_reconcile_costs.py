"""``maxCostIncrease``: a pass that would cost too much more commits nothing, in every command that asks the guards."""

from pathlib import Path

import pytest

from .build import Repository, argosy, on_clusters, weighted
from .build import a_cluster as cluster
from .build import a_policy as policy
from .stories import allowing, settings
from .test_diff_costs import BOTH, DEPLOYMENTS, EU, a_fleet, divided, price_of, prices, sized

REFUSED = "this change costs too much more; nothing was committed\n"
HINT = f"  hint: {allowing('pass --allow-cost', 'Argosy-Allow-Cost: 43.80 EUR')}\n"
DEARER = f"{REFUSED}  the fleet: 262.80 -> 306.60 EUR a month, 43.80 more (more than 10 %)\n{HINT}"


def guarded(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    percent: int | None = None,
    amount: int | None = None,
    **files: object,
) -> Repository:
    limits = {name: value for name, value in (("percent", percent), ("amount", amount)) if value is not None}
    files = {"prices": BOTH, "argosy": settings(maxCostIncrease=limits), **files}
    return a_fleet(folder, capsys, **files)


def test_a_dearer_fleet_is_refused_by_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = guarded(tmp_path, capsys, percent=10)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    for command in ("reconcile", "render --commit"):
        ended = argosy(fleet, capsys, *command.split())
        assert (ended.code, ended.err) == (6, DEARER)
    ended = argosy(fleet, capsys, "diff", "--check", "HEAD~1", "HEAD")
    assert (ended.code, ended.err) == (6, DEARER.replace("; nothing was committed", ""))
    preview = argosy(fleet, capsys, "render", "-o", "table")
    assert preview.code == 0
    assert "the fleet: 262.80 -> 306.60 EUR a month, 43.80 more (more than 10 %); a commit is refused\n" in preview.err
    shown = argosy(fleet, capsys, "diff", "HEAD~1", "HEAD")
    assert "\nREFUSED\n  this change costs too much more\n" in shown.out


@pytest.mark.parametrize(
    ("why", "options", "trailers", "code"),
    [
        ("the option", ("--allow-cost", "43.80"), "", 0),
        ("less than it costs", ("--allow-cost", "43.79"), "", 6),
        ("more than one option", ("--allow-cost", "1", "--allow-cost", "50"), "", 0),
        ("a trailer", (), "Argosy-Allow-Cost: 43.80 EUR", 0),
        ("a trailer without a currency", (), "Argosy-Allow-Cost: 44", 0),
        ("another currency", (), "Argosy-Allow-Cost: 100 USD", 6),
        ("a trailer that is none", (), "Argosy-Allow-Cost: plenty", 6),
        ("what allows movements", ("--allow-movement", "*=99"), "", 6),
    ],
)
def test_what_lets_a_dearer_fleet_pass(
    why: str, options: tuple[str, ...], trailers: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = guarded(tmp_path, capsys, percent=10)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)}, f"Move\n\n{trailers}")
    assert argosy(fleet, capsys, "diff", "--check", "HEAD~1", "HEAD", *options).code == code, why
    assert argosy(fleet, capsys, "reconcile", *options).code == code, why


def test_an_option_in_another_currency_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would allow nothing, which nobody was told."""
    fleet = guarded(tmp_path, capsys, percent=10)
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    said = "argosy: the prices are in EUR, so nothing is allowed in USD\n  hint: write EUR\n"
    for command in ("reconcile", "diff --check HEAD~1 HEAD", "render --commit"):
        assert argosy(fleet, capsys, *command.split(), "--allow-cost", "99 USD") == (2, "", said)
    assert argosy(fleet, capsys, "reconcile", "--allow-cost", "43.80 EUR").code == 0


def test_the_limits_are_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """43.80 of 262.80 is a sixth: it is not more than 17 %, and more than 16 %; as an amount, more than 43."""
    for number, (limits, code) in enumerate(
        [
            ({"percent": 17}, 0),
            ({"percent": 16}, 6),
            ({"amount": 44}, 0),
            ({"amount": 43}, 6),
            ({"amount": 44, "percent": 1}, 6),
        ]
    ):
        fleet = guarded(tmp_path / str(number), capsys, **limits)
        fleet.commit({"policies.yaml": divided(eu=3, us=1)})
        assert argosy(fleet, capsys, "reconcile").code == code, limits


def test_what_is_cheaper_or_as_dear_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = guarded(tmp_path, capsys, percent=0, amount=0)
    fleet.commit({"policies.yaml": divided(eu=1, us=3)})
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.commit({"prices.yaml": prices(price_of("eu", {"cpu": 9, "memory": 9}), price_of("us", EU))})
    assert (
        argosy(fleet, capsys, "reconcile").code == 0
    )  # what is placed is the same: prices are others, and no pass did that


def test_a_fleet_in_which_nothing_had_a_cost_has_no_percentage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = guarded(tmp_path, capsys, percent=10, web=sized(4))
    fleet.commit({"more.yaml": sized(4, name="more", cpu="1", memory="1Gi")})
    assert argosy(fleet, capsys, "reconcile").code == 0


def test_a_dead_cluster_left_out_of_the_source_costs_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It keeps its replicas, so those that are placed elsewhere for them are an increase."""
    fleet = guarded(tmp_path, capsys, percent=10)
    fleet.commit({"clusters.yaml": [cluster("us")]})
    ended = argosy(fleet, capsys, "reconcile")
    assert ended.code == 6
    assert "the fleet: 87.60 -> 175.20 EUR a month, 87.60 more (more than 10 %)" in ended.err


UNJUDGED = "maxCostIncrease does not judge {} where no cost is known: {}\n"


def test_what_moves_to_where_no_price_is_known_is_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = guarded(tmp_path, capsys, amount=0, prices=prices(price_of("eu", EU)))
    fleet.commit({"policies.yaml": divided(eu=3, us=1)})
    said = f"warning: {UNJUDGED.format('1 object that differs', 'Deployment.apps default/web')}"
    ended = argosy(fleet, capsys, "diff", "--check", "HEAD~1", "HEAD")
    assert (ended.code, ended.err) == (0, said)
    ended = argosy(fleet, capsys, "reconcile")
    assert (ended.code, said in ended.err) == (0, True)
    # With the same replicas where no price is known, the rest of it is judged, and what is not is named.
    fleet.commit({"web.yaml": sized(4, cpu="2", memory="1Gi")})
    ended = argosy(fleet, capsys, "reconcile")
    named = UNJUDGED.format("1 object that differs", "Deployment.apps default/web")
    assert (ended.code, said in ended.err, f"\n  {named}" in ended.err) == (6, True, True)


def test_requests_that_grow_where_no_price_is_known_are_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The replicas are as many as before, and nobody knows what each of them costs more."""
    fleet = guarded(tmp_path, capsys, amount=1000, prices=prices(price_of("eu", EU)))
    fleet.commit({"web.yaml": sized(4, cpu="2", memory="1Gi")})
    said = f"warning: {UNJUDGED.format('1 object that differs', 'Deployment.apps default/web')}"
    ended = argosy(fleet, capsys, "diff", "--check", "HEAD~1", "HEAD")
    assert (ended.code, ended.err) == (0, said)


def test_an_object_that_requests_nothing_is_named_where_it_grows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = guarded(tmp_path, capsys, amount=0, bare=sized(2, name="bare"))
    fleet.commit({"bare.yaml": sized(20, name="bare")})
    ended = argosy(fleet, capsys, "reconcile")
    assert ended.code == 0
    assert UNJUDGED.format("1 object that differs", "Deployment.apps default/bare") in ended.err
    fleet.commit({"note.yaml": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}}})
    assert "maxCostIncrease" not in argosy(fleet, capsys, "reconcile").err


def test_a_limit_without_prices_judges_nothing_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = guarded(tmp_path, capsys, amount=0)
    fleet.commit({"prices.yaml": None, "web.yaml": sized(40, cpu="1")})
    said = "argosy.yaml:6: spec.maxCostIncrease: judges nothing: the source has no PriceList"
    for command in ("validate", "reconcile"):
        ended = argosy(fleet, capsys, command)
        assert ended.code == 0
        assert said in ended.err + ended.out


def test_a_weaker_limit_waits_and_the_former_one_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = guarded(tmp_path, capsys, percent=10)
    fleet.commit({"argosy.yaml": settings(), "policies.yaml": divided(eu=3, us=1)})
    ended = argosy(fleet, capsys, "diff", "--check", "HEAD~1", "HEAD")
    assert ended.code == 6
    assert "spec.maxCostIncrease.percent: 10 -> none" in ended.err
    assert "43.80 more (more than 10 %)" in ended.err


def test_suspended_dispatch_is_judged_when_it_is_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = guarded(tmp_path, capsys, percent=10)
    suspended = policy(
        "web",
        selectors=[DEPLOYMENTS],
        placement=on_clusters("eu", "us", replicaScheduling=weighted(eu=1, us=1)),
        suspension={"dispatching": True},
    )
    fleet.commit({"policies.yaml": suspended, "web.yaml": sized(8, cpu="1", memory="1Gi")})
    assert argosy(fleet, capsys, "reconcile").code == 6
    assert argosy(fleet, capsys, "reconcile", "--allow-cost", "1000").code == 0
    fleet.commit({"policies.yaml": divided(eu=1, us=1)})
    assert argosy(fleet, capsys, "reconcile").code == 0
