"""The controllers of Flux and of Argo CD apply the rendered branch from a Git server, by what is emitted for them.

``make e2e-peers`` builds the controllers and runs this.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import run
from render.documents import emit, parse_documents
from render.settings.emission import Deployer

from .argocd import SPACE as ARGO_SPACE
from .argocd import ArgoCD, cluster_secret, running_argocd
from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy, on_clusters
from .clusters import Member, remove_namespaces
from .flux import SPACE, Flux, established, running_flux
from .git_server import serving_git
from .peers import PEERS, module_folder
from .waiting import eventually

TEAM, LEFT = "emission-peers", "emission-left"
HOOK = "emission-peers"
THEIRS, OURS = "member2", "member3"
NAMES = (f"argosy-{THEIRS}", f"argosy-{THEIRS}-validatingwebhookconfiguration")
APPLICATIONS = (f"argosy-{THEIRS}-kept", f"argosy-{THEIRS}", f"argosy-{THEIRS}-interceptors")
OF_TOOLS = (
    "kustomize.toolkit.fluxcd.io/",
    "argocd.argoproj.io/",
    "applyset.kubernetes.io/",
    "deployment.kubernetes.io/",
)
OF_SERVERS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


def an_object(api_version: str, kind: str, name: str, namespace: str = TEAM, **parts: Any) -> dict[str, Any]:
    placed = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **placed}, **parts}


def templates() -> dict[str, Any]:
    """An object for each rule that is emitted: never pruned, scaled, intercepting, defined here."""
    rule = {"apiGroups": ["emission.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
    webhook = {
        "name": "checks.emission.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [rule],
    }
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "namespaces.yaml": [an_object("v1", "Namespace", TEAM, ""), an_object("v1", "Namespace", LEFT, "")],
        "definition.yaml": an_object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "geese.emission.example.com",
            "",
            spec={
                "group": "emission.example.com",
                "names": {"kind": "Goose", "plural": "geese", "singular": "goose", "listKind": "GooseList"},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
            },
        ),
        "goose.yaml": an_object("emission.example.com/v1", "Goose", "one", spec={"wings": 2}),
        "settings.yaml": [
            a_config_map("cloudbuild", namespace=TEAM, a="1"),
            a_config_map("x", namespace=LEFT, a="1"),
        ],
        "web.yaml": [
            a_deployment("web", namespace=TEAM, replicas=0),
            an_object(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "web",
                spec={"scaleTargetRef": scaled, "minReplicas": 1, "maxReplicas": 9},
            ),
            an_object(
                "v1", "Service", "web", spec={"clusterIP": "None", "ports": [{"port": 80}], "selector": {"a": "b"}}
            ),
            an_object("v1", "Secret", "web", stringData={"a": "b"}),
        ],
        "hook.yaml": an_object(
            "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", HOOK, "", webhooks=[webhook]
        ),
    }


def a_fleet(folder: Path, deployer: Deployer, hub: Member) -> Repository:
    """A fleet whose two clusters get the same, with a bare repository that it is pushed to; passes read the hub."""
    emission = {
        "for": deployer.value,
        "repository": "https://git.example.com/fleet.git",
        "status": {"kubeconfig": str(hub.kubeconfig)},
    }
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"emit": [emission]}}
    Repository.create(folder / "served" / "fleet.git", bare=True)
    work, made = Repository.create(folder / "work"), templates()
    objects = [each for found in made.values() for each in (found if isinstance(found, list) else [found])]
    kinds = {(each["apiVersion"], each["kind"]) for each in objects}
    selectors = [{"apiVersion": version, "kind": kind} for version, kind in sorted(kinds)]
    policy = a_cluster_policy("all", selectors=selectors, placement=on_clusters(THEIRS, OURS))
    work.git("remote", "add", "origin", str(folder / "served" / "fleet.git"))
    clusters = [a_cluster(THEIRS), a_cluster(OURS)]
    work.commit({**made, "argosy.yaml": settings, "policy.yaml": policy, "clusters.yaml": clusters})
    return work


def rendered(work: Repository, *options: str) -> str:
    work.git("push", "-q", "origin", "main")
    assert run(["-q", "-C", str(work.path), "reconcile", *options]) == 0
    return work.git("rev-parse", "refs/remotes/origin/argosy/rendered")


def plain(found: Any) -> Any:
    """An object without its status, and without what servers and the tool that applied it add."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in OF_SERVERS}
    for part in ("labels", "annotations"):
        kept = {key: value for key, value in metadata.pop(part, {}).items() if not key.startswith(OF_TOOLS)}
        metadata |= {part: kept} if kept else {}
    return {**{key: value for key, value in found.items() if key != "status"}, "metadata": metadata}


def live(member: Member, work: Repository, revision: str) -> dict[str, Any]:
    """Every object of a member's tree as the member has it, by its file."""
    under = f"clusters/{member.name}"
    found = {}
    for path in work.files(revision, under):
        (document,) = parse_documents(work.show(path, revision).encode())
        manifest = document.value
        found[path.removeprefix(under)] = member.read(f"{member.path_of(manifest)}/{manifest['metadata']['name']}")
    return found


@pytest.fixture
def clean(members: tuple[Member, ...]) -> Iterator[None]:
    yield
    for member in members[1:]:
        member.kubectl("delete", "validatingwebhookconfiguration", HOOK, "--ignore-not-found")
    remove_namespaces(members, TEAM, LEFT)
    for member in members[1:]:
        member.kubectl("delete", "crd", "geese.emission.example.com", "--ignore-not-found")
    remove_namespaces(members, SPACE, ARGO_SPACE)


def apply_by_argosy(work: Repository, ours: Member, folder: Path) -> None:
    """Apply what is rendered to the cluster that no tool serves."""
    kubeconfigs = folder / "kubeconfigs"
    kubeconfigs.mkdir()
    shutil.copy(ours.kubeconfig, kubeconfigs / f"{OURS}.yaml")
    assert run(["-q", "-C", str(work.path), "apply", "--cluster", OURS, "--kubeconfigs", str(kubeconfigs)]) == 0


def told_of(work: Repository, capsys: pytest.CaptureFixture[str], commit: str, objects: int = 11) -> None:
    """See that a pass reads from the hub that all of a commit is applied and healthy, and a second one nothing new."""
    tips = []
    for _ in range(2):
        rendered(work)
        waited = argosy(work, capsys, "wait", f"cluster/{THEIRS}", "--for", "healthy", "--timeout", "1s")
        assert (waited.code, waited.err) == (0, "")
        tips.append(work.git("rev-parse", "refs/remotes/origin/argosy/status"))
    assert tips[0] == tips[1]
    record = work.show(f"clusters/{THEIRS}.yaml", "refs/remotes/origin/argosy/status")
    assert f"argosy.dev/applied: {commit}" in record.replace('"', "")
    assert len(work.files("refs/remotes/origin/argosy/status", f"works/{THEIRS}")) == objects


@pytest.mark.cluster
@pytest.mark.usefixtures("clean")
def test_flux_makes_of_the_branch_what_argosy_apply_makes(
    members: tuple[Member, ...],
    source_controller: Path,
    kustomize_controller: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Field by field, and a second time nothing changes; what an autoscaler sets and a Namespace's life are left."""
    hub, theirs, ours = members
    work = a_fleet(tmp_path, Deployer.FLUX, hub)
    first = rendered(work, "--bootstrap")
    apply_by_argosy(work, ours, tmp_path)
    with ExitStack() as stack:
        address = stack.enter_context(serving_git(tmp_path / "served"))
        flux = stack.enter_context(running_flux(hub, source_controller, kustomize_controller, tmp_path / "flux"))
        emitted = argosy(work, capsys, "emit", "flux", "--cluster", THEIRS, "--url", f"{address}/fleet.git")
        assert (emitted.code, emitted.err) == (0, "")
        access = {"value": theirs.kubeconfig.read_text()}
        secret = an_object("v1", "Secret", f"{THEIRS}-kubeconfig", SPACE, stringData=access)
        hub.kubectl("apply", "-f", "-", stdin=f"{emit(secret).decode()}---\n{emitted.out}")
        flux.fetch(first)
        for name in NAMES:
            eventually(lambda name=name: flux.is_ready(name, first), f"{name} ready", pause=0.5)  # type: ignore[misc]
        made, wanted = live(theirs, work, first), live(ours, work, first)
        assert len(made) == 11
        assert {path: plain(each) for path, each in made.items()} == {
            path: plain(each) for path, each in wanted.items()
        }
        for name in NAMES:
            flux.apply_again(name, "again")
        assert versions(live(theirs, work, first)) == versions(made)
        told_of(work, capsys, first)
        _changed(flux, theirs, work)


def _changed(flux: Flux, theirs: Member, work: Repository) -> None:
    """Scale the workload as its autoscaler would, commit a change and removals, and look at what Flux makes of it."""
    theirs.kubectl("-n", TEAM, "scale", "deployment/web", "--replicas=3")
    work.commit({"settings.yaml": a_config_map("cloudbuild", namespace=TEAM, a="2"), "namespaces.yaml": None})
    second = rendered(work)
    flux.fetch(second)
    gone, web = f"/api/v1/namespaces/{LEFT}/configmaps/x", f"/apis/apps/v1/namespaces/{TEAM}/deployments/web"
    # What is gone is pruned when all that is there has been applied.
    eventually(lambda: theirs.read(gone) is None, "what is gone pruned", pause=0.5)
    assert theirs.read(f"/api/v1/namespaces/{TEAM}/configmaps/cloudbuild")["data"] == {"a": "2"}
    assert theirs.read(web)["spec"]["replicas"] == 3
    theirs.kubectl("-n", TEAM, "scale", "deployment/web", "--replicas=0")
    eventually(lambda: flux.is_ready(NAMES[0], second), "the second commit ready", pause=0.5)
    assert theirs.read(f"/api/v1/namespaces/{LEFT}")["status"]["phase"] == "Active"


def versions(found: dict[str, Any]) -> dict[str, str]:
    return {path: each["metadata"]["resourceVersion"] for path, each in found.items()}


@pytest.mark.cluster
@pytest.mark.usefixtures("clean")
def test_argo_cd_makes_of_the_branch_what_argosy_apply_makes(
    members: tuple[Member, ...], argocd: Path, miniredis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Field by field, and a second time nothing changes; what an autoscaler sets and a Namespace's life are left."""
    hub, theirs, ours = members
    work = a_fleet(tmp_path, Deployer.ARGO_CD, hub)
    first = rendered(work, "--bootstrap")
    apply_by_argosy(work, ours, tmp_path)
    with ExitStack() as stack:
        address = stack.enter_context(serving_git(tmp_path / "served"))
        argo = stack.enter_context(running_argocd(hub, argocd, miniredis, tmp_path / "argocd"))
        url = f"{address}/fleet.git"
        emitted = argosy(work, capsys, "emit", "argocd", "--cluster", THEIRS, "--as", "applications", "--url", url)
        assert (emitted.code, emitted.err) == (0, "")
        hub.kubectl("apply", "-f", "-", stdin=f"{emit(cluster_secret(theirs)).decode()}---\n{emitted.out}")
        argo.synced(first, *APPLICATIONS)
        made, wanted = live(theirs, work, first), live(ours, work, first)
        assert len(made) == 11
        assert {path: plain(each) for path, each in made.items()} == {
            path: plain(each) for path, each in wanted.items()
        }
        for name in APPLICATIONS:
            argo.sync_again(name)
        assert versions(live(theirs, work, first)) == versions(made)
        told_of(work, capsys, first)
        _changed_under_argo(argo, theirs, work, capsys)


def _changed_under_argo(argo: ArgoCD, theirs: Member, work: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Do the same to what Argo CD applies."""
    theirs.kubectl("-n", TEAM, "scale", "deployment/web", "--replicas=3")
    work.commit({"settings.yaml": a_config_map("cloudbuild", namespace=TEAM, a="2"), "namespaces.yaml": None})
    second = rendered(work)
    for name in APPLICATIONS:
        argo.refresh(name)
    gone, web = f"/api/v1/namespaces/{LEFT}/configmaps/x", f"/apis/apps/v1/namespaces/{TEAM}/deployments/web"
    eventually(lambda: theirs.read(gone) is None, "what is gone pruned", pause=0.5)
    # Argo CD prunes beside what it applies.
    settings = f"/api/v1/namespaces/{TEAM}/configmaps/cloudbuild"
    eventually(lambda: theirs.read(settings)["data"] == {"a": "2"}, "the change applied", pause=0.5)
    assert theirs.read(web)["spec"]["replicas"] == 3
    theirs.kubectl("-n", TEAM, "scale", "deployment/web", "--replicas=0")
    argo.synced(second, *APPLICATIONS[1:])
    # What keeps Namespaces has one that left, so that Argo CD calls it out of sync for ever; passes know better.
    told_of(work, capsys, second, objects=9)
    assert theirs.read(f"/api/v1/namespaces/{LEFT}")["status"]["phase"] == "Active"


@pytest.mark.cluster
@pytest.mark.usefixtures("kustomize_controller")
def test_argo_cd_s_kinds_take_what_is_emitted(
    members: tuple[Member, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub, work = members[0], a_fleet(tmp_path, Deployer.ARGO_CD, members[0])
    rendered(work, "--bootstrap")
    definitions = module_folder(PEERS["argocd"].itself) / "manifests" / "crds"
    for name in ("application-crd.yaml", "applicationset-crd.yaml"):
        hub.kubectl("apply", "--server-side", "-f", str(definitions / name))
    hub.kubectl("create", "namespace", "argocd")
    try:
        established(hub, "applications.argoproj.io", "applicationsets.argoproj.io")
        for shape in ("applicationset", "applications"):
            url = "https://git.example.com/fleet.git"
            made = argosy(work, capsys, "emit", "argocd", "--as", shape, "--url", url)
            answers = [hub.dry_apply(each.value) for each in parse_documents(made.out.encode())]
            assert [(status, answer.get("message")) for status, answer in answers] == [(201, None)] * len(answers)
            assert answers
    finally:
        remove_namespaces(members[:1], "argocd")
