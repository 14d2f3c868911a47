"""Plain clusters taken over: their objects become templates and overrides that give each exactly what it has."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overrides.draft import Draft
from overrides.overriders.plaintext import PlaintextOverrider, patch_draft, patch_operations_of
from reconciler.cli import run
from render.federations.plain_clusters.front_end import (
    LiveCluster,
    conversion_of_clusters,
    objects_as_person_writes_them,
    template_and_rules_of_forms,
)
from render.federations.plain_clusters.system_objects import reason_to_leave_out
from render.federations.plain_clusters.written_form import object_without_default_fields, template_of_live_object

from .build import Ended, a_config_map, a_deployment
from .fakes import FakeCluster
from .schemas import faults
from .served import serving_members
from .tables import each_row

TEXTS = st.text(alphabet="ab/~0-é", max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(0, 1, allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def patched(manifest: Any, rule: Any) -> Any:
    """Return an object as the override engine makes it by a rule."""
    draft = Draft(deepcopy(manifest))
    patch_draft(draft, patch_operations_of([PlaintextOverrider(**{"value": None, **each}) for each in rule.operations]))
    return draft.root


@given(st.dictionaries(st.sampled_from("abcde"), st.dictionaries(TEXTS, VALUES, max_size=4), min_size=1))
def test_a_template_and_its_rules_give_every_cluster_what_it_had(contents: dict[str, Any]) -> None:
    manifests = {name: {"kind": "X", "spec": content} for name, content in contents.items()}
    before = deepcopy(manifests)
    template, rules = template_and_rules_of_forms(manifests)
    made = {name: patched(template, rule) for rule in rules for name in rule.names}
    # Without types a comparison would take true for 1.
    assert {name: repr(_sorted(made.get(name, template))) for name in manifests} == {
        name: repr(_sorted(each)) for name, each in before.items()
    }
    assert manifests == before


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def test_the_template_is_what_most_clusters_have() -> None:
    forms = {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 2}, "d": {"n": 3}}
    template, rules = template_and_rules_of_forms(forms)
    assert (template, [(rule.names, list(rule.operations)) for rule in rules]) == (
        {"n": 2},
        [
            (("a",), [{"operator": "replace", "path": "/n", "value": 1}]),
            (("d",), [{"operator": "replace", "path": "/n", "value": 3}]),
        ],
    )


class Form(NamedTuple):
    why: str
    live: dict[str, Any]
    want: dict[str, Any]


def an_object(kind: str, version: str = "v1", metadata: Any = None, **content: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x", **(metadata or {})}, **content}


FORMS = [
    Form(
        "what a server writes goes",
        an_object(
            "ConfigMap",
            metadata={
                "uid": "1",
                "resourceVersion": "2",
                "generation": 3,
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            },
            data={"a": "1"},
        ),
        an_object("ConfigMap", data={"a": "1"}),
    ),
    Form(
        "replicas that no autoscaler sets stay",
        an_object("Deployment", "apps/v1", spec={"replicas": 4}),
        an_object("Deployment", "apps/v1", spec={"replicas": 4}),
    ),
    Form(
        "notes of Karmada and KubeFed go, those of people stay",
        an_object(
            "ConfigMap",
            metadata={
                "labels": {"karmada.io/managed": "true", "kubefed.io/managed": "true", "app": "web"},
                "annotations": {"work.karmada.io/name": "web"},
            },
        ),
        an_object("ConfigMap", metadata={"labels": {"app": "web"}}),
    ),
    Form(
        "addresses and ports of nodes that a cluster allocated go",
        an_object(
            "Service",
            spec={
                "clusterIP": "10.0.0.1",
                "clusterIPs": ["10.0.0.1"],
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
                "type": "NodePort",
                "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP", "nodePort": 30001}],
            },
        ),
        an_object("Service", spec={"type": "NodePort", "ports": [{"port": 80}]}),
    ),
    Form(
        "an aggregated API whose certificate was injected",
        an_object("APIService", "apiregistration.k8s.io/v1", spec={"caBundle": "Q0E=", "group": "example.io"}),
        an_object("APIService", "apiregistration.k8s.io/v1", spec={"group": "example.io"}),
    ),
    Form(
        "a service without an address, and one of two families, stay so",
        an_object(
            "Service",
            spec={
                "clusterIP": "None",
                "clusterIPs": ["None"],
                "ipFamilies": ["IPv6", "IPv4"],
                "ipFamilyPolicy": "PreferDualStack",
            },
        ),
        an_object(
            "Service",
            spec={"clusterIP": "None", "ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "PreferDualStack"},
        ),
    ),
    Form(
        "the selector and the labels that a server makes of a Job's UID go",
        an_object(
            "Job",
            "batch/v1",
            metadata={"labels": {"controller-uid": "1", "job-name": "x"}},
            spec={
                "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}},
                "template": {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "1", "app": "x"}}},
            },
        ),
        an_object("Job", "batch/v1", spec={"template": {"metadata": {"labels": {"app": "x"}}}}),
    ),
    Form(
        "rules that are gathered from other roles go",
        an_object(
            "ClusterRole", "rbac.authorization.k8s.io/v1", aggregationRule={"clusterRoleSelectors": []}, rules=[{}]
        ),
        an_object("ClusterRole", "rbac.authorization.k8s.io/v1", aggregationRule={"clusterRoleSelectors": []}),
    ),
    Form(
        "a Namespace loses its finalizer and the label of its name",
        an_object(
            "Namespace", metadata={"labels": {"kubernetes.io/metadata.name": "x"}}, spec={"finalizers": ["kubernetes"]}
        ),
        an_object("Namespace"),
    ),
]


@each_row("case", FORMS, ids=lambda case: case.why)
def test_a_live_object_is_written_as_a_person_would(case: Form) -> None:
    before = deepcopy(case.live)
    assert (template_of_live_object(case.live), case.live) == (case.want, before)


def test_the_replicas_that_an_autoscaler_sets_are_left_out() -> None:
    assert template_of_live_object(
        an_object("Deployment", "apps/v1", spec={"replicas": 4}), is_scaled=True
    ) == an_object("Deployment", "apps/v1")


class Default(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: dict[str, Any]


STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}


def a_container(**fields: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [fields]}}}


DEFAULTS = [
    Default("all of a strategy", {"strategy": STRATEGY}, {}),
    Default(
        "a part of a strategy",
        {"strategy": {**STRATEGY, "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}}},
        {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}},
    ),
    Default("another strategy", {"strategy": {"type": "Recreate"}}, {"strategy": {"type": "Recreate"}}),
    Default("no default", {"revisionHistoryLimit": 3}, {"revisionHistoryLimit": 3}),
    Default(
        "one of another type", {"paused": 1, "revisionHistoryLimit": 10.0}, {"paused": 1, "revisionHistoryLimit": 10.0}
    ),
    Default(
        "an image of a version is pulled once",
        a_container(image="a.example:5000/web:1", imagePullPolicy="IfNotPresent"),
        a_container(image="a.example:5000/web:1"),
    ),
    Default(
        "an image without a version is always pulled",
        a_container(image="a.example:5000/web", imagePullPolicy="Always"),
        a_container(image="a.example:5000/web"),
    ),
    Default(
        "an image that is pulled against the rule",
        a_container(image="web:latest", imagePullPolicy="IfNotPresent"),
        a_container(image="web:latest", imagePullPolicy="IfNotPresent"),
    ),
    Default(
        "an image by its digest is pulled once",
        a_container(image="web@sha256:0", imagePullPolicy="IfNotPresent"),
        a_container(image="web@sha256:0"),
    ),
]


@each_row("case", DEFAULTS, ids=lambda case: case.why)
def test_fields_with_their_default_are_left_out(case: Default) -> None:
    found = object_without_default_fields(an_object("Deployment", "apps/v1", spec={"replicas": 1, **case.spec}))
    assert found["spec"] == {"replicas": 1, **case.want}


class LeftOut(NamedTuple):
    why: str
    live: dict[str, Any]
    code: str


ROLE = "rbac.authorization.k8s.io/v1"
LEFT_OUT = [
    LeftOut("an object of a person", an_object("ConfigMap", metadata={"namespace": "shop"}), ""),
    LeftOut(
        "one with an owner", an_object("ReplicaSet", "apps/v1", {"ownerReferences": [{"uid": "1"}]}), "controller-made"
    ),
    LeftOut("one of the system", an_object("ConfigMap", metadata={"namespace": "kube-public"}), "of-the-system"),
    LeftOut("Argosy's records", an_object("ConfigMap", metadata={"namespace": "argosy-system"}), "of-the-system"),
    LeftOut(
        "a certificate in every namespace",
        an_object("ConfigMap", metadata={"name": "kube-root-ca.crt"}),
        "cluster-made",
    ),
    LeftOut("an account in every namespace", an_object("ServiceAccount", metadata={"name": "default"}), "cluster-made"),
    LeftOut(
        "one that a person gave a registry",
        an_object("ServiceAccount", metadata={"name": "default"}, imagePullSecrets=[{"name": "r"}]),
        "",
    ),
    LeftOut("a role of the server", an_object("ClusterRole", ROLE, {"name": "system:node"}), "of-the-system"),
    LeftOut(
        "a role for everybody",
        an_object("ClusterRole", ROLE, {"name": "view", "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}),
        "of-the-system",
    ),
    LeftOut(
        "the server itself",
        an_object("Service", metadata={"namespace": "default", "name": "kubernetes"}),
        "cluster-made",
    ),
    LeftOut("one that goes", an_object("ConfigMap", metadata={"deletionTimestamp": "now"}), "being-deleted"),
    LeftOut(
        "a token", an_object("Secret", metadata={"annotations": {"kubernetes.io/service-account.name": "a"}}), "token"
    ),
    LeftOut("a record of Helm's", an_object("Secret", metadata={"name": "sh.helm.release.v1.a.v1"}), "helm-record"),
    LeftOut("a Secret", an_object("Secret"), "secret-left-out"),
    LeftOut("a Pod of its own", an_object("Pod"), "pod-left-out"),
    LeftOut(
        "a volume that a driver made",
        an_object("PersistentVolume", metadata={"annotations": {"pv.kubernetes.io/provisioned-by": "d"}}),
        "controller-made",
    ),
]


@each_row("case", LEFT_OUT, ids=lambda case: case.why)
def test_what_no_person_wrote_is_left_out(case: LeftOut) -> None:
    found = reason_to_leave_out(case.live)
    assert (found.code if found else "") == case.code


def test_what_is_left_out_is_counted_and_equal_lines_are_one() -> None:
    sets = an_object("StatefulSet", "apps/v1", spec={"volumeClaimTemplates": [{"metadata": {"name": "data"}}]})
    claims = [
        an_object("PersistentVolumeClaim", metadata={"name": name}) for name in ("data-x-0", "data-x-1", "data-y-0")
    ]
    clusters = [
        objects_as_person_writes_them(
            LiveCluster(name=name, objects=[sets, *claims, an_object("Secret")], unlisted=unlisted)
        )
        for name, unlisted in (("a", {}), ("b", {"Widget.example.com": "no"}))
    ]
    conversion = conversion_of_clusters(clusters, ["Event"])
    assert [(unit.subject, unit.origin, unit.reach.names) for unit in conversion.units] == [
        ("PersistentVolumeClaim data-y-0", "a, b", ("a", "b")),
        ("StatefulSet.apps x", "a, b", ("a", "b")),
    ]
    assert [(each.origin, each.subject, each.remark.grade, each.remark.code) for each in conversion.left] == [
        ("a, b", "Secret x", "approximate", "secret-left-out"),
        ("a, b", "PersistentVolumeClaim: 2 objects", "exact", "controller-made"),
        ("b", "Widget.example.com", "refused", "not-listed"),
        ("", "Event", "exact", "kind-left-out"),
    ]


def test_an_object_without_a_version_in_common_is_refused() -> None:
    clusters = [
        objects_as_person_writes_them(LiveCluster(name=name, objects=[an_object("Widget", version)]))
        for name, version in (("a", "example.com/v1"), ("b", "example.com/v2"))
    ]
    (left,) = conversion_of_clusters(clusters).left
    assert (left.subject, left.origin, left.remark.message) == (
        "Widget.example.com x",
        "a, b",
        "the clusters serve no version of it in common (example.com/v1, example.com/v2)",
    )


def a_shop(name: str, image: str, *others: dict[str, Any]) -> FakeCluster:
    """A cluster with a namespace, a workload and settings, as somebody applied them."""
    cluster = FakeCluster(name=name)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    assert cluster.request("POST", "/api/v1/namespaces", space)[0] == 201
    web = a_deployment("web", namespace="shop", image=image)
    for plural, manifest in (
        ("apis/apps/v1/namespaces/shop/deployments", web),
        ("api/v1/namespaces/shop/configmaps", a_config_map("settings", namespace="shop", level="info")),
        ("api/v1/namespaces/shop/secrets", an_object("Secret", metadata={"namespace": "shop"}, data={"a": CANARY})),
        *((f"api/v1/namespaces/shop/{each['kind'].lower()}s", each) for each in others),
    ):
        assert cluster.request("POST", f"/{plural}", manifest)[0] == 201
    return cluster


CANARY = "Y2FuYXJ5LThmMTRlNDVm"


def imported_from(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    *clusters: FakeCluster,
    arguments: tuple[str, ...] = (),
    **broken: Any,
) -> Ended:
    """Serve clusters, import them all, and return what was said; nothing may have been written to them."""
    folder.mkdir(exist_ok=True)
    with serving_members(clusters, folder / "kubeconfigs", broken) as served:
        named = [word for each in clusters for word in ("--cluster", each.name)]
        code = run(["import", "--kubeconfigs", str(served.kubeconfigs), *named, *arguments])
        assert served.written == []
    said = capsys.readouterr()
    assert CANARY not in said.out + said.err
    assert not [file for file in folder.rglob("*") if file.is_file() and CANARY in file.read_text()]
    return Ended(code, said.out, said.err)


REPORT = """\
GRADE         DOCUMENT              FROM         WHY
exact         Namespace: 1 object   east, west   every cluster makes it for itself
exact         ConfigMap: 1 object   west         every cluster makes it for itself
approximate   Secret shop/x         east, west   the values of a Secret are not copied; it stays there as it is, and goes to no other cluster until it is written anew, encrypted, beside the others
8 exact, 1 approximate
east: 3 objects taken over without a change
west: 3 objects taken over without a change
9 files would be written: name a folder with --output-dir
"""  # noqa: E501


def test_clusters_are_read_and_what_became_of_them_is_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = a_config_map("kube-root-ca.crt", namespace="shop")
    clusters = a_shop("east", "web:1"), a_shop("west", "web:2", made)
    assert imported_from(tmp_path, capsys, *clusters) == Ended(0, REPORT, "")


def test_files_are_those_of_a_fleet_and_a_dry_run_only_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = tmp_path / "fleet"
    wanted = ("--output-dir", str(fleet), "-n", "shop")
    clusters = a_shop("east", "web:1"), a_shop("west", "web:2")
    shown = imported_from(tmp_path / "dry", capsys, *clusters, arguments=(*wanted, "--dry-run"))
    assert (shown.code, fleet.exists()) == (0, False)
    paths = [
        "argosy.yaml",
        "clusters/east.yaml",
        "clusters/west.yaml",
        "overrides/shop.yaml",
        "policies/cluster-scoped.yaml",
        "policies/shop.yaml",
        "templates/cluster-scoped/namespace-shop.yaml",
        "templates/shop/configmap-settings.yaml",
        "templates/shop/deployment-web.yaml",
    ]
    assert shown.err.splitlines() == [f"would write file={fleet / path}" for path in paths]
    assert imported_from(tmp_path / "wet", capsys, *clusters, arguments=wanted).code == 0
    assert sorted(str(path.relative_to(fleet)) for path in fleet.rglob("*.yaml")) == paths
    assert (fleet / "overrides" / "shop.yaml").read_text().splitlines()[7:17] == [
        "  overrideRules:",
        "  - overriders:",
        "      plaintext:",
        "      - operator: replace",
        "        path: /spec/template/spec/containers/0/image",
        "        value: web:2",
        "    targetCluster:",
        "      clusterNames:",
        "      - west",
        "  resourceSelectors:",
    ]


@pytest.mark.waits
def test_a_cluster_that_cannot_be_read_is_named_and_ends_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(handler: Any) -> bool:
        handler.connection.close()
        return True

    clusters = a_shop("east", "web:1"), a_shop("west", "web:2")
    fleet = tmp_path / "fleet"
    ended = imported_from(
        tmp_path / "one", capsys, *clusters, arguments=("--output-dir", str(fleet), "--timeout", "20s"), west=gone
    )
    assert (ended.code, ended.out.splitlines()[-1]) == (7, "east: 3 objects taken over without a change")
    assert ended.err.splitlines()[-1].startswith("warning: west: it is left out, for it could not be read: ")
    assert (fleet / "clusters" / "east.yaml").exists()
    assert not (fleet / "clusters" / "west.yaml").exists()
    ended = imported_from(tmp_path / "none", capsys, clusters[1], arguments=("--timeout", "20s"), west=gone)
    assert (ended.code, ended.out) == (5, "")
    assert "argosy: no cluster could be read\n  hint: west: " in ended.err


def test_what_belongs_to_another_tool_is_named_with_its_owner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = a_config_map("theirs", namespace="shop")
    theirs["metadata"]["annotations"] = {"meta.helm.sh/release-name": "shop"}
    east = a_shop("east", "web:1", theirs)
    ended = imported_from(tmp_path / "text", capsys, east)
    assert (ended.code, ended.out.splitlines()[-3:-1]) == (
        1,
        [
            "east: 3 objects taken over without a change, 1 not as wanted",
            "  ! ConfigMap shop/theirs conflict (OtherTool): it belongs to helm",
        ],
    )
    report = json.loads(imported_from(tmp_path / "json", capsys, east, arguments=("-o", "json")).out)
    assert faults(report, "ImportReport") == []
    conflict = {"action": "conflict", "reason": "OtherTool", "message": "it belongs to helm", "fields": []}
    assert report["proof"] == {
        "proven": False,
        "problems": [],
        "clusters": {"east": {"proven": 3, "objects": [{"object": "ConfigMap shop/theirs", **conflict}]}},
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "name a FOLDER, clusters with --cluster, or a control plane with --context"),
        (". --cluster east", "--cluster goes without FOLDER, which is read instead of clusters"),
        (
            "--cluster east --from kubefed",
            "--from goes without --cluster, which is for clusters that no federation joins",
        ),
        ("--context hub -n shop", "--namespace goes with --cluster: a control plane is read as a whole"),
        ("--cluster east -A -n shop", "--namespace goes without -A, which is all namespaces"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *arguments.split()]) == 2
    assert said in capsys.readouterr().err
