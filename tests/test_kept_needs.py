"""Kept objects keep what they need: bytes that stay in a cluster go on to find the objects that they name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.documents import parse_documents
from render.interpreter.needs import NamedObject, named_objects

from .build import Ended, Repository, a_cluster, a_cluster_policy, a_config_map, a_policy, argosy, on_clusters
from .tables import each_row
from .test_failover import a_fleet

WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap"}
PARIS_SUSPENDED = {"dispatchingOnClusters": {"clusterNames": ["paris"]}}
DOWN = [{"key": "down", "effect": "NoExecute"}]
TOLERATED = [{"key": "down", "operator": "Exists"}]
HELD = "clusters/paris/shop/"
OLD = f"{HELD}ConfigMap/env-1.yaml"
NOTE = "stays in paris as it was: Deployment.apps shop/web stays there and needs it"
SCRIPTED = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "deployments"},
}


def web(number: int, **pod: Any) -> dict[str, Any]:
    """A Deployment that names the ConfigMap of a version, and has an argument in the first one alone."""
    container: dict[str, Any] = {"name": "a", "image": f"x:{number}"} | ({"args": ["--a"]} if number == 1 else {})
    container["envFrom"] = [{"configMapRef": {"name": f"env-{number}"}}]
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}},
        },
    }


def version(number: int, **pod: Any) -> dict[str, Any]:
    return {"web.yaml": [web(number, **pod), a_config_map(f"env-{number}", namespace="shop", version=str(number))]}


def the_policy(**spec: Any) -> dict[str, Any]:
    return {"policy.yaml": a_policy("web", namespace="shop", selectors=[WEB], propagateDeps=True, **spec)}


def an_override(name: str, operator: str = "replace") -> dict[str, Any]:
    argument = {"path": "/spec/template/spec/containers/0/args/0", "operator": operator, "value": "--b"}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "resourceSelectors": [WEB],
            "overrideRules": [
                {"targetCluster": {"clusterNames": ["paris"]}, "overriders": {"plaintext": [argument]}},
            ],
        },
    }


def a_script(operation: str, script: str) -> dict[str, Any]:
    spec = {
        "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
        "customizations": {operation: {"luaScript": script}},
    }
    return {"deployments.yaml": {**SCRIPTED, "spec": spec}}


def the_source(**settings: Any) -> dict[str, Any]:
    """Two clusters, the first version of a Deployment with its ConfigMap, and something else in both."""
    return {
        "argosy.yaml": a_fleet(removalGuard={"whole": 100, "count": 100}, **settings),
        "paris.yaml": a_cluster("paris"),
        "rome.yaml": a_cluster("rome"),
        "other.yaml": [
            a_config_map("other", namespace="shop"),
            a_policy("other", namespace="shop", selectors=[{**CONFIG, "name": "other"}], placement=EVERYWHERE),
        ],
        **version(1),
        **the_policy(),
    }


EVERYWHERE = {"clusterTolerations": [{"operator": "Exists"}]}


class Kept(NamedTuple):
    """Changes to the source, a commit each, after which paris keeps the first version of the Deployment."""

    why: str
    commits: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any] = {}
    before: Mapping[str, Any] = {}
    note: str = NOTE


EVERY = "stays in paris, rome as it was: Deployment.apps shop/web stays there and needs it"
NO_NUMBER = (
    'function GetReplicas(o) if o.spec.template.spec.containers[1].args == nil then error("no") end return 2 end'
)
NO_LIST = 'function GetDependencies(o) error("no") end'
KEPT = [
    Kept("dispatching is suspended there", ({**the_policy(suspension=PARIS_SUSPENDED), **version(2)},)),
    Kept("dispatching is suspended", ({**the_policy(suspension={"dispatching": True}), **version(2)},), note=EVERY),
    Kept("no policy selects it", ({"policy.yaml": None}, version(2)), note=EVERY),
    Kept("no policy selects it, in one commit", ({"policy.yaml": None, **version(2)},), note=EVERY),
    Kept("its override fails", (version(2),), before={"override.yaml": an_override("arguments")}),
    Kept(
        "it cannot be interpreted",
        (version(2),),
        before=a_script("replicaResource", NO_NUMBER),
        note=EVERY,
    ),
    Kept(
        "it leaves gracefully",
        ({"paris.yaml": a_cluster("paris", taints=DOWN)},),
        {"featureGates": {"Failover": True}},
        the_policy(failover={"cluster": {"purgeMode": "Gracefully"}}),
    ),
    Kept(
        "it leaves gracefully, and its template has another version by now",
        ({"paris.yaml": a_cluster("paris", taints=DOWN)}, version(2)),
        {"featureGates": {"Failover": True}},
        the_policy(failover={"cluster": {"purgeMode": "Gracefully"}}),
    ),
]


def passed(repository: Repository, capsys: pytest.CaptureFixture[str], minute: int, *options: str) -> str:
    ended = argosy(repository, capsys, "reconcile", "--now", f"2026-03-01T10:{minute:02}:00Z", *options)
    assert ended.code in {0, 1}, ended
    return ended.err


def rendered(folder: Path, capsys: pytest.CaptureFixture[str], case: Kept) -> tuple[Repository, str]:
    """A fleet after all commits of a case, each with its pass, and what the last one said."""
    repository = Repository.create(folder / "fleet")
    repository.commit({**the_source(**case.settings), **case.before})
    said = passed(repository, capsys, 0, "--bootstrap")
    for minute, files in enumerate(case.commits, 1):
        repository.commit(files)
        said = passed(repository, capsys, minute)
    return repository, said


@pytest.mark.parametrize("case", KEPT, ids=lambda case: case.why)
def test_what_kept_bytes_name_stays_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Kept) -> None:
    """Before, the ConfigMap of the version that is kept left the cluster in the same commit."""
    fleet, said = rendered(tmp_path, capsys, case)
    assert "image: x:1" in fleet.show(f"{HELD}Deployment.apps/web.yaml")
    assert 'version: "1"' in fleet.show(OLD)
    assert f"ConfigMap shop/env-1 {case.note}" in said
    found = parse_documents(fleet.show("bindings/shop/ConfigMap/env-1.yaml").encode())[0].value
    notes = [(each["reason"], each["message"]) for each in found["status"]["conditions"] if each["type"] == "Removed"]
    assert notes == [("StillNeeded", case.note)]
    assert argosy(fleet, capsys, "reconcile", "--now", "2026-03-01T10:05:00Z").out.startswith("unchanged: ")
    commits = str(len(case.commits) + 1)
    assert argosy(fleet, capsys, "verify", "-n", commits).out.count("equal") == int(commits)
    status = argosy(fleet, capsys, "status").out
    assert f"ConfigMap shop/env-1 StillNeeded {case.note}" in " ".join(status.split())
    assert case.note in argosy(fleet, capsys, "explain", "cluster/paris").out


def test_once_nothing_is_kept_nothing_stays_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet, _ = rendered(tmp_path, capsys, KEPT[0])
    assert fleet.files(under=f"{HELD}ConfigMap") == [
        f"{HELD}ConfigMap/env-1.yaml",
        f"{HELD}ConfigMap/env-2.yaml",
        f"{HELD}ConfigMap/other.yaml",
    ]
    fleet.commit(the_policy())
    assert passed(fleet, capsys, 2) == ""
    assert fleet.files(under=f"{HELD}ConfigMap") == [f"{HELD}ConfigMap/env-2.yaml", f"{HELD}ConfigMap/other.yaml"]
    assert "bindings/shop/ConfigMap/env-1.yaml" not in fleet.files()


def test_new_bytes_keep_nothing_that_an_edit_took_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Deployment that is not suspended names a ConfigMap that somebody deletes: that is what they wrote."""
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit(the_source())
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit({"web.yaml": web(1)})
    assert passed(fleet, capsys, 1) == ""
    assert OLD not in fleet.files()


def test_a_last_copy_keeps_what_its_own_policy_takes_out_of_the_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Deployment fits nowhere else, and stays; the ConfigMap has a copy elsewhere, and would leave."""
    fleet = Repository.create(tmp_path / "fleet")
    policies = [
        a_policy("web", namespace="shop", selectors=[WEB], placement=on_clusters("paris")),
        a_policy("env", namespace="shop", selectors=[{**CONFIG, "name": "env-1"}], placement={}),
    ]
    fleet.commit({**the_source(), "policy.yaml": policies})
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DOWN)})
    assert f"ConfigMap shop/env-1 {NOTE}" in passed(fleet, capsys, 1)
    assert OLD in fleet.files()
    # An edit of its policy is what somebody wrote: it takes the ConfigMap away from the last copy as from any other.
    narrowed = [policies[0], {**policies[1], "spec": {**policies[1]["spec"], "placement": on_clusters("rome")}}]
    fleet.commit({"policy.yaml": narrowed, "paris.yaml": a_cluster("paris")})
    passed(fleet, capsys, 2)
    assert OLD not in fleet.files()


def test_dependencies_that_cannot_be_read_stay_as_they_were(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before, a script that errs took the dependencies of every workload of its kind out of all clusters."""
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit(the_source())
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit(a_script("dependencyInterpretation", NO_LIST))
    assert f"ConfigMap shop/env-1 {EVERY}" in passed(fleet, capsys, 1)
    assert [each for each in fleet.files() if each.endswith("env-1.yaml")] == [
        "bindings/shop/ConfigMap/env-1.yaml",
        "clusters/paris/shop/ConfigMap/env-1.yaml",
        "clusters/rome/shop/ConfigMap/env-1.yaml",
    ]


def a_claim() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def plain(kind: str, name: str, api_version: str = "v1", namespace: str = "shop", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def test_all_that_kept_bytes_name_stays_and_what_that_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is propagated as a dependency here: each object has a policy of its own, and a change takes all away."""
    pod = {
        "serviceAccountName": "robot",
        "priorityClassName": "high",
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "key", "secret": {"secretName": "key"}},
        ],
    }
    needs = [
        plain("ServiceAccount", "robot", imagePullSecrets=[{"name": "registry"}]),
        plain("Secret", "registry", stringData={"a": "b"}),
        plain("Secret", "key", stringData={"a": "b"}),
        plain("Secret", "unnamed", stringData={"a": "b"}),
        a_claim(),
        plain("StorageClass", "fast", "storage.k8s.io/v1", "", provisioner="x.example.com"),
        plain("PriorityClass", "high", "scheduling.k8s.io/v1", "", value=10),
        a_config_map("env-1", namespace="shop"),
    ]
    selectors = [{"apiVersion": each["apiVersion"], "kind": each["kind"]} for each in needs[:1] + needs[3:]]
    everything = a_cluster_policy("needs", selectors=selectors, placement=on_clusters("paris"))
    fleet = Repository.create(tmp_path / "fleet")
    quiet = a_policy("web", namespace="shop", selectors=[WEB], placement=on_clusters("paris"))
    fleet.commit({**the_source(), "web.yaml": web(1, **pod), "policy.yaml": quiet, "needs.yaml": [*needs, everything]})
    passed(fleet, capsys, 0, "--bootstrap")
    suspended = {**quiet, "spec": {**quiet["spec"], "suspension": PARIS_SUSPENDED}}
    fleet.commit({"policy.yaml": suspended, "needs.yaml": None})
    passed(fleet, capsys, 1)
    assert fleet.files(under="clusters/paris") == [
        "clusters/paris/_cluster/Namespace/shop.yaml",
        "clusters/paris/_cluster/PriorityClass.scheduling.k8s.io/high.yaml",
        "clusters/paris/_cluster/StorageClass.storage.k8s.io/fast.yaml",
        "clusters/paris/shop/ConfigMap/env-1.yaml",
        "clusters/paris/shop/ConfigMap/other.yaml",
        "clusters/paris/shop/Deployment.apps/web.yaml",
        "clusters/paris/shop/PersistentVolumeClaim/data.yaml",
        "clusters/paris/shop/Secret/key.yaml",
        "clusters/paris/shop/Secret/registry.yaml",
        "clusters/paris/shop/ServiceAccount/robot.yaml",
    ]
    assert argosy(fleet, capsys, "verify").out.count("equal") == 1


def test_a_custom_resource_keeps_its_definition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"plural": "tiles", "singular": "tile", "kind": "Tile", "listKind": "TileList"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    definition = plain(
        "CustomResourceDefinition",
        "tiles.art.example.com",
        "apiextensions.k8s.io/v1",
        "",
        spec={"group": "art.example.com", "names": names, "scope": "Namespaced", "versions": versions},
    )
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    tiles = {"apiVersion": "art.example.com/v1", "kind": "Tile"}
    policy = a_policy("tiles", namespace="shop", selectors=[tiles])
    fleet = Repository.create(tmp_path / "fleet")
    files = {
        "crd.yaml": [definition, a_cluster_policy("crds", selectors=[kind])],
        "tile.yaml": plain("Tile", "blue", "art.example.com/v1", spec={"size": 1}),
        "tiles.yaml": policy,
    }
    fleet.commit({**the_source(kinds=[{"group": "art.example.com", "kind": "Tile", "scope": "Namespaced"}]), **files})
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit(
        {"tiles.yaml": {**policy, "spec": {**policy["spec"], "suspension": PARIS_SUSPENDED}}, "crd.yaml": None}
    )
    passed(fleet, capsys, 1)
    path = "_cluster/CustomResourceDefinition.apiextensions.k8s.io/tiles.art.example.com.yaml"
    assert [f"clusters/{name}/{path}" in fleet.files() for name in ("paris", "rome")] == [True, False]


SELECTED_BY_LABEL = """
function GetDependencies(desiredObj)
  local selector = {matchLabels = {app = "web"}}
  return {{apiVersion = "v1", kind = "ConfigMap", namespace = "shop", labelSelector = selector}}
end
"""


def test_what_kept_bytes_select_by_labels_stays_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They select by the labels that the clusters hold, for the templates are gone."""
    selected, other = (a_config_map(name, namespace="shop") for name in ("selected", "unselected"))
    selected["metadata"]["labels"], other["metadata"]["labels"] = {"app": "web"}, {"app": "other"}
    everything = a_policy("maps", namespace="shop", selectors=[CONFIG])
    script = a_script("dependencyInterpretation", SELECTED_BY_LABEL)
    fleet = Repository.create(tmp_path / "fleet")
    fleet.commit({**the_source(), **script, "maps.yaml": [selected, other, everything]})
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit({**the_policy(suspension=PARIS_SUSPENDED), "maps.yaml": everything})
    passed(fleet, capsys, 1)
    kept = [path for path in fleet.files(under="clusters") if path.endswith("selected.yaml")]
    assert kept == [f"{HELD}ConfigMap/selected.yaml"]


class Named(NamedTuple):
    why: str
    fields: Mapping[str, Any]
    want: tuple[NamedObject, ...]


NAMED = [
    Named(
        "a kind and a name",
        {"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}},
        (NamedObject("Deployment", "shop", "web", "apps"),),
    ),
    Named(
        "a role and who has it, elsewhere",
        {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "ops"}],
        },
        (
            NamedObject("Role", "shop", "reader", "rbac.authorization.k8s.io"),
            NamedObject("ServiceAccount", "ops", "robot"),
        ),
    ),
    Named(
        "the service behind an Ingress",
        {"spec": {"ingressClassName": "nginx", "defaultBackend": {"service": {"name": "web", "port": {"number": 1}}}}},
        (NamedObject("IngressClass", "shop", "nginx"), NamedObject("Service", "shop", "web")),
    ),
    Named(
        "classes",
        {"spec": {f"{word}ClassName": word for word in ("gateway", "priority", "runtime", "storage")}},
        tuple(
            NamedObject(f"{word.title()}Class", "shop", word) for word in ("gateway", "priority", "runtime", "storage")
        ),
    ),
    Named(
        "the service that a webhook asks",
        {"webhooks": [{"clientConfig": {"service": {"name": "hook", "namespace": "ops"}}}]},
        (NamedObject("Service", "ops", "hook"),),
    ),
    Named("a list of names", {"secrets": [{"name": "token"}, "x", {}]}, (NamedObject("Secret", "shop", "token"),)),
    Named("a name of another type", {"spec": {"secretName": 3, "service": "web", "secretRef": None}}, ()),
    Named("the data of a ConfigMap", {"data": {"secretName": "no"}, "status": {"secretName": "no"}}, ()),
]


@each_row("row", NAMED, ids=lambda row: row.why)
def test_the_objects_that_a_manifest_names(row: Named) -> None:
    manifest = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "namespace": "shop"}, **row.fields}
    assert tuple(sorted(named_objects(manifest), key=lambda each: each.kind)) == row.want


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "name", "secret", "service", "secretName", "namespace", "x"]), inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["spec", "metadata", "secrets", "roleRef", "kind"]), json_values))
def test_nothing_that_a_manifest_holds_is_a_bug(manifest: dict[str, Any]) -> None:
    assert {type(text) for each in named_objects(manifest) for text in (each.kind, each.name, each.namespace)} <= {str}


changes = st.sampled_from(
    [
        version(1),
        version(2),
        version(3),
        the_policy(),
        the_policy(suspension=PARIS_SUSPENDED),
        the_policy(suspension={"dispatching": True}),
        the_policy(placement=on_clusters("rome")),
        {"policy.yaml": []},
        {"override.yaml": []},
        {"override.yaml": an_override("arguments")},
        {"paris.yaml": a_cluster("paris")},
        {"paris.yaml": a_cluster("paris", taints=DOWN)},
    ]
)


@given(commits=st.lists(st.lists(changes, min_size=1, max_size=3), min_size=1, max_size=4), fails_over=st.booleans())
def test_no_kept_deployment_ever_misses_its_config_map(
    tmp_path_factory: pytest.TempPathFactory,
    commits: list[list[Mapping[str, Any]]],
    fails_over: bool,
) -> None:
    """Whatever is suspended, released, failed or evicted: the ConfigMap that a Deployment names is there, and told."""
    fleet = Repository.create(tmp_path_factory.mktemp("kept") / "fleet")
    fleet.commit({**the_source(featureGates={"Failover": fails_over}), "override.yaml": []})
    capsys = _Unread()
    passed(fleet, capsys, 0, "--bootstrap")  # type: ignore[arg-type]
    for minute, edits in enumerate(commits, 1):
        fleet.commit({path: content for files in edits for path, content in files.items()})
        passed(fleet, capsys, minute)  # type: ignore[arg-type]
        files = fleet.contents(under="clusters")
        for name in ("paris", "rome"):
            deployment = files.get(f"clusters/{name}/shop/Deployment.apps/web.yaml")
            number = deployment.split("name: env-")[1][0] if deployment else ""
            assert not deployment or f"clusters/{name}/shop/ConfigMap/env-{number}.yaml" in files, (name, minute)
    assert argosy(fleet, capsys, "verify", "-n", str(len(commits) + 1)).code == 0  # type: ignore[arg-type]


class _Unread:
    """In the place of capsys, of which a property test has none: nobody reads what is printed."""

    def readouterr(self) -> Ended:
        return Ended(0, "", "")


def test_what_leaves_with_its_workload_by_failover_is_no_removal_that_a_guard_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The ConfigMaps leave when the task of their workload ends, in a pass that nobody attends."""
    container = web(1)["spec"]["template"]["spec"]["containers"][0]
    names = [f"env-{number}" for number in range(1, 13)]
    container["envFrom"] = [{"configMapRef": {"name": name}} for name in names]
    maps = [a_config_map(name, namespace="shop") for name in names]
    policy = the_policy(failover={"cluster": {"purgeMode": "Gracefully"}})
    fleet = Repository.create(tmp_path / "fleet")
    files = {**the_source(featureGates={"Failover": True}), **policy, "other.yaml": a_config_map("unused")}
    fleet.commit({**files, "argosy.yaml": a_fleet(featureGates={"Failover": True})})
    fleet.commit({"web.yaml": [web(1, containers=[container]), *maps]})
    passed(fleet, capsys, 0, "--bootstrap")
    fleet.commit({"paris.yaml": a_cluster("paris", taints=DOWN)})
    passed(fleet, capsys, 1)
    assert len(fleet.files(under=f"{HELD}ConfigMap")) == len(names)
    passed(fleet, capsys, 50)
    assert fleet.files(under="clusters/paris") == []
    assert fleet.git("log", "-1", "--format=%(trailers:key=Argosy-Evicted,valueonly)", "argosy/rendered") == "paris 13"
    assert argosy(fleet, capsys, "verify", "-n", "3").code == 0
