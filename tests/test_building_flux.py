"""Kustomizations of Flux, whose folders are built as kustomize-controller builds them where argosy.yaml asks for it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from reconciler.gitops import rounds
from reconciler.gitops.flux.after_build import Finished, objects_finished_by_flux
from reconciler.source.loading import Loaded
from reconciler.source.manifests import LocatedManifest
from render.documents import emit
from tests.build import a_config_map
from tests.sources import Content
from tests.tables import each_row
from tests.test_building_kustomize import VERSION, loaded, objects_of, said
from tests.test_source_loading import Memory

FLEET = emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"source": {"render": ["Kustomization"]}}})
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n"
WEB = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n"
    "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
    "    spec: {containers: [{name: web, image: nginx}]}\n"
)


def a_kustomization(name: str = "apps", path: str = "./apps", **spec: Any) -> bytes:
    metadata = {"name": name, "namespace": "flux-system"}
    head = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata}
    reference = {"kind": "GitRepository", "name": "flux-system"}
    return b"---\n" + emit({**head, "spec": {"path": path, "prune": True, "sourceRef": reference, **spec}})


def flux(files: Mapping[str, Content], cache: Memory | None = None) -> Loaded:
    return loaded({"argosy.yaml": FLEET, **files}, cache)


def made(found: Loaded) -> list[dict[str, Any]]:
    return [dict(template.manifest) for template in found.desired.templates]


def metadata_of(found: Loaded) -> dict[str, Any]:
    (manifest,) = made(found)
    return dict(manifest["metadata"])


def test_an_object_of_flux_is_delivered_as_it_is_unless_argosy_yaml_asks_for_its_folder() -> None:
    files: dict[str, Content] = {"cluster/apps.yaml": a_kustomization(), "apps/one.yaml": MAP}
    assert objects_of(loaded(files)) == [
        "ConfigMap default/one",
        "Kustomization.kustomize.toolkit.fluxcd.io flux-system/apps",
    ]
    found = flux(files)
    assert (objects_of(found), said(found)) == (["ConfigMap default/one"], "")
    (template,) = found.desired.templates
    assert (template.path, template.origin) == ("cluster/apps.yaml", "apps/one.yaml:1")
    assert found.desired.tools == (), "it only lists resources"
    assert flux({**files, "cluster/apps.yaml": a_kustomization(namePrefix="a-")}).desired.tools == (VERSION,)


class Added(NamedTuple):
    why: str
    spec: Mapping[str, Any]
    kustomization: str
    want: Mapping[str, Any]


NAMED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "annotations": {"x": "y"}}}
ADDED = [
    Added("a namespace", {"targetNamespace": "shop"}, "", {"name": "one", "namespace": "shop"}),
    Added("a namespace in place of another", {"targetNamespace": "shop"}, "namespace: a", {"namespace": "shop"}),
    Added("a prefix and a suffix", {"namePrefix": "a-", "nameSuffix": "-z"}, "namePrefix: x-", {"name": "a-one-z"}),
    Added(
        "metadata of all objects",
        {"commonMetadata": {"labels": {"team": "a"}, "annotations": {"b": "c"}}},
        "labels: [{pairs: {team: x, app: web}}]",
        {"labels": {"team": "a", "app": "web"}, "annotations": {"b": "c"}},
    ),
    Added(
        "patches after those of the folder",
        {"patches": [{"patch": json.dumps(NAMED), "target": {"kind": "ConfigMap"}}]},
        'patches: [{patch: \'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "annotations":'
        ' {"x": "1"}}}\'}]',
        {"annotations": {"x": "y"}},
    ),
    Added("merges of the older API", {"patchesStrategicMerge": [NAMED]}, "", {"annotations": {"x": "y"}}),
    Added(
        "operations of the older API",
        {
            "patchesJson6902": [
                {
                    "target": {"version": "v1", "kind": "ConfigMap", "name": "one"},
                    "patch": [{"op": "add", "path": "/metadata/labels", "value": {"q": "r"}}],
                }
            ]
        },
        "",
        {"labels": {"q": "r"}},
    ),
    Added("components", {"components": ["../part"]}, "", {"labels": {"part": "1"}}),
    Added(
        "components that are there",
        {"components": ["../none", "../part"], "ignoreMissingComponents": True},
        "",
        {"labels": {"part": "1"}},
    ),
]


@pytest.mark.parametrize("case", ADDED, ids=lambda case: case.why)
def test_what_it_says_is_added_to_the_kustomization_of_its_folder(case: Added) -> None:
    found = flux(
        {
            "cluster/apps.yaml": a_kustomization(**case.spec),
            "apps/kustomization.yaml": f"resources: [one.yaml]\n{case.kustomization}\n",
            "apps/one.yaml": MAP,
            "part/kustomization.yaml": (
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {part: '1'}}]\n"
            ),
        }
    )
    assert said(found) == ""
    assert metadata_of(found) == {"name": "one", "namespace": "default", **case.want}


def test_its_images_take_the_place_of_those_of_the_folder() -> None:
    images = [{"name": "nginx", "newName": "registry.example.com/web", "newTag": "2"}]
    found = flux(
        {
            "cluster/apps.yaml": a_kustomization(images=images),
            "apps/kustomization.yaml": "resources: [web.yaml]\nimages: [{name: nginx, newTag: '1'}]\n",
            "apps/web.yaml": WEB,
        }
    )
    (manifest,) = made(found)
    assert manifest["spec"]["template"]["spec"]["containers"] == [
        {"name": "web", "image": "registry.example.com/web:2"}
    ]


def test_a_folder_without_a_kustomization_is_all_yaml_below_it_and_kustomizations_in_it() -> None:
    found = flux(
        {
            "cluster/apps.yaml": a_kustomization(targetNamespace="shop"),
            "apps/one.yaml": MAP,
            "apps/deep/two.yml": MAP.replace("one", "two"),
            "apps/deep/not.json": "{}",
            "apps/built/kustomization.yaml": "resources: [three.yaml]\nnamePrefix: x-\n",
            "apps/built/three.yaml": MAP.replace("one", "three"),
            "apps/built/not-listed.yaml": MAP.replace("one", "four"),
        }
    )
    assert (objects_of(found), said(found)) == (
        ["ConfigMap shop/one", "ConfigMap shop/two", "ConfigMap shop/x-three"],
        "",
    )


def test_what_a_folder_makes_may_deploy_further_folders_patched_on_the_way() -> None:
    """A repository that Flux was installed from deploys the folder that its own objects stand in."""
    patch = {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": "_"},
        "spec": {"targetNamespace": "patched"},
    }
    found = flux(
        {
            "cluster/flux-system/kustomization.yaml": "resources: [sync.yaml]\n",
            "cluster/flux-system/sync.yaml": a_kustomization(
                "flux-system",
                "./cluster",
                patches=[{"patch": json.dumps(patch), "target": {"kind": "Kustomization", "name": "apps"}}],
            ),
            "cluster/apps.yaml": a_kustomization(),
            "apps/one.yaml": MAP,
        }
    )
    assert (objects_of(found), said(found)) == (["ConfigMap patched/one"], "")
    assert [(each.path, each.origin) for each in found.desired.templates] == [("cluster/apps.yaml", "apps/one.yaml:1")]


def test_a_kustomization_that_a_patch_removes_deploys_nothing() -> None:
    removed = (
        "$patch: delete\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: apps, namespace: flux-system}\n"
    )
    found = flux(
        {
            "cluster/sync.yaml": a_kustomization("sync", "./all", patches=[{"patch": removed}]),
            "all/apps.yaml": a_kustomization(),
            "all/one.yaml": MAP,
            "apps/kustomization.yaml": "resources: [two.yaml]\n",
            "apps/two.yaml": MAP.replace("one", "two"),
        }
    )
    assert said(found) == ""
    # Nobody deploys the folder any more, so that it is a kustomization like any other.
    assert objects_of(found) == ["ConfigMap default/one", "ConfigMap default/two"]


def test_variables_come_from_config_maps_of_the_source_and_from_itself() -> None:
    text = "a: ${A}\nb: '${B}'\nc: ${C:=def}\nd: $${D}\ne: x${E:=}\n"
    found = flux(
        {
            "cluster/apps.yaml": a_kustomization(
                postBuild={
                    "substituteFrom": [
                        {"kind": "ConfigMap", "name": "settings"},
                        {"kind": "ConfigMap", "name": "none", "optional": True},
                    ],
                    "substitute": {"B": "own"},
                }
            ),
            "cluster/settings.yaml": a_kustomization("settings", "./settings"),
            "settings/map.yaml": emit(a_config_map("settings", namespace="flux-system", A="x\n", B="theirs")),
            "apps/kustomization.yaml": "resources: [web.yaml, off.yaml]\n",
            "apps/web.yaml": WEB.replace("replicas: 1", "replicas: ${N:=3}").replace(
                "metadata: {name: web}\nspec",
                f"metadata:\n  name: web\n  annotations:\n    {text.strip().replace(chr(10), chr(10) + '    ')}\nspec",
            ),
            "apps/off.yaml": MAP.replace("one", f"one, annotations: {{{SWITCH}: disabled}}").replace("b}", "'${A}'}"),
        }
    )
    assert said(found) == ""
    config, settings, web = made(found)
    assert (config["data"], settings["data"]) == ({"a": "${A}"}, {"A": "x\n", "B": "theirs"})
    assert web["spec"]["replicas"] == 3
    assert web["metadata"]["annotations"] == {"a": "x", "b": "own", "c": "def", "d": "${D}", "e": "x"}


def test_what_a_folder_makes_is_read_again_only_where_its_variables_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are three rounds: the second has the ConfigMap that the first made, and the third changes nothing."""
    finished = []

    def finish(place: LocatedManifest, *given: Any) -> Finished:
        finished.append(place.manifest["metadata"]["name"])
        return objects_finished_by_flux(place, *given)

    monkeypatch.setattr(rounds, "objects_finished_by_flux", finish)
    config_map = {"kind": "ConfigMap", "name": "settings", "optional": True}
    found = flux(
        {
            "cluster/apps.yaml": a_kustomization(
                postBuild={"substituteFrom": [config_map], "substitute": {"B": "own"}}
            ),
            "cluster/settings.yaml": a_kustomization("settings", "./settings"),
            "settings/map.yaml": emit(a_config_map("settings", namespace="flux-system", A="x")),
            "apps/one.yaml": MAP.replace("b}", "'${A:=none}'}"),
        }
    )
    assert [each["data"] for each in made(found)] == [{"a": "x"}, {"A": "x"}]
    assert sorted(finished) == ["apps", "apps", "settings"]


SWITCH = "kustomize.toolkit.fluxcd.io/substitute"
SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: secrets, namespace: flux-system}\n"
    "stringData: {DOMAIN: hidden.org}\n"
)
FROM_SECRET = {"substituteFrom": [{"kind": "Secret", "name": "secrets"}]}


def test_an_object_that_needs_a_value_of_a_secret_is_left_out_and_others_are_not() -> None:
    files: dict[str, Content] = {
        "cluster/apps.yaml": a_kustomization(postBuild=FROM_SECRET),
        "cluster/secret.yaml": SECRET,
        "apps/one.yaml": MAP.replace("b}", "'${DOMAIN}'}"),
        "apps/two.yaml": MAP.replace("one", "two").replace("b}", "'${OTHER:-x}'}"),
    }
    found = flux(files)
    assert objects_of(found) == ["ConfigMap default/two", "Secret flux-system/secrets"]
    assert said(found) == (
        "apps/one.yaml:1: ConfigMap one is not made by Kustomization apps: ${DOMAIN} of Secret flux-system/secrets\n"
        "  hint: a ConfigMap, or postBuild.substitute, may set what is no secret"
    )
    assert "hidden.org" not in repr([each.manifest for each in found.desired.templates[:1]])


def test_a_secret_that_is_not_in_the_source_may_have_any_variable() -> None:
    files: dict[str, Content] = {
        "cluster/apps.yaml": a_kustomization(postBuild={**FROM_SECRET, "substitute": {"A": "own"}}),
        "apps/one.yaml": MAP.replace("b}", "'${DOMAIN:-x}'}"),
        "apps/two.yaml": MAP.replace("one", "two").replace("b}", "'${A}'}"),
    }
    found = flux(files)
    assert objects_of(found) == ["ConfigMap default/two"]
    assert said(found).startswith(
        "apps/one.yaml:1: ConfigMap one is not made by Kustomization apps: ${DOMAIN} of Secret flux-system/secrets\n"
    )


SCRIPT = MAP.replace("b}", '"rm -rf ${WORKDIR}/* ${region} ${TAG}"}')


def test_an_object_with_variables_that_nothing_sets_is_left_out_by_their_names() -> None:
    files: dict[str, Content] = {
        "cluster/apps.yaml": a_kustomization(postBuild={"substitute": {"region": "eu"}}),
        "apps/one.yaml": SCRIPT,
        "apps/two.yaml": MAP.replace("one", "two").replace("b}", "'${region}$${TAG}${TAG:=}'}"),
        "apps/off.yaml": SCRIPT.replace("one", f"three, labels: {{{SWITCH}: disabled}}"),
    }
    found = flux(files)
    assert objects_of(found) == ["ConfigMap default/three", "ConfigMap default/two"]
    assert said(found) == (
        "apps/one.yaml:1: ConfigMap one is not made by Kustomization apps: nothing sets ${TAG}, ${WORKDIR}\n"
        "  hint: set it under postBuild.substitute, empty if it is meant to be, or write ${TAG:=} for nothing and"
        " $${TAG} for the text itself; kustomize.toolkit.fluxcd.io/substitute: disabled leaves all of an object as it"
        " is"
    )
    set_empty = a_kustomization(postBuild={"substitute": {"region": "eu", "WORKDIR": "", "TAG": ""}})
    found = flux({**files, "cluster/apps.yaml": set_empty})
    assert (said(found), made(found)[0]["data"]) == ("", {"a": "rm -rf /* eu"})


class Strategy(NamedTuple):
    why: str
    after: Mapping[str, Any]
    want: str


EMPTY = {"substituteFrom": [{"kind": "ConfigMap", "name": "none", "optional": True}]}
STRATEGIES = [
    Strategy("without any variable nothing is filled in", {}, "${A:=x}"),
    Strategy("nor with the strategy that says so", {"substituteStrategy": "WithVariables"}, "${A:=x}"),
    Strategy("nor where what they come from has none", EMPTY, "${A:=x}"),
    Strategy("one variable is enough", {"substitute": {"B": ""}}, "x"),
    Strategy("Always asks for defaults", {"substituteStrategy": "Always"}, "x"),
    Strategy("also where what they come from has none", {**EMPTY, "substituteStrategy": "Always"}, "x"),
]


@each_row("case", STRATEGIES, ids=lambda case: case.why)
def test_the_strategy_of_a_kustomization_says_when_defaults_are_filled_in(case: Strategy) -> None:
    found = flux(
        {"cluster/apps.yaml": a_kustomization(postBuild=case.after), "apps/one.yaml": MAP.replace("b}", "'${A:=x}'}")}
    )
    (manifest,) = made(found)
    assert (said(found), manifest["data"]) == ("", {"a": case.want})


def test_a_variable_without_a_value_is_left_alone_where_nothing_is_filled_in() -> None:
    found = flux({"cluster/apps.yaml": a_kustomization(postBuild={"substitute": {}}), "apps/one.yaml": SCRIPT})
    assert (said(found), made(found)[0]["data"]) == ("", {"a": "rm -rf ${WORKDIR}/* ${region} ${TAG}"})


class Unusable(NamedTuple):
    why: str
    spec: Mapping[str, Any]
    said: str


AT = "cluster/apps.yaml"
UNUSABLE = [
    Unusable(
        "suspended",
        {"suspend": True},
        f"{AT}:13: spec.suspend: it is suspended, so that nothing is made of it\n"
        "  hint: what Argosy delivers is suspended by its policy: spec.suspension",
    ),
    Unusable(
        "a field that is not known",
        {"zoom": 1},
        f"{AT}:13: spec.zoom: no field that is known here, so that it might change anything",
    ),
    Unusable("a path that leads out", {"path": "../x"}, f"{AT}:8: spec.path: '../x' leads out of the repository"),
    Unusable("a folder that is not there", {"path": "./none"}, f"{AT}:8: spec.path: there is no folder 'none'"),
    Unusable(
        "a ConfigMap that is not there",
        {"postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "none"}]}},
        f"{AT}:11: spec.postBuild.substituteFrom[0]: there is no ConfigMap flux-system/none in the source\n"
        "  hint: optional: true goes on without",
    ),
    Unusable(
        "a strategy that Flux does not know",
        {"postBuild": {"substituteStrategy": "Never"}},
        f"{AT}:10: spec.postBuild.substituteStrategy: must be 'WithVariables' or 'Always'",
    ),
    Unusable(
        "a name that is none of a variable",
        {"postBuild": {"substitute": {"a.b": "c"}}},
        f"{AT}:10: spec.postBuild.substitute: 'a.b' is no name of a variable\n  hint: letters, digits and '_' alone",
    ),
    Unusable(
        "an artifact that nobody makes",
        {"sourceRef": {"kind": "ExternalArtifact", "name": "x"}},
        f"{AT}:10: spec.sourceRef: no ArtifactGenerator makes flux-system/x",
    ),
    Unusable(
        "another repository",
        {"sourceRef": {"kind": "GitRepository", "name": "other"}},
        f"{AT}:10: spec.sourceRef: https://example.com/b is not in argosy.lock\n  hint: lock it: argosy lock",
    ),
    Unusable(
        "a patch that does not fit",
        {"patches": [{"patch": "x"}]},
        f"{AT}:10: spec.path: {VERSION} cannot build apps: trouble configuring builtin PatchTransformer with config: `",
    ),
    Unusable(
        "a component that is not there",
        {"components": ["../none"]},
        "apps/kustomization.yaml: components[0]: there is no '../none'\n  hint: it would be none",
    ),
    Unusable(
        "a component of another place",
        {"components": ["https://example.com/x"]},
        "apps/kustomization.yaml: components[0]: 'https://example.com/x' is not in this repository, and a build fetches"
        " nothing\n  hint: write a Source for it, and run argosy lock",
    ),
]


def repository_of(name: str, url: str) -> bytes:
    head = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository"}
    return emit({**head, "metadata": {"name": name, "namespace": "flux-system"}, "spec": {"url": url}})


@each_row("case", UNUSABLE, ids=lambda case: case.why)
def test_what_cannot_be_read_stops_nothing_else(case: Unusable) -> None:
    found = flux(
        {
            AT: a_kustomization(**case.spec),
            "apps/kustomization.yaml": "resources: [one.yaml]\n",
            "apps/one.yaml": MAP,
            "repositories/own.yaml": repository_of("flux-system", "https://example.com/a"),
            "repositories/other.yaml": repository_of("other", "https://example.com/b"),
            "x.yaml": MAP.replace("one", "x"),
        }
    )
    assert said(found) == case.said
    assert "ConfigMap default/x" in objects_of(found)
    assert found.problems_that_block == ()


def test_what_is_not_read_is_said_once_for_all() -> None:
    after = {"dependsOn": [{"name": "x"}], "interval": "1h", "wait": True}
    found = flux(
        {
            "a.yaml": a_kustomization("a", "./one", **after) + a_kustomization("b", "./two", prune=False, **after),
            "one/one.yaml": MAP,
            "two/two.yaml": MAP.replace("one", "two"),
        }
    )
    assert [str(each) for each in found.desired.warnings if "not read" in each.message] == [
        "a.yaml:8: spec.dependsOn: not read, for a, b: objects are applied by kind, definitions and namespaces first",
        (
            "a.yaml:28: spec.prune: not read, for b: objects that are gone from the source leave clusters, unless their"
            " policy preserves them"
        ),
    ]
    assert objects_of(found) == ["ConfigMap default/one", "ConfigMap default/two"]


def test_an_artifact_is_cut_out_of_the_repository() -> None:
    generator = {
        "apiVersion": "source.extensions.fluxcd.io/v1beta1",
        "kind": "ArtifactGenerator",
        "metadata": {"name": "all", "namespace": "flux-system"},
        "spec": {
            "artifacts": [
                {
                    "name": "apps",
                    "copy": [
                        {"from": "@repo/apps/base/**", "to": "@artifact/base/"},
                        {"from": "@repo/apps/production/**", "to": "@artifact/production/"},
                    ],
                }
            ]
        },
    }
    files: dict[str, Content] = {
        "cluster/artifacts.yaml": emit(generator),
        "cluster/apps.yaml": a_kustomization(
            "apps", "./production", sourceRef={"kind": "ExternalArtifact", "name": "apps"}
        ),
        "apps/base/kustomization.yaml": "resources: [one.yaml]\n",
        "apps/base/one.yaml": MAP,
        "apps/production/kustomization.yaml": "resources: [../base]\nnamePrefix: p-\n",
        "apps/staging/one.yaml": MAP,
    }
    found = flux({**files, "argosy.yaml": FLEET + b"    ignore: [apps/staging]\n"})
    assert said(found) == ""
    assert [(str(each.ref), each.origin) for each in found.desired.templates if each.ref.kind == "ConfigMap"] == [
        ("ConfigMap default/p-one", "apps/base/one.yaml:1")
    ]


def test_folders_that_deploy_each_other_in_a_circle_end() -> None:
    found = flux(
        {
            "a.yaml": a_kustomization("a", "./b"),
            "b/b.yaml": a_kustomization("b", "./a"),
            "a/a.yaml": a_kustomization("a", "./b"),
        }
    )
    assert (objects_of(found), said(found)) == ([], "")


def test_a_folder_that_makes_another_deployer_of_itself_each_time_is_refused() -> None:
    again = a_kustomization("k-${N}", "./a", postBuild={"substitute": {"N": "${N}y"}})
    found = flux(
        {
            "a.yaml": a_kustomization("a", "./a", postBuild={"substitute": {"N": "y"}}),
            "a/k.yaml": again,
            "one.yaml": MAP,
        }
    )
    assert objects_of(found) == ["ConfigMap default/one"]
    assert said(found) == (
        "a.yaml:2: more than 2000 objects deploy folders, or they still change after 12 rounds: objects deploy each"
        " other in a circle"
    )


def test_nothing_is_built_again_while_its_files_stay() -> None:
    cache = Memory()
    files: dict[str, Content] = {
        "cluster/apps.yaml": a_kustomization(targetNamespace="shop") + a_kustomization("b", "./b"),
        "apps/one.yaml": MAP,
        "b/two.yaml": MAP.replace("one", "two"),
    }
    first = flux(files, cache)
    kept = dict(cache.values)
    assert (flux(files, cache).desired.templates, cache.values) == (first.desired.templates, kept)
    flux({**files, "b/two.yaml": MAP.replace("one", "three")}, cache)
    built = [key for key in cache.values.keys() - kept.keys() if isinstance(cache.values[key][0][1], tuple)]
    assert len(built) == 1, "the build of the changed folder"


WRONG: list[Any] = [1, "x", [1], [[1]], {"a": 1}, [{"a": [1]}], None, True]
FIELDS = ["path", "sourceRef", "targetNamespace", "commonMetadata", "patches", "images", "components", "namePrefix"]
AFTER = ["postBuild", "substitute", "substituteFrom", "patchesStrategicMerge", "patchesJson6902", "dependsOn"]


@pytest.mark.parametrize("field", [*FIELDS, *AFTER])
def test_a_kustomization_of_a_wrong_shape_is_no_crash(field: str) -> None:
    specs = [
        {"postBuild": {field: each}} if field.startswith("substitute") else {field: each}
        for each in WRONG
        if each is not None
    ]
    objects = b"".join(a_kustomization(f"a{number}", **{"path": "none", **spec}) for number, spec in enumerate(specs))
    files: dict[str, Content] = {"a.yaml": objects, "x.yaml": MAP.replace("one", "x")}
    assert "ConfigMap default/x" in objects_of(flux(files))
