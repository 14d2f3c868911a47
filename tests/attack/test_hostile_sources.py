"""Sources made to end a command in a bug: manifests of wrong shapes, YAML at its edges, settings of wrong types."""

import json
from typing import Any

import pytest

from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

from .test_writers import HOSTILE, obeyed

TEXT = HOSTILE.replace("\x00", "")
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n"
POLICIES, CONFIG = "policy.karmada.io/v1alpha1", "config.karmada.io/v1alpha1"


def an_object(kind: str, api: str = "v1", *, name: Any = "z", **rest: Any) -> str:
    return json.dumps({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **rest})


def a_script(script: str) -> str:
    target = {"apiVersion": "apps/v1", "kind": "Deployment"}
    customizations = {"replicaResource": {"luaScript": f"function GetReplicas(o) {script} end"}}
    kind = "ResourceInterpreterCustomization"
    head = {"apiVersion": CONFIG, "kind": kind, "metadata": {"name": "r"}}
    return json.dumps({**head, "spec": {"target": target, "customizations": customizations}})


def an_override(**overriders: Any) -> str:
    return an_object("OverridePolicy", POLICIES, spec={"overrideRules": [{"overriders": overriders}]})


def a_template(**pod: Any) -> str:
    return an_object("Deployment", "apps/v1", spec={"replicas": 3, "template": {"spec": pod}})


def a_definition(singular: str, items: Any) -> str:
    """A definition with a schema where the schema of definitions says nothing."""
    spec = {"type": "object", "properties": {"a": {"type": "array", "items": items}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    names = {"kind": singular.capitalize(), "plural": f"{singular}s", "singular": singular}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    metadata = {"name": f"{singular}s.example.com"}
    return json.dumps(
        {
            **head,
            "metadata": metadata,
            "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
        }
    )


SCHEMAS: list[Any] = [
    *["x", [1], {"type": {"a": "b"}}, {"type": ["string"]}, {"format": [1]}, {"enum": 1}, {"enum": [[1], {}]}],
    *[{"properties": [1]}, {"properties": {"a": 1}}, {"required": 1}, {"required": [[1]]}, {"$ref": [1]}],
    *[{"type": "string", "enum": [{"a": 1}]}, {"type": "array", "items": [1]}, {"additionalProperties": {"type": [1]}}],
    {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [[1]], "items": {}},
]
LISTS = '{"apiVersion":"v1","kind":"List","items":['
SOURCES: dict[str, str | bytes] = {
    "a name of hostile characters": an_object("ConfigMap", name=TEXT),
    "a name that is a list": an_object("ConfigMap", name=[1]),
    "metadata of null": '{"apiVersion":"v1","kind":"ConfigMap","metadata":null}',
    "a kind that is a number": '{"apiVersion":"v1","kind":1,"metadata":{"name":"x"}}',
    "lists in lists": LISTS * 90 + "]}" * 90,
    "a list of nothing": LISTS + "1,null,[]]}",
    "a definition without a group": an_object(
        "CustomResourceDefinition", "apiextensions.k8s.io/v1", spec={"group": []}
    ),
    "names of a definition": an_object(
        "CustomResourceDefinition", "apiextensions.k8s.io/v1", spec={"names": {"kind": ["a"], "shortNames": "x"}}
    ),
    "schemas of wrong types in a definition": "\n---\n".join(
        [
            *(a_definition(f"k{number}", schema) for number, schema in enumerate(SCHEMAS)),
            *(an_object(f"K{number}", "example.com/v1", spec={"a": [1, "x", {}]}) for number in range(len(SCHEMAS))),
        ]
    ),
    "encryption that is none": an_object("ConfigMap", sops={"mac": []}),
    "replicas that are a text": an_object("Deployment", "apps/v1", spec={"replicas": "3", "template": []}),
    "containers of wrong types": a_template(containers=[None, 1, {"resources": {"requests": {"cpu": []}}}]),
    "secrets of a ServiceAccount": an_object("ServiceAccount", secrets=["x", None, {"name": [1]}]),
    "a Service that is a text": an_object("Service", spec="x"),
    "labels of a Job": an_object("Job", "batch/v1", spec={"selector": {"matchLabels": ["x"]}, "template": "x"}),
    "annotations of a claim": an_object("PersistentVolumeClaim", metadata={"name": "x", "annotations": "x"}),
    "ConfigMaps beside a chart": "\n---\n".join(
        [
            an_object("HelmChart", "argosy.dev/v1alpha1", spec={"chart": {"path": "x"}}),
            *(
                json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
                for metadata in ("x", ["x"], {"name": "x", "namespace": {"x": 1}}, {"name": ["x"]})
            ),
            an_object(
                "HelmChart", "argosy.dev/v1alpha1", spec={"chart": {"path": "c"}, "valuesFrom": [{"configMap": "v"}]}
            ),
            an_object("ConfigMap", name="v", data="x"),
        ]
    ),
    "volumes of wrong types": a_template(volumes=[{"configMap": 1}], nodeSelector=[1], tolerations={"a": 1}),
    "a Job of too many": an_object("Job", "batch/v1", spec={"parallelism": 2**62, "completions": -1}),
    "Clusters whose metadata is anything, beside a federation's objects": "\n---\n".join(
        [
            an_object("FederatedConfigMap", "types.kubefed.io/v1beta1", spec={"template": {}, "placement": {}}),
            *(
                json.dumps({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": metadata})
                for metadata in (None, 1, "x", ["x"], {"name": "x", "labels": ["x"]}, {"name": ["x"]})
            ),
        ]
    ),
    "overrides of KubeFed for no cluster, whose replicas are divided": "\n---\n".join(
        [
            an_object(
                "FederatedDeployment",
                "types.kubefed.io/v1beta1",
                spec={
                    "template": {"spec": {"replicas": 3}},
                    "placement": {"clusters": [{"name": "m1"}]},
                    "overrides": [{"clusterOverrides": []}, {}],
                },
            ),
            an_object(
                "ReplicaSchedulingPreference",
                "scheduling.kubefed.io/v1alpha1",
                spec={"targetKind": "FederatedDeployment", "totalReplicas": 9},
            ),
        ]
    ),
    "versions of a definition": an_object(
        "CustomResourceDefinition",
        "apiextensions.k8s.io/v1",
        name="ks.example.com",
        spec={
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "K", "plural": "ks"},
            "versions": [None, {"name": "v1", "served": True, "storage": True}],
        },
    )
    + "\n---\n"
    + an_object("K", "example.com/v1"),
    "a chart without what it needs": json.dumps({"apiVersion": "argosy.dev/v1alpha1", "kind": "HelmChart", "spec": {}}),
    "a Source without what it needs": an_object("Source", "argosy.dev/v1alpha1", spec={"helm": {}}),
    "a test without what it needs": an_object(
        "PolicyTest", "argosy.dev/v1alpha1", spec={"expect": [{"fields": [{}]}], "given": {"unschedulable": [{}]}}
    ),
    "selectors of null": an_object("PropagationPolicy", POLICIES, spec={"resourceSelectors": [None], "placement": []}),
    "a priority beyond all": an_object("PropagationPolicy", POLICIES, spec={"priority": 2**63}),
    "an operator nobody knows": an_object(
        "PropagationPolicy",
        POLICIES,
        spec={"resourceSelectors": [{"labelSelector": {"matchExpressions": [{"key": TEXT, "operator": TEXT}]}}]},
    ),
    "a path of 5,000 steps": an_override(plaintext=[{"path": "/" + "a/" * 5_000, "operator": "add", "value": TEXT}]),
    "an escape that is none": an_override(plaintext=[{"path": "/data/~2", "operator": "remove"}]),
    "another identity": an_override(plaintext=[{"path": "/metadata/name", "operator": "replace", "value": "evil"}]),
    "an index of 5,000 digits": an_override(
        plaintext=[{"path": f"/spec/{'9' * 5_000}", "operator": "add", "value": 1}]
    ),
    "a field within a field": an_override(fieldOverrider=[{"fieldPath": "/data/a", "json": [{"subPath": "/x"}]}]),
    "an image of hostile characters": an_override(
        imageOverrider=[{"component": "Registry", "operator": "replace", "value": TEXT * 1_000}]
    ),
    "taints of hostile characters": an_object(
        "Cluster", "cluster.karmada.io/v1alpha1", spec={"taints": [{"key": TEXT, "effect": TEXT}]}
    ),
    "capacity beyond all numbers": an_object(
        "Cluster",
        "cluster.karmada.io/v1alpha1",
        status={"resourceSummary": {"allocatable": {"cpu": "9" * 5_000, "memory": "1e999999999", "pods": "-1"}}},
    ),
    "capacity in exponents": an_object(
        "Cluster",
        "cluster.karmada.io/v1alpha1",
        spec={"syncMode": "Push"},
        status={"resourceSummary": {"allocatable": {"cpu": "1e400", "memory": "1E300", "pods": "1e-30"}}},
    ),
    "a script's error": a_script("error(string.rep('\\27[2K', 100000))"),
    "a script's memory": a_script("local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1e6) .. i end return 1"),
    "a script's long text": a_script("return #string.rep('x', 2^31)"),
    "a script's pattern": a_script(
        "return #(string.match(string.rep('a', 100000), string.rep('a-', 30) .. 'b') or '')"
    ),
    "a script's doubling": a_script("local s = 'a' for i = 1, 60 do s = string.gsub(s, 'a', 'aa') end return #s"),
    "a script's circle": a_script("local t = {} t.x = t return t"),
    "a script's wide number": a_script("return string.format('%99999999d', 1)"),
    "a script's number that is none": a_script("return 0/0"),
    "a script's infinity": a_script("return 1/0, {nodeClaim = {x = 1/0}}"),
    "a script that catches its end": a_script("while true do pcall(function() while true do end end) end"),
    "a script's deep answer": a_script("local t = {} for i = 1, 100000 do t = {t} end return 1, t"),
    "a script of brackets": a_script("(" * 100_000),
    "expectations of null": an_object("PolicyTest", "argosy.dev/v1alpha1", spec={"expect": [None, {"template": []}]}),
    "a test that is a list": an_object("PolicyTest", "argosy.dev/v1alpha1", spec=[TEXT]),
    "a webhook that is a file": json.dumps(
        {
            "apiVersion": CONFIG,
            "kind": "ResourceInterpreterWebhookConfiguration",
            "metadata": {"name": "w"},
            "webhooks": [None, {"clientConfig": {"url": "file:///etc/passwd"}, "rules": [{"operations": [None]}]}],
        }
    ),
    "UTF-16": HEAD.encode("utf-16"),
    "Latin 1": HEAD.encode() + b"data: {a: \xe9\xff}\n",
    "a zero": b"apiVersion: v1\x00\nkind: ConfigMap\n",
    "lines that others see": "apiVersion: v1\x85kind: ConfigMap\u2028metadata: {name: x}\n",
    "half a character": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\\ud800"}}',
    "numbers that are none": HEAD + "data: {a: .nan, b: .inf, c: 1e400}\n",
    "merges of wrong types": HEAD + "data: {<<: [{a: b}, 1, null]}\n",
    "keys that are lists": HEAD + "data: {[1, 2]: a, {a: b}: c, null: d, 1.5: e}\n",
    "tags of other languages": HEAD + "data: {a: !!binary 'x', b: !!python/object/apply:os.system ['touch canary']}\n",
    "an object in itself": "&a\n" + HEAD + "data: *a\n",
    "braces in braces": HEAD + "a: " + "{a: " * 150 + "1" + "}" * 150 + "\n",
    "a line of a megabyte": HEAD + "data: {a: '" + "x" * 1_000_000 + "'}\n",
    "a key of 200,000 characters": HEAD + "data: {? '" + "x" * 200_000 + "' : b}\n",
    "a field of 200,000 characters": HEAD.replace("v1", POLICIES).replace("ConfigMap", "PropagationPolicy")
    + "spec: {? '"
    + "x" * 200_000
    + "' : b}\n",
    "one key 20,000 times": HEAD + "data:\n" + "  k: v\n" * 20_000,
    "empty documents": "---\n" * 100_000,
    "tabs": "\t" * 100_000,
    "quotes": "'" * 100_001,
    "an indentation of many digits": "a: |" + "9" * 100_000,
    "anchors on anchors": "a: " + "&a " * 10_000,
}


def run_all(repository: Repository, capsys: pytest.CaptureFixture[str], *commands: str) -> None:
    for command in commands:
        ended = argosy(repository, capsys, *command.split())
        assert ended.code in {0, 1, 3}, (command, ended.err[-2_000:])
        assert obeyed(ended.out + ended.err) == set(), command
        assert "hunter2" not in ended.out + ended.err, command


def base_files() -> dict[str, Any]:
    kinds = {"Secret": "v1", "ConfigMap": "v1", "Deployment": "apps/v1"}
    selectors = [{"apiVersion": version, "kind": kind} for kind, version in kinds.items()]
    return {
        "m1.yaml": a_cluster("m1"),
        "d.yaml": a_deployment(),
        "s.yaml": an_object("Secret", name="s", stringData={"password": "hunter2"}),
        "p.yaml": a_policy("p", selectors=selectors, placement=on_clusters("m1")),
    }


@pytest.mark.parametrize("why", SOURCES)
def test_a_hostile_source_is_answered(why: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    chart = {"c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "c/templates/a.yaml": ""}
    repository.commit({**base_files(), **chart, "x.yaml": SOURCES[why]})
    run_all(repository, capsys, "reconcile --bootstrap", "validate -o github", "test", "diff -o markdown")
    assert not any(path.name == "canary" for path in repository.path.rglob("*"))


VALUES: list[Any] = [None, 1, True, "x", [], {}, [None], [{}], {"a": None}, TEXT, -1, [[[]]], "*" * 5_000]
FIELDS = [
    *["claims", "rescheduling", "secrets", "namespaces", "skippedNamespaces", "defaultNamespace", "clusters"],
    *["kubeconfigs", "rendered", "movementGuard", "removalGuard", "mirrors", "kinds", "source", "compatibility"],
    *["tieBreak", "reserveCapacity", "onPolicyRemoval", "emit", "fieldRules", "skippedAPIs", "featureGates"],
    *["failover", "descheduler", "cron", "decryption", "validation", "requireRecordedAPIs"],
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_setting_of_any_type_is_taken_or_refused(
    field: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(base_files())
    for value in VALUES:
        fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
        repository.write({"argosy.yaml": json.dumps({**fleet, "spec": {field: value}})})
        run_all(repository, capsys, "validate")


TOOLS = {
    "HelmRelease": "helm.toolkit.fluxcd.io/v2",
    "HelmRepository": "source.toolkit.fluxcd.io/v1",
    "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
    "Application": "argoproj.io/v1alpha1",
    "ApplicationSet": "argoproj.io/v1alpha1",
}


@pytest.mark.parametrize("kind", TOOLS)
def test_metadata_of_any_type_of_an_object_that_is_rendered_is_answered(
    kind: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    render = [each for each in TOOLS if each != "HelmRepository"]
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": {"render": render}}}
    release = {"chart": {"spec": {"chart": "a", "sourceRef": {"kind": "HelmRepository", "name": "a"}}}}
    head = {"apiVersion": TOOLS["HelmRelease"], "kind": "HelmRelease", "metadata": {"name": "r"}}
    repository.commit({**base_files(), "argosy.yaml": fleet, "r.yaml": {**head, "spec": release}})
    for value in VALUES:
        for metadata in (value, {"name": value}, {"name": "a", "namespace": value}, {"name": "a", "labels": value}):
            manifest = {"apiVersion": TOOLS[kind], "kind": kind, "metadata": metadata, "spec": release}
            repository.write({"x.yaml": json.dumps(manifest)})
            run_all(repository, capsys, "validate")


@pytest.mark.parametrize("path", ["a/" * 500 + "x.yaml", "x" * 20_000 + ".yaml"])
def test_a_path_of_any_depth_or_length_is_read(
    path: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """No work tree can hold such a file, but a commit can."""
    repository.commit(base_files())
    blob = repository.git("hash-object", "-w", "s.yaml")
    *folders, name = path.split("/")
    tree = tree_of(repository, f"100644 blob {blob}\t{name}")
    for folder in reversed(folders[1:]):
        tree = tree_of(repository, f"040000 tree {tree}\t{folder}")
    entries = [f"040000 tree {tree}\t{folder}" for folder in folders[:1]] or [f"100644 blob {blob}\t{name}"]
    entries += [line for line in repository.git("ls-tree", "HEAD").splitlines() if not line.endswith("\ts.yaml")]
    top = tree_of(repository, "\n".join(entries))
    commit = repository.git("commit-tree", "-p", "HEAD", "-m", "Deep", top)
    repository.git("update-ref", "refs/heads/main", commit)
    run_all(repository, capsys, "reconcile --bootstrap", "validate --rev main", "diff main~1 main")


def tree_of(repository: Repository, entries: str) -> str:
    content = b"".join(
        b"%s %s\0%s" % (mode.lstrip("0").encode(), name.encode(), bytes.fromhex(id_))
        for mode, _, id_, name in sorted(
            (line.replace("\t", " ", 1).split(" ", 3) for line in entries.splitlines()), key=lambda each: each[3]
        )
    )
    (repository.path.parent / "tree").write_bytes(content)
    return repository.git("hash-object", "-w", "-t", "tree", "--literally", str(repository.path.parent / "tree"))
