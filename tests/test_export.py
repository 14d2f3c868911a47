"""``argosy export``: the fleet as objects of Karmada and Argo CD, and what has no counterpart there."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.emission.karmada import karmada_objects
from reconciler.source.desired import Desired
from render.documents import parse_documents
from render.model import ObjectRef, Template, TemplateVariant
from render.settings.field_rules import FieldRule, FieldRuling
from render.settings.fields import documented_fields
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet
from render.settings.switches import TieBreak

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from .tables import each_row
from .test_source_federations import NAMESPACE, SETTINGS, WEB
from .test_source_rollouts import a_control, a_rollout

WORKLOADS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
OVERRIDE = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "OverridePolicy",
    "metadata": {"name": "canary"},
    "spec": {
        "resourceSelectors": WORKLOADS[:1],
        "overrideRules": [
            {
                "targetCluster": {"clusterNames": ["c2"]},
                "overriders": {"labelsOverrider": [{"operator": "add", "value": {"tier": "canary"}}]},
            }
        ],
    },
}
FEDERATED_QUOTA = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "FederatedResourceQuota",
    "metadata": {"name": "share", "namespace": "team"},
    "spec": {"overall": {"pods": "9"}, "staticAssignments": [{"clusterName": "c1", "hard": {"pods": "4"}}]},
}


def a_fleet(folder: Path) -> Repository:
    """A fleet of all that is rewritten on its way out: foreign kinds, builds, namespaces, credentials."""
    repository = Repository.create(folder)
    api = a_deployment("api", replicas=None)
    web = a_deployment("web", replicas=8)
    del api["metadata"]["namespace"], web["metadata"]["namespace"], web["spec"]["selector"]
    web["spec"]["selector"] = {"matchLabels": {"app": "web"}}
    divided = on_clusters("c1", "c2", "c3", replicaScheduling=weighted(c1=2, c2=1, c3=1))
    policy = a_policy("web", selectors=[{**WORKLOADS[0], "name": "web"}], placement=divided, priority=1)
    others = a_policy("others", selectors=WORKLOADS, placement=on_clusters("c1", "c2"))
    for each in (policy, others):
        del each["metadata"]["namespace"]
    secret = {"namespace": "karmada-cluster", "name": "c1"}
    members = [a_cluster("c1", id="1-2", secretRef=secret), a_cluster("c2"), a_cluster("c3", region="eu")]
    repository.commit(
        {
            "argosy.yaml": {
                "apiVersion": "argosy.dev/v1alpha1",
                "kind": "Fleet",
                "metadata": {"name": "default"},
                "spec": {"defaultNamespace": "team"},
            },
            "clusters.yaml": members,
            "apps.yaml": [api, web],
            "policies.yaml": [policy, others, OVERRIDE, FEDERATED_QUOTA],
            "foreign.yaml": [NAMESPACE, SETTINGS, WEB],
            "built/kustomization.yaml": "namespace: team\nresources: [settings.yaml]\n",
            "built/settings.yaml": a_config_map("built", a="1"),
            "crd.yaml": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"a": "b"}}},
            "everywhere.yaml": a_cluster_policy(
                "namespaces", selectors=[{"apiVersion": "v1", "kind": "Namespace"}], placement=on_clusters("c3")
            ),
        }
    )
    return repository


def rendered(repository: Repository, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, str], str]:
    """Return the trees of all clusters as Git knows them, and what was warned."""
    ended = argosy(repository, capsys, "render", "--commit", "--bootstrap")
    assert ended.code == 0, ended
    listed = repository.git("ls-tree", "-r", "argosy/rendered", "clusters", "bindings").splitlines()
    return {path: entry.split()[2] for entry, _, path in (line.partition("\t") for line in listed)}, ended.err


def test_what_is_exported_to_karmada_renders_the_same_when_it_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, folder = a_fleet(tmp_path / "fleet"), tmp_path / "exported"
    before, _ = rendered(repository, capsys)
    assert len({path.split("/")[1] for path in before if path.startswith("clusters/")}) == 3
    ended = argosy(repository, capsys, "export", "karmada", "--output-dir", str(folder))
    assert (ended.code, "secretRef" in (folder / "clusters.yaml").read_text()) == (0, False)
    again = Repository.create(folder)
    again.commit({})
    after, _ = rendered(again, capsys)
    assert after == before


def test_karmada_is_given_its_own_kinds_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet")
    ended = argosy(repository, capsys, "export", "karmada", "-o", "json")
    items = json.loads(ended.out)["items"]
    names = {f"{each['apiVersion'].partition('/')[0]} {each['kind']}" for each in items}
    assert (ended.code, [name for name in names if "kubefed" in name or "argosy" in name]) == (0, [])
    api = next(each for each in items if each["metadata"]["name"] == "api")
    assert (api["metadata"]["namespace"], "replicas" in api["spec"]) == ("team", False)
    canary = next(each for each in items if each["metadata"]["name"] == "canary")
    assert canary == {**OVERRIDE, "metadata": {"name": "canary", "namespace": "team"}}


RETAIN = "a retain rule of a ResourceInterpreterCustomization comes near it"


def test_what_karmada_has_no_place_for_is_said() -> None:
    rule = FieldRule(rule=FieldRuling.IGNORE, path=".spec.replicas")
    variant = TemplateVariant(clusters=frozenset({"eu"}), manifest=None)
    manifest: dict[str, Any] = a_config_map("settings")
    ref = ObjectRef.of(manifest)
    secret = ObjectRef("", "Secret", "default", "keys")
    templates = (
        Template(ref=ref, manifest=manifest, variants=(variant,)),
        Template(ref=secret, manifest={"apiVersion": "v1", "kind": "Secret"}, text=b"sops: {}"),
    )
    fleet = Fleet(field_rules=(rule,), tie_break=TieBreak.NAME)
    emission = karmada_objects(Desired(fleet=fleet, templates=templates), ())
    assert emission.manifests == (manifest,)
    assert emission.notes == (
        "spec.tieBreak of argosy.yaml has no object of its own: Karmada breaks ties by the UID of its own object",
        f"spec.fieldRules of argosy.yaml has no object of its own: {RETAIN}",
        "ConfigMap default/settings is another object, or none, in eu: values of a chart differ there",
        "Secret default/keys is left out: SOPS encrypted it, and Karmada decrypts nothing",
    )


class Decided(NamedTuple):
    why: str
    spec: dict[str, Any]
    want: list[str]


DECIDED = [
    Decided("nothing but defaults", {}, []),
    Decided("a descheduler", {"descheduler": {"enabled": True}}, ["spec.descheduler.enabled"]),
    Decided("what a cron may miss", {"cron": {"startingDeadlineSeconds": 60}}, ["spec.cron.startingDeadlineSeconds"]),
    Decided("a last copy that goes", {"failover": {"lastCopy": "Evict"}}, ["spec.failover.lastCopy"]),
    Decided("Karmada's ways", {"compatibility": "Karmada"}, []),
    Decided(
        "a way of ours beside Karmada's",
        {"compatibility": "Karmada", "failover": {"lastCopy": "Keep"}, "claims": "Pure"},
        ["spec.claims", "spec.failover.lastCopy"],
    ),
    Decided("what decides nothing", {"secrets": "Refuse", "mirrors": ["a"], "clusters": [{"name": "a"}]}, []),
]


@each_row("case", DECIDED, ids=lambda case: case.why)
def test_each_setting_that_decides_something_is_named(case: Decided) -> None:
    fleet = parse_fleet({"spec": case.spec})
    notes = karmada_objects(Desired(fleet=fleet, templates=()), ()).notes
    assert [note.split(" of argosy.yaml")[0] for note in notes] == case.want


def test_each_setting_says_what_karmada_has_for_it_or_that_it_decides_nothing() -> None:
    """A new one does, too: either itself, or what it is in."""
    silent = [
        path
        for path, _, field in documented_fields(Fleet)
        if (field.section is None or field.is_list) and field.setting.in_karmada is None
    ]
    said = [path for path, _, field in documented_fields(Fleet) if field.setting.in_karmada is not None]
    assert [path for path in silent if not any(path.startswith((f"{each}.", f"{each}[")) for each in said)] == []


def test_karmada_is_given_no_rollouts_and_each_is_named() -> None:
    found = karmada_objects(Desired(), [a_rollout(), a_rollout("fleet", namespace=""), a_control()])
    assert found.files == ()
    assert found.notes == tuple(
        f"{each} is left out: Karmada delivers a change to all clusters at once"
        for each in (
            "ClusterRolloutPolicy.argosy.dev fleet",
            "RolloutControl.argosy.dev stop",
            "RolloutPolicy.argosy.dev shop/web",
        )
    )


def test_works_are_those_of_karmada_s_binding_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository, folder = a_fleet(tmp_path / "fleet"), tmp_path / "works"
    ended = argosy(repository, capsys, "export", "works", "--cluster", "c1", "--output-dir", str(folder))
    assert (ended.code, [path.name for path in folder.glob("*.yaml")]) == (0, ["karmada-es-c1.yaml"])
    works = [each.value for each in parse_documents((folder / "karmada-es-c1.yaml").read_bytes())]
    (web,) = (
        each
        for each in works
        if each["metadata"].get("annotations", {}).get("resourcebinding.karmada.io/name") == "web-deployment"
        and each["metadata"]["annotations"]["resourcebinding.karmada.io/namespace"] == "team"
    )
    (workload,) = web["spec"]["workload"]["manifests"]
    assert (web["kind"], web["metadata"]["namespace"], workload["spec"]["replicas"]) == ("Work", "karmada-es-c1", 4)
    assert web["spec"]["suspendDispatching"] is False


def test_the_application_set_is_the_one_that_is_emitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path / "fleet")
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    given = ("--url", "https://git.example.com/fleet.git")
    exported = argosy(repository, capsys, "export", "applicationset", *given)
    assert (exported.code, exported.out) == (0, argosy(repository, capsys, "emit", "argocd", *given).out)
