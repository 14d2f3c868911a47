"""Liqo: namespaces that are offloaded from a home cluster to its peers."""

from render.federations.federation import Federation, predicate_of_group_endings

LIQO = Federation(
    name="liqo",
    title="Liqo",
    about="offloaded namespaces with what stands in them",
    setting="Liqo",
    is_of_type=predicate_of_group_endings(".liqo.io"),
    rules={
        "divided-by-room": "LQ-01",
        "peers-frozen": "LQ-02",
        "or-frozen": "LQ-04",
        "namespace-renamed": "LQ-05",
        "remote-namespace-name-required": "LQ-06",
        "must-be-named-offloading": "LQ-08",
    },
)
