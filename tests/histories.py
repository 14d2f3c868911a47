"""Random histories of a fleet: documents of every kind that change, move between files, come and go."""

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from reconciler.branches.checkpoint import FILE_NAME
from reconciler.branches.reading import read_observed_inputs, read_previous, read_source
from reconciler.ledger.facts import ClusterFacts
from reconciler.passes.incremental import scope_after_previous_pass
from reconciler.pipeline.scope import Scope
from reconciler.rendering.inputs import RenderInputs
from reconciler.repository import open_repository

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    on_clusters,
    weighted,
)
from .random_policies import (
    DEPLOYMENT,
    PARTS,
    SPACES,
    a_labelled_cluster,
    a_placement,
    a_policy_of_namespace,
    a_rebalancer,
    a_resilience,
    a_rollout,
    a_taint_policy,
    an_override_by_clusters,
    other_documents,
    settings_at_random,
)

MEMBERS = ("m1", "m2", "m3", "m4")
DYNAMIC = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
SPREAD = [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]
PLACEMENTS: dict[str, dict[str, Any]] = {
    "duplicated": on_clusters("m1", "m2"),
    "static": on_clusters("m1", "m2", "m3", replicaScheduling=weighted(m1=1, m2=2, m3=3)),
    "dynamic": {"clusterAffinity": {}, "replicaScheduling": DYNAMIC},
    "aggregated": {"clusterAffinity": {}, "replicaScheduling": AGGREGATED},
    "spread": {"clusterAffinity": {}, "spreadConstraints": SPREAD},
    "follow": on_clusters("m3", "m4"),
}
WAYS = tuple(PLACEMENTS)


def a_room(name: str, cpu: str) -> dict[str, Any]:
    return {**a_cluster(name), "status": {"resourceSummary": {"allocatable": {"cpu": cpu, "pods": "200"}}}}


def surroundings() -> dict[str, Any]:
    policies = [
        a_cluster_policy(
            way,
            selectors=[{**DEPLOYMENT, "labelSelector": {"matchLabels": {"way": way}}}],
            placement=placement,
            propagateDeps=way == "follow",
        )
        for way, placement in PLACEMENTS.items()
    ]
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "replace"},
        "spec": {
            "resourceSelectors": [DEPLOYMENT],
            "overrideRules": [
                {
                    "targetCluster": {"clusterNames": ["m2"]},
                    "overriders": {
                        "plaintext": [{"path": "/metadata/annotations/a", "operator": "replace", "value": "b"}]
                    },
                }
            ],
        },
    }
    maps = a_cluster_policy(
        "maps",
        selectors=[{"apiVersion": "v1", "kind": "ConfigMap", "labelSelector": {"matchLabels": {"way": "held"}}}],
        placement=on_clusters("m1"),
    )
    rooms = [a_room("m1", "5"), a_room("m2", "7"), a_room("m3", "3"), a_cluster("m4")]
    return {"fleet.yaml": [*rooms, *policies, maps, override], "shop.yaml": a_namespace("shop")}


def a_namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}


def limits() -> dict[str, Any]:
    """A quota that is used up, with the share of a cluster, and rules of cron for a workload, one of them by bounds."""
    quota = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"overall": {"cpu": "6"}, "staticAssignments": [{"clusterName": "m4", "hard": {"cpu": "2"}}]},
    }
    scaling: dict[str, Any] = {"apiVersion": "autoscaling.karmada.io/v1alpha1"}
    app: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment"}
    often = {
        **scaling,
        "kind": "CronFederatedHPA",
        "metadata": {"name": "often", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {**app, "name": "app1"},
            "rules": [
                {"name": f"at-{minute}", "schedule": f"{minute} * * * *", "targetReplicas": minute // 10}
                for minute in (10, 20, 30, 40, 50)
            ],
        },
    }
    bounds = {
        **scaling,
        "kind": "FederatedHPA",
        "metadata": {"name": "app2", "namespace": "web"},
        "spec": {
            "scaleTargetRef": {**app, "name": "app2"},
            "minReplicas": 1,
            "maxReplicas": 9,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
                }
            ],
        },
    }
    raised = {
        **scaling,
        "kind": "CronFederatedHPA",
        "metadata": {"name": "raised", "namespace": "web"},
        "spec": {
            "scaleTargetRef": {**scaling, "kind": "FederatedHPA", "name": "app2"},
            "rules": [{"name": "noon", "schedule": "25 * * * *", "targetMinReplicas": 4}],
        },
    }
    return {"limits.yaml": [quota, often, bounds, raised]}


def a_template(number: int, rng: random.Random) -> dict[str, Any]:
    """A Deployment held in some way; it may need a config map, and some overrides cannot be applied to it."""
    made = a_deployment(f"app{number}", replicas=rng.randrange(6), namespace=SPACES[number % 3])
    made["metadata"]["labels"]["way"] = rng.choice((*WAYS, "dynamic", "aggregated", "none"))
    pod = made["spec"]["template"]["spec"]
    pod["containers"][0]["resources"] = {"requests": {"cpu": rng.choice(("250m", "500m"))}}
    if rng.random() < 0.8:
        made["metadata"]["annotations"] = {"a": "c"}
    if rng.random() < 0.5:
        pod["volumes"] = [{"name": "v", "configMap": {"name": f"settings{rng.randrange(3)}"}}]
    return made


def a_setting(number: int, **entries: str) -> dict[str, Any]:
    """A config map; every second one is held by a policy of its own."""
    made = a_config_map(f"settings{number // 3}", namespace=SPACES[number % 3], **entries)
    made["metadata"]["labels"] = {"way": "held" if number % 2 else "none"}
    return made


def a_way(rng: random.Random) -> dict[str, Any]:
    """One of the policies with another placement, priority or selector, which may be none of a template's."""
    way = rng.choice(WAYS)
    labels = {"way": rng.choice((way, "none", *WAYS))} | ({"app": "app5"} if rng.random() < 0.3 else {})
    selectors = [{**DEPLOYMENT, "labelSelector": {"matchLabels": labels}}]
    if rng.random() < 0.3:
        selectors.append({**DEPLOYMENT, "namespace": "shop", "name": f"app{rng.randrange(24)}"})
    more: dict[str, Any] = {"propagateDeps": True} if rng.random() < 0.2 else {}
    more |= {"activationPreference": "Lazy"} if rng.random() < 0.1 else {}
    placement = PLACEMENTS[rng.choice(WAYS)] if rng.random() < 0.6 else a_placement(rng)
    return a_cluster_policy(way, selectors=selectors, placement=placement, priority=rng.randrange(3), **more)


def an_override(rng: random.Random) -> dict[str, Any]:
    """An override of a few templates, in all namespaces or in one, for some of the clusters."""
    space = rng.choice(("", "shop"))
    overriders = {"labelsOverrider": [{"operator": "add", "value": {"extra": f"e{rng.randrange(3)}"}}]}
    selector = {**DEPLOYMENT, "name": f"app{rng.randrange(24)}"} if rng.random() < 0.5 else DEPLOYMENT
    labels = {"labelSelector": {"matchLabels": {rng.choice(("way", "extra")): rng.choice(("e1", *WAYS))}}}
    rule = {"targetCluster": {"clusterNames": rng.sample(["m1", "m2", "m3"], 2)}, "overriders": overriders}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy" if space else "ClusterOverridePolicy",
        "metadata": {"name": f"more{rng.randrange(2)}", **({"namespace": space} if space else {})},
        "spec": {"resourceSelectors": [selector | (labels if "name" not in selector else {})], "overrideRules": [rule]},
    }


def a_customization(rng: random.Random, kind: str = "") -> dict[str, Any]:
    """Deployments, or another kind, counted by a script."""
    factor = rng.randrange(1, 3)
    script = f"function GetReplicas(obj) return (obj.spec.replicas or 1) * {factor}, nil end"
    kind = kind or rng.choice(("Deployment", "StatefulSet"))
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "counted"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": kind},
            "customizations": {"replicaResource": {"luaScript": script}},
        },
    }


def observe(fleet: Repository, rooms: dict[str, dict[str, Any]]) -> None:
    """Record on the status branch what was seen of the members."""
    seen = Repository(fleet.path.parent / "seen")
    if not seen.path.exists():
        Repository.create(seen.path)
    facts = [ClusterFacts(name=name, status=status) for name, status in rooms.items()]
    seen.commit({f"facts/{each.name}.yaml": each.content() for each in facts})
    fleet.git("fetch", "-q", str(seen.path), "+main:argosy/status")


def a_status(cpu: int, ready: str = "True") -> dict[str, Any]:
    room = {"allocatable": {"cpu": str(cpu), "pods": "100"}}
    return {"conditions": [{"type": "Ready", "status": ready}], "resourceSummary": room}


def a_change(rng: random.Random) -> dict[str, Any]:
    """Between one and three templates made anew, gone or back."""
    files: dict[str, Any] = {}
    for _ in range(rng.randrange(1, 4)):
        number = rng.randrange(24)
        files[f"apps/{number}.yaml"] = "# nothing\n" if rng.random() < 0.2 else a_template(number, rng)
    if rng.random() < 0.3:
        number = rng.randrange(9)
        settings = a_setting(number, x=str(rng.random()))
        files[f"settings/{number}.yaml"] = "# nothing\n" if rng.random() < 0.3 else settings
    return files


class History:
    """A fleet whose documents change at random: in files of several documents each, with what its members say."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.documents: dict[str, Any] = {
            _key_of(each): each for each in (a_template(number, rng) for number in range(24))
        }
        self.documents |= {_key_of(each): each for each in surroundings()["fleet.yaml"]}
        self.documents |= {f"limit-{number}": each for number, each in enumerate(limits()["limits.yaml"])}
        self.files = {name: f"file{rng.randrange(9)}.yaml" for name in self.documents}
        self.settings = settings_of_fleet()
        self.rooms = {name: a_status(4) for name in MEMBERS}
        self.is_observed = False

    def change(self) -> str:
        """Change something, and return which kind of change it was."""
        kinds = list(CHANGES)
        kind = self.rng.choices(kinds, [CHANGES[each][0] for each in kinds])[0]
        CHANGES[kind][1](self)
        if self.rng.random() < 0.3:
            self.files[self.rng.choice(sorted(self.files))] = f"file{self.rng.randrange(9)}.yaml"
        return kind

    def put(self, document: dict[str, Any], name: str = "") -> None:
        """Add a document or write it anew; now and then remove it instead."""
        name = name or _key_of(document)
        if self.rng.random() < 0.15:
            self.documents.pop(name, None)
        else:
            self.documents[name] = document

    def change_templates(self) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            self.put(a_template(self.rng.randrange(24), self.rng))

    def change_setting(self) -> None:
        self.put(a_setting(self.rng.randrange(9), x=str(self.rng.random())))

    def change_policy(self) -> None:
        made = a_way(self.rng) if self.rng.random() < 0.6 else a_policy_of_namespace(self.rng)
        self.put(made)

    def change_override(self) -> None:
        made = an_override(self.rng) if self.rng.random() < 0.4 else an_override_by_clusters(self.rng)
        self.put(made)

    def change_rollout(self) -> None:
        self.put(a_rollout(self.rng))

    def change_loss(self) -> None:
        """Change what happens, or has to, where clusters are lost."""
        make = self.rng.choice((a_resilience, a_taint_policy))
        self.put(make(self.rng))

    def change_rebalancer(self) -> None:
        self.put(a_rebalancer(self.rng))

    def change_other_kinds(self) -> None:
        """Change an object without a namespace, a workload that is no Deployment, and the policy of both."""
        for made in other_documents(self.rng):
            self.put(made)

    def change_customization(self) -> None:
        self.put(a_customization(self.rng))

    def change_cluster(self) -> None:
        """Give a cluster another capacity, label, region or taint; the last one joins and leaves."""
        name = self.rng.choice((*MEMBERS, "m5"))
        made = a_labelled_cluster(name, self.rng)
        if name == "m5":
            self.put(made)
        else:
            self.documents[_key_of(made)] = made

    def relabel_cluster(self) -> None:
        """Give a cluster another label, by which others may choose it, and change nothing else of it."""
        names = sorted(name for name, each in self.documents.items() if each["kind"] == "Cluster")
        made = deepcopy(self.documents[self.rng.choice(names)])
        made["metadata"].setdefault("labels", {})[self.rng.choice(("a", "other"))] = self.rng.choice(PARTS)
        self.documents[_key_of(made)] = made

    def change_namespace(self) -> None:
        self.put(a_namespace(self.rng.choice(SPACES)) | {}, "namespace")

    def change_limit(self) -> None:
        number = self.rng.randrange(4)
        document = deepcopy(limits()["limits.yaml"][number])
        if number == 0:
            document["spec"]["overall"]["cpu"] = str(self.rng.randrange(2, 12))  # and no less than is assigned
        self.put(document, f"limit-{number}")

    def change_settings(self) -> None:
        self.settings = settings_of_fleet(**settings_at_random(self.rng))

    def observe_members(self) -> None:
        """See members anew, of which one may be down."""
        for name in self.rng.sample(MEMBERS, 2):
            ready = "False" if self.rng.random() < 0.1 else "True"
            self.rooms[name] = a_status(self.rng.randrange(6), ready)
        self.is_observed = True

    def written(self) -> dict[str, Any]:
        """The files, their documents in any order, some of them twice."""
        contents: dict[str, list[dict[str, Any]]] = {f"file{number}.yaml": [] for number in range(9)}
        for name, document in self.documents.items():
            contents[self.files.setdefault(name, "file0.yaml")].append(document)
        for listed in contents.values():
            self.rng.shuffle(listed)
            listed.extend(self.rng.sample(listed, min(len(listed), self.rng.randrange(2))))
        files: dict[str, Any] = {path: listed or "# nothing\n" for path, listed in contents.items()}
        return files | {"argosy.yaml": self.settings}


CHANGES: dict[str, tuple[int, Callable[[History], None]]] = {
    "templates": (6, History.change_templates),
    "setting": (2, History.change_setting),
    "policy": (4, History.change_policy),
    "override": (4, History.change_override),
    "customization": (1, History.change_customization),
    "cluster": (3, History.change_cluster),
    "label": (3, History.relabel_cluster),
    "namespace": (1, History.change_namespace),
    "limit": (1, History.change_limit),
    "rollout": (2, History.change_rollout),
    "loss": (1, History.change_loss),
    "rebalancer": (1, History.change_rebalancer),
    "other kinds": (1, History.change_other_kinds),
    "settings": (1, History.change_settings),
    "members": (2, History.observe_members),
    "nothing": (1, lambda _: None),
}
"""Kinds of changes, with their weights."""


def _key_of(document: dict[str, Any]) -> str:
    """Return what tells a document from all others, by which its next version takes its place."""
    metadata = document["metadata"]
    return f"{document['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


def settings_of_fleet(**spec: Any) -> dict[str, Any]:
    """Settings by which nothing is held back."""
    spec |= {"removalGuard": {"percent": 100}}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def next_scope(repository: Repository) -> Scope | None:
    """Return what the next pass looks at."""
    with open_repository(str(repository.path)) as opened:
        tip = opened.resolve("argosy/rendered")
        source = read_source(opened, opened.resolve("HEAD"))
        observed = read_observed_inputs(opened, opened.tip("refs/heads/argosy/status"))
        return scope_after_previous_pass(opened, read_previous(opened, tip), source, RenderInputs(observed=observed))


def checkpoint_of(fleet: Repository) -> Path:
    return fleet.path / ".git/argosy" / FILE_NAME
