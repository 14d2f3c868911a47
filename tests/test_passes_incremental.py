"""A pass with a scope commits, byte for byte, what a pass over everything would."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.branches.checkpoint import FILE_NAME, read_checkpoint
from reconciler.branches.reading import read_observed_inputs, read_previous, read_source
from reconciler.cli import run
from reconciler.ledger.facts import ClusterFacts
from reconciler.passes.incremental import scope_after_previous_pass
from reconciler.pipeline.scope import Scope
from reconciler.rendering.inputs import RenderInputs
from reconciler.repository import open_repository
from render.model import ObjectRef

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    as_bytes,
    copied,
    on_clusters,
    weighted,
)

pytestmark = pytest.mark.xdist_group("publish incremental")  # one process makes the shared fleet for all of them

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
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
SPACES = ("default", "shop", "web")


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


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fleet after a pass, to be copied."""
    repository, rng = Repository.create(tmp_path_factory.mktemp("rendered") / "fleet"), random.Random(0)
    held: dict[str, Any] = {f"apps/{number}.yaml": a_template(number, rng) for number in range(24)}
    maps = {f"settings/{number}.yaml": a_setting(number) for number in range(9)}
    # Beside these, what changes and what is volatile is the smaller part.
    held["many.yaml"] = [a_config_map(f"map{number}", namespace="shop") for number in range(60)]
    loose = {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {removalGuard: {percent: 100}}\n"}
    repository.commit({**surroundings(), **limits(), **held, **maps, **loose})
    assert run(["-C", str(repository.path), "reconcile", "--bootstrap", "--now", "2026-03-02T08:05:00Z"]) in {0, 1}
    return repository.path


@pytest.fixture
def fleet(rendered: Path, tmp_path: Path) -> Repository:
    shutil.copytree(rendered, tmp_path / "fleet")
    return Repository(tmp_path / "fleet")


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_changes_commits_what_whole_passes_would(
    fleet: Repository, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    rng = random.Random(seed)
    for minute in range(10, 70, 10):
        fleet.commit(a_change(rng))
        assert next_scope(fleet) is not None
        now = f"2026-03-02T{8 + minute // 60:02}:{minute % 60:02}:00Z"
        ended = argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000", "--now", now)
        assert ended.code in {0, 1}, ended.err
    replayed = argosy(fleet, capsys, "verify", "-n", "7")
    assert [line.rpartition(" ")[2] for line in replayed.out.splitlines()] == ["equal"] * len(replayed.out.splitlines())
    checkpoint_of(fleet).unlink()
    assert argosy(fleet, capsys, "reconcile", "--now", now).out.startswith("unchanged: ")


def a_way(rng: random.Random) -> dict[str, Any]:
    """One of the policies with another placement, priority or selector, which may be none of a template's."""
    way = rng.choice(WAYS)
    labels = {"way": rng.choice((way, "none", *WAYS))} | ({"app": "app5"} if rng.random() < 0.3 else {})
    selectors = [{**DEPLOYMENT, "labelSelector": {"matchLabels": labels}}]
    if rng.random() < 0.3:
        selectors.append({**DEPLOYMENT, "namespace": "shop", "name": f"app{rng.randrange(24)}"})
    more: dict[str, Any] = {"propagateDeps": True} if rng.random() < 0.2 else {}
    more |= {"activationPreference": "Lazy"} if rng.random() < 0.1 else {}
    placement = PLACEMENTS[rng.choice(WAYS)]
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


class Layout:
    """The documents of a fleet in files, some of them several to a file, changed at random and written anew."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.documents: dict[str, Any] = {f"app{number}": a_template(number, rng) for number in range(24)}
        self.documents |= {each["metadata"]["name"]: each for each in surroundings()["fleet.yaml"]}
        self.files = {name: f"file{rng.randrange(9)}.yaml" for name in self.documents}

    def change(self) -> None:
        """Change, add or remove an object; move one to another file."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            made = a_template(rng.randrange(24), rng)
        elif kind < 0.6:
            made = a_way(rng)
        elif kind < 0.8:
            made = an_override(rng)
        elif kind < 0.9:
            made = a_customization(rng)
        else:
            number = rng.randrange(1, 4)
            made = a_room(f"m{number}", str(rng.randrange(3, 8))) | {
                "metadata": {"name": f"m{number}", "labels": {"a": str(rng.randrange(2))}}
            }
        name = made["metadata"]["name"]
        if rng.random() < 0.15 and not name.startswith("m"):
            self.documents.pop(name, None)
        else:
            self.documents[name] = made
        self.files[rng.choice(sorted(self.files))] = f"file{rng.randrange(9)}.yaml"

    def written(self) -> dict[str, Any]:
        """The files, their documents in any order, some of them twice."""
        contents: dict[str, list[dict[str, Any]]] = {f"file{number}.yaml": [] for number in range(9)}
        for name, document in self.documents.items():
            contents[self.files.setdefault(name, "file0.yaml")].append(document)
        for listed in contents.values():
            self.rng.shuffle(listed)
            listed.extend(self.rng.sample(listed, min(len(listed), self.rng.randrange(2))))
        return {path: listed or "# nothing\n" for path, listed in contents.items()}


@pytest.mark.parametrize("seed", range(6))
def test_any_history_of_policies_and_layouts_commits_what_whole_passes_would(
    fleet: Repository, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Policies, overrides, customizations and clusters change; documents move, change their order and are copied."""
    layout = Layout(random.Random(1000 + seed))
    former = ("fleet.yaml", *(f"apps/{number}.yaml" for number in range(24)))
    fleet.commit({**dict.fromkeys(former), **layout.written()})
    scopes = []
    for minute in range(10, 70, 4):
        now = f"2026-03-02T{8 + minute // 60:02}:{minute % 60:02}:00Z"
        ended = argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000", "--now", now)
        assert ended.code in {0, 1}, ended.err
        layout.change()
        fleet.commit(layout.written())
        scopes.append(next_scope(fleet))
    replayed = argosy(fleet, capsys, "verify", "-n", "15").out.splitlines()
    assert [line.rpartition(" ")[2] for line in replayed] == ["equal"] * len(replayed)
    assert sum(scope is not None for scope in scopes) > len(scopes) // 4


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


@pytest.mark.parametrize("seed", range(2))
def test_capacity_that_changes_between_passes_concerns_what_waits_for_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    rng = random.Random(100 + seed)
    rooms = {name: a_status(2) for name in ("m1", "m2", "m3", "m4")}
    observe(fleet, rooms)
    assert next_scope(fleet) is None
    for _ in range(6):
        assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
        for name in rng.sample(sorted(rooms), 2):
            rooms[name] = a_status(rng.randrange(6))
        observe(fleet, rooms)
        fleet.commit(a_change(rng) if rng.random() < 0.5 else {})
        scope = next_scope(fleet)
        assert scope is not None
        assert scope.facts <= rooms.keys()
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
    replayed = argosy(fleet, capsys, "verify", "-n", "7").out.splitlines()
    assert [line.rpartition(" ")[2] for line in replayed] == ["equal"] * len(replayed)
    observe(fleet, rooms | {"m1": a_status(2, ready="False")})
    assert next_scope(fleet) is None


def test_what_a_changed_workload_requires_is_looked_at_with_it(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The config map has a policy and a place of its own; now it is needed where the workload is, too."""
    owner = a_deployment("owner", namespace="default")
    owner["metadata"] |= {"labels": {"way": "follow"}, "annotations": {"a": "c"}}
    fleet.commit({"owner.yaml": owner, "map.yaml": a_setting(3)})
    fleet.commit({"settings/3.yaml": None})
    assert argosy(fleet, capsys, "reconcile", "--allow-removal", "*=1000").code in {0, 1}
    owner["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "configMap": {"name": "settings1"}}]
    fleet.commit({"owner.yaml": owner})
    scope = next_scope(fleet)
    assert scope is not None
    assert ObjectRef("", "ConfigMap", "default", "settings1") not in scope.refs
    assert argosy(fleet, capsys, "reconcile").code in {0, 1}
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")
    held = [path for path in fleet.files(under="clusters") if path.endswith("default/ConfigMap/settings1.yaml")]
    assert [path.split("/")[1] for path in held] == ["m1", "m3", "m4"]


def test_a_quota_counts_what_a_pass_does_not_look_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Repository.create(tmp_path / "fleet")
    many = [a_config_map(f"map{number}", namespace="shop") for number in range(9)]
    first, second = (a_deployment(name, replicas=4, namespace="shop") for name in ("first", "second"))
    for each in (first, second):
        each["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    policy = a_cluster_policy(
        "all", selectors=[DEPLOYMENT], placement=on_clusters("m1", replicaScheduling=weighted(m1=1))
    )
    quota = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"overall": {"cpu": "6"}, "staticAssignments": [{"clusterName": "m1", "hard": {"cpu": "6"}}]},
    }
    fleet.commit({"m1.yaml": a_cluster("m1"), "policy.yaml": [policy, quota], "many.yaml": many, "first.yaml": first})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"second.yaml": second})
    scope = next_scope(fleet)
    assert scope is not None
    assert [each.ref.name for each in scope.others] == ["first"]
    assert "QuotaExceeded" in argosy(fleet, capsys, "reconcile").err
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")


def checkpoint_of(fleet: Repository) -> Path:
    return fleet.path / ".git/argosy" / FILE_NAME


APP = ObjectRef("apps", "Deployment", "web", "plain")


class Looked(NamedTuple):
    """A change after a pass, and the objects of it that the next pass looks at besides the volatile ones."""

    why: str
    files: dict[str, Any]
    refs: frozenset[ObjectRef] | None


def plain(image: str = "nginx:1.29") -> dict[str, Any]:
    made = a_deployment("plain", namespace="web", image=image)
    made["metadata"] |= {"labels": {"way": "duplicated"}, "annotations": {"a": "c"}}
    return made


def beside(image: str = "nginx:1.29") -> dict[str, Any]:
    made = plain(image)
    made["metadata"]["name"] = "beside"
    return made


TOGETHER: list[dict[str, Any]] = [
    beside(),
    a_policy("beside", namespace="web", selectors=[{**DEPLOYMENT, "name": "beside"}], placement=on_clusters("m1")),
    a_config_map("beside", namespace="web"),
]
"""One file of a policy, the workload that it selects, and something else."""

WEB = ObjectRef("", "Namespace", "", "web")
BESIDE = ObjectRef("apps", "Deployment", "web", "beside")


def commented(documents: list[dict[str, Any]]) -> str:
    return "# first\n" + as_bytes(documents).decode().replace("---\n", "---\n# next\n")


def a_policy_of(selected: dict[str, Any], name: str = "p") -> dict[str, Any]:
    meta = selected["metadata"]
    selectors = [{"apiVersion": selected["apiVersion"], "kind": selected["kind"], "name": meta["name"]}]
    placement = on_clusters("m1")
    if "namespace" in meta:
        return a_policy(name, namespace=meta["namespace"], selectors=selectors, placement=placement)
    return a_cluster_policy(name, selectors=selectors, placement=placement)


def a_policy_that_fails_over() -> dict[str, Any]:
    made = a_policy_of(plain())
    made["spec"] |= {
        "propagateDeps": True,
        "failover": {"application": {"decisionConditions": {"tolerationSeconds": 60}}},
    }
    return made


def an_override_of(selected: dict[str, Any]) -> dict[str, Any]:
    made = an_override(random.Random(0)) | {"kind": "ClusterOverridePolicy", "metadata": {"name": "more0"}}
    made["spec"].pop("resourceSelectors")
    if selected:
        made["spec"]["resourceSelectors"] = [{**DEPLOYMENT, "name": selected["metadata"]["name"]}]
    return made


LOOKS = [
    Looked("nothing new is nothing to look at", {}, frozenset()),
    Looked("a comment changes the file, so its object is looked at", {"z.yaml": plain() | {}}, frozenset()),
    Looked("a template that changed, with its namespace", {"z.yaml": plain("nginx:2")}, frozenset({APP, WEB})),
    Looked("a template that is gone", {"z.yaml": None}, frozenset({APP, WEB})),
    Looked("a template that moved to another file is the same", {"z.yaml": None, "y.yaml": plain()}, frozenset()),
    Looked("a policy that selects nothing", {"policy.yaml": a_policy("p", placement=on_clusters("m1"))}, frozenset()),
    Looked("a policy concerns what it selects", {"policy.yaml": a_policy_of(plain())}, frozenset({APP, WEB})),
    Looked(
        "a policy concerns what it selected before",
        {"together.yaml": [TOGETHER[0], a_policy_of(plain(), "beside"), TOGETHER[2]]},
        frozenset({APP, BESIDE, WEB}),
    ),
    Looked("a policy that is gone, too", {"together.yaml": TOGETHER[::2]}, frozenset({BESIDE, WEB})),
    Looked("an override concerns what it selects", {"o.yaml": an_override_of(plain())}, frozenset({APP, WEB})),
    Looked("an override of all kinds concerns everything", {"o.yaml": an_override_of({})}, None),
    Looked("a policy of namespaces concerns everything", {"policy.yaml": a_policy_of(a_namespace("shop"))}, None),
    Looked("a policy that fails over concerns everything", {"policy.yaml": a_policy_that_fails_over()}, None),
    Looked(
        "a customization concerns the objects of its kind",
        {"c.yaml": a_customization(random.Random(1), "Deployment")},
        frozenset({APP, BESIDE, WEB}),
    ),
    Looked("a cluster's label concerns everything", {"m5.yaml": a_cluster("m5")}, None),
    Looked("a namespace concerns everything", {"web.yaml": a_namespace("web")}, None),
    Looked(
        "a policy beside a template changes its file alone",
        {"z.yaml": [plain(), a_policy("p", placement=on_clusters("m1"))]},
        frozenset({APP, WEB}),
    ),
    Looked(
        "a template that changed beside a policy is looked at alone",
        {"together.yaml": [beside("nginx:2"), *TOGETHER[1:]]},
        frozenset({BESIDE, WEB}),
    ),
    Looked("the order of documents decides nothing", {"together.yaml": TOGETHER[::-1]}, frozenset()),
    Looked("a document written twice is the same", {"together.yaml": [*TOGETHER, *TOGETHER]}, frozenset()),
    Looked("comments between documents decide nothing", {"together.yaml": commented(TOGETHER)}, frozenset()),
    Looked(
        "a policy that moved concerns what it selects",
        {"together.yaml": TOGETHER[::2], "p.yaml": TOGETHER[1]},
        frozenset({BESIDE, WEB}),
    ),
    Looked(
        "settings concern everything", {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {}\n"}, None
    ),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet with one workload after a pass, to be copied."""
    repository = Repository.create(tmp_path_factory.mktemp("small") / "fleet")
    many = [a_config_map(f"map{number}", namespace="web") for number in range(9)]
    repository.commit({**surroundings(), "z.yaml": plain(), "together.yaml": TOGETHER, "many.yaml": many})
    assert run(["-C", str(repository.path), "reconcile", "--bootstrap"]) == 0
    return repository


@pytest.mark.parametrize("case", LOOKS, ids=lambda case: case.why)
def test_what_a_pass_looks_at(case: Looked, small: Repository, tmp_path: Path) -> None:
    (repository,) = copied(tmp_path, small)
    repository.commit(case.files)
    scope = next_scope(repository)
    assert (scope and scope.refs) == case.refs


def next_scope(repository: Repository) -> Scope | None:
    """Return what the next pass looks at."""
    with open_repository(str(repository.path)) as opened:
        tip = opened.resolve("argosy/rendered")
        desired = read_source(opened, opened.resolve("HEAD")).desired
        observed = read_observed_inputs(opened, opened.tip("refs/heads/argosy/status"))
        return scope_after_previous_pass(opened, read_previous(opened, tip), desired, RenderInputs(observed=observed))


class Spoilt(NamedTuple):
    """Something that happened to the checkpoint."""

    why: str
    spoil: Callable[[Path], object]


SPOILT = [
    Spoilt("it is gone", lambda path: path.unlink()),
    Spoilt("it is no JSON", lambda path: path.write_text("{")),
    Spoilt("it is something else", lambda path: path.write_text("[]")),
    Spoilt("it lacks a field", lambda path: path.write_text('{"version": 1}')),
    Spoilt(
        "it is of another folder",
        lambda path: path.write_text(path.read_text().replace('"folder": ""', '"folder": "x"')),
    ),
    Spoilt(
        "it is of another commit",
        lambda path: path.write_text(path.read_text().replace('"rendered": "', '"rendered": "0')),
    ),
]


@pytest.mark.parametrize("case", SPOILT, ids=lambda case: case.why)
def test_without_a_checkpoint_to_trust_a_pass_looks_at_everything(
    case: Spoilt, small: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fleet,) = copied(tmp_path, small)
    case.spoil(checkpoint_of(fleet))
    fleet.commit({"z.yaml": plain("nginx:2")})
    assert next_scope(fleet) is None
    assert argosy(fleet, capsys, "reconcile").code == 0
    assert argosy(fleet, capsys, "verify").out.endswith(": equal\n")
    with open_repository(str(fleet.path)) as opened:
        checkpoint = read_checkpoint(opened)
        assert checkpoint is not None
        assert checkpoint.tips.rendered == opened.resolve("argosy/rendered")
