"""The status of Argo CD's Applications and Flux's Kustomizations, read back as what became of clusters."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.emission.tool_reports import PartReport, ReportedObject, ToolReport, parse_tool_reports
from reconciler.ledger.cluster import ClusterRecord
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.tool_files import ToolFiles
from reconciler.repository import open_repository
from render.documents import emit, parse_documents
from render.model import ObjectRef
from render.settings.emission import Deployer
from render.timing import epoch_text

from .build import Repository, a_cluster, a_cluster_policy, a_config_map, a_deployment, argosy, on_clusters
from .fakes import FakeCluster
from .served import serving_members
from .tables import each_row

COMMIT = "c" * 40
FLUX_COMMIT = f"argosy/rendered@sha1:{COMMIT}"
NOON = "2026-11-21T12:00:00Z"
WEB = ObjectRef("apps", "Deployment", "default", "web")
SETTINGS = ObjectRef("", "ConfigMap", "default", "settings")
ENTRIES = [{"id": "default_settings__ConfigMap", "v": "v1"}, {"id": "default_web_apps_Deployment", "v": "v1"}]
KINDS = {
    Deployer.FLUX: ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kustomizations", "flux-system"),
    Deployer.ARGO_CD: ("argoproj.io/v1alpha1", "Application", "applications", "argocd"),
}


def a_kustomization(
    cluster: str = "eu", *, ready: str = "", revision: str = FLUX_COMMIT, **status: Any
) -> dict[str, Any]:
    """A Kustomization as its controller leaves it; ``ready`` is as ``False ReconciliationFailed why it is so``."""
    word, reason, message = (*ready.split(" ", 2), "", "")[:3]
    condition = {"type": "Ready", "status": word, "reason": reason, "message": message, "lastTransitionTime": NOON}
    told: dict[str, Any] = {"conditions": [{**condition, "observedGeneration": 2}], "lastAttemptedRevision": revision}
    told |= {"inventory": {"entries": ENTRIES}, **status}
    spec = {"sourceRef": {"kind": "GitRepository", "name": "argosy"}}
    return an_object(Deployer.FLUX, cluster, spec, told if ready else {})


def an_application(cluster: str = "eu", *, sync: str = "", revision: Any = COMMIT, **status: Any) -> dict[str, Any]:
    told = {"sync": {"status": sync, "revision": revision}, "reconciledAt": NOON, **status}
    return an_object(Deployer.ARGO_CD, cluster, {"source": {"targetRevision": "argosy/rendered"}}, told if sync else {})


def an_object(deployer: Deployer, cluster: str, spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    version, kind, _, namespace = KINDS[deployer]
    labels = {"argosy.dev/cluster": cluster}
    metadata = {"name": f"argosy-{cluster}", "namespace": namespace, "labels": labels, "generation": 2}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def both(**words: Any) -> tuple[ReportedObject, ...]:
    return tuple(ReportedObject(ref=ref, version="v1", **words) for ref in (SETTINGS, WEB))


def resources(*statuses: str, **more: Any) -> list[dict[str, Any]]:
    found = [{"kind": "ConfigMap", "name": "settings"}, {"group": "apps", "kind": "Deployment", "name": "web"}]
    return [
        {**each, "namespace": "default", "version": "v1", "status": status, **more}
        for each, status in zip(found, statuses, strict=True)
    ]


class NoticeRecord(NamedTuple):
    why: str
    found: dict[str, Any]
    want: dict[str, Any]


FAILED: dict[str, Any] = {"phase": "Failed", "message": "one or more tasks failed", "syncResult": {"revision": COMMIT}}
FAILED["syncResult"] |= {"resources": [{**resources("", "SyncFailed")[1], "message": "web is invalid"}]}
TOLD = [
    NoticeRecord("a Kustomization that nobody looked at tells nothing", a_kustomization(), {}),
    NoticeRecord(
        "one that is ready has applied all, and all is healthy",
        a_kustomization(ready="True ReconciliationSucceeded", lastAppliedRevision=FLUX_COMMIT),
        {"commit": COMMIT, "outcome": "Converged", "objects": both()},
    ),
    NoticeRecord("one that is under way tells nothing", a_kustomization(ready="Unknown Progressing"), {}),
    NoticeRecord(
        "one that was changed since tells nothing",
        {**a_kustomization(ready="True X"), "metadata": a_kustomization()["metadata"] | {"generation": 3}},
        {},
    ),
    NoticeRecord(
        "what is not healthy is applied, and the message names it",
        a_kustomization(
            ready="False HealthCheckFailed timeout waiting for: [Deployment/default/web status: 'InProgress']"
        ),
        {
            "commit": COMMIT,
            "outcome": "Converged",
            "objects": (
                ReportedObject(ref=SETTINGS, version="v1", health=""),
                ReportedObject(ref=WEB, version="v1", health="Unhealthy", message="its health check failed"),
            ),
        },
    ),
    NoticeRecord(
        "what cannot be applied leaves it incomplete",
        a_kustomization(ready="False ReconciliationFailed web is invalid"),
        {"commit": COMMIT, "outcome": "Incomplete", "message": "web is invalid", "objects": both(health="")},
    ),
    NoticeRecord(
        "a folder that cannot be built is a failure",
        a_kustomization(ready="False BuildFailed no such file"),
        {"commit": COMMIT, "outcome": "BuildFailed", "message": "no such file", "objects": both(health="")},
    ),
    NoticeRecord("an Application that nobody looked at tells nothing", an_application(), {}),
    NoticeRecord(
        "one that is synced has applied all; it tells the health of each",
        an_application(sync="Synced", resources=resources("Synced", "Synced", health={"status": "Healthy"})),
        {"commit": COMMIT, "outcome": "Converged", "objects": both()},
    ),
    NoticeRecord(
        "one that keeps the health of each elsewhere tells that of all together",
        an_application(
            sync="Synced",
            resources=resources("Synced", "Synced"),
            resourceHealthSource="appTree",
            health={"status": "Degraded"},
        ),
        {"commit": COMMIT, "outcome": "Converged", "objects": both(health="")},
    ),
    NoticeRecord(
        "and if all is well together, each is",
        an_application(
            sync="Synced",
            resources=resources("Synced", "Synced"),
            resourceHealthSource="appTree",
            health={"status": "Healthy"},
        ),
        {"commit": COMMIT, "outcome": "Converged", "objects": both()},
    ),
    NoticeRecord(
        "an operation that failed leaves it incomplete, with the message of each object",
        an_application(sync="OutOfSync", resources=resources("Synced", "OutOfSync"), operationState=FAILED),
        {
            "commit": COMMIT,
            "outcome": "Incomplete",
            "message": "one or more tasks failed",
            "objects": (
                ReportedObject(ref=SETTINGS, version="v1"),
                ReportedObject(ref=WEB, version="v1", is_applied=False, message="web is invalid"),
            ),
        },
    ),
    NoticeRecord(
        "a commit that was compared and not synced yet is under way",
        an_application(sync="OutOfSync", operationState={"phase": "Running"}),
        {},
    ),
    NoticeRecord(
        "an operation that is tried again has failed",
        an_application(
            sync="OutOfSync",
            resources=resources("Synced", "OutOfSync"),
            operationState={**FAILED, "phase": "Running", "retryCount": 1},
        ),
        {
            "commit": COMMIT,
            "outcome": "Incomplete",
            "message": "one or more tasks failed",
            "objects": (
                ReportedObject(ref=SETTINGS, version="v1"),
                ReportedObject(ref=WEB, version="v1", is_applied=False, message="web is invalid"),
            ),
        },
    ),
    NoticeRecord(
        "what differs once it was synced is drift",
        an_application(
            sync="OutOfSync",
            resources=resources("Synced", "OutOfSync"),
            operationState={"phase": "Succeeded", "syncResult": {"revision": COMMIT}},
        ),
        {
            "commit": COMMIT,
            "outcome": "Incomplete",
            "message": "OutOfSync: 1 of 2 objects differ",
            "objects": (
                ReportedObject(ref=SETTINGS, version="v1"),
                ReportedObject(ref=WEB, version="v1", is_applied=False, message="OutOfSync"),
            ),
        },
    ),
    NoticeRecord(
        "what has left the folder stays where nothing is pruned, and all else is applied",
        {
            **an_application(
                sync="OutOfSync",
                resources=[*resources("Synced", "Synced"), {**resources("", "OutOfSync")[1], "requiresPruning": True}],
                operationState={"phase": "Succeeded", "syncResult": {"revision": "b" * 40}},
            ),
            "spec": {**an_application()["spec"], "syncPolicy": {"automated": {"prune": False}}},
        },
        {"commit": COMMIT, "outcome": "Converged", "objects": both()},
    ),
    NoticeRecord(
        "what cannot be compared is a failure",
        an_application(sync="Unknown", conditions=[{"type": "ComparisonError", "message": "no such cluster"}]),
        {"commit": COMMIT, "outcome": "ComparisonError", "message": "no such cluster"},
    ),
    NoticeRecord(
        "what has other shapes counts as not told",
        {**an_application(sync="Synced", revision=["x"], resources=[7, {"kind": 3}]), "extra": None},
        {"outcome": "Converged"},
    ),
]


@each_row("row", TOLD, ids=[row.why for row in TOLD])
def test_what_an_object_of_a_tool_tells(row: NoticeRecord) -> None:
    deployer = Deployer.FLUX if row.found["kind"] == "Kustomization" else Deployer.ARGO_CD
    heard = NOON if row.found["status"] else ""
    want = PartReport(name="argosy-eu", heard=heard, **row.want)
    assert parse_tool_reports(deployer, [row.found], ["argosy/rendered"], "argosy") == [
        ToolReport(cluster="eu", deployer=deployer, parts=(want,))
    ]


def test_objects_of_another_fleet_are_not_looked_at() -> None:
    others = [a_kustomization(), an_application()]
    for deployer in Deployer:
        assert parse_tool_reports(deployer, others, ["argosy-b/rendered"], "argosy-b") == []


def a_fleet(
    folder: Path, hub: Path, deployer: Deployer, *, placing: str = "Hub", mirrors: Sequence[str] = ()
) -> Repository:
    """A fleet of two clusters that a tool delivers to; passes read it in its hub, or where it is."""
    place = {"in": placing, "status": {"kubeconfig": str(hub)}}
    emission = {"for": deployer.value, "repository": "https://git.example.com/x.git", **place}
    spec = {"emit": [emission], "mirrors": list(mirrors)}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    work = Repository.create(folder)
    work.commit(
        {
            "argosy.yaml": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec},
            "clusters.yaml": [a_cluster("eu"), a_cluster("us")],
            "policy.yaml": a_cluster_policy("all", selectors=selectors, placement=on_clusters("eu", "us")),
            "web.yaml": a_deployment("web"),
            "settings.yaml": a_config_map("settings", a="1"),
        }
    )
    return work


def a_hub(name: str = "hub") -> FakeCluster:
    """A cluster that has the kinds of both tools."""
    made = FakeCluster(name=name)
    for version, kind, plural, _ in KINDS.values():
        names = {"kind": kind, "plural": plural}
        spec = {"group": version.split("/")[0], "scope": "Namespaced", "names": names}
        definition = {"spec": {**spec, "versions": [{"name": version.split("/")[1]}]}, "metadata": {"name": plural}}
        made.objects["customresourcedefinitions.apiextensions.k8s.io", "", plural] = definition
    return made


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[FakeCluster]:
    """A hub whose kubeconfig is ``hub.yaml``."""
    made = a_hub()
    with serving_members([made], tmp_path / "kubeconfigs"):
        yield made


def put(hub: FakeCluster, *objects: dict[str, Any]) -> None:
    for each in objects:
        group, plural = each["apiVersion"].split("/")[0], f"{each['kind'].lower()}s"
        hub.objects[f"{plural}.{group}", each["metadata"]["namespace"], each["metadata"]["name"]] = each


def passed(work: Repository, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Run a pass, and return the rendered commit."""
    ended = argosy(work, capsys, "reconcile", *options)
    assert ended.code == 0, ended.err
    return work.git("rev-parse", "argosy/rendered")


def tell(hub: FakeCluster, deployer: Deployer, commit: str, *clusters: str) -> None:
    """Have a tool say that clusters have a commit, and that all is well."""
    revision = f"argosy/rendered@sha1:{commit}"
    synced = resources("Synced", "Synced", health={"status": "Healthy"})
    for name in clusters:
        if deployer is Deployer.FLUX:
            put(hub, a_kustomization(name, ready="True X", revision=revision, lastAppliedRevision=revision))
        else:
            put(hub, an_application(name, sync="Synced", revision=commit, resources=synced))


@pytest.mark.parametrize("deployer", list(Deployer))
def test_what_tools_tell_of_a_commit_is_what_status_and_wait_tell(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str], deployer: Deployer
) -> None:
    """The same commit is told once; a newer one is late until the tool tells of it."""
    work = a_fleet(tmp_path / "work", tmp_path / "kubeconfigs" / "hub.yaml", deployer)
    first = passed(work, capsys, "--bootstrap")
    tell(hub, deployer, first, "eu")
    passed(work, capsys)
    status = argosy(work, capsys, "status", "cluster/eu", "-o", "json")
    assert (status.code, f'"converged": "{first}"' in status.out) == (0, True)
    tool = "Flux has no Kustomization" if deployer is Deployer.FLUX else "Argo CD has no Application"
    waited = argosy(work, capsys, "wait", "--timeout", "1s")
    assert waited.code == 1
    assert f"NotDelivered: {tool} that applies its folder" in waited.out + waited.err
    tell(hub, deployer, first, "eu", "us")
    passed(work, capsys)
    assert argosy(work, capsys, "wait", "--for", "healthy", "--timeout", "1s").code == 0
    before = work.git("for-each-ref")
    passed(work, capsys)
    assert work.git("for-each-ref") == before
    work.commit({"settings.yaml": a_config_map("settings", a="2")})
    second = passed(work, capsys)
    text = argosy(work, capsys, "status").out
    late = [line.split() for line in text.splitlines() if line.startswith(("eu ", "us "))]
    assert [(row[0], row[-1]) for row in late] == [("eu", "Behind"), ("us", "Behind")]
    tell(hub, deployer, second, "eu", "us")
    passed(work, capsys)
    assert argosy(work, capsys, "wait", "--timeout", "1s").code == 0
    assert work.show("clusters/eu.yaml", "argosy/status").count(second) == 1


def test_a_tool_in_each_member_is_asked_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names commits of the mirror it reads; those stand for the rendered commits they were taken from."""
    folder = tmp_path / "kubeconfigs"
    work = a_fleet(tmp_path / "work", folder / "{cluster}.yaml", Deployer.ARGO_CD, placing="Member", mirrors=["eu"])
    first = passed(work, capsys, "--bootstrap")
    own = {"eu": work.git("rev-parse", "argosy/cluster/eu"), "us": first}
    members = [a_hub(name) for name in own]
    for member in members:
        name = member.name
        synced = resources("Synced", "Synced", health={"status": "Healthy"})
        found = an_application(name, sync="Synced", revision=own[name], resources=synced)
        found["spec"]["source"]["targetRevision"] = "argosy/cluster/eu" if name == "eu" else "argosy/rendered"
        other = {"name": "other", "namespace": "argocd", "labels": {"argosy.dev/cluster": "other"}}
        put(member, {**found, "metadata": other})
        put(member, found)
    with serving_members(members, folder):
        passed(work, capsys)
        assert argosy(work, capsys, "wait", "--for", "healthy", "--timeout", "1s").code == 0
    for name in own:
        assert first in work.show(f"clusters/{name}.yaml", "argosy/status")
    text = argosy(work, capsys, "status", "cluster/eu").out
    assert "applied by: ArgoCD" in text.splitlines()


def test_what_a_run_applied_is_not_taken_back_by_a_tool_that_knows_nothing_of_it(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    work = a_fleet(tmp_path / "work", tmp_path / "kubeconfigs" / "hub.yaml", Deployer.FLUX)
    first = passed(work, capsys, "--bootstrap")
    ours = FakeCluster(name="us")
    with serving_members([ours], tmp_path / "own") as served:
        kubeconfigs = str(served.kubeconfigs)
        assert argosy(work, capsys, "apply", "--cluster", "us", "--kubeconfigs", kubeconfigs).code == 0
    tell(hub, Deployer.FLUX, first, "eu")
    passed(work, capsys)
    assert argosy(work, capsys, "wait", "--timeout", "1s").code == 0
    assert "deployer" not in work.show("clusters/us.yaml", "argosy/status")
    tell(hub, Deployer.FLUX, first, "eu", "us")
    passed(work, capsys)
    assert "argosy.dev/deployer: Flux" in work.show("clusters/us.yaml", "argosy/status")


def test_a_commit_that_asks_nothing_new_of_a_cluster_is_no_news_of_it(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    work = a_fleet(tmp_path / "work", tmp_path / "kubeconfigs" / "hub.yaml", Deployer.FLUX)
    tell(hub, Deployer.FLUX, passed(work, capsys, "--bootstrap"), "eu", "us")
    passed(work, capsys)
    before = work.show("clusters/eu.yaml", "argosy/status")
    only = a_cluster_policy("only", selectors=[{"apiVersion": "v1", "kind": "Service"}], placement=on_clusters("us"))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    work.commit({"only.yaml": only, "service.yaml": service})
    second = passed(work, capsys)
    assert [argosy(work, capsys, "wait", f"cluster/{name}", "--timeout", "1s").code for name in ("eu", "us")] == [0, 1]
    tell(hub, Deployer.FLUX, second, "eu", "us")
    passed(work, capsys)
    assert work.show("clusters/eu.yaml", "argosy/status") == before
    assert second in work.show("clusters/us.yaml", "argosy/status")


def test_a_hub_that_cannot_be_asked_is_said_and_changes_nothing(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "kubeconfigs" / "hub.yaml"
    work = a_fleet(tmp_path / "work", place, Deployer.FLUX)
    revision = f"argosy/rendered@sha1:{passed(work, capsys, '--bootstrap')}"
    put(hub, *(a_kustomization(name, ready="True X", lastAppliedRevision=revision) for name in ("eu", "us")))
    passed(work, capsys)
    before = work.git("for-each-ref")
    place.unlink()
    ended = argosy(work, capsys, "reconcile")
    assert "what was applied is not known: Flux in the hub: NoCredentials: there is no kubeconfig" in ended.err
    assert work.git("for-each-ref") == before


def test_a_message_repeats_nothing_that_objects_keep_secret(
    tmp_path: Path, hub: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    work = a_fleet(tmp_path / "work", tmp_path / "kubeconfigs" / "hub.yaml", Deployer.FLUX)
    work.commit({"settings.yaml": a_config_map("settings", a="hunter2secret")})
    revision = f"argosy/rendered@sha1:{passed(work, capsys, '--bootstrap')}"
    why = 'False ReconciliationFailed ConfigMap/default/settings is invalid: Invalid value: "x": not hunter2secret'
    put(hub, a_kustomization("eu", ready=why, revision=revision))
    passed(work, capsys)
    told = work.show("clusters/eu.yaml", "argosy/status")
    assert "hunter2secret" not in work.git("log", "-p", "argosy/status")
    assert "ConfigMap/default/settings is invalid: Invalid value: (hidden): not (hidden)" in told.replace("\n", " ")


def test_parts_that_have_different_commits_are_under_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = a_fleet(tmp_path / "work", tmp_path / "nowhere", Deployer.FLUX)
    first = passed(work, capsys, "--bootstrap")
    work.commit({"settings.yaml": a_config_map("settings", a="2")})
    tip = passed(work, capsys)
    parts = tuple(PartReport(name=commit, commit=commit, outcome="Converged") for commit in (first, tip))

    def applied(*reported: PartReport) -> tuple[str, int]:
        with open_repository(str(work.path)) as repository:
            commits = RenderedCommits(repository)
            made = ToolFiles(commits=commits, tip=tip, recorded=RecordedStatus(), now=NOON, grace=600.0)
            files = made.files([ToolReport(cluster="eu", deployer=Deployer.FLUX, parts=reported)])
        record = ClusterRecord.read("", files["clusters/eu.yaml"] or b"")
        return record.applied, len(files) - 1

    assert [applied(*parts), applied(parts[0]), applied(parts[1])] == [("", 0), (first, 2), (tip, 2)]
    # One that is at another branch's commit is no account of this fleet.
    assert applied(PartReport(name="x", commit=work.git("rev-parse", "main"), outcome="Converged")) == ("", 0)


def test_a_tool_that_is_asked_and_says_nothing_leaves_its_cluster_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten minutes after the first commit that asks something new of the cluster, whatever else is committed then."""
    work = a_fleet(tmp_path / "work", tmp_path / "nowhere", Deployer.FLUX)
    first = passed(work, capsys, "--bootstrap")
    work.commit({"settings.yaml": a_config_map("settings", a="2")})
    tip = passed(work, capsys)
    asked = int(work.git("log", "-1", "--format=%ct", tip))
    revision = f"argosy/rendered@sha1:{first}"
    found = a_kustomization("eu", ready="True X", revision=revision, lastAppliedRevision=revision)
    condition = found["status"]["conditions"][0]

    def ready_after(seconds: int, *, is_heard: bool = True) -> list[str]:
        with open_repository(str(work.path)) as repository:
            made = ToolFiles(
                commits=RenderedCommits(repository),
                tip=tip,
                recorded=recorded,
                now=epoch_text(asked + seconds),
                grace=600.0,
            )
            told = parse_tool_reports(Deployer.FLUX, [found], ["argosy/rendered"], "argosy")
            files = made.files(told) if is_heard else made.files_of_unheard_cluster("eu", Deployer.FLUX)
        status = parse_documents(files["clusters/eu.yaml"] or b"")[0].value["status"]
        return [f"{each['type']} {each['status']} {each['reason']}" for each in status.get("conditions", ())]

    annotations = {"argosy.dev/deployer": "Flux", "argosy.dev/applied": first, "argosy.dev/outcome": "Converged"}
    record = {"kind": "Cluster", "metadata": {"name": "eu", "annotations": annotations}}
    recorded = RecordedStatus(files={"clusters/eu.yaml": emit(record)})
    unknown = ["Ready Unknown ClusterStatusUnknown"]
    assert [ready_after(each, is_heard=False) for each in (600, 601)] == [[], unknown]
    condition["lastTransitionTime"] = epoch_text(asked - 3600)
    assert [ready_after(600), ready_after(601)] == [[], unknown]
    condition["lastTransitionTime"] = epoch_text(asked + 1)
    assert [ready_after(601), ready_after(602)] == [[], unknown]
    # A tool that tried the commit is not silent, whether it succeeded or not.
    found["status"]["lastAttemptedRevision"] = f"argosy/rendered@sha1:{tip}"
    condition |= {"status": "False", "reason": "BuildFailed", "message": "no such file"}
    assert ready_after(86400) == []
