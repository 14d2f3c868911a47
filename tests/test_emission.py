"""Objects of Flux and Argo CD, made from trees of clusters."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.emission.argocd import argocd_objects
from reconciler.emission.flux import flux_objects
from reconciler.emission.model import (
    ClusterTree,
    EmissionOptions,
    IgnoredField,
    RenderedPlace,
)
from reconciler.emission.trees import TreeRules, cluster_tree
from reconciler.plans.model import DesiredObject
from reconciler.preview.exports import address_safe_to_publish
from render.documents import parse_documents
from render.model import ObjectRef
from render.settings.emission import Grouping, Placing
from render.settings.field_rules import FieldRule, FieldRuling

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy, on_clusters
from .tables import each_row

URL = "https://git.example.com/fleet.git"
PLACE = RenderedPlace(address=URL, branch="argosy/rendered", folder="clusters/eu")
WEB = ObjectRef("apps", "Deployment", "shop", "web")
HOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")


def an_object(api_version: str, kind: str, name: str, namespace: str = "shop", **parts: Any) -> dict[str, Any]:
    placed = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **placed}, **parts}


def an_autoscaler(target: str) -> dict[str, Any]:
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return an_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", "web", spec={"scaleTargetRef": scaled, "maxReplicas": 9}
    )


def a_tree(*manifests: dict[str, Any], encrypted: bytes = b"", **rules: Any) -> ClusterTree:
    objects = [DesiredObject(ref=ObjectRef.of(each), manifest=each, encrypted=encrypted) for each in manifests]
    return cluster_tree("eu", objects, PLACE, TreeRules(**rules))


class Decided(NamedTuple):
    why: str
    manifests: tuple[dict[str, Any], ...]
    want: dict[str, Any]
    rules: dict[str, Any] = {}  # noqa: RUF012 - rows do not change it


ANNOTATED = a_deployment("web", namespace="shop")
ANNOTATED["metadata"]["annotations"] = {"argosy.dev/ignore-fields": ".spec.template.spec.containers[*].image"}
RETAINED = a_deployment("web", namespace="shop")
RETAINED["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": "true"}
FORBIDDING = {"name": "web", "namespace": "shop", "annotations": {"argosy.dev/prune": "false"}}
LABELLED = a_config_map("settings", namespace="shop")
LABELLED["metadata"]["labels"] = {"a/b~c": "1"}
DECIDED = [
    Decided("a plain tree asks for nothing", (a_config_map("settings"),), {}),
    Decided(
        "replicas that an autoscaler owns are left to it",
        (a_deployment("web", namespace="shop"), an_autoscaler("web")),
        {"ignored": (IgnoredField(ref=WEB, pointer="/spec/replicas"),)},
    ),
    Decided(
        "a workload that says no replicas has none to leave",
        (a_deployment("web", namespace="shop", replicas=None), an_autoscaler("web")),
        {},
    ),
    Decided(
        "a label leaves replicas to the cluster",
        (RETAINED,),
        {"ignored": (IgnoredField(ref=WEB, pointer="/spec/replicas"),)},
    ),
    Decided(
        "an object that forbids to prune it",
        (a_deployment("web", namespace="shop") | {"metadata": FORBIDDING},),
        {"kept": (("apps/v1", WEB),)},
    ),
    Decided("an autoscaler of what is not in the tree", (an_autoscaler("api"),), {}),
    Decided(
        "an autoscaler of Kubernetes finds nothing unless it says the API",
        (
            a_deployment("web", namespace="shop"),
            an_object(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "web",
                spec={"scaleTargetRef": {"kind": "Deployment", "name": "web"}},
            ),
        ),
        {},
    ),
    Decided(
        "KEDA scales Deployments unless it says otherwise",
        (
            a_deployment("web", namespace="shop"),
            an_object("keda.sh/v1alpha1", "ScaledObject", "web", spec={"scaleTargetRef": {"name": "web"}}),
        ),
        {"ignored": (IgnoredField(ref=WEB, pointer="/spec/replicas"),)},
    ),
    Decided(
        "a field that an annotation leaves to others",
        (ANNOTATED,),
        {"ignored": (IgnoredField(ref=WEB, pointer="/spec/template/spec/containers/0/image"),)},
    ),
    Decided(
        "a field that argosy.yaml leaves to its manager, with the letters a pointer escapes",
        (LABELLED,),
        {
            "ignored": (
                IgnoredField(ref=ObjectRef("", "ConfigMap", "shop", "settings"), pointer="/metadata/labels/a~1b~0c"),
            )
        },
        {"fields": (FieldRule(rule=FieldRuling.YIELD, path=".metadata.labels.*", manager="labeller"),)},
    ),
    Decided(
        "an owned field is written as it is",
        (LABELLED,),
        {},
        {"fields": (FieldRule(rule=FieldRuling.OWN, path=".metadata.labels"),)},
    ),
    Decided(
        "kinds that are never pruned unasked",
        (an_object("v1", "Namespace", "shop", ""), an_object("v1", "PersistentVolumeClaim", "data")),
        {"kept_kinds": (("v1", "Namespace"), ("v1", "PersistentVolumeClaim"))},
    ),
    Decided(
        "what preserveResourcesOnDeletion keeps, and a kind that is kept anyhow",
        (a_deployment("web", namespace="shop"), an_object("v1", "Namespace", "shop", "")),
        {"kept": (("apps/v1", WEB),), "kept_kinds": (("v1", "Namespace"),)},
        {"preserved": frozenset({WEB, ObjectRef("", "Namespace", "", "shop")})},
    ),
    Decided(
        "what intercepts writes",
        (an_object(*HOOKS, "checks", ""), an_object(*HOOKS, "more", "")),
        {"interceptors": (HOOKS,)},
    ),
    Decided(
        "an object whose file kustomize takes for its own",
        (a_config_map("kustomization"),),
        {"misread": (ObjectRef("", "ConfigMap", "default", "kustomization"),)},
    ),
]


@each_row("case", DECIDED, ids=lambda case: case.why)
def test_a_tree_says_how_other_tools_must_treat_it(case: Decided) -> None:
    assert a_tree(*case.manifests, **case.rules) == ClusterTree(cluster="eu", place=PLACE, **case.want)


def test_what_sops_encrypted_is_known() -> None:
    assert a_tree(a_config_map("settings"), encrypted=b"sops: {}").is_encrypted


FULL = ClusterTree(
    cluster="eu",
    place=PLACE,
    kept=(("apps/v1", WEB),),
    kept_kinds=(("v1", "Namespace"),),
    interceptors=(HOOKS,),
    ignored=(IgnoredField(ref=WEB, pointer="/spec/replicas"),),
    is_encrypted=True,
)
PLAIN = ClusterTree(cluster="us", place=RenderedPlace(address=URL, branch="argosy/rendered", folder="clusters/us"))


def test_flux_has_a_kustomization_for_each_cluster_and_a_later_one_for_what_intercepts_writes() -> None:
    options = EmissionOptions(decryption_secret="keys", git_secret="deploy-key")
    emission = flux_objects([PLAIN, FULL], options)
    assert [path for path, _ in emission.files] == ["source.yaml", "eu.yaml", "us.yaml"]
    source, eu, hooks, us = emission.manifests
    assert source == {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": "argosy", "namespace": "flux-system"},
        "spec": {
            "interval": "1m",
            "url": URL,
            "ref": {"branch": "argosy/rendered"},
            "secretRef": {"name": "deploy-key"},
            "ignore": "/*\n!/clusters/\n",
        },
    }
    shared = {
        "interval": "10m",
        "retryInterval": "1m",
        "timeout": "5m",
        "sourceRef": {"kind": "GitRepository", "name": "argosy"},
        "prune": True,
        "deletionPolicy": "Orphan",
        "force": False,
        "wait": True,
    }
    replicas = {
        "paths": ["/spec/replicas"],
        "target": {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"},
    }
    secrets = {
        "kubeConfig": {"secretRef": {"name": "eu-kubeconfig"}},
        "decryption": {"provider": "sops", "secretRef": {"name": "keys"}},
        "ignore": [replicas],
    }
    kept = "metadata:\n  name: any\n  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n"
    hook = "ValidatingWebhookConfiguration"
    assert eu["spec"] == {
        **shared,
        **secrets,
        "path": "./clusters/eu",
        "patches": [
            {
                "target": {"group": r"admissionregistration\.k8s\.io", "kind": hook},
                "patch": f"apiVersion: {HOOKS[0]}\nkind: {hook}\nmetadata:\n  name: any\n$patch: delete\n",
            },
            {
                "target": {"version": "v1", "kind": "Namespace"},
                "patch": f"apiVersion: v1\nkind: Namespace\n{kept}",
            },
            {
                "target": {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"},
                "patch": f"apiVersion: apps/v1\nkind: Deployment\n{kept}",
            },
        ],
    }
    assert (hooks["metadata"]["name"], hooks["spec"]) == (
        "argosy-eu-validatingwebhookconfiguration",
        {
            **shared,
            **secrets,
            "path": f"./clusters/eu/_cluster/{hook}.admissionregistration.k8s.io",
            "dependsOn": [{"name": "argosy-eu"}],
        },
    )
    assert (us["metadata"]["name"], us["metadata"]["labels"]) == ("argosy-us", {"argosy.dev/cluster": "us"})
    assert us["spec"] == {**shared, "path": "./clusters/us", "kubeConfig": {"secretRef": {"name": "us-kubeconfig"}}}
    assert emission.notes == ()


def test_flux_in_a_member_reads_its_mirror_and_needs_no_kubeconfig() -> None:
    place = RenderedPlace(address=URL, branch="argosy/cluster/us")
    tree = ClusterTree(cluster="us", place=place, is_encrypted=True, misread=(ObjectRef("", "ConfigMap", "a", "b"),))
    emission = flux_objects([tree], EmissionOptions(placing=Placing.MEMBER, prefix="argosy-shop", namespace="flux"))
    ((path, (source, kustomization)),) = emission.files
    assert (path, source["metadata"]) == ("us.yaml", {"name": "argosy-shop", "namespace": "flux"})
    assert source["spec"]["ref"] == {"branch": "argosy/cluster/us"}
    assert (kustomization["spec"]["path"], "kubeConfig" in kustomization["spec"]) == ("./", False)
    assert emission.notes == (
        "us: Flux takes the file of ConfigMap a/b for a kustomization and applies nothing: rename it",
        NO_KEYS,
    )


NO_KEYS = (
    "us: SOPS encrypted some of its objects, and Flux is not told where the keys are (spec.decryption in argosy.yaml)"
)
KEPT = "{*/Namespace/*,shop/Deployment.apps/web.yaml}"
LATER = f"{{_cluster/{HOOKS[1]}.admissionregistration.k8s.io/*}}"
EXCLUDED = f"{{*/Namespace/*,_cluster/{HOOKS[1]}.admissionregistration.k8s.io/*,shop/Deployment.apps/web.yaml}}"
REPLICAS = {
    "group": "apps",
    "kind": "Deployment",
    "namespace": "shop",
    "name": "web",
    "jsonPointers": ["/spec/replicas"],
}


def test_argo_cd_has_an_application_for_each_part_of_a_cluster() -> None:
    emission = argocd_objects([FULL], EmissionOptions(grouping=Grouping.APPLICATIONS, project="fleet"))
    found = {
        each["metadata"]["name"]: (
            each["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"],
            each["spec"]["source"]["directory"],
            each["spec"]["syncPolicy"]["automated"],
        )
        for each in emission.manifests
    }
    assert found == {
        "argosy-eu-kept": ("-1", {"recurse": True, "include": KEPT}, {"prune": False, "selfHeal": True}),
        "argosy-eu": ("0", {"recurse": True, "exclude": EXCLUDED}, {"prune": True, "selfHeal": True}),
        "argosy-eu-interceptors": ("1", {"recurse": True, "include": LATER}, {"prune": True, "selfHeal": True}),
    }
    for each in emission.manifests:
        spec = each["spec"]
        assert (spec["project"], spec["destination"], spec["ignoreDifferences"]) == (
            "fleet",
            {"name": "eu"},
            [REPLICAS],
        )
        assert spec["syncPolicy"]["syncOptions"] == [
            "ServerSideApply=true",
            "RespectIgnoreDifferences=true",
            "FailOnSharedResource=true",
        ]
    assert emission.notes == (
        "eu: SOPS encrypted some of its objects, which Argo CD does not decrypt without a plugin",
    )


def test_argo_cd_in_a_member_deploys_to_where_it_is() -> None:
    (application,) = argocd_objects([PLAIN], EmissionOptions(placing=Placing.MEMBER)).manifests
    assert application["spec"]["destination"] == {"server": "https://kubernetes.default.svc"}
    assert application["spec"]["source"]["path"] == "clusters/us"


def test_one_application_set_has_the_parts_of_all_clusters() -> None:
    emission = argocd_objects([FULL, PLAIN], EmissionOptions())
    ((path, (made,)),) = emission.files
    git, listed = made["spec"]["generators"][0]["matrix"]["generators"]
    assert (path, git) == (
        "applicationset.yaml",
        {"git": {"repoURL": URL, "revision": "argosy/rendered", "directories": [{"path": "clusters/*"}]}},
    )
    rows = [("kept", "-kept", "-1", KEPT, "", "false"), ("objects", "", "0", "", EXCLUDED, "true")]
    rows.append(("interceptors", "-interceptors", "1", LATER, "", "true"))
    words = ("stage", "suffix", "wave", "include", "exclude", "prune")
    assert listed["list"]["elements"] == [dict(zip(words, row, strict=True)) for row in rows]
    template = made["spec"]["template"]
    assert template["metadata"]["name"] == "argosy-{{ .path.basename }}{{ .suffix }}"
    assert template["spec"]["destination"] == {"name": "{{ .path.basename }}"}
    assert template["spec"]["ignoreDifferences"] == [REPLICAS]
    assert made["spec"]["syncPolicy"] == {"preserveResourcesOnDeletion": True}
    shared = f"{WEB}: /spec/replicas is left to others in eu alone, and by one ApplicationSet everywhere"
    assert emission.notes[1:] == (f"{shared} (--as applications keeps them apart)",)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ("ssh://git:word@git.example.com/a/b", "ssh://git@git.example.com/a/b"),
        ("https://git.example.com:8443/a?token=1#x", "https://git.example.com:8443/a"),
        ("git@git.example.com:/srv/a.git", "ssh://git@git.example.com/srv/a.git"),
    ],
)
def test_an_address_is_written_down_without_what_is_secret_in_it(given: str, want: str) -> None:
    assert address_safe_to_publish(given) == want


def test_the_command_prints_or_writes_what_delivers_the_newest_commit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_cluster_policy("all", selectors=selectors, placement=on_clusters("eu", "us"))
    clusters = {f"{name}.yaml": a_cluster(name) for name in ("eu", "us")}
    repository.commit({**clusters, "policy.yaml": policy, "settings.yaml": a_config_map("settings", a="1")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    nowhere = argosy(repository, capsys, "emit", "flux")
    assert (nowhere.code, nowhere.err) == (
        3,
        "argosy: the repository has no remote that others could read\n  hint: name its address with --url\n",
    )
    repository.git("remote", "add", "origin", "https://me:token@git.example.com/fleet.git")
    repository.git("update-ref", "refs/remotes/origin/argosy/rendered", "argosy/rendered")
    printed = argosy(repository, capsys, "emit", "argocd", "argosy/rendered", "-o", "json")
    assert (printed.code, printed.err) == (0, "")
    (made,) = json.loads(printed.out)["items"]
    assert made["spec"]["template"]["spec"]["source"]["repoURL"] == URL
    folder = tmp_path / "emitted"
    written = argosy(
        repository, capsys, "emit", "flux", "argosy/rendered", "--cluster", "us", "--output-dir", str(folder)
    )
    assert written.code == 0
    assert sorted(path.name for path in folder.glob("*.yaml")) == ["source.yaml", "us.yaml"]
    ((kustomization,)) = parse_documents((folder / "us.yaml").read_bytes())
    assert kustomization.value["spec"]["path"] == "./clusters/us"
    unknown = argosy(repository, capsys, "emit", "flux", "argosy/rendered", "--cluster", "ue")
    assert (unknown.code, unknown.out) == (2, "")


def settings(**emit: Any) -> dict[str, Any]:
    spec = {"emit": [{"for": "Flux", "repository": URL, **emit}]}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


def test_a_pass_commits_what_argosy_yaml_asks_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the trees, whose bytes stay; a later autoscaler changes it in the same commit, and verify replays it."""
    repository = Repository.create(tmp_path / "fleet")
    kinds = (("apps/v1", "Deployment"), ("autoscaling/v2", "HorizontalPodAutoscaler"))
    selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
    policy = a_cluster_policy("all", selectors=selectors, placement=on_clusters("eu"))
    web = {"web.yaml": a_deployment("web", namespace="shop")}
    repository.commit({"policy.yaml": policy, "eu.yaml": a_cluster("eu"), **web})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    before = repository.git("rev-parse", "argosy/rendered:clusters")
    repository.commit({"argosy.yaml": settings(kubeconfigSecret="{cluster}-access")})
    assert argosy(repository, capsys, "reconcile").code == 6
    assert argosy(repository, capsys, "reconcile", "--accept-settings").code == 0
    assert repository.git("rev-parse", "argosy/rendered:clusters") == before
    assert repository.files(under="emit") == ["emit/flux/eu.yaml", "emit/flux/source.yaml"]

    def spec() -> dict[str, Any]:
        (document,) = parse_documents(repository.show("emit/flux/eu.yaml").encode())
        found: dict[str, Any] = document.value["spec"]
        return found

    assert (spec()["kubeConfig"], "ignore" in spec()) == ({"secretRef": {"name": "eu-access"}}, False)
    repository.commit({"scaler.yaml": an_autoscaler("web")})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert spec()["ignore"][0]["paths"] == ["/spec/replicas"]
    assert argosy(repository, capsys, "verify", "-n", "3").code == 0
    emitted = argosy(repository, capsys, "emit", "flux", "--url", URL, "--kubeconfig-secret", "{cluster}-access")
    files = (repository.show(f"emit/flux/{name}.yaml") for name in ("source", "eu"))
    assert emitted.out == "\n---\n".join(files) + "\n"
    repository.commit({"argosy.yaml": None})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.files(under="emit") == []


@pytest.mark.parametrize(
    ("emit", "want"),
    [
        (
            {"repository": "https://me:word@git.example.com/a"},
            "spec.emit[0].repository: must not have a password in it",
        ),
        ({"interval": "soon"}, "spec.emit[0].interval: 'soon' is no time"),
        ({"status": {}}, "spec.emit[0].status: must name a context or a kubeconfig of the hub, or say inCluster"),
        ({"status": {"context": "hub", "inCluster": True}}, "spec.emit[0].status: either names a context, or is in"),
        ({"in": "Member", "status": {"context": "a"}}, "spec.emit[0].status: must have {cluster} in it, the name of"),
        ({"in": "Member", "status": {"inCluster": True}}, "spec.emit[0].status: inCluster is for a tool in a hub"),
        ({"for": "Fleet"}, "spec.emit[0].for: "),
    ],
)
def test_what_is_to_be_emitted_is_checked(
    emit: dict[str, Any], want: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"argosy.yaml": settings(**emit), "eu.yaml": a_cluster("eu")})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, want in ended.out, "word" in ended.out.replace("password", "")) == (3, True, False)
