"""Applications, HelmReleases and Kustomizations that charts make: read as they would be, and no objects any more.

The stand-in for helm prints the values that it is given, so the values of a chart are the objects that it makes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reconciler.locked.model import SourceType
from reconciler.source.external import chart_place, source_implied_by_place
from reconciler.source.loading import Loaded
from render.documents import emit, parse_documents
from tests.build import a_cluster, a_config_map
from tests.sources import Content
from tests.test_building_charts import CHART, loaded
from tests.test_building_flux import MAP
from tests.test_building_kustomize import a_script, objects_of, said

HERE = "https://git.example.com/fleet"
KINDS = ("Application", "ApplicationSet", "HelmRelease", "Kustomization")
SHOP = a_config_map("shop", namespace="team")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return a_script(tmp_path / "bin", "helm", "exec /bin/cat values-0.yaml")


def a_fleet(*kinds: str) -> dict[str, Content]:
    spec = {"source": {"render": list(kinds), "ignore": ["plain"]}}
    return {**CHART, "argosy.yaml": emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec})}


def an_application(name: str, made: Mapping[str, Any] | None = None, **source: Any) -> dict[str, Any]:
    """An Application of a chart that makes an object, or of what ``source`` says."""
    chart = {"path": "charts/web", "helm": {"valuesObject": made}} if made is not None else {}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    spec = {"source": {"repoURL": HERE, **chart, **source}, "destination": {"namespace": "team"}}
    return {**head, "metadata": {"name": name, "namespace": "argocd"}, "spec": spec}


def a_release(made: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    """A HelmRelease, in the namespace of whatever makes it."""
    chart = {"chart": "./charts/web", "sourceRef": {"kind": "GitRepository", "name": "flux-system"}}
    head = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "web"}}
    return {**head, "spec": {"chart": {"spec": chart}, "values": made, **spec}}


def a_kustomization(source: str, **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "web"}}
    return {**head, "spec": {"path": "plain", "sourceRef": {"kind": "GitRepository", "name": source}, **spec}}


def of_flux(kind: str, name: str, url: str) -> dict[str, Any]:
    head = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind}
    return {**head, "metadata": {"name": name, "namespace": "team"}, "spec": {"url": url}}


def several(*items: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


def made_by(manifest: Mapping[str, Any], path: str, **files: Content) -> Loaded:
    return loaded({**a_fleet(*KINDS), "root.yaml": emit(manifest), "plain/one.yaml": MAP, **files}, path)


PLAIN = a_config_map("plain", namespace="team")
SET = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "ApplicationSet",
    "metadata": {"name": "all"},
    "spec": {
        "generators": [{"list": {"elements": [{"name": "a"}]}}],
        "template": {"metadata": {"name": "{{name}}"}, "spec": an_application("", path="plain")["spec"]},
    },
}
READ = [
    ("an Application of a chart", an_application("child", SHOP), ["ConfigMap team/shop"]),
    ("an Application of a folder", an_application("child", path="plain"), ["ConfigMap team/one"]),
    ("an ApplicationSet", SET, ["ConfigMap team/one"]),
    ("a Kustomization", a_kustomization("flux-system"), ["ConfigMap default/one"]),
    ("a HelmRelease", a_release(SHOP), ["ConfigMap team/shop"]),
    ("a release of a release", a_release(an_application("child", SHOP)), ["ConfigMap team/shop"]),
    ("one beside an object", several(PLAIN, a_release(SHOP)), ["ConfigMap team/plain", "ConfigMap team/shop"]),
    ("the object that asks for it", several(PLAIN, an_application("root", SHOP)), ["ConfigMap team/plain"]),
]


@pytest.mark.parametrize(("made", "want"), [row[1:] for row in READ], ids=[row[0] for row in READ])
def test_what_a_chart_makes_is_read_as_its_tool_would(made: Mapping[str, Any], want: list[str], path: str) -> None:
    found = made_by(an_application("root", made), path)
    assert (said(found), objects_of(found)) == ("", want)
    assert {template.path for template in found.desired.templates} == {"root.yaml"}


def test_an_object_knows_the_chart_that_made_its_application(path: str) -> None:
    found = made_by(an_application("root", an_application("mid", an_application("leaf", SHOP))), path)
    root = "Application argocd/root"
    makers = [f"Application argocd/leaf (made by Application argocd/mid (made by {root}))"]
    assert [each.maker for each in found.desired.builds] == makers
    folder = made_by(an_application("root", an_application("mid", path="plain")), path)
    assert [(each.maker, each.path) for each in folder.desired.builds] == [
        (f"Application argocd/mid (made by {root})", "root.yaml")
    ]
    assert [each.origin for each in folder.desired.templates] == ["plain/one.yaml:1"]


def test_kinds_that_nobody_asks_for_stay_objects(path: str) -> None:
    files = {**a_fleet("Application"), "root.yaml": emit(an_application("root", a_release(SHOP)))}
    assert objects_of(loaded(files, path)) == ["HelmRelease.helm.toolkit.fluxcd.io team/web"]
    plugin = an_application("plugin", path="plain", plugin={})
    assert objects_of(made_by(an_application("root", plugin), path)) == ["Application.argoproj.io argocd/plugin"]


def test_repositories_that_a_chart_makes_are_those_that_its_releases_name(path: str) -> None:
    chart = {"chart": "web", "version": "1.0.0", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}
    release = a_release(SHOP, chart={"spec": chart})
    lib, charts = "https://git.example.com/lib", "https://charts.example.com"
    repositories = (of_flux("HelmRepository", "charts", charts), of_flux("GitRepository", "lib", lib))
    deployed = {**a_kustomization("lib"), "metadata": {"name": "lib", "namespace": "team"}}
    found = made_by(an_application("root", several(release, deployed, *repositories)), path)
    assert found.locked is not None
    sources = (
        source_implied_by_place(*chart_place(charts, "web", "1.0.0")),
        source_implied_by_place(SourceType.GIT, {"url": lib}),
    )
    assert [each.name for each in found.locked.implied_sources] == sorted(each.name for each in sources)
    hint = "\n  hint: lock it: argosy lock"
    assert said(found) == (
        f"charts/web: spec.chart.spec.chart: chart 'web' of {charts} is not in argosy.lock{hint}\n"
        f"charts/web: spec.sourceRef: {lib} is not in argosy.lock{hint}"
    )
    assert {(each.makes, each.files) for each in found.broken} == {("root.yaml", found.broken[0].files)}


def test_charts_that_make_each_other_without_end_are_a_problem_that_names_them(tmp_path: Path) -> None:
    """Each release makes another one, called like itself and one letter longer."""
    text = emit(an_application("NAME-x", {"a": 1})).decode()
    path = a_script(tmp_path / "bin", "helm", f"/bin/sed s/NAME/$2/ <<END\n{text}END")
    found = loaded({**a_fleet(*KINDS), "root.yaml": emit(an_application("a", {"a": 1})), "x.yaml": MAP}, path)
    assert objects_of(found) == ["ConfigMap default/one"]
    name = "Application argocd/a"
    for length in range(1, 8):
        name = f"Application argocd/a{'-x' * length} (made by {name})"
    assert said(found) == (
        f"charts/web: Application a{'-x' * 8} of {name} is made by a chart that 8 others lead to, one by one:"
        " charts make each other in a circle, as root.yaml builds it"
    )


def test_an_application_that_clusters_would_get_otherwise_is_left_out(tmp_path: Path) -> None:
    """The second class of clusters has other values, which are another Application, or none."""
    path = a_script(tmp_path / "bin", "helm", "for each in values-*.yaml; do file=$each; done; exec /bin/cat $file")
    rule = {"targetCluster": {"clusterNames": ["us"]}, "valuesFiles": ["us.yaml"]}
    chart = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "HelmChart",
        "metadata": {"name": "shop", "namespace": "argocd"},
        "spec": {"chart": {"path": "charts/web"}, "valuesFiles": ["all.yaml"], "overrideRules": [rule]},
    }
    child = an_application("child", path="plain")
    clusters = emit(several(a_cluster("eu"), a_cluster("us")))
    values = {"all.yaml": several(child, PLAIN), "us.yaml": several(child)}
    files = {name: emit(each) for name, each in values.items()}
    fleet = {**a_fleet("Application"), "root.yaml": emit(chart), "clusters.yaml": clusters, "plain/one.yaml": MAP}
    ignore = parse_documents(fleet["argosy.yaml"])[0].value  # type: ignore[arg-type]  # it is bytes
    ignore["spec"]["source"]["ignore"] += [*values]
    fleet["argosy.yaml"] = emit(ignore)
    found = loaded({**fleet, **files}, path)
    assert (said(found), objects_of(found)) == ("", ["ConfigMap team/one", "ConfigMap team/plain"])
    other = emit(several(an_application("child", path="other")))
    assert said(loaded({**fleet, **files, "us.yaml": other}, path)) == (
        "charts/web: Application child of HelmChart argocd/shop is not the same for all clusters, so that what it"
        " deploys is not known, as root.yaml builds it"
    )
