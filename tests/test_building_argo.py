"""Applications of Argo CD that deploy folders: kustomizations with what they add, and folders of manifests."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from reconciler.source.loading import Loaded
from render.documents import emit
from tests.build import a_cluster
from tests.sources import Content
from tests.tables import each_row
from tests.test_building_flux import MAP, WEB, metadata_of
from tests.test_building_kustomize import VERSION, loaded, objects_of, said

FLEET = emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": {"render": ["Application"]}}})
HERE = "https://git.example.com/fleet.git"


def an_application(name: str = "apps", *, sources: list[Any] | None = None, **source: Any) -> bytes:
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name}}
    own = {"repoURL": HERE, "path": "apps", **source}
    spec = {"sources": sources} if sources else {"source": own}
    return b"---\n" + emit({**head, "spec": {**spec, "destination": {"namespace": "team"}}})


def argo(files: Mapping[str, Content]) -> Loaded:
    return loaded({"argosy.yaml": FLEET, **files})


class Added(NamedTuple):
    why: str
    options: Mapping[str, Any]
    want: Mapping[str, Any]


ADDED = [
    Added("nothing, but the namespace of its destination", {}, {"namespace": "team"}),
    Added("a prefix and a suffix", {"namePrefix": "a-", "nameSuffix": "-z"}, {"name": "a-one-z"}),
    Added("a namespace for all", {"namespace": "shop"}, {"namespace": "shop"}),
    Added("labels", {"commonLabels": {"team": "a"}}, {"labels": {"team": "a", "app": "web"}}),
    Added(
        "labels that select nothing",
        {"commonLabels": {"team": "a"}, "labelWithoutSelector": True},
        {"labels": {"team": "a", "app": "web"}},
    ),
    Added("annotations", {"commonAnnotations": {"b": "c"}}, {"annotations": {"b": "c"}}),
    Added(
        "patches",
        {
            "patches": [
                {"target": {"kind": "ConfigMap"}, "patch": "- {op: add, path: /metadata/annotations, value: {x: z}}"}
            ]
        },
        {"annotations": {"x": "z"}},
    ),
    Added("components", {"components": ["../part"]}, {"labels": {"part": "1", "app": "web"}}),
    Added(
        "components that are there",
        {"components": ["../none", "../part"], "ignoreMissingComponents": True},
        {"labels": {"part": "1", "app": "web"}},
    ),
]


@pytest.mark.parametrize("case", ADDED, ids=lambda case: case.why)
def test_what_it_says_is_added_to_the_kustomization_of_its_folder(case: Added) -> None:
    found = argo(
        {
            "argocd/apps.yaml": an_application(kustomize=case.options),
            "apps/kustomization.yaml": "resources: [one.yaml]\nlabels: [{pairs: {app: web}}]\n",
            "apps/one.yaml": MAP,
            "part/kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {part: '1'}}]\n"
            ),
        }
    )
    assert said(found) == ""
    assert metadata_of(found) == {"name": "one", "namespace": "team", "labels": {"app": "web"}, **case.want}
    (template,) = found.desired.templates
    assert (template.path, template.origin) == ("argocd/apps.yaml", "apps/one.yaml:1")


class Image(NamedTuple):
    text: str
    want: str


IMAGES = [
    Image("nginx:2", "nginx:2"),
    Image("nginx=registry.example.com:5000/web:2", "registry.example.com:5000/web:2"),
    Image("nginx=other", "other:1"),
    Image("nginx=*:2", "nginx:2"),
    Image("nginx@sha256:0a", "nginx@sha256:0a"),
    Image("nginx=other@sha256:0a", "other@sha256:0a"),
]


@pytest.mark.parametrize("case", IMAGES, ids=lambda case: case.text)
def test_images_and_replicas_take_the_place_of_those_of_the_folder(case: Image) -> None:
    options = {"images": [case.text], "replicas": [{"name": "web", "count": "4"}]}
    found = argo(
        {
            "argocd/apps.yaml": an_application(kustomize=options),
            "apps/kustomization.yaml": "resources: [web.yaml]\nreplicas: [{name: web, count: 2}]\n",
            "apps/web.yaml": WEB.replace("image: nginx", "image: 'nginx:1'"),
        }
    )
    assert said(found) == ""
    (template,) = found.desired.templates
    spec = template.manifest["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (4, case.want)


FOLDER: Mapping[str, Content] = {
    "apps/a.yaml": MAP.replace("one", "a"),
    "apps/b.json": emit({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}),
    "apps/env/c.yml": MAP.replace("one", "c, namespace: own"),
    "apps/env/prod/d.yaml": MAP.replace("one", "d"),
    "apps/notes.txt": "",
}


class Chosen(NamedTuple):
    options: Mapping[str, Any]
    want: list[str]


CHOSEN = [
    Chosen({}, ["team/a", "team/b"]),
    Chosen({"recurse": True}, ["own/c", "team/a", "team/b", "team/d"]),
    Chosen({"recurse": True, "exclude": "*.json"}, ["own/c", "team/a", "team/d"]),
    Chosen({"recurse": True, "include": "env/*"}, ["own/c", "team/d"]),
    Chosen({"recurse": True, "include": "{a.*,*/prod/?.yaml}", "exclude": "b*"}, ["team/a", "team/d"]),
]


@each_row("case", CHOSEN, ids=lambda case: str(case.options))
def test_a_folder_of_manifests_is_read_as_it_stands(case: Chosen) -> None:
    """Nothing else reads its files, though the rest of them stand in the folder of an Application."""
    found = argo(
        {
            **FOLDER,
            "argosy.yaml": FLEET + b"    paths: [argocd]\n",
            "argocd/apps.yaml": an_application(directory=case.options),
        }
    )
    assert (objects_of(found), said(found)) == ([f"ConfigMap {name}" for name in case.want], "")
    assert found.desired.tools == ()


def test_an_application_of_applications_is_followed_and_its_sources_are_all_read() -> None:
    sources = [{"repoURL": HERE, "path": "one"}, {"repoURL": HERE, "path": "two"}, {"repoURL": "x", "ref": "values"}]
    found = argo(
        {
            "root.yaml": an_application("root", path="argocd"),
            "argocd/both.yaml": an_application("both", sources=sources),
            "one/one.yaml": MAP,
            "two/kustomization.yaml": "resources: [two.yaml]\n",
            "two/two.yaml": MAP.replace("one", "two"),
        }
    )
    assert (objects_of(found), said(found)) == (["ConfigMap team/one", "ConfigMap team/two"], "")
    assert [template.path for template in found.desired.templates] == ["argocd/both.yaml", "argocd/both.yaml"]


class Unusable(NamedTuple):
    why: str
    source: Mapping[str, Any]
    said: str


AT = "argocd/x.yaml"
UNUSABLE = [
    Unusable(
        "a path that leads out", {"path": "../x"}, f"{AT}:10: spec.source.path: '../x' leads out of the repository"
    ),
    Unusable("a folder that is not there", {"path": "none"}, f"{AT}:10: spec.source.path: there is no folder 'none'"),
    Unusable(
        "another repository",
        {"repoURL": "https://git.example.com/other"},
        f"{AT}:11: spec.source.repoURL: https://git.example.com/other is not in argosy.lock\n"
        "  hint: lock it: argosy lock",
    ),
    Unusable(
        "an option that is not read",
        {"kustomize": {"commonAnnotationsEnvsubst": True}},
        f"{AT}:11: spec.source.kustomize.commonAnnotationsEnvsubst: no field that is read here, so that it might"
        " change anything",
    ),
    Unusable(
        "what is no image",
        {"kustomize": {"images": ["=x"]}},
        f"{AT}:12: spec.source.kustomize.images[0]: '=x' is no image",
    ),
    Unusable(
        "jsonnet",
        {"directory": {"jsonnet": {"tlas": []}}},
        f"{AT}:11: spec.source.directory.jsonnet: jsonnet is not evaluated",
    ),
    Unusable(
        "a class of characters",
        {"directory": {"include": "[a]*"}},
        f"{AT}:11: spec.source.directory.include: '[a]*' has a class of characters\n  hint: write * and {{a,b}} alone",
    ),
    Unusable(
        "too many alternatives",
        {"directory": {"include": "{a,b}" * 12}},
        f"{AT}:11: spec.source.directory.include: '{'{a,b}' * 12}' has more than 64 alternatives",
    ),
    Unusable(
        "a build that fails",
        {"kustomize": {"components": ["../none"]}},
        "apps/kustomization.yaml: components[0]: there is no '../none'\n  hint: it would be none",
    ),
]


@each_row("case", UNUSABLE, ids=lambda case: case.why)
def test_what_cannot_be_read_stops_nothing_else(case: Unusable) -> None:
    found = argo(
        {
            AT: an_application("x", **case.source),
            "argocd/right.yaml": an_application("right", path="right") + an_application("more", path="more"),
            "apps/one.yaml": MAP,
            **({"apps/kustomization.yaml": "resources: [one.yaml]\n"} if "kustomize" in case.source else {}),
            "right/two.yaml": MAP.replace("one", "two"),
            "more/three.yaml": MAP.replace("one", "three"),
        }
    )
    assert said(found) == case.said
    assert {"ConfigMap team/two", "ConfigMap team/three"} <= {*objects_of(found)}
    assert found.problems_that_block == ()


def test_charts_and_plugins_are_left_to_others() -> None:
    files: dict[str, Content] = {
        "plugin.yaml": an_application("plugin", plugin={}),
        "kustomized.yaml": an_application("kustomized"),
        "apps/kustomization.yaml": "resources: [one.yaml]\nnameSuffix: ''\n",
        "apps/one.yaml": MAP,
    }
    found = argo(files)
    assert objects_of(found) == ["ConfigMap team/one", "Application.argoproj.io default/plugin"]
    assert found.desired.tools == (VERSION,)


WRONG: list[Any] = [1, "x", [1], [[1]], {"a": 1}, [{"a": [1]}], None, True]
FIELDS = ["path", "repoURL", "kustomize", "directory"]
OPTIONS = ["images", "replicas", "patches", "components", "commonLabels", "namePrefix", "ignoreMissingComponents"]


@pytest.mark.parametrize("field", [*FIELDS, *OPTIONS])
def test_an_application_of_a_wrong_shape_is_no_crash(field: str) -> None:
    specs = [
        {field: value} if field in FIELDS else {"kustomize": {field: value}} for value in WRONG if value is not None
    ]
    applications = b"".join(an_application(f"a{number}", **spec) for number, spec in enumerate(specs))
    files: dict[str, Content] = {"a.yaml": applications, "x.yaml": MAP.replace("one", "x")}
    assert "ConfigMap default/x" in objects_of(argo(files))


def test_overlays_of_one_base_that_deploy_a_third_are_read_side_by_side() -> None:
    """All of them read the files of the base, but none of the overlays is a part of another one."""
    found = argo(
        {
            **{
                f"{name}/kustomization.yaml": f"resources: [../base]\nnamespace: {name}\n"
                for name in ("eu", "us", "all")
            },
            "argosy.yaml": FLEET + b"    paths: [eu, us]\n",
            "base/kustomization.yaml": "resources: [app.yaml, one.yaml]\n",
            "base/app.yaml": an_application("base", path="all"),
            "base/one.yaml": MAP,
        }
    )
    assert said(found) == ""
    assert objects_of(found) == ["ConfigMap all/one", "ConfigMap eu/one", "ConfigMap us/one"]


def test_a_cluster_that_several_applications_name_and_that_is_not_there_is_one_problem() -> None:
    files: dict[str, Content] = {
        f"argocd/{name}.yaml": an_application(name).replace(b"    namespace: team\n", b"    name: us\n")
        for name in "abc"
    }
    found = argo({**files, "apps/one.yaml": MAP, "eu.yaml": emit(a_cluster("eu"))})
    assert said(found) == (
        "argocd/a.yaml:8: spec.destination.name: there is no Cluster 'us' in the source (needed in 2 more places)\n"
        "  hint: write a Cluster of that name, or with that spec.apiEndpoint"
    )
