"""``argosy init`` in a repository of charts: each that nothing renders is offered a HelmChart, with its values."""

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.edit.chart_offers import is_named_like
from render.documents import emit, parse_documents

from .build import Ended, Repository, a_policy, argosy, on_clusters
from .tables import each_row
from .test_init_contexts import Terminal

MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-{{ .Chart.Name }}
data:
  where: {{ .Values.where | default "nowhere" }}
"""


def a_chart(folder: str, name: str = "", **said: Any) -> dict[str, bytes]:
    """Return the files of a chart that makes one ConfigMap."""
    chart = {"apiVersion": "v2", "name": name or folder.rpartition("/")[2], "version": "1.0.0", **said}
    base = f"{folder}/" if folder else ""
    template = {} if said.get("type") == "library" else {f"{base}templates/map.yaml": TEMPLATE.encode()}
    return {f"{base}Chart.yaml": emit(chart), **template}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "fleet")


@pytest.fixture
def helm_on_path(helm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{helm}{os.pathsep}{os.environ['PATH']}")


class Initialized(NamedTuple):
    ended: Ended
    charts: dict[str, dict[str, Any]]

    @property
    def found(self) -> list[str]:
        """Return what it says of the repository."""
        return [line.removeprefix("found ") for line in self.ended.err.splitlines() if line.startswith("found ")]


def initialized(repository: Repository, capsys: pytest.CaptureFixture[str], *clusters: str) -> Initialized:
    """Run init with HelmCharts for all charts, and read those that it writes."""
    names = [word for each in clusters for word in ("--new-cluster", each)]
    ended = argosy(repository, capsys, "init", "--charts", *names)
    files = sorted((repository.path / "releases").glob("*.yaml"))
    charts = {each.stem: parse_documents(each.read_bytes())[0].value for each in files}
    return Initialized(ended, {name: chart.get("spec", {}) for name, chart in charts.items()})


def objects_of_members(repository: Repository, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Render the fleet, all objects everywhere, and return where each ConfigMap says it is, by its path."""
    repository.commit({"policies/all.yaml": a_policy("all", selectors=MAPS, placement=on_clusters())})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    paths = [each for each in repository.files("argosy/rendered", "clusters") if "/ConfigMap/" in each]
    text = {path: repository.git("show", f"argosy/rendered:{path}") for path in paths}
    return {
        path.removeprefix("clusters/"): parse_documents(each.encode())[0].value["data"]["where"]
        for path, each in text.items()
    }


def test_charts_are_offered_a_helm_chart_each(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({**a_chart("charts/web"), **a_chart("charts/api")})
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu")
    writes = "argosy init --charts writes a HelmChart for each, which has them rendered by helm"
    assert f"found 2 Helm charts that nothing renders: {writes}\n" in ended.err
    assert not (repository.path / "releases").exists()


@pytest.mark.usefixtures("helm_on_path")
def test_a_helm_chart_renders_its_chart(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({**a_chart("charts/web"), "charts/web/values.yaml": b"where: here\n"})
    made = initialized(repository, capsys, "eu")
    assert (made.ended.code, made.charts) == (0, {"web": {"chart": {"path": "charts/web"}}}), made.ended.err
    assert made.found == ["charts/web is rendered by the HelmChart web"]
    assert made.ended.out.splitlines()[1] == "1 object goes nowhere until a policy selects it"
    assert objects_of_members(repository, capsys) == {"eu/default/ConfigMap/web-web.yaml": "here"}


@pytest.mark.usefixtures("helm_on_path")
def test_values_of_an_environment_count_in_clusters_called_like_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        f"web/{path}": f"where: {where}\n".encode()
        for path, where in {
            "values.yaml": "default",
            "values-prod.yaml": "prod",
            "staging-values.yml": "staging",
            "values/eu.yaml": "eu",
            "values.qa.yaml": "qa",
            "values.schema.json": "no",
            "ci/some-values.yaml": "no",
        }.items()
    }
    files["web/values.schema.json"] = b"{}"
    repository.write({**a_chart("web"), **files})
    made = initialized(repository, capsys, "us-production", "staging-1", "eu-1", "other")
    assert made.charts["web"]["overrideRules"] == [
        {"targetCluster": {"clusterNames": [cluster]}, "valuesFiles": [f"web/{file}"]}
        for cluster, file in (
            ("staging-1", "staging-values.yml"),
            ("us-production", "values-prod.yaml"),
            ("eu-1", "values/eu.yaml"),
        )
    ]
    assert "web/values.qa.yaml of it counts in no cluster: none is called like the environment" in made.found
    assert {path.partition("/")[0]: where for path, where in objects_of_members(repository, capsys).items()} == {
        "us-production": "prod",
        "staging-1": "staging",
        "eu-1": "eu",
        "other": "default",
    }


@pytest.mark.usefixtures("helm_on_path")
def test_without_such_clusters_the_values_of_production_count_everywhere(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {f"web/values-{each}.yaml": f"where: {each}\n".encode() for each in ("dev", "production")}
    repository.write({**a_chart("web"), **files})
    made = initialized(repository, capsys, "one")
    assert made.charts["web"] == {"chart": {"path": "web"}, "valuesFiles": ["web/values-production.yaml"]}
    assert objects_of_members(repository, capsys) == {"one/default/ConfigMap/web-web.yaml": "production"}


@pytest.mark.usefixtures("helm_on_path")
def test_what_other_charts_use_is_no_release(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """An umbrella has a part in its folder and names another one; what is not in its folder is not fetched."""
    needs = [{"name": name, "version": "1.0.0", "repository": f"file://../{name}"} for name in ("db", "common")]
    remote = [{"name": "redis", "version": "1.0.0", "repository": "https://charts.example.com"}]
    repository.write(
        {
            **a_chart("charts/shop", dependencies=needs),
            **a_chart("charts/shop/charts/db"),
            **a_chart("charts/shop/charts/common", type="library"),
            **a_chart("charts/db"),
            **a_chart("charts/common", type="library"),
            **a_chart("charts/cart", dependencies=remote),
            **a_chart("old", apiVersion="v1"),
            "old/requirements.yaml": emit({"dependencies": remote}),
        }
    )
    made = initialized(repository, capsys, "eu")
    assert (made.ended.code, made.charts) == (0, {"shop": {"chart": {"path": "charts/shop"}}}), made.ended.err
    assert made.found == [
        "charts/shop is rendered by the HelmChart shop",
        "charts/cart, old need other charts: commit what 'helm dependency build' puts into charts/",
        "1 library chart for other charts, no release: charts/common",
    ]
    assert sorted(objects_of_members(repository, capsys)) == [
        "eu/default/ConfigMap/shop-db.yaml",
        "eu/default/ConfigMap/shop-shop.yaml",
    ]


@pytest.mark.usefixtures("helm_on_path")
def test_a_chart_that_is_the_repository_is_rendered_and_its_templates_are_no_manifests(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}, "data": {"where": "here"}}
    repository.write({**a_chart("", "web"), "templates/plain.yaml": emit(plain), **a_chart("examples/demo")})
    made = initialized(repository, capsys, "eu")
    assert made.charts == {"demo": {"chart": {"path": "examples/demo"}}, "web": {"chart": {"path": "."}}}
    fleet = parse_documents((repository.path / "argosy.yaml").read_bytes())[0].value
    assert fleet["spec"]["source"]["ignore"] == ["/templates/", "/charts/", "/crds/"]
    assert sorted(objects_of_members(repository, capsys)) == [
        "eu/default/ConfigMap/demo-demo.yaml",
        "eu/default/ConfigMap/plain.yaml",
        "eu/default/ConfigMap/web-web.yaml",
    ]


@pytest.mark.usefixtures("helm_on_path")
def test_a_chart_that_cannot_be_rendered_gets_none_and_says_why(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"broken/templates/map.yaml": b'{{ required "say where" .Values.missing }}\n'}
    repository.write({**a_chart("web"), **a_chart("broken"), **broken})
    made = initialized(repository, capsys, "eu")
    assert (made.ended.code, sorted(made.charts)) == (1, ["web"]), made.ended.err
    assert "warning: no HelmChart is written: releases/broken.yaml:" in made.ended.err
    assert "say where" in made.ended.err
    assert "1 Helm chart that nothing renders: argosy init --charts writes a HelmChart, which has it rendered" in (
        "\n".join(made.found)
    )


def test_without_helm_no_helm_chart_is_written(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write({**a_chart("web"), **a_chart("api")})
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    made = initialized(repository, capsys, "eu")
    assert (made.ended.code, made.charts) == (1, {})
    assert "helm is not installed, so 2 charts cannot be rendered: api, web" in made.ended.err
    assert (repository.path / "argosy.yaml").exists()


@pytest.mark.usefixtures("helm_on_path")
def test_whoever_sits_at_a_terminal_is_asked(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write(a_chart("web"))
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    ended = argosy(repository, capsys, "init", "--new-cluster", "eu")
    assert "Write a HelmChart for the chart that nothing renders? [Y/n]" in ended.err
    assert (repository.path / "releases/web.yaml").exists()


@pytest.mark.usefixtures("helm_on_path")
def test_charts_of_two_folders_with_one_name_have_two(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({**a_chart("a/web"), **a_chart("b/web"), "releases/web.yaml": b"kind: of another thing\n"})
    made = initialized(repository, capsys, "eu")
    assert {name: each["chart"]["path"] for name, each in made.charts.items() if "chart" in each} == {
        "web-chart": "a/web",
        "web-2": "b/web",
    }


class Alike(NamedTuple):
    cluster: str
    environment: str
    is_alike: bool


ALIKE = [
    Alike("prod", "production", True),
    Alike("eu-live-1", "prod", True),
    Alike("eu-west-1", "eu-west", True),
    Alike("eu-west-1", "west-eu", False),
    Alike("stg.eu", "staging", True),
    Alike("reproduced", "prod", False),
    Alike("eu", "", False),
]


@each_row("case", ALIKE)
def test_clusters_are_called_like_environments_word_by_word(case: Alike) -> None:
    assert is_named_like(case.cluster, case.environment) is case.is_alike


@pytest.mark.usefixtures("helm_on_path")
def test_charts_of_a_fleet_in_a_folder_are_seen_from_there(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"fleet/web/values-eu.yaml": b"where: eu\n"}
    repository.write({**a_chart("fleet/web"), **a_chart("other"), **values})
    made = initialized(Repository(repository.path / "fleet"), capsys, "eu")
    rules = [{"targetCluster": {"clusterNames": ["eu"]}, "valuesFiles": ["web/values-eu.yaml"]}]
    assert (made.ended.code, made.charts) == (0, {"web": {"chart": {"path": "web"}, "overrideRules": rules}})
