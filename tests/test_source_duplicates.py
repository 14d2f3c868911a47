"""Objects that stand in a repository more than once: equal copies are one, and of variants a whole folder is chosen."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import SourceReading
from render.documents import emit, read_documents

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .sources import source_of

MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


def loaded(files: Mapping[str, Any]) -> Loaded:
    source = source_of({path: each if isinstance(each, bytes) else emit(each) for path, each in files.items()})
    return load_source(source.files, SourceReading(source.read))


def test_equal_copies_are_one_object_without_a_word() -> None:
    copies = {f"{folder}/web.yaml": a_config_map("web") for folder in ("deploy", "examples/one", "examples/two")}
    found = loaded(copies)
    assert [(str(each.ref), each.path) for each in found.desired.templates] == [
        ("ConfigMap default/web", "deploy/web.yaml")
    ]
    assert (found.problems, found.warnings, found.lost, found.choices) == ((), (), (), ())


def test_a_copy_that_leaves_the_replicas_to_the_server_is_no_equal_one() -> None:
    files = {"a/web.yaml": a_deployment("web", replicas=1), "b/web.yaml": a_deployment("web")}
    del files["b/web.yaml"]["spec"]["replicas"]
    assert [str(each.ref) for each in loaded(files).lost] == ["Deployment.apps default/web"]


def test_each_object_that_is_lost_is_named_however_many_there_are() -> None:
    names = [f"map-{number}" for number in range(12)]
    found = loaded({f"{at}/{name}.yaml": a_config_map(name, at=at) for at in ("a", "b", "c/d") for name in names})
    assert sorted(each.ref.name for each in found.lost) == sorted(names)
    assert found.desired.templates == ()
    assert len(found.problems) == 1
    assert "12 objects are defined differently in a, b and c, and none of these is used" in found.problems[0].message
    assert all(f"ConfigMap default/{name}" in found.problems[0].message for name in names)


class Choice(NamedTuple):
    why: str
    files: Mapping[str, Any]
    left_out: list[str]


def variants(*paths: str) -> dict[str, Any]:
    """The same two objects in each of some folders, each time otherwise."""
    return {f"{path}/{name}.yaml": a_config_map(name, at=path) for path in paths for name in ("api", "web")}


README = b"# The shop\n\nInstall it:\n\n    kubectl apply \\\n      -f ./releases/\n"
CHOICES = [
    Choice("the one nearest to the top", variants("extras/cloud/maps", "maps"), ["/extras/"]),
    Choice("the one that the README applies", {**variants("deploy", "releases"), "README.md": README}, ["/deploy/"]),
    Choice(
        "a file that the README applies by its address",
        {
            "deploy/all.yaml": a_config_map("web", at="all"),
            "deploy/all-nfs.yaml": a_config_map("web", at="nfs"),
            "README.md": b"kubectl create -f https://raw.example.com/shop/v1/deploy/all-nfs.yaml\n",
        },
        ["/deploy/all.yaml"],
    ),
    Choice(
        "the file with the shorter name",
        {"deploy/all-okd.yaml": a_config_map("web", at="okd"), "deploy/all.yaml": a_config_map("web", at="all")},
        ["/deploy/all-okd.yaml"],
    ),
    Choice(
        "the one that a policy stands beside",
        {
            **variants("artifacts", "samples"),
            "samples/policy.yaml": a_policy("p", selectors=[MAPS], placement=on_clusters("eu")),
        },
        ["/artifacts/"],
    ),
    Choice(
        "each variant by itself, not the folder above that holds other things too",
        {
            **variants("extras/a", "extras/b", "maps"),
            "extras/monitoring/rules.yaml": a_config_map("rules"),
        },
        ["/extras/a/", "/extras/b/"],
    ),
    Choice(
        "nothing of a folder whose policy stands nowhere else",
        {
            **variants("maps", "more/maps"),
            "more/policy.yaml": a_policy("p", selectors=[MAPS], placement=on_clusters("eu")),
            "policies/q.yaml": a_policy("q", selectors=[MAPS], placement=on_clusters("eu")),
            "README.md": b"kubectl apply -f maps\n",
        },
        ["/more/maps/"],
    ),
]


@pytest.mark.parametrize("case", CHOICES, ids=lambda case: case.why)
def test_of_variants_a_whole_folder_is_chosen(case: Choice) -> None:
    assert [each.line for each in loaded(case.files).choices] == case.left_out


def test_a_readme_that_is_not_committed_yet_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Repository.create(tmp_path / "fleet")
    made.commit({**variants("deploy", "releases"), "README.md": b"# The shop\n"})
    (made.path / "README.md").write_bytes(README)
    assert argosy(made, capsys, "init", "--new-cluster", "eu").code == 0


def test_without_what_is_left_out_one_variant_of_each_object_is_read() -> None:
    for case in CHOICES:
        lines = "".join(f"{each.line}\n" for each in loaded(case.files).choices)
        found = loaded({**case.files, ".argosyignore": lines.encode()})
        names = [each.ref.name for each in found.desired.templates]
        assert (found.lost, "web" in names, len(names) == len(set(names))) == ((), True, True), case.why


def test_a_folder_is_not_left_out_for_another_that_is_left_out_as_well() -> None:
    """All of the manifests stand in one file, too; one of both stands otherwise beside what is optional."""
    names = [f"app-{number}" for number in range(6)]
    files: dict[str, Any] = {
        "deploy/all.yaml": b"---\n".join(emit({**a_config_map(name), "data": {"in": "all"}}) for name in names),
        **{f"deploy/manifests/{name}.yaml": emit(a_config_map(name)) for name in names},
        "deploy/tracing/app-0.yaml": emit({**a_config_map("app-0"), "data": {"in": "tracing"}}),
        **{f"deploy/tracing/{name}.yaml": emit(a_config_map(name)) for name in ("jaeger", "collector", "agent")},
    }
    found = loaded(files)
    assert [each.line for each in found.choices] == ["/deploy/all.yaml"]
    read = loaded({**files, ".argosyignore": b"/deploy/all.yaml\n"})
    assert [ref.name for ref, *_ in read.lost] == ["app-0"], "what is lost is named, and the rest is read"
    assert {each.ref.name for each in read.desired.templates} == {*names[1:], "jaeger", "collector", "agent"}


def test_the_line_for_a_folder_means_that_folder_whatever_it_is_called() -> None:
    """Brackets, stars and spaces are wildcards in an ignore line, and more than that in YAML."""
    files: dict[str, Any] = {
        f"{folder}/{name}.yaml": {**a_config_map(name), "data": {"in": folder}}
        for folder in ("a", "b [1]*", "c, d #", "e\\")
        for name in ("one", "two")
    }
    found = loaded(files)
    assert [each.line for each in found.choices] == ["/b \\[1]\\*/", "/c, d #/", "/e\\\\/"]
    hint = found.broken[0].problem.hint
    settings = read_documents(hint.partition("argosy.yaml:")[2].encode())[0][0].value
    lines = "\n".join(settings["spec"]["source"]["ignore"])
    assert loaded({**files, ".argosyignore": lines.encode()}).lost == ()


def a_policy_of(*names: str) -> dict[str, Any]:
    return a_policy("all", selectors=[MAPS], placement=on_clusters(*names))


def an_override_of(value: str) -> dict[str, Any]:
    overriders = {"labelsOverrider": [{"operator": "add", "value": {"at": value}}]}
    head = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterOverridePolicy", "metadata": {"name": "at"}}
    return {**head, "spec": {"resourceSelectors": [MAPS], "overrideRules": [{"overriders": overriders}]}}


def a_customization_of(script: str, name: str = "shop") -> dict[str, Any]:
    head = {"apiVersion": "config.karmada.io/v1alpha1", "kind": "ResourceInterpreterCustomization"}
    target = {"apiVersion": "example.com/v1", "kind": "Shop"}
    health = {"healthInterpretation": {"luaScript": f"function InterpretHealth(o) return {script} end"}}
    return {**head, "metadata": {"name": name}, "spec": {"target": target, "customizations": health}}


def test_equal_copies_of_policies_clusters_and_customizations_are_one_without_a_word() -> None:
    objects = {
        "policy.yaml": a_policy_of("eu"),
        "override.yaml": an_override_of("eu"),
        "cluster.yaml": a_cluster("eu"),
        "customization.yaml": a_customization_of("true"),
    }
    found = loaded({f"{folder}/{name}": each for folder in ("a", "b") for name, each in objects.items()})
    desired = found.desired
    numbers = [
        len(each) for each in (desired.policies, desired.override_policies, desired.clusters, desired.customizations)
    ]
    assert (found.problems, found.choices, numbers) == ((), (), [1, 1, 1, 1])


REPEATED = [
    ("policies", a_policy_of("eu"), a_policy_of("us")),
    ("overrides", an_override_of("eu"), an_override_of("us")),
    ("customizations", a_customization_of("true"), a_customization_of("false")),
    ("customizations of one target", a_customization_of("true"), a_customization_of("false", name="other")),
    ("customizations of one target that do the same", a_customization_of("true"), a_customization_of("true", name="b")),
]


@pytest.mark.parametrize(("why", "one", "other"), REPEATED, ids=[why for why, *_ in REPEATED])
def test_two_of_karmadas_objects_of_one_name_or_target_stop_a_pass_until_init_has_chosen(
    why: str, one: dict[str, Any], other: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "demo/object.yaml": one,
            "demo/map.yaml": a_config_map("demo"),
            "docs/more/object.yaml": other,
            "docs/more/map.yaml": a_config_map("demo", at="more"),
        }
    )
    before = argosy(made, capsys, "validate")
    said = any(words in before.out for words in ("is defined twice", "already has a script for InterpretHealth"))
    assert (before.code, said) == (3, True), why
    begun = argosy(made, capsys, "init", "--new-cluster", "eu", "--new-cluster", "us")
    assert (begun.code, "/docs/" in (made.path / "argosy.yaml").read_text()) == (0, True)
    after = argosy(made, capsys, "validate")
    assert (after.code, "defined" in after.out, "already" in after.out) == (0, False, False)


def test_customizations_that_one_of_another_folder_repeats_are_variants_and_others_are_none() -> None:
    """A folder is left out where another one customizes all that it does, in however many objects."""
    both = a_customization_of("false", name="both")
    replicas = {"replicaResource": {"luaScript": "function GetReplicas(o) return 1, nil end"}}
    scripts = {**both["spec"]["customizations"], **replicas}
    files = {
        "a/health.yaml": a_customization_of("true"),
        "a/replicas.yaml": {**both, "metadata": {"name": "x"}, "spec": {**both["spec"], "customizations": replicas}},
        "b/more/both.yaml": {**both, "spec": {**both["spec"], "customizations": scripts}},
    }
    assert [each.line for each in loaded(files).choices] == ["/b/"]
    del files["a/replicas.yaml"]
    assert [each.line for each in loaded(files).choices] == ["/a/"], "b alone says how many replicas there are"


def test_customizations_of_other_functions_or_targets_are_no_variants() -> None:
    other = a_customization_of("true", name="replicas")
    script = {"luaScript": "function GetReplicas(o) return 1, nil end"}
    replicas = {**other["spec"], "customizations": {"replicaResource": script}}
    target = {**other["spec"], "target": {"apiVersion": "example.com/v1", "kind": "Till"}}
    files = {
        "a/health.yaml": a_customization_of("true"),
        "b/replicas.yaml": {**other, "spec": replicas},
        "c/till.yaml": {**a_customization_of("true", name="till"), "spec": target},
    }
    found = loaded(files)
    assert (found.problems, found.choices, len(found.desired.customizations)) == ((), (), 3)


def test_a_file_of_nothing_but_a_repeated_policy_is_left_out_for_one_of_another_folder() -> None:
    files = {
        "demo/policy.yaml": a_policy_of("eu"),
        "demo/own.yaml": a_config_map("own"),
        "docs/more/policy.yaml": a_policy_of("us"),
        "docs/more/page.yaml": a_config_map("page"),
        "docs/more/own-override.yaml": an_override_of("eu"),
    }
    assert [each.line for each in loaded(files).choices] == ["/docs/more/policy.yaml"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A fleet of one cluster that takes all ConfigMaps, two of which stand there in two variants."""
    made = Repository.create(tmp_path / "fleet")
    everywhere = a_policy("all", selectors=[MAPS], placement=on_clusters("eu"))
    made.commit(
        {**variants("one", "two"), "own/own.yaml": a_config_map("own"), "p.yaml": everywhere, "c.yaml": a_cluster("eu")}
    )
    return made


def test_what_is_lost_is_named_in_text_and_json_and_ends_with_exit_code_1(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["ConfigMap default/api", "ConfigMap default/web"]
    checked = argosy(repository, capsys, "validate")
    assert (checked.code, [name for name in names if name in checked.out]) == (1, names)
    document = argosy(repository, capsys, "validate", "-o", "json")
    assert (document.code, [each["object"] for each in json.loads(document.out)["lost"]]) == (1, names)
    for command in ("render", "reconcile --bootstrap", "reconcile"):
        ended = argosy(repository, capsys, *command.split(), "-o", "json")
        assert (ended.code, [each["object"] for each in json.loads(ended.out)["problems"]]) == (1, names), command


def test_what_argosy_yaml_leaves_out_on_purpose_is_not_lost(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({".argosyignore": b"/two/\n"})
    assert argosy(repository, capsys, "validate").code == 0
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (ended.code, ended.err) == (0, "")
