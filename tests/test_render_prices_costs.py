"""Costs of bindings: what is known of each cluster, and what is unknown and never 0."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from render.binding import (
    Binding,
    KeptTargets,
    Moving,
    OverriddenReplicas,
    Undivided,
)
from render.model import ObjectRef, TargetCluster
from render.prices.cluster_prices import ClusterPrices
from render.prices.costs import (
    NO_PRICE,
    OVERRIDDEN,
    PER_NODE,
    SUSPENDED,
    UNTIL_DONE,
    FleetCosts,
    UnknownShare,
    costs_of_bindings,
)
from render.resources import Component, ReplicaRequirements
from tests.tables import each_row

EU = {"cpu": Fraction(1, 100), "memory": Fraction(2, 1000)}
US = {"cpu": Fraction(2, 100), "memory": Fraction(0)}
PRICES = ClusterPrices(currency="EUR", by_cluster={"eu-1": EU, "eu-2": EU, "us-1": US})
SMALL = {"cpu": "500m", "memory": "512Mi"}
WEB = ObjectRef("apps", "Deployment", "shop", "web")


def an_object(kind: str = "Deployment", *, requests: Mapping[str, str] | None = None, **fields: Any) -> Binding:
    """A binding of ``web`` with replicas in the clusters that ``targets`` names."""
    needs = None if requests is None else ReplicaRequirements(resource_request=requests)
    targets = fields.pop("targets", {})
    return Binding(
        ref=ObjectRef(fields.pop("group", "apps"), kind, "shop", "web"),
        api_version="apps/v1",
        requirements=needs,
        targets=tuple(TargetCluster(name, count) for name, count in targets.items()),
        **fields,
    )


def components(*requests: tuple[int, Mapping[str, str] | None]) -> tuple[Component, ...]:
    return tuple(
        Component(
            name=str(number),
            replicas=count,
            requirements=None if each is None else ReplicaRequirements(resource_request=each),
        )
        for number, (count, each) in enumerate(requests)
    )


class Case(NamedTuple):
    """``known`` are the costs of an hour; ``unknown`` the replicas and the reason of each cluster of unknown cost."""

    why: str
    binding: Binding
    known: dict[str, Fraction]
    unknown: dict[str, tuple[int, str]] = {}  # noqa: RUF012 - never changed
    requests_nothing: bool = False


CHANGED_REQUEST = """  - policy: OverridePolicy shop/big
    rule: '1'
    clusters: [eu-1]
    changes:
    - path: /spec/template/spec/containers/0/resources/requests/cpu
      operator: replace
      before: 500m
      after: '2'
"""
CHANGED_IMAGE = CHANGED_REQUEST.replace("resources/requests/cpu", "image")
A_SMALL_ONE = Fraction(1, 200) + Fraction(1, 1000)  # half a core and half a GiB at eu
CASES = [
    Case("replicas times what one requests", an_object(requests=SMALL, targets={"eu-1": 2, "us-1": 3}),
         {"eu-1": 2 * A_SMALL_ONE, "us-1": Fraction(3, 100)}),
    Case("a cluster without prices is unknown", an_object(requests=SMALL, targets={"eu-1": 1, "asia": 4}),
         {"eu-1": A_SMALL_ONE}, {"asia": (4, NO_PRICE)}),
    Case("a resource without a price is unknown",
         an_object(requests={**SMALL, "nvidia.com/gpu": "1"}, targets={"eu-1": 2}),
         {}, {"eu-1": (2, NO_PRICE)}),
    Case("a price of 0 is known", an_object(requests={"memory": "1Gi"}, targets={"us-1": 1}), {"us-1": Fraction(0)}),
    Case("nothing is requested", an_object(targets={"eu-1": 1}), {}, requests_nothing=True),
    Case("an empty request", an_object(requests={}, targets={"eu-1": 1}), {}, requests_nothing=True),
    Case("no replica anywhere", an_object(targets={"eu-1": 0}), {}),
    Case("no replica in one cluster", an_object(requests=SMALL, targets={"asia": 0, "eu-1": 1}), {"eu-1": A_SMALL_ONE}),
    Case("no workload", an_object("ConfigMap", group="", targets={"eu-1": 0}), {}),
    Case("a DaemonSet runs on each node", an_object("DaemonSet", targets={"eu-1": 0, "eu-2": 0}), {},
         {"eu-1": (0, PER_NODE), "eu-2": (0, PER_NODE)}),
    Case("a Job ends", an_object("Job", group="batch", requests=SMALL, targets={"eu-1": 2}), {},
         {"eu-1": (2, UNTIL_DONE)}),
    Case("a CronJob runs at times", an_object("CronJob", group="batch", targets={"eu-1": 0}), {},
         {"eu-1": (0, UNTIL_DONE)}),
    Case("all components go to each cluster",
         an_object(components=components((1, {"cpu": "1"}), (3, {"cpu": "500m"})), targets={"eu-1": 4, "us-1": 4}),
         {"eu-1": Fraction(25, 1000), "us-1": Fraction(50, 1000)}),
    Case("a component that requests nothing",
         an_object(components=components((1, {"cpu": "1"}), (2, None)), targets={"eu-1": 3}),
         {}, requests_nothing=True),
    Case("a component without pods",
         an_object(components=components((1, {"cpu": "1"}), (0, None)), targets={"eu-1": 1}),
         {"eu-1": Fraction(1, 100)}),
    Case("replicas that an override sets",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 1}, overridden=(OverriddenReplicas(clusters=("eu-1",),
                   replicas=5),)),
         {"eu-1": Fraction(5, 100)}),
    Case("an override changes the request in one cluster",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 1, "eu-2": 1}, applied_overrides=CHANGED_REQUEST),
         {"eu-2": Fraction(1, 100)}, {"eu-1": (1, OVERRIDDEN)}),
    Case("an override changes the request in all",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 1, "eu-2": 1},
                   applied_overrides=CHANGED_REQUEST.replace("    clusters: [eu-1]\n", "")),
         {}, {"eu-1": (1, OVERRIDDEN), "eu-2": (1, OVERRIDDEN)}),
    Case("an override changes the image",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 1}, applied_overrides=CHANGED_IMAGE), {"eu-1": Fraction(1,
                   100)}),
    Case("a suspended cluster keeps something else",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 3, "eu-2": 1},
                   kept=(KeptTargets(clusters=("eu-1",), replicas=1, is_outdated=True),)),
         {"eu-2": Fraction(1, 100)}, {"eu-1": (1, SUSPENDED)}),
    Case("a suspended cluster has what it is to have",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 1}, kept=(KeptTargets(clusters=("eu-1",), replicas=1),)),
         {"eu-1": Fraction(1, 100)}),
    Case("a suspended cluster has nothing",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 3}, kept=(KeptTargets(clusters=("eu-1",)),)), {}),
    Case("a move counts whole when it is decided",
         an_object(requests={"cpu": "1"}, targets={"eu-1": 2, "us-1": 1}, moving=Moving(asked=(TargetCluster("us-1",
                   2),))),
         {"us-1": Fraction(4, 100)}),
    Case("what is not divided yet requests nothing known",
         an_object(targets={"eu-1": 0}, undivided=Undivided(replicas=3)), {}, requests_nothing=True),
]  # fmt: skip


@each_row("case", CASES, ids=lambda case: case.why)
def test_what_an_object_costs(case: Case) -> None:
    costs = costs_of_bindings([case.binding], PRICES)
    assert costs.money.by_cluster == {name: hourly * 730 for name, hourly in case.known.items()}
    unknown = {name: UnknownShare(replicas=count, reason=why) for name, (count, why) in case.unknown.items()}
    assert costs.money.unknown == ({case.binding.ref: unknown} if unknown else {})
    assert costs.unrequested == ({case.binding.ref} if case.requests_nothing else set())


def test_hugepages_and_storage_are_priced_by_the_gib_and_all_else_by_the_piece() -> None:
    rates = {name: Fraction(1) for name in ("ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu")}
    requests = {"ephemeral-storage": "512Mi", "hugepages-2Mi": "2Gi", "nvidia.com/gpu": "3"}
    costs = costs_of_bindings(
        [an_object(requests=requests, targets={"eu-1": 1})], ClusterPrices(by_cluster={"eu-1": rates})
    )
    assert costs.total == (Fraction(1, 2) + 2 + 3) * 730


def test_a_fleet_without_prices_has_no_costs_and_looks_at_nothing() -> None:
    def bindings() -> Any:
        raise AssertionError("nobody asked")
        yield

    assert costs_of_bindings(bindings(), ClusterPrices()) == FleetCosts()


def test_carbon_is_summed_by_itself() -> None:
    prices = ClusterPrices(currency="EUR", by_cluster={"eu-1": EU}, carbon_by_cluster={"eu-2": {"cpu": Fraction(10)}})
    costs = costs_of_bindings([an_object(requests={"cpu": "2"}, targets={"eu-1": 1, "eu-2": 3})], prices)
    assert costs.money.by_cluster == {"eu-1": Fraction(2, 100) * 730}
    assert costs.carbon.by_cluster == {"eu-2": Fraction(60) * 730}
    unknown = UnknownShare(replicas=3, reason=NO_PRICE), UnknownShare(replicas=1, reason=NO_PRICE)
    assert (costs.money.unknown, costs.carbon.unknown) == ({WEB: {"eu-2": unknown[0]}}, {WEB: {"eu-1": unknown[1]}})


CLUSTERS = ("eu-1", "eu-2", "us-1", "asia")
decimals = st.integers(0, 10**20).map(lambda number: Fraction(number, 10**18))
shares = st.dictionaries(st.sampled_from(CLUSTERS), st.integers(0, 40), max_size=4)


@given(
    objects=st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**12), shares), max_size=5),
    rates=st.dictionaries(st.sampled_from(CLUSTERS[:3]), st.tuples(decimals, decimals)),
)
def test_sums_are_exact(
    objects: list[tuple[int, int, dict[str, int]]], rates: dict[str, tuple[Fraction, Fraction]]
) -> None:
    prices = ClusterPrices(by_cluster={name: {"cpu": cpu, "memory": memory} for name, (cpu, memory) in rates.items()})
    bindings = [
        an_object(requests={"cpu": f"{cpu}u", "memory": f"{memory}m"}, targets=where) for cpu, memory, where in objects
    ]
    want = Fraction(0)
    for cpu, memory, where in objects:
        for name, count in where.items():
            if name in rates:
                hourly = Fraction(cpu, 10**6) * rates[name][0] + Fraction(memory, 1000 * 2**30) * rates[name][1]
                want += hourly * count * 730
    assert costs_of_bindings(bindings, prices).total == want
