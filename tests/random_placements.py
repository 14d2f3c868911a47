"""Fleets with placements of every kind, made at random, and whole passes over them in memory."""

from collections.abc import Iterable
from random import Random
from typing import Any

from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts, Facts
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.previous import Previous, RenderedTree
from reconciler.pipeline.reserves import RESERVED_FILE, parse_reserves
from reconciler.pipeline.stages import render_pass
from reconciler.source.desired import Desired
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.documents import emit
from render.gitobjects import TreeEntry, content_of_blob, parse_tree
from tests.build import a_cluster, a_config_map, a_deployment, a_policy
from tests.sources import source_of

REGIONS, ZONES, PROVIDERS = ("eu", "us", "ap", ""), ("a", "b", "c"), ("north", "south", "")


def a_random_fleet(
    random: Random, *, clusters: int = 6, objects: int = 8, spread: bool = True
) -> tuple[Desired, Facts]:
    """Return a source with clusters of different places and room, and objects that are placed in every way.

    Without ``spread`` no policy has constraints or several groups of clusters.
    """
    members = [a_random_cluster(random, number) for number in range(clusters)]
    facts = dict(observed_cluster(each, random) for each in members if random.random() < 0.4)
    declared = [{key: each[key] for key in each if key != "status"} if each["metadata"]["name"] in facts else each
                for each in members]  # fmt: skip
    made = (a_random_object(random, number, clusters, spread=spread) for number in range(objects))
    documents = [*declared, *(each for several in made for each in several)]
    return desired_of(documents), facts


def desired_of(documents: Iterable[Any]) -> Desired:
    """Return the source with some documents."""
    named = (
        (f"{number:03}.yaml" if each["kind"] != "Fleet" else "argosy.yaml", each)
        for number, each in enumerate(documents)
    )
    source = source_of({name: emit(each).decode() for name, each in named})
    loaded = load_source(source.files, SourceReading(source.read))
    assert not loaded.problems, loaded.problems[0]
    return loaded.desired


def a_random_cluster(random: Random, number: int) -> dict[str, Any]:
    place: dict[str, Any] = {
        "region": random.choice(REGIONS),
        "zones": random.sample(ZONES, random.randint(0, 2)),
        "provider": random.choice(PROVIDERS),
    }
    made = a_cluster(f"m{number}", labels={"tier": random.choice("xyz")}, **{k: v for k, v in place.items() if v})
    room = {"cpu": str(random.randint(1, 12)), "memory": f"{random.randint(2, 24)}Gi", "pods": "110"}
    return {**made, "status": {"resourceSummary": {"allocatable": room}}}


def observed_cluster(cluster: dict[str, Any], random: Random) -> tuple[str, ClusterFacts]:
    name, room = cluster["metadata"]["name"], cluster["status"]["resourceSummary"]["allocatable"]
    used = {"cpu": f"{random.randint(0, 900)}m", "pods": "3"}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    return name, ClusterFacts(name=name, status={**ready, "resourceSummary": {"allocatable": room, "allocated": used}})


def a_random_object(random: Random, number: int, clusters: int, *, spread: bool = True) -> list[dict[str, Any]]:
    name = f"o{number}"
    if random.random() < 0.2:
        template = a_config_map(name, key="value")
    else:
        template = a_deployment(name, replicas=random.randint(0, 9))
        requests = {"cpu": f"{random.choice((100, 500, 1500))}m", "memory": "512Mi"}
        if random.random() < 0.8:
            template["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    selector = {"apiVersion": template["apiVersion"], "kind": template["kind"], "name": name}
    return [
        template,
        a_policy(name, selectors=[selector], placement=a_random_placement(random, clusters, spread=spread)),
    ]


def a_random_placement(random: Random, clusters: int, *, spread: bool = True) -> dict[str, Any]:
    names = [f"m{number}" for number in range(clusters)]
    some = {"clusterNames": random.sample(names, random.randint(1, clusters))}
    labelled = {"labelSelector": {"matchLabels": {"tier": random.choice("xyz")}}}
    affinity = random.choice(
        (
            {},
            {"clusterAffinity": some},
            {"clusterAffinity": labelled},
            {"clusterAffinities": [{"affinityName": "one", **some}, {"affinityName": "rest", "clusterNames": names}]},
        )
    )
    constrained = random.choice(
        (
            {},
            {},
            {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": random.randint(1, 3)}]},
            {
                "spreadConstraints": [
                    {"spreadByField": "region", "minGroups": random.randint(1, 2), "maxGroups": 2},
                    {"spreadByField": "cluster", "minGroups": random.randint(1, 2), "maxGroups": 4},
                ]
            },
        )
    )
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": random.randint(1, 3)} for name in names[:3]]
    divided = {"replicaSchedulingType": "Divided"}
    scheduling = random.choice(
        (
            {"replicaSchedulingType": "Duplicated"},
            {**divided, "replicaDivisionPreference": "Aggregated"},
            {**divided, "replicaDivisionPreference": "Weighted"},
            {
                **divided,
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"},
            },
            {
                **divided,
                "replicaDivisionPreference": "Weighted",
                "weightPreference": {"staticWeightList": weights},
            },
        )
    )
    if not spread:
        return {**({} if "clusterAffinities" in affinity else affinity), "replicaScheduling": scheduling}
    return {**affinity, **constrained, "replicaScheduling": scheduling}


class PassesInMemory:
    """Passes one after the other, each over what the one before it left."""

    def __init__(self) -> None:
        self._known: dict[bytes, bytes] = {}

    def first(self, desired: Desired, facts: Facts) -> tuple[Inputs, Rendered]:
        """Return the inputs of the next pass over a fleet that has settled, and the last pass before it."""
        inputs = Inputs(desired=desired, facts=facts, previous=None, source="a" * 40)
        rendered = render_pass(inputs)
        for _ in range(4):
            inputs = self.next_inputs(inputs, rendered)
            root, rendered = rendered.tree.root, render_pass(inputs)
            if rendered.tree.root == root:
                break
        return self.next_inputs(inputs, rendered), rendered

    def next_inputs(self, inputs: Inputs, rendered: Rendered) -> Inputs:
        """Return the inputs of the pass after one."""
        blobs = rendered.tree.blobs.items()
        self._known |= rendered.tree.trees
        self._known |= {id_: content_of_blob(blob) for id_, blob in blobs}
        bindings = {binding.ref: binding for binding in rendered.built.bindings}
        tree = RenderedTree.of(rendered.tree.root, self._read_trees, lambda ids: {id_: self._known[id_] for id_ in ids})
        entry = tree.trees.entries(tree.root).get(RESERVED_FILE)
        return replace(
            inputs,
            previous=Previous(commit="", source=inputs.source, version="", bindings=bindings, tree=tree),
            reserves=parse_reserves(self._known[entry.id]) if entry else {},
        )

    def _read_trees(self, ids: Iterable[bytes]) -> dict[bytes, tuple[TreeEntry, ...]]:
        return {id_: tuple(parse_tree(self._known[id_])) for id_ in ids}
