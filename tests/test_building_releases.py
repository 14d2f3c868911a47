"""Releases of Flux and Argo CD, whose charts are rendered where argosy.yaml asks for it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.building.builder import SourceBuilder
from reconciler.building.folders import INSTALL
from reconciler.gitops.tools import GitOpsTools
from reconciler.locked.store import ContentStore
from reconciler.source.loading import load_source
from reconciler.source.reading import Caches, SourceReading
from render.documents import emit
from tests.build import a_cluster, a_config_map
from tests.kubectl import kubectl_path
from tests.sources import Content, source_of
from tests.test_building_charts import CHART, data_of, loaded
from tests.test_building_kustomize import a_script, objects_of, said

FLEET = {
    "argosy.yaml": emit(
        {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "Fleet",
            "spec": {"source": {"render": ["HelmRelease", "Application"]}},
        }
    )
}
IN_GIT = {"chart": {"spec": {"chart": "./charts/web", "sourceRef": {"kind": "GitRepository", "name": "flux-system"}}}}
ELSEWHERE = {"chart": {"spec": {"chart": "web", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}}}
REPOSITORY = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "HelmRepository",
    "metadata": {"name": "charts", "namespace": "flux-system"},
    "spec": {"url": "https://charts.example.com/"},
}


def a_release(**spec: Any) -> bytes:
    metadata = {"name": "shop", "namespace": "flux-system"}
    head = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": metadata}
    return emit({**head, "spec": {**IN_GIT, **spec}})


def an_application(**source: Any) -> bytes:
    metadata = {"name": "shop", "namespace": "argocd"}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata}
    spec = {"source": {"repoURL": "https://git.example.com/fleet", **source}, "destination": {"namespace": "team"}}
    return emit({**head, "spec": spec})


def several(*sources: Mapping[str, Any], **destination: Any) -> bytes:
    """An Application of several sources."""
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "shop"}}
    found = [{"repoURL": "https://git.example.com/fleet", **source} for source in sources]
    return emit({**head, "spec": {"sources": found, "destination": {"namespace": "team", **destination}}})


class Release(NamedTuple):
    why: str
    manifest: bytes
    asked: str
    values: Mapping[str, Any]


VALUES = {"greeting": "hello"}
RELEASES = [
    Release("of Flux", a_release(values=VALUES), "shop chart --namespace flux-system", VALUES),
    Release(
        "of Flux, for another namespace",
        a_release(targetNamespace="team", values=VALUES),
        "team-shop chart --namespace team",
        VALUES,
    ),
    Release(
        "of Flux, with a name of its own",
        a_release(targetNamespace="team", releaseName="web", values=VALUES),
        "web chart --namespace team",
        VALUES,
    ),
    Release(
        "of Flux, with values of a ConfigMap beside it",
        a_release(targetNamespace="team", valuesFrom=[{"kind": "ConfigMap", "name": "settings", "valuesKey": "a"}]),
        "team-shop chart --namespace team",
        VALUES,
    ),
    Release(
        "of Argo CD",
        an_application(path="charts/web", helm={"releaseName": "web", "valuesObject": VALUES}),
        "web chart --namespace team",
        VALUES,
    ),
    Release(
        "of Argo CD, with parameters that count more than values",
        an_application(
            path="charts/web/",
            helm={
                "values": "greeting: x\na: {b: 1}\n",
                "parameters": [
                    {"name": "greeting", "value": "hello"},
                    {"name": "a.c", "value": "12"},
                    {"name": "a.d", "value": "012"},
                    {"name": "e", "value": "true"},
                    {"name": "f", "value": "1", "forceString": True},
                ],
            },
        ),
        "shop chart --namespace team",
        {"greeting": "hello", "a": {"b": 1, "c": 12, "d": "012"}, "e": True, "f": "1"},
    ),
    Release(
        "of Argo CD, with values of the repository that another source names, as far as they are there",
        several(
            {
                "path": "charts/web",
                "helm": {"valueFiles": ["$here/v.yaml", "$here/none.yaml"], "ignoreMissingValueFiles": True},
            },
            {"ref": "here"},
        ),
        "shop chart --namespace team",
        {"from": "v"},
    ),
    Release(
        "of Argo CD, into a namespace of its own",
        an_application(path="charts/web", helm={"namespace": "own", "valuesObject": VALUES}),
        "shop chart --namespace own",
        VALUES,
    ),
]


@pytest.mark.parametrize("case", RELEASES, ids=lambda case: case.why)
def test_a_release_is_rendered_as_its_tool_would(case: Release, tmp_path: Path) -> None:
    """The stand-in for helm shows what it was asked for, and the values."""
    script = (
        'echo "$(echo "$@" | /usr/bin/cut -d" " -f2-5) $(/bin/cat values-0.yaml | /usr/bin/base64 -w0)" >&2; exit 1'
    )
    path = a_script(tmp_path / "bin", "helm", script)
    settings = a_config_map("settings", namespace="flux-system", a="greeting: hello\n")
    files: dict[str, Content] = {"r.yaml": case.manifest, "m.yaml": emit(settings), "v.yaml": "from: v\n"}
    found = loaded({**CHART, **FLEET, **files}, path)
    message, _, values = said(found).rpartition(" ")
    assert message == f"r.yaml: helm v9.9.9 cannot render charts/web: {case.asked}"
    assert _values(values) == case.values
    assert objects_of(found) == ["ConfigMap flux-system/settings"]


MADE = """
/bin/cat <<'END'
---
# Source: web/crds/crd.yaml
apiVersion: example.com/v1
kind: Gadget
metadata: {name: defined}
---
# Source: web/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: a}}
spec: {template: {spec: {containers: [{name: web, image: nginx:1}]}}}
---
# Source: web/templates/more/notice.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: notice}
END
"""
RENDERERS = [
    {
        "kustomize": {
            "patches": [
                {
                    "target": {"kind": "Deployment"},
                    "patch": '[{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]',
                }
            ],
            "images": [{"name": "nginx", "newTag": "2"}],
        }
    },
    {
        "kustomize": {
            "patchesStrategicMerge": [
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notice"}, "data": {"c": "d"}}
            ]
        }
    },
]


def test_post_renderers_run_in_order_and_metadata_comes_last(tmp_path: Path) -> None:
    """Definitions of the chart are left alone, as helm has it."""
    folder = a_script(tmp_path / "bin", "helm", MADE)
    release = a_release(postRenderers=RENDERERS, commonMetadata={"labels": {"team": "b"}})
    found = loaded({**CHART, **FLEET, "r.yaml": release}, f"{folder}:{kubectl_path().parent}")
    assert said(found) == ""
    made = {each.ref.name: (each.manifest, each.origin) for each in found.desired.templates}
    template = {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}
    labels, space = {"labels": {"team": "b"}}, {"namespace": "flux-system"}
    web = {"name": "web", "annotations": {"a": "b"}, **space, **labels}
    assert made == {
        "defined": (
            {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "defined", **space}},
            "charts/web/crds/crd.yaml",
        ),
        "web": (
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": web,
                "spec": {"template": template, "replicas": 1},
            },
            "charts/web/templates/web.yaml",
        ),
        "notice": (
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "notice", **space, **labels},
                "data": {"c": "d"},
            },
            "charts/web/templates/more/notice.yaml",
        ),
    }
    assert [each.partition(" ")[0] for each in found.desired.tools] == ["helm", "kustomize"]


def test_a_post_renderer_that_fails_fails_its_release_alone(tmp_path: Path) -> None:
    patch = {"target": {"kind": "Deployment"}, "patch": '[{"op": "remove", "path": "/spec/none"}]'}
    folder = a_script(tmp_path / "bin", "helm", MADE)
    files = {**CHART, **FLEET, "r.yaml": a_release(postRenderers=[{"kustomize": {"patches": [patch]}}])}
    failed = said(loaded(files, f"{folder}:{kubectl_path().parent}"))
    assert failed.startswith("r.yaml: helm v9.9.9 cannot render charts/web: kustomize v")
    assert " cannot run its post-renderers: " in failed
    assert said(loaded(files, folder)) == (
        "r.yaml: helm v9.9.9 cannot render charts/web: kustomize is not installed, so that its post-renderers cannot be"
        f" run\n  hint: {INSTALL}"
    )


@pytest.mark.parametrize(
    "release",
    [
        a_release(install={"disableSchemaValidation": True}),
        an_application(path="charts/web", helm={"skipSchemaValidation": True}),
    ],
)
def test_values_are_not_compared_with_a_schema_where_the_release_says_so(release: bytes, tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", "[ -e chart/values.schema.json ] && echo seen >&2; exit 1")
    files = {**CHART, **FLEET, "charts/web/values.schema.json": "{}"}
    unseen = "r.yaml: helm v9.9.9 cannot render charts/web: it ended with exit code 1"
    assert said(loaded({**files, "r.yaml": release}, path)) == unseen
    assert said(loaded({**files, "r.yaml": a_release()}, path)) == "r.yaml: helm v9.9.9 cannot render charts/web: seen"


def _values(text: str) -> Any:
    import base64

    from render.documents import parse_documents

    return parse_documents(base64.b64decode(text))[0].value


class Unusable(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


LOCK = "is not in argosy.lock\n  hint: lock it: argosy lock"
UNUSABLE = [
    Unusable(
        "a chart of a repository that is not locked",
        {"r.yaml": a_release(**ELSEWHERE), "h.yaml": emit(REPOSITORY)},
        f"r.yaml:9: spec.chart.spec.chart: chart 'web' of https://charts.example.com {LOCK}",
    ),
    Unusable(
        "a repository that is not there",
        {"r.yaml": a_release(**ELSEWHERE)},
        "r.yaml:10: spec.chart.spec.sourceRef: there is no HelmRepository flux-system/charts in the source",
    ),
    Unusable(
        "values of a Secret",
        {"r.yaml": a_release(valuesFrom=[{"kind": "Secret", "name": "s"}])},
        "r.yaml:14: spec.valuesFrom[0]: Secret s: values come from ConfigMaps alone",
    ),
    Unusable(
        "a post-renderer that would be a program",
        {"r.yaml": a_release(postRenderers=[{"exec": {"command": "/bin/sh"}}])},
        "r.yaml:14: spec.postRenderers[0].exec: post-renderers are kustomize alone",
    ),
    Unusable(
        "a release that is suspended",
        {"r.yaml": a_release(suspend=True)},
        "r.yaml:13: spec.suspend: it is suspended, so that nothing is made of it\n"
        "  hint: what Argosy delivers is suspended by its policy: spec.suspension",
    ),
    Unusable(
        "a chart of a registry that is not locked",
        {"r.yaml": an_application(repoURL="registry.example.com/charts", chart="web")},
        f"r.yaml:10: spec.source.chart: oci://registry.example.com/charts/web {LOCK}",
    ),
    Unusable(
        "values of another repository",
        {"r.yaml": an_application(path="charts/web", helm={"valueFiles": ["$values/a.yaml"]})},
        "r.yaml:12: spec.source.helm.valueFiles[0]: no source of it has the ref 'values'",
    ),
    Unusable(
        "values of a locked repository",
        {
            "r.yaml": several(
                {"path": "charts/web", "helm": {"valueFiles": ["$x/a.yaml"]}},
                {"ref": "x", "repoURL": "https://git.example.com/lib"},
            ),
            "s.yaml": emit(
                {
                    "apiVersion": "argosy.dev/v1alpha1",
                    "kind": "Source",
                    "metadata": {"name": "lib"},
                    "spec": {"git": {"url": "https://git.example.com/lib.git", "branch": "main"}},
                }
            ),
        },
        "r.yaml:11: spec.sources[0].helm.valueFiles[0]: '$x/a.yaml' is in Source lib, of which no values are read\n"
        "  hint: argosy vendor puts its content into this repository",
    ),
    Unusable(
        "a field that is not read",
        {"r.yaml": an_application(path="charts/web", helm={"fileParameters": [{"name": "a", "path": "b"}]})},
        "r.yaml:11: spec.source.helm.fileParameters: no field that is read here, so that it might change anything",
    ),
    Unusable(
        "a variable of Argo CD",
        {
            "r.yaml": an_application(
                path="charts/web", helm={"parameters": [{"name": "a", "value": "$ARGOCD_APP_NAME"}]}
            )
        },
        "r.yaml:12: spec.source.helm.parameters[0]: variables of Argo CD are not filled in\n  hint: write its value",
    ),
    Unusable(
        "a cluster that is not there",
        {"r.yaml": several({"path": "charts/web"}, name="x"), "c.yaml": emit(a_cluster("eu"))},
        "r.yaml:7: spec.destination.name: there is no Cluster 'x' in the source\n"
        "  hint: write a Cluster of that name, or with that spec.apiEndpoint",
    ),
    Unusable(
        "parameters with escapes",
        {"r.yaml": an_application(path="charts/web", helm={"parameters": [{"name": "a[0]", "value": "x"}]})},
        "r.yaml:12: spec.source.helm.parameters[0]: lists and escapes are not read\n"
        "  hint: write it under valuesObject",
    ),
    Unusable(
        "an option in place of a release",
        {"r.yaml": a_release(releaseName="--post-renderer=x")},
        "r.yaml:1: '--post-renderer=x' in 'flux-system' is no name of a release",
    ),
]


@pytest.mark.parametrize("case", UNUSABLE, ids=lambda case: case.why)
def test_what_cannot_be_rendered_as_the_tool_would_is_a_problem(case: Unusable, tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", "exit 1")
    assert said(loaded({**CHART, **FLEET, **case.files}, path)) == case.said


def test_a_chart_that_is_not_locked_is_one_problem_however_many_releases_need_it(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    asked = {f"{name}.yaml": a_release(**ELSEWHERE).replace(b"name: shop", f"name: {name}".encode()) for name in names}
    other = a_release(chart={"spec": {**ELSEWHERE["chart"]["spec"], "chart": "other"}})
    built: dict[str, Content] = {"k/kustomization.yaml": "resources: [c.yaml]\n", "k/c.yaml": asked.pop("c.yaml")}
    files: dict[str, Content] = {**FLEET, **asked, **built, "h.yaml": emit(REPOSITORY), "d.yaml": other}
    found = loaded(files, a_script(tmp_path, "helm", "exit 1"))
    where, of = "yaml:9: spec.chart.spec.chart: chart", "of https://charts.example.com is not in argosy.lock"
    hint = "\n  hint: lock it: argosy lock"
    assert said(found) == f"a.{where} 'web' {of} (needed in 2 more places){hint}\nd.{where} 'other' {of}{hint}"
    assert sorted((each.makes, each.problem.path) for each in found.broken) == [
        ("a.yaml", "a.yaml"),
        ("b.yaml", "a.yaml"),
        ("d.yaml", "d.yaml"),
        ("k/kustomization.yaml", "a.yaml"),
    ]
    assert len(found.warnings) == 2


LIB = {"url": "https://git.example.com/lib", "tag": "v1"}
FOLDERS = [
    ("the repository", "", "./charts/web", "Source lib charts/web"),
    ("a folder above it", "charts", "charts/web", "Source lib web"),
    ("its own folder", "charts/web", "/charts/web/", "Source lib"),
    ("another folder", "other", "./charts/web", ""),
]


@pytest.mark.parametrize(("folder", "chart", "home"), [row[1:] for row in FOLDERS], ids=[row[0] for row in FOLDERS])
def test_the_chart_of_a_written_source_is_where_its_release_says(
    folder: str, chart: str, home: str, tmp_path: Path
) -> None:
    """The path of a release begins at the root of its repository, whatever folder the Source has of it."""
    inner = {"charts/web/Chart.yaml": b"name: web\n", "other/a.yaml": b"a: 1\n"}
    base = f"{folder}/" if folder else ""
    content = {path.removeprefix(base): data for path, data in inner.items() if path.startswith(base)}
    store = ContentStore(tmp_path / "sources")
    spec = {"git": LIB, **({"path": folder} if folder else {})}
    entry = {"name": "lib", "spec": spec, "resolved": {"commit": "a" * 40}, "content": store.put(content)}
    lock = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": [entry]}
    written = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": "lib"}, "spec": spec}
    repository = {**REPOSITORY, "kind": "GitRepository", "spec": {"url": LIB["url"]}}
    named = {"kind": "GitRepository", "name": "charts"}
    release = a_release(chart={"spec": {"chart": chart, "sourceRef": named}})
    objects = b"---\n".join(map(emit, (written, repository)))
    source = source_of({**FLEET, "r.yaml": release, "s.yaml": objects, "argosy.lock": emit(lock)})
    build = SourceBuilder(path=a_script(tmp_path / "bin", "helm", "echo tried >&2; exit 1"))
    found = load_source(
        source.files, SourceReading(source.read, caches=Caches(contents=store), other_tools=GitOpsTools(build))
    )
    refused = (
        "r.yaml:9: spec.chart.spec.chart: './charts/web' is not in Source 'lib', which has the folder 'other' alone"
    )
    assert said(found) == (f"r.yaml: helm v9.9.9 cannot render {home}: tried" if home else refused)


def test_without_asking_for_it_releases_are_objects_like_any_others(tmp_path: Path) -> None:
    found = loaded({**CHART, "a.yaml": a_release(), "b.yaml": an_application(path="charts/web")}, tmp_path)
    assert objects_of(found) == [
        "Application.argoproj.io argocd/shop",
        "HelmRelease.helm.toolkit.fluxcd.io flux-system/shop",
    ]


def test_an_application_without_a_chart_is_a_folder(tmp_path: Path) -> None:
    one = emit(a_config_map("one", namespace="shop"))
    found = loaded({**FLEET, "a.yaml": an_application(path="apps/web"), "apps/web/one.yaml": one}, tmp_path)
    assert (objects_of(found), [each.path for each in found.desired.templates]) == (["ConfigMap shop/one"], ["a.yaml"])


@pytest.mark.parametrize("spec", [{"chart": "x"}, {"valuesFrom": ["x"]}, {"values": 1, "install": []}, {"chartRef": 1}])
def test_a_release_of_a_wrong_shape_is_no_crash(spec: Any, tmp_path: Path) -> None:
    path = a_script(tmp_path / "bin", "helm", "exit 1")
    assert json.dumps(said(loaded({**CHART, **FLEET, "r.yaml": a_release(**spec)}, path))) != '""'


@pytest.mark.cluster
def test_the_objects_of_a_release_are_templates_instead_of_it(helm: Path) -> None:
    found = loaded({**CHART, **FLEET, "r.yaml": a_release(targetNamespace="team", values=VALUES)}, helm)
    assert said(found) == ""
    assert objects_of(found) == [
        "ConfigMap team/team-shop",
        "CustomResourceDefinition.apiextensions.k8s.io gadgets.example.com",
    ]
    assert data_of(found, "team-shop")["greeting"] == "hello"


def test_charts_of_one_application_and_its_folders_are_all_made_for_its_destination(tmp_path: Path) -> None:
    """The stand-in for helm names what it makes after the chart's values."""
    path = a_script(tmp_path / "bin", "helm", "/bin/cat values-0.yaml")
    maps = {name: a_config_map(name, namespace="team") for name in ("one", "two", "three", "four")}
    sources = [{"path": "charts/web", "helm": {"valuesObject": maps[name]}} for name in ("one", "two")]
    files = {
        "argocd/shop.yaml": several(*sources, {"path": "plain"}, name="eu"),
        "argocd/us.yaml": several({**sources[0], "helm": {"valuesObject": maps["four"]}}, name="us").replace(
            b"name: shop", b"name: us"
        ),
        "plain/three.yaml": emit(maps["three"]),
        "clusters.yaml": b"---\n".join(map(emit, (a_cluster("eu"), a_cluster("us")))),
    }
    found = loaded({**CHART, **FLEET, **files}, path)
    assert said(found) == ""
    absent = {each.ref.name: sorted(each.absent_in) for each in found.desired.templates}
    assert absent == {"one": ["us"], "two": ["us"], "three": ["us"], "four": ["eu"]}
