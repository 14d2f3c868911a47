"""Placements that no cluster meets, or too few: the reason in so many words, with the nearest there is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from render.cluster import Cluster, Taint
from render.cluster_index import ClusterIndex
from render.parsing.placements import parse_placement
from render.scheduling.unmet_placements import unmet_lists_of_cluster_names, unmet_requirements_of_placement
from tests.build import on_clusters, weighted
from tests.tables import each_row

CLUSTERS = ClusterIndex(
    [
        Cluster(name="berlin", region="eu", labels={"tier": "prod"}),
        Cluster(name="dallas", region="us", labels={"tier": "dev"}, taints=(Taint(key="gpu", effect="NoSchedule"),)),
        Cluster(name="paris", region="eu", labels={"tier": "prod"}),
    ]
)
AFFINITY = "spec.placement.clusterAffinity"
SPREAD = "spec.placement.spreadConstraints"


class Placed(NamedTuple):
    why: str
    placement: Mapping[str, Any]
    want: list[str]


def by_label(**labels: str) -> dict[str, Any]:
    return {"clusterAffinity": {"labelSelector": {"matchLabels": labels}}}


def by_expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, "values": list(values)}
    return {"clusterAffinity": {"labelSelector": {"matchExpressions": [expression]}}}


def by_field(key: str, operator: str, *values: str) -> dict[str, Any]:
    expression = {"key": key, "operator": operator, "values": list(values)}
    return {"clusterAffinity": {"fieldSelector": {"matchExpressions": [expression]}}}


def spread(field: str, least: int) -> dict[str, Any]:
    return {"spreadByField": field, "minGroups": least, "maxGroups": 9}


PLACED = [
    Placed("an empty placement takes every cluster", {}, []),
    Placed("a placement that selects something is met", by_label(tier="prod"), []),
    Placed(
        "a value with a typo",
        by_label(tier="prdo"),
        [f"{AFFINITY}.labelSelector.matchLabels: no cluster has the label tier=prdo; did you mean 'prod'?"],
    ),
    Placed(
        "a value like none",
        by_label(tier="x"),
        [f"{AFFINITY}.labelSelector.matchLabels: no cluster has the label tier=x; values of tier here: dev, prod"],
    ),
    Placed(
        "a key with a typo",
        by_label(teir="prod"),
        [f"{AFFINITY}.labelSelector.matchLabels: no cluster has a label teir; did you mean 'tier'?"],
    ),
    Placed(
        "values that no cluster has",
        by_expression("tier", "In", "x", "porduction"),
        [
            (
                f"{AFFINITY}.labelSelector.matchExpressions[0]: no cluster has the label tier=x or tier=porduction;"
                " values of tier here: dev, prod"
            )
        ],
    ),
    Placed(
        "values that every cluster has",
        by_expression("tier", "NotIn", "dev", "prod"),
        [
            (
                f"{AFFINITY}.labelSelector.matchExpressions[0]: every cluster has the label tier=dev or tier=prod,"
                " so NotIn matches none"
            )
        ],
    ),
    Placed(
        "a key that every cluster has",
        by_expression("tier", "DoesNotExist"),
        [f"{AFFINITY}.labelSelector.matchExpressions[0]: every cluster has a label tier, so DoesNotExist matches none"],
    ),
    Placed("an expression that cannot be read is told of at admission", by_expression("tier", "In"), []),
    Placed(
        "a region that no cluster is in",
        by_field("region", "In", "us-east"),
        [f"{AFFINITY}.fieldSelector.matchExpressions[0]: no cluster has the region 'us-east'; regions here: eu, us"],
    ),
    Placed(
        "every region left out",
        by_field("region", "NotIn", "eu", "us"),
        [
            (
                f"{AFFINITY}.fieldSelector.matchExpressions[0]: every cluster has the region 'eu' or 'us',"
                " so NotIn matches none"
            )
        ],
    ),
    Placed(
        "a provider where none is named",
        by_field("provider", "In", "aws"),
        [
            (
                f"{AFFINITY}.fieldSelector.matchExpressions[0]: no cluster has the provider 'aws';"
                " no cluster has any providers"
            )
        ],
    ),
    Placed(
        "parts that exclude each other",
        on_clusters("dallas")
        | {"clusterAffinity": {"clusterNames": ["dallas"], **by_label(tier="prod")["clusterAffinity"]}},
        [f"{AFFINITY}: matches none of 3 clusters; each for itself, clusterNames matches 1, labelSelector matches 2"],
    ),
    Placed(
        "an exclude of all that is selected",
        {"clusterAffinity": {"clusterNames": ["paris"], "exclude": ["paris"]}},
        [f"{AFFINITY}.exclude: leaves out all that is selected of 3 clusters"],
    ),
    Placed("names of no cluster are told where all lists are", on_clusters("berln"), []),
    Placed(
        "a taint that is not tolerated",
        on_clusters("dallas"),
        [
            (
                "spec.placement: every cluster that is selected has a taint that is not tolerated: gpu:NoSchedule;"
                " tolerate it under clusterTolerations"
            )
        ],
    ),
    Placed("a taint that is tolerated", on_clusters("dallas", clusterTolerations=[{"operator": "Exists"}]), []),
    Placed("a taint of some clusters leaves others", on_clusters("dallas", "paris"), []),
    Placed(
        "more regions than the selected clusters are in",
        {"spreadConstraints": [spread("region", 2)]},
        [f"{SPREAD}[0].minGroups: 2 regions are asked for, and there is 1 to choose from; they are eu"],
    ),
    Placed(
        "more clusters than are selected",
        on_clusters("berlin", "paris", spreadConstraints=[spread("cluster", 3)]),
        [f"{SPREAD}[0].minGroups: 3 clusters are asked for, and there are 2 to choose from; they are berlin, paris"],
    ),
    Placed(
        "zones where no cluster has one",
        {"spreadConstraints": [spread("zone", 1)]},
        [f"{SPREAD}[0]: no cluster that is selected has a zone, so none can be chosen"],
    ),
    Placed(
        "constraints beside static weights mean nothing",
        {"spreadConstraints": [spread("cluster", 9)], "replicaScheduling": weighted(berlin=1)},
        [],
    ),
    Placed(
        "one term of two selects nothing",
        {
            "clusterAffinities": [
                {"affinityName": "first", **by_label(tier="prdo")["clusterAffinity"]},
                {"affinityName": "second", "clusterNames": ["paris"]},
            ]
        },
        [
            (
                "spec.placement.clusterAffinities[0].labelSelector.matchLabels: no cluster has the label tier=prdo;"
                " did you mean 'prod'?"
            )
        ],
    ),
    Placed(
        "a weight for no cluster",
        {
            "replicaScheduling": {
                "replicaSchedulingType": "Divided",
                "weightPreference": {
                    "staticWeightList": [{"targetCluster": by_label(tier="prdo")["clusterAffinity"], "weight": 1}]
                },
            }
        },
        [
            (
                "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.labelSelector"
                ".matchLabels: no cluster has the label tier=prdo; did you mean 'prod'?"
            )
        ],
    ),
]


@each_row("case", PLACED, ids=lambda case: case.why)
def test_what_a_placement_asks_for_in_vain(case: Placed) -> None:
    assert [
        str(each) for each in unmet_requirements_of_placement(parse_placement(case.placement), CLUSTERS)
    ] == case.want


def test_nothing_is_missed_where_there_are_no_clusters() -> None:
    rules = parse_placement(by_label(tier="prdo") | on_clusters("berln"))
    none = ClusterIndex([])
    assert [*unmet_requirements_of_placement(rules, none), *unmet_lists_of_cluster_names(rules, none)] == []


class Named(NamedTuple):
    why: str
    names: tuple[str, ...]
    want: list[str]


ABSENT = f"{AFFINITY}.clusterNames: no cluster of the source is called"
NAMED = [
    Named("names that exist", ("paris",), []),
    Named("a typo", ("berln", "paris"), [f"{ABSENT} 'berln'; did you mean 'berlin'?"]),
    Named("two typos", ("berln", "dalas"), [f"{ABSENT} 'berln' or 'dalas'; did you mean 'berlin' and 'dallas'?"]),
    Named("a name that is listed already was not meant", ("berlin", "berln"), [f"{ABSENT} 'berln'"]),
    Named(
        "many names",
        ("a1", "b1", "c1", "d1", "e1", "f1"),
        [f"{ABSENT} 'a1', 'b1', 'c1', 'd1', 'e1' or 1 more"],
    ),
]


@each_row("case", NAMED, ids=lambda case: case.why)
def test_names_of_no_cluster(case: Named) -> None:
    assert [
        str(each) for each in unmet_lists_of_cluster_names(parse_placement(on_clusters(*case.names)), CLUSTERS)
    ] == case.want


def test_a_number_of_its_own_is_no_typo() -> None:
    members = ClusterIndex([Cluster(name="member1"), Cluster(name="member2")])
    assert [str(each) for each in unmet_lists_of_cluster_names(parse_placement(on_clusters("member3")), members)] == [
        f"{ABSENT} 'member3'"
    ]
