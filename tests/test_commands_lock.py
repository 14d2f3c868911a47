"""``argosy lock`` and ``argosy vendor``: the lock of a repository, written, checked, fetched and vendored."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.locked.model import SourceType
from reconciler.source.external import chart_place, source_implied_by_place
from tests.artifact_servers import ArtifactServer, Reply, an_archive, serving_artifacts
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from tests.test_building_kustomize import a_script

CHART = {"Chart.yaml": b"name: web\n", "templates/web.yaml": b"apiVersion: v1\nkind: Service\n"}


@pytest.fixture
def server() -> Iterator[ArtifactServer]:
    with serving_artifacts() as server:
        server.add_chart("web", "1.0.0", CHART)
        yield server


@pytest.fixture
def fleet(tmp_path: Path, server: ArtifactServer) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"web.yaml": a_source(server)})
    return repository


def a_source(server: ArtifactServer, name: str = "web", version: str = "1.x") -> dict[str, Any]:
    place = {"url": f"{server.url}/charts", "chart": "web", "version": version}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": name}, "spec": {"helm": place}}


Run = Callable[..., tuple[int, str, str]]
"""Run a command line in the repository; return its exit code and what it printed."""


@pytest.fixture
def run(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Run:
    def ended(*arguments: str) -> tuple[int, str, str]:
        end = argosy(fleet, capsys, *arguments)
        return end.code, end.out, end.err

    return ended


def lock(fleet: Repository) -> str:
    return (fleet.path / "argosy.lock").read_text()


def vendored(fleet: Repository) -> dict[str, bytes]:
    folder = fleet.path / "vendor/web"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_source_is_locked_once_and_moves_only_when_it_is_told_to(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    assert run("lock") == (0, "+ web: 1.0.0\n", "")
    first = lock(fleet)
    server.add_chart("web", "1.1.0", {**CHART, "values.yaml": b""})
    assert run("lock")[:2] == (0, "")
    assert lock(fleet) == first
    assert run("lock", "--update", "web", "--check") == (1, "~ web: 1.0.0 -> 1.1.0\n", "")
    assert lock(fleet) == first
    assert run("lock", "--update", "web") == (0, "~ web: 1.0.0 -> 1.1.0\n", "")
    assert "version: 1.1.0" in lock(fleet).replace('"', "")


def test_a_check_asks_nobody_and_says_what_differs(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    assert run("lock", "--check") == (1, "+ web: not in argosy.lock\n", "")
    run("lock")
    assert run("lock", "--check") == (0, "", "")
    server.asked.clear()
    fleet.write({"web.yaml": [a_source(server, version="2.x"), a_source(server, "new")]})
    wanted = "+ new: not in argosy.lock\n~ web: changed since it was locked\n"
    assert run("lock", "--check") == (1, wanted, "")
    fleet.write({"web.yaml": a_source(server, "new")})
    wanted = "+ new: not in argosy.lock\n- web: no Source has this name\n"
    assert (run("lock", "--check"), server.asked) == ((1, wanted, ""), [])


def test_a_source_that_cannot_be_resolved_leaves_the_lock_as_it_is(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    first = lock(fleet)
    fleet.write({"more.yaml": a_source(server, "more"), "none.yaml": a_source(server, "none", ">9")})
    code, out, err = run("lock")
    assert (code, out) == (3, "+ more: 1.0.0\n")
    assert f"{server.url}/charts/index.yaml has no version of 'web' in '>9'" in err
    assert lock(fleet) == first


def test_an_unknown_source_is_named_with_its_nearest(run: Run) -> None:
    assert run("lock", "--update", "webb") == (
        2,
        "",
        "argosy: there is no Source 'webb'\n  hint: did you mean 'web'?\n",
    )


def test_fetching_fills_the_cache_of_another_clone_and_refuses_other_content(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    cache = fleet.path / ".git/argosy/sources"
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    shutil.rmtree(cache)
    assert run("lock", "--fetch")[0] == 0
    assert kept.read_bytes() == content
    shutil.rmtree(cache)
    server.replies["/charts/web-1.0.0.tgz"] = Reply(b"other")
    code, _, err = run("lock", "--fetch")
    assert (code, cache.exists()) == (3, False)
    assert "web-1.0.0.tgz does not match its locked digest sha256:" in err


def test_vendored_content_is_read_without_a_server_and_leaves_again(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    locked = lock(fleet)
    assert run("vendor") == (0, "4 files written, 0 removed\n", "")
    marker = b"The content of a Source: argosy vendor writes this folder, and argosy.lock has its digest.\n"
    assert vendored(fleet) == {**CHART, ".argosy-source": marker}
    shutil.rmtree(fleet.path / ".git/argosy/sources")
    server.asked.clear()
    fleet.commit({"app.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("m1"))})
    assert (run("validate")[0], run("lock", "--check")[0], server.asked) == (0, 0, [])
    assert run("vendor", "--remove", "web")[:2] == (0, "1 files written, 3 removed\n")
    assert (vendored(fleet), lock(fleet)) == ({}, locked)


def test_an_update_replaces_vendored_content(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    run("lock")
    run("vendor")
    server.add_chart("web", "1.1.0", {"Chart.yaml": b"name: web\n", "values.yaml": b"a: 1\n"})
    assert run("lock", "--update", "*")[:2] == (0, "~ web: 1.0.0 -> 1.1.0\n")
    assert sorted(vendored(fleet)) == [".argosy-source", "Chart.yaml", "values.yaml"]


MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


def of_flux(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    group = "helm.toolkit.fluxcd.io/v2" if kind == "HelmRelease" else "source.toolkit.fluxcd.io/v1"
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "flux"}, "spec": spec}


def a_release(version: str, name: str = "web", **spec: Any) -> dict[str, Any]:
    """A HelmRelease of the chart that the server has."""
    chart = {"chart": "web", "version": version, "sourceRef": {"kind": "HelmRepository", "name": "charts"}}
    return of_flux("HelmRelease", name, chart={"spec": chart}, **spec)


@pytest.fixture
def released(fleet: Repository, server: ArtifactServer) -> str:
    """A fleet of Flux, of which nobody wrote a Source; return the name of the one that it implies."""
    rendered = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": {"render": ["HelmRelease"]}}}
    url = f"{server.url}/charts"
    repository = of_flux("HelmRepository", "charts", url=f"{url}/")
    fleet.write({"argosy.yaml": rendered, "charts.yaml": repository, "web.yaml": a_release("1.x")})
    return source_implied_by_place(*chart_place(url, "web", "1.x")).name


def _by_name(line: str) -> str:
    return line[2:]


def test_what_a_release_names_is_locked_without_a_source(
    fleet: Repository, server: ArtifactServer, run: Run, released: str
) -> None:
    url = f"{server.url}/charts"
    assert run("lock", "--check") == (1, f"+ {released}: not in argosy.lock\n", "")
    left_out = f"web.yaml:9: spec.chart.spec.chart: left out: chart 'web' of {url} is not in argosy.lock\n"
    assert left_out in run("validate")[1]
    assert run("lock") == (0, f"+ {released}: 1.0.0\n", "")
    server.add_chart("web", "1.1.0", CHART)
    assert run("lock", "--update", released) == (0, f"~ {released}: 1.0.0 -> 1.1.0\n", "")
    fleet.write({"web.yaml": a_release("1.0.0")})
    exact = source_implied_by_place(*chart_place(url, "web", "1.0.0")).name
    changes = sorted([f"+ {exact}: not in argosy.lock", f"- {released}: no Source has this name"], key=_by_name)
    assert run("lock", "--check") == (1, "".join(f"{each}\n" for each in changes), "")


def test_two_versions_that_releases_ask_for_are_both_locked_and_a_written_source_counts_more(
    fleet: Repository, server: ArtifactServer, run: Run, released: str
) -> None:
    run("lock")
    server.add_chart("web", "1.1.0", CHART)
    fleet.write({"web.yaml": [a_release("1.x"), a_release("1.1.0", "other")]})
    exact = source_implied_by_place(*chart_place(f"{server.url}/charts", "web", "1.1.0")).name
    assert run("lock") == (0, f"+ {exact}: 1.1.0\n", "")
    fleet.write({"source.yaml": a_source(server)})
    gone = sorted([f"- {exact}: 1.1.0", f"- {released}: 1.0.0"], key=_by_name)
    assert run("lock") == (0, "".join(f"{each}\n" for each in ("+ web: 1.1.0", *gone)), "")


@pytest.mark.usefixtures("released")
def test_a_login_that_flux_would_have_is_named_where_it_is_missing(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    repository = of_flux("HelmRepository", "charts", url=f"{server.url}/charts", secretRef={"name": "login"})
    fleet.write({"charts.yaml": repository})
    server.password = "Basic hidden"
    code, out, err = run("lock")
    told = "names and passwords come from the file that ARGOSY_CREDENTIALS names"
    wanted = f"{server.url}/charts/index.yaml answered with 401\n  hint: Secret flux/login is not read: {told}\n"
    assert (code, out) == (3, "")
    assert wanted in err
    server.password = ""
    fleet.write({"web.yaml": a_release("9.x")})
    assert "has no version of 'web' in '9.x'\n  hint: the first it lists: 1.0.0" in run("lock")[2]


def deployed(name: str, kind: str, *, reference: str, **spec: Any) -> dict[str, Any]:
    """A HelmRelease or a Kustomization of something that the repository of this name and kind has."""
    named = {"kind": reference, "name": name}
    if kind == "Kustomization":
        head = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": kind}
        return {**head, "metadata": {"name": name, "namespace": "flux"}, "spec": {"sourceRef": named, **spec}}
    chart = {"chart": {"spec": {"chart": "./chart", "sourceRef": named}}}
    return of_flux(kind, name, **(chart if reference == "GitRepository" else {"chartRef": named}), **spec)


def an_application(name: str, **source: Any) -> dict[str, Any]:
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name}}
    return {**head, "spec": {"source": source, "destination": {"namespace": "argo"}}}


def test_every_kind_of_place_that_objects_name_is_locked_and_built(
    fleet: Repository, server: ArtifactServer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in for helm makes what the values of each release say, if it is handed the chart."""
    path = a_script(tmp_path / "bin", "helm", "/bin/cat chart/Chart.yaml > /dev/null && exec /bin/cat values-0.yaml")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    upstream = Repository.create(tmp_path / "upstream")
    upstream.commit({"chart/Chart.yaml": "name: web\n", "plain/one.yaml": a_config_map("one")})
    upstream.git("update-ref", "refs/pull/1/head", upstream.commit({"plain/one.yaml": a_config_map("pulled")}))
    upstream.git("reset", "-q", "--hard", "HEAD~1")
    url, oci = upstream.path.as_uri(), f"oci://{server.host}"
    flux_content = "application/vnd.cncf.flux.content.v1.tar+gzip"
    server.push("charts/web", "1.2.0", an_archive({f"web/{path}": content for path, content in CHART.items()}))
    manifests = {"plain/two.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n"}
    server.push("manifests", "v1", an_archive(manifests), media_type=flux_content)
    objects = [
        of_flux("GitRepository", "flux-system", url="https://git.example.com/fleet"),
        of_flux("GitRepository", "git", url=url, ref={"branch": "main"}),
        of_flux("GitRepository", "pull", url=url, ref={"name": "refs/pull/1/head"}),
        of_flux("OCIRepository", "chart", url=f"{oci}/charts/web", ref={"semver": "1.x"}),
        of_flux("OCIRepository", "manifests", url=f"{oci}/manifests", ref={"tag": "v1"}),
        deployed("git", "HelmRelease", reference="GitRepository", values=a_config_map("git")),
        deployed("chart", "HelmRelease", reference="OCIRepository", values=a_config_map("oci")),
        deployed("pull", "Kustomization", reference="GitRepository", path="plain"),
        deployed("manifests", "Kustomization", reference="OCIRepository", path="plain"),
        an_application("own", repoURL="https://git.example.com/fleet", path="here"),
        an_application(
            "chart",
            repoURL=f"{server.host}/charts",
            chart="web",
            targetRevision="1.2.0",
            helm={"valuesObject": a_config_map("argo-oci")},
        ),
        an_application("folder", repoURL=url, path="plain", targetRevision="main"),
    ]
    render = ["HelmRelease", "Kustomization", "Application"]
    rendered = {"source": {"render": render, "ignore": ["here"]}}
    argosy_yaml = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": rendered}
    fleet.write({"web.yaml": None, "here/here.yaml": a_config_map("here"), "argosy.yaml": argosy_yaml})
    fleet.write({"objects.yaml": objects, "policy.yaml": a_policy(placement=on_clusters("m1"), selectors=[MAPS])})
    code, out, err = run("lock")
    assert (code, err) == (0, "")
    assert [line.partition(":")[2].strip() for line in out.splitlines()].count("1.2.0") == 2
    assert len(out.splitlines()) == 6
    assert run("lock", "--check") == (0, "", "")
    fleet.commit({"m1.yaml": a_cluster("m1")})
    code, out, err = run("render", "-o", "name")
    names = {"git", "oci", "pulled", "two", "here", "argo-oci", "one"}
    assert (code, {Path(line).stem for line in out.splitlines() if "ConfigMap" in line}) == (0, names)


def test_a_locked_chart_of_a_release_is_rendered(
    fleet: Repository, run: Run, released: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in for helm makes what the values of the release say, if it is handed the chart."""
    path = a_script(tmp_path / "bin", "helm", "/bin/cat chart/Chart.yaml > /dev/null && exec /bin/cat values-0.yaml")
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    made = a_release("1.x", values=a_deployment(), targetNamespace="default")
    fleet.write({"web.yaml": made, "policy.yaml": a_policy(placement=on_clusters("m1")), "m1.yaml": a_cluster("m1")})
    run("lock")
    fleet.commit({})
    code, out, _ = run("render", "-o", "json")
    assert (code, list(json.loads(out)["clusters"])) == (0, ["m1"])
    assert run("vendor", released)[0] == 0
    assert (fleet.path / f"vendor/{released}/Chart.yaml").read_bytes() == CHART["Chart.yaml"]


def test_a_base_is_locked_at_the_commit_of_its_branch_and_moves_when_it_is_told_to(
    fleet: Repository, run: Run, tmp_path: Path
) -> None:
    upstream = Repository.create(tmp_path / "upstream")
    base = {"kustomization.yaml": "resources: [one.yaml]\n", "one.yaml": a_config_map("one")}
    first = upstream.commit({f"base/{path}": content for path, content in base.items()})
    url = upstream.path.as_uri()
    fleet.write({"web.yaml": None, "apps/kustomization.yaml": f"resources: ['{url}//base']\n"})
    name = source_implied_by_place(SourceType.GIT, {"url": url}).name
    assert run("lock") == (0, f"+ {name}: {first[:12]}\n", "")
    assert run("validate")[1].endswith(
        "1 template, 0 propagation policies, 0 override policies, 0 clusters in 1 file\n"
    )
    second = upstream.commit({"base/one.yaml": a_config_map("two")})
    assert run("lock")[:2] == (0, "")
    assert run("lock", "--update", name)[:2] == (0, f"~ {name}: {first[:12]} -> {second[:12]}\n")


def test_a_pass_fetches_what_its_commit_locks(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    run("lock")
    files = {"app.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("m1"))}
    fleet.commit(files, "begin")
    cache = fleet.path / ".git/argosy/sources"
    shutil.rmtree(cache)
    assert run("validate")[0] == 0
    assert not cache.exists()
    server.asked.clear()
    code, _, err = run("reconcile", "--bootstrap")
    assert "NoClusterFit" in err
    assert (code, [each.path for each in server.asked]) == (1, ["/charts/web-1.0.0.tgz"])
    assert len(list(cache.iterdir())) == 1


def test_fetching_and_updating_are_two_things(run: Run) -> None:
    code, _, err = run("lock", "--fetch", "--check")
    assert code == 2
    assert "--fetch changes no version: leave out --update and --check" in err
