"""PriceLists in a source: what is refused where, what is read, and what counts in a cluster."""

from fractions import Fraction
from typing import Any

from overrides.admission import admit
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.documents import parse_documents
from render.notations import decimal_number
from render.prices.amounts import exact_decimal, shown_amount
from render.prices.cluster_prices import prices_of_clusters
from render.prices.price_list import PriceEntry, PriceList
from render.selectors import ClusterAffinity
from tests.build import a_cluster, as_bytes
from tests.sources import source_of
from tests.tables import each_row

EVERYWHERE = {"cpu": "0.03", "memory": "0.004"}


def a_price_list(*prices: Any, name: str = "prices", currency: Any = "EUR") -> dict[str, Any]:
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "PriceList",
        "metadata": {"name": name},
        "spec": {"currency": currency, "prices": list(prices) or [{"perHour": EVERYWHERE}]},
    }


def loaded(*documents: Any) -> Loaded:
    source = source_of({"all.yaml": as_bytes(list(documents))})
    return load_source(source.files, SourceReading(source.read))


PROBLEMS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("prices everywhere", a_price_list(), []),
    ("every field", a_price_list(
        {"clusterAffinity": {"clusterNames": ["eu-1"], "exclude": ["eu-2"]}, "perHour": {
            "cpu": 0.03, "memory": 1, "ephemeral-storage": "0", "hugepages-2Mi": "0.000000000000000001",
            "nvidia.com/gpu": "2.5",
        }},
        {"carbon": {"cpu": 12}},
    ), []),
    ("a price below zero", a_price_list({"perHour": {"cpu": -0.03, "memory": "-1"}}), [
        "spec.prices[0].perHour.cpu: must not be negative, not -0.03",
        "spec.prices[0].perHour.memory: must not be negative, not '-1'",
    ]),
    ("a price that is no number", a_price_list({"perHour": {"cpu": "cheap", "memory": True, "nvidia.com/gpu": [1]}}), [
        "spec.prices[0].perHour.cpu: must be a decimal number such as 0.031, not 'cheap'",
        "spec.prices[0].perHour.memory: must be a decimal number such as 0.031, not a boolean",
        "spec.prices[0].perHour.nvidia.com/gpu: must be a decimal number such as 0.031, not a list",
    ]),
    ("a quantity", a_price_list({"perHour": {"cpu": "30m"}}), [
        "spec.prices[0].perHour.cpu: must be a decimal number such as 0.031, not '30m'",
    ]),
    ("infinite", a_price_list({"perHour": {"cpu": float("inf"), "memory": float("nan")}}), [
        "spec.prices[0].perHour.cpu: must be a decimal number such as 0.031, not inf",
        "spec.prices[0].perHour.memory: must be a decimal number such as 0.031, not nan",
    ]),
    ("more digits than a float keeps", a_price_list({"perHour": {"cpu": 0.12345678901234567}}), [
        "spec.prices[0].perHour.cpu: must be a decimal number such as 0.031, not 0.12345678901234566",
    ]),
    ("unknown resources", a_price_list({"perHour": {"cpus": 1, "gpu": 1, "requests.cpu": 1, "hugepages-": 1}}), [
        "spec.prices[0].perHour.cpus: 'cpus' is nothing that containers request",
        "spec.prices[0].perHour.gpu: 'gpu' is nothing that containers request",
        "spec.prices[0].perHour.hugepages-: 'hugepages-' is nothing that containers request",
        "spec.prices[0].perHour.requests.cpu: 'requests.cpu' is nothing that containers request",
    ]),
    ("carbon below zero", a_price_list({"carbon": {"cpu": -1}}), [
        "spec.prices[0].carbon.cpu: must not be negative, not -1",
    ]),
    ("an entry that says nothing", a_price_list({"clusterAffinity": {}}), [
        "spec.prices[0].perHour: required, but missing",
    ]),
    ("no prices", {**a_price_list(), "spec": {"currency": "EUR", "prices": []}}, [
        "spec.prices: must have at least 1 item",
    ]),
    ("no currency", {**a_price_list(), "spec": {"prices": [{"perHour": EVERYWHERE}]}}, [
        "spec.currency: required, but missing",
    ]),
    ("a currency that is none", a_price_list(currency="Euro"), ["spec.currency: 'Euro' is no currency"]),
    ("a field of its own", a_price_list({"perHours": EVERYWHERE, "perHour": EVERYWHERE}), [
        "spec.prices[0].perHours: unknown field",
    ]),
    ("an affinity that Kubernetes cannot read", a_price_list(
        {"clusterAffinity": {"fieldSelector": {"matchExpressions": [{"key": "planet", "operator": "In"}]}},
         "perHour": EVERYWHERE},
    ), ["spec.prices[0].clusterAffinity.fieldSelector: unknown key 'planet'"]),
)  # fmt: skip


@each_row("why, manifest, problems", PROBLEMS, ids=[row[0] for row in PROBLEMS])
def test_what_is_refused_of_a_price_list(why: str, manifest: dict[str, Any], problems: list[str]) -> None:
    found = admit(manifest).problems
    assert [f"{each.field}: {each.message}" for each in found] == problems, why


def test_a_problem_has_its_place_and_a_hint() -> None:
    found = loaded(a_price_list({"perHour": {"cpus": 1}})).problems
    message = "all.yaml:9: spec.prices[0].perHour.cpus: 'cpus' is nothing that containers request"
    assert list(map(str, found)) == [f"{message}\n  hint: did you mean 'cpu'?"]


@each_row(
    "price, has_hint",
    [("cheap", False), ("-1", False), ("9" * 19, True), ("0." + "1" * 19, True), (10**18, True), (1e20, True)],
)
def test_a_price_of_too_many_digits_is_told_how_many_it_may_have(price: Any, has_hint: bool) -> None:
    """Quotes alone do not help a number that is too long in quotes, too."""
    (found,) = admit(a_price_list({"perHour": {"cpu": price}})).problems
    said = "write at most 18 digits before the point, and 18 after it; more than 15 of them in quotes"
    assert found.hint == (said if has_hint else "")


def test_prices_of_two_currencies_cannot_be_added() -> None:
    found = loaded(a_price_list(name="b", currency="USD"), a_price_list(name="a"))
    assert [f"{each.field}: {each.message}" for each in found.problems] == [
        "spec.currency: USD cannot be added to EUR, the currency of PriceList a"
    ]


def test_a_list_that_names_an_absent_cluster_is_warned_of() -> None:
    prices = a_price_list({"clusterAffinity": {"clusterNames": ["eu-1", "eu-9"]}, "perHour": EVERYWHERE})
    found = loaded(prices, a_cluster("eu-1"))
    assert found.problems == ()
    assert [f"{each.field}: {each.message}" for each in found.desired.warnings] == [
        "spec.prices[0].clusterAffinity.clusterNames: no cluster of the source is called 'eu-9'"
    ]


def test_a_source_with_prices_and_no_clusters_has_no_policies_to_be_warned_of() -> None:
    assert loaded(a_price_list()).desired.warnings == ()


def test_a_price_list_is_no_template_and_is_read_exactly() -> None:
    text = b"""
    apiVersion: argosy.dev/v1alpha1
    kind: PriceList
    metadata: {name: prices}
    spec:
      currency: EUR
      prices:
      - clusterAffinity: {clusterNames: [eu-1]}
        perHour: {memory: "0.123456789012345678", cpu: 0.031}
        carbon: {cpu: 0.00001}
    """
    manifest = parse_documents(text)[0].value
    desired = loaded(manifest).desired
    assert desired.templates == ()
    assert desired.price_lists == (
        PriceList(
            name="prices",
            currency="EUR",
            entries=(
                PriceEntry(
                    cluster_affinity=ClusterAffinity(cluster_names=("eu-1",)),
                    per_hour={"cpu": Fraction(31, 1000), "memory": Fraction(123456789012345678, 10**18)},
                    carbon={"cpu": Fraction(1, 100_000)},
                ),
            ),
            path="all.yaml",
        ),
    )


NUMBERS: tuple[tuple[Any, Fraction | None], ...] = (
    ("0", Fraction(0)),
    ("007", Fraction(7)),
    (0.1, Fraction(1, 10)),
    (1e-05, Fraction(1, 100_000)),
    (1e22, None),
    (1.0, Fraction(1)),
    (True, None),
    (None, None),
    (".5", None),
    ("5.", None),
    ("+5", None),
    ("1_000", None),
    ("٣", None),
    ("1" * 19, None),
)


@each_row("value, want", NUMBERS)
def test_decimal_numbers_are_exact(value: Any, want: Fraction | None) -> None:
    assert decimal_number(value) == want


def a_list(*entries: tuple[dict[str, Any], dict[str, Any]], name: str = "a", currency: str = "EUR") -> PriceList:
    """A list with an entry of prices for each pair of an affinity and the prices of resources."""
    rates = [{key: Fraction(value) for key, value in prices.items()} for _, prices in entries]
    return PriceList(
        name=name,
        currency=currency,
        entries=tuple(
            PriceEntry(cluster_affinity=ClusterAffinity(**affinity), per_hour=each)
            for (affinity, _), each in zip(entries, rates, strict=True)
        ),
    )


def test_the_first_entry_that_selects_a_cluster_counts_there() -> None:
    index = ClusterIndex([Cluster(name=name) for name in ("eu-1", "eu-2", "us-1")])
    first = a_list(({"cluster_names": ("eu-2",)}, {"cpu": 1}), ({"exclude": ("us-1",)}, {"cpu": 2}))
    second = a_list(({"cluster_names": ("eu-1", "eu-2", "eu-3")}, {"cpu": 3}), name="b")
    prices = prices_of_clusters([second, first], index)
    assert prices.currency == "EUR"
    # us-1 is selected by none: it has no price, and not one of 0.
    assert prices.by_cluster == {"eu-1": {"cpu": Fraction(2)}, "eu-2": {"cpu": Fraction(1)}}


def test_carbon_and_prices_are_found_each_by_itself() -> None:
    index = ClusterIndex([Cluster(name="eu-1")])
    entries = (PriceEntry(carbon={"cpu": Fraction(9)}), PriceEntry(per_hour={"cpu": Fraction(1)}))
    prices = prices_of_clusters([PriceList(name="a", currency="EUR", entries=entries)], index)
    assert (prices.by_cluster, prices.carbon_by_cluster) == (
        {"eu-1": {"cpu": Fraction(1)}},
        {"eu-1": {"cpu": Fraction(9)}},
    )


SHOWN: tuple[tuple[Fraction, str, str], ...] = (
    (Fraction(0), "0.00", "0"),
    (Fraction(1, 8), "0.12", "0.125"),
    (Fraction(3, 8), "0.38", "0.375"),
    (Fraction(-1, 8), "-0.12", "-0.125"),
    (Fraction(1, 2**30), "0.0000000009", "0.000000000931322574615478515625"),
    (Fraction(100), "100.00", "100"),
    (Fraction(1999, 1000), "2.00", "1.999"),
    (Fraction(1, 3), "0.33", "0.333333333333333333"),
    (Fraction(1, 200), "0.005", "0.005"),
)


@each_row("amount, shown, exact", SHOWN)
def test_amounts_are_shown_rounded_and_told_exactly(amount: Fraction, shown: str, exact: str) -> None:
    assert (shown_amount(amount), exact_decimal(amount)) == (shown, exact)
