"""ApplicationSets read as Argo CD reads them: each Application is built, for the clusters of its destination."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from reconciler.source.loading import Loaded
from render.documents import emit
from tests.build import a_cluster
from tests.sources import Content
from tests.tables import each_row
from tests.test_building_argo import HERE, an_application
from tests.test_building_flux import MAP
from tests.test_building_kustomize import loaded, objects_of, said


def a_fleet(*kinds: str) -> bytes:
    source = {"render": list(kinds), "paths": ["argocd", "clusters"]}
    return emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": source}})


FLEET = a_fleet("Application", "ApplicationSet")
CLUSTERS: Mapping[str, Content] = {
    f"clusters/{name}.yaml": emit(
        {
            **a_cluster(name, labels={"env": env}),
            "spec": {"syncMode": "Push", "apiEndpoint": f"https://{name}.example.com"},
        }
    )
    for name, env in (("eu", "prod"), ("us", "prod"), ("lab", "test"))
}
SOURCE = {"repoURL": HERE, "path": "apps/{{path.basename}}"}
IN_PROD = {"clusters": {"selector": {"matchLabels": {"env": "prod"}}}}
FOLDERS = {"git": {"repoURL": HERE, "directories": [{"path": "apps/*"}]}}


def a_set(*generators: Any, source: Mapping[str, Any], name: str, destination: Any = None, **spec: Any) -> bytes:
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "s"}}
    app = {"source": dict(source), "destination": {"namespace": "team", **(destination or {})}}
    template = {"metadata": {"name": name}, "spec": app}
    return b"---\n" + emit({**head, "spec": {"generators": list(generators), "template": template, **spec}})


def argo(files: Mapping[str, Content], *, clusters: Mapping[str, Content] = CLUSTERS) -> Loaded:
    return loaded({"argosy.yaml": FLEET, **clusters, **files})


def made_for(found: Loaded) -> dict[str, dict[str, Any]]:
    """Return the data of each object by the clusters that have it so: "" for all others, None for nothing."""
    return {
        str(template.ref): {
            "": template.manifest.get("data"),
            **{" ".join(sorted(each.clusters)): each.manifest and each.manifest["data"] for each in template.variants},
        }
        for template in found.desired.templates
    }


def test_a_folder_for_each_application_is_built() -> None:
    found = argo(
        {
            "argocd/set.yaml": a_set(FOLDERS, source=SOURCE, name="{{path.basename}}"),
            "apps/web/one.yaml": MAP,
            "apps/api/two.yaml": MAP.replace("one", "two"),
        }
    )
    assert (objects_of(found), said(found)) == (["ConfigMap team/one", "ConfigMap team/two"], "")
    assert [(each.path, each.origin) for each in found.desired.templates] == [
        ("argocd/set.yaml", "apps/web/one.yaml:1"),
        ("argocd/set.yaml", "apps/api/two.yaml:1"),
    ]


class Destined(NamedTuple):
    why: str
    files: Mapping[str, Content]
    want: Mapping[str, Mapping[str, Any]]


SAME = {"repoURL": HERE, "path": "apps/web"}
OVERLAY = {"repoURL": HERE, "path": "envs/{{name}}"}
TO_SERVER, TO_NAME = {"server": "{{server}}"}, {"name": "{{name}}"}
ONE: Mapping[str, Content] = {"apps/web/one.yaml": MAP}
ENVS: Mapping[str, Content] = {
    f"envs/{name}/one.yaml": MAP.replace("{a: b}", f"{{at: {name}}}").replace("data:", "data:") for name in ("eu", "us")
}
DESTINED = [
    Destined(
        "the same for all that a generator finds: others do not get it",
        {**ONE, "argocd/set.yaml": a_set(IN_PROD, source=SAME, name="web-{{name}}", destination=TO_SERVER)},
        {"ConfigMap team/one": {"": {"a": "b"}, "lab": None}},
    ),
    Destined(
        "another folder for each cluster",
        {**ENVS, "argocd/set.yaml": a_set(IN_PROD, source=OVERLAY, name="web-{{name}}", destination=TO_NAME)},
        {"ConfigMap team/one": {"": {"at": "eu"}, "us": {"at": "us"}, "lab": None}},
    ),
    Destined(
        "Applications that stand in files, each for a cluster",
        {
            **ENVS,
            "argocd/eu.yaml": an_application("a", path="envs/us").replace(
                b"  destination:\n", b"  destination:\n    name: us\n"
            ),
            "argocd/us.yaml": an_application("b", path="envs/eu").replace(
                b"  destination:\n", b"  destination:\n    name: lab\n"
            ),
        },
        {"ConfigMap team/one": {"": {"at": "us"}, "lab": {"at": "eu"}, "eu": None}},
    ),
    Destined(
        "the cluster that Argo CD runs in is any",
        {
            **ONE,
            "argocd/a.yaml": a_set(
                {"list": {"elements": [{}]}},
                source=SAME,
                name="a",
                destination={"server": "https://kubernetes.default.svc"},
            ),
        },
        {"ConfigMap team/one": {"": {"a": "b"}}},
    ),
]


@pytest.mark.parametrize("case", DESTINED, ids=lambda case: case.why)
def test_an_application_is_for_the_cluster_of_its_destination(case: Destined) -> None:
    found = argo(case.files)
    assert (made_for(found), said(found)) == (case.want, "")


def test_two_applications_with_the_same_object_for_one_cluster_are_a_problem() -> None:
    twice = a_set(IN_PROD, source=SAME, name="web-{{name}}", destination={"name": "eu"})
    found = argo({**ONE, "argocd/set.yaml": twice})
    assert said(found).splitlines()[0].startswith("apps/web/one.yaml:1: ConfigMap team/one")


def test_a_fleet_without_clusters_looks_at_no_destination() -> None:
    files = {
        **ONE,
        "argocd/set.yaml": a_set({"list": {"elements": [{}]}}, source=SAME, name="a", destination={"name": "x"}),
    }
    found = argo(files, clusters={"clusters/x.yaml": ""})
    assert (made_for(found), said(found)) == ({"ConfigMap team/one": {"": {"a": "b"}}}, "")


class Unusable(NamedTuple):
    why: str
    files: Mapping[str, Content]
    said: str


EACH = {"list": {"elements": [{"x": "1"}, {"x": "2"}]}}
UNUSABLE = [
    Unusable(
        "a cluster that is not there",
        {"argocd/set.yaml": a_set(EACH, source=SAME, name="a{{x}}", destination={"name": "c{{x}}"})},
        "argocd/set.yaml:2: spec.destination.name: Application a1: there is no Cluster 'c1' in the source\n"
        "  hint: write a Cluster of that name, or with that spec.apiEndpoint\n"
        "argocd/set.yaml:2: spec.destination.name: Application a2: there is no Cluster 'c2' in the source\n"
        "  hint: write a Cluster of that name, or with that spec.apiEndpoint",
    ),
    Unusable(
        "an address that no Cluster has",
        {
            "argocd/set.yaml": a_set(
                {"list": {"elements": [{}]}}, source=SAME, name="a", destination={"server": "https://x"}
            )
        },
        "argocd/set.yaml:2: spec.destination.server: Application a: no Cluster of the source is at 'https://x'\n"
        "  hint: write a Cluster of that name, or with that spec.apiEndpoint",
    ),
    Unusable(
        "a generator that asks a forge",
        {"argocd/set.yaml": a_set({"pullRequest": {}}, source=SAME, name="a")},
        "argocd/set.yaml:8: spec.generators[0].pullRequest: it asks a forge for its pull requests, which a render"
        " never does\n  hint: write a list of what it would find",
    ),
    Unusable(
        "a repository that is not locked",
        {
            "argocd/set.yaml": a_set(
                {"git": {**FOLDERS["git"], "repoURL": "https://x.example.com/y"}}, source=SAME, name="a"
            ),
            "argocd/more.yaml": an_application("right", path="right") + an_application("too", path="right2"),
            "right/one.yaml": MAP.replace("one", "right"),
            "right2/one.yaml": MAP.replace("one", "right2"),
        },
        "argocd/set.yaml:11: spec.generators[0].git.repoURL: https://x.example.com/y is not in argosy.lock\n"
        "  hint: lock it: argosy lock",
    ),
    Unusable(
        "an option that is not known",
        {"argocd/set.yaml": a_set(EACH, source=SAME, name="a", goTemplateOptions=["x"])},
        "argocd/set.yaml:12: spec.goTemplateOptions: the option 'x' is not known",
    ),
]


@each_row("case", UNUSABLE, ids=lambda case: case.why)
def test_what_cannot_be_read_is_a_problem_of_its_application(case: Unusable) -> None:
    found = argo({**ONE, **case.files})
    assert said(found) == case.said
    assert found.problems_that_block == ()


LEFT_OUT = [
    (11, "strategy", "all Applications are read at once; a rollout is a setting of policies"),
    (
        14,
        "syncPolicy.preserveResourcesOnDeletion",
        "objects that are gone from the source leave clusters, unless their policy preserves them",
    ),
]


def test_what_decides_when_argo_cd_applies_is_said_once() -> None:
    policy = {"syncPolicy": {"preserveResourcesOnDeletion": True}, "strategy": {"type": "RollingSync"}}
    found = argo({**ONE, "argocd/set.yaml": a_set({"list": {"elements": [{}]}}, source=SAME, name="a", **policy)})
    warned = [str(each) for each in found.desired.warnings if "not read, for" in each.message]
    assert warned == [
        f"argocd/set.yaml:{line}: spec.{field}: not read, for s: {reason}" for line, field, reason in LEFT_OUT
    ]


def test_an_application_makes_application_sets_which_make_applications() -> None:
    found = argo(
        {
            "argocd/root.yaml": an_application("root", path="sets"),
            "sets/set.yaml": a_set(FOLDERS, source=SOURCE, name="{{path.basename}}"),
            "apps/web/one.yaml": MAP,
        }
    )
    assert (objects_of(found), said(found)) == (["ConfigMap team/one"], "")


def test_without_applications_those_that_a_set_makes_are_objects() -> None:
    files = {"argocd/set.yaml": a_set(FOLDERS, source=SOURCE, name="x"), **ONE}
    found = loaded({"argosy.yaml": a_fleet("ApplicationSet"), "clusters/x.yaml": "", **files})
    assert (objects_of(found), said(found)) == (["Application.argoproj.io default/x"], "")


def test_sets_that_find_nothing_are_said_once() -> None:
    nowhere = {"clusters": {"selector": {"matchLabels": {"env": "none"}}}}
    sets = [
        a_set(generator, source={"repoURL": HERE, "path": "apps/a"}, name="{{name}}").replace(b"name: s\n", name)
        for generator, name in ((nowhere, b"name: s\n"), (IN_PROD, b"name: t\n"), (nowhere, b"name: u\n"))
    ]
    found = argo({"argocd/sets.yaml": b"".join(sets), "apps/a/one.yaml": MAP})
    assert (said(found), objects_of(found)) == ("", ["ConfigMap team/one"])
    (warning,) = found.warnings
    assert str(warning) == (
        "argocd/sets.yaml:7: spec.generators: find nothing, so that no Application is made, for s, u\n"
        "  hint: of clusters, they find the Clusters of the source, by their labels"
    )
