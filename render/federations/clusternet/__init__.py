"""Clusternet: the clusters of a subscription, the division of its feeds, and what each cluster gets of them."""

from render.federations.federation import Federation, predicate_of_group_endings

CLUSTERNET = Federation(
    name="clusternet",
    title="Clusternet",
    about="Subscriptions with what they feed, Globalizations, Localizations, HelmCharts",
    setting="Clusternet",
    is_of_type=predicate_of_group_endings(".clusternet.io"),
    rules={
        "subscription-read": "CN-01",
        "union-frozen": "CN-02",
        "union-needs-clusters": "CN-02",
        "weights-by-labels": "CN-03",
        "shares-pinned": "CN-05",
        "dynamic-by-room": "CN-09",
        "dynamic-pinned": "CN-11",
        "overrides-frozen": "CN-12",
        "clusternet-override-fails": "CN-13",
        "chart-by-flux": "CN-16",
        "subgroup-frozen": "CN-17",
        "binpack": "CN-19",
    },
)
