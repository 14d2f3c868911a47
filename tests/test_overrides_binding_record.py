"""Overrides as bindings record them: enough to make every cluster's manifest from the template, and no more."""

import json
from typing import Any, NamedTuple

import jsonpatch
import pytest
from hypothesis import given

from overrides.binding_record import RecordWriter
from overrides.engine import OverrideEngine
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy
from render.binding import Binding
from render.bits import indexes_of_mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.documents import parse_documents
from render.interpreter import Interpreter
from render.interpreter.pruning import manifest_without_pruned_fields
from render.model import ObjectRef, TargetCluster, Template
from render.works import TargetGroups, WorkContext, Works, render_works
from tests.build import a_config_map, a_deployment
from tests.overriding import CLUSTERS, a_rule, an_override, labelled, patching
from tests.tables import each_row
from tests.test_overrides_robustness import MANIFESTS, POLICIES

INDEX = ClusterIndex(CLUSTERS)


def works_of(manifest: dict[str, Any], policies: list[OverridePolicy], index: ClusterIndex = INDEX) -> Works:
    template = Template(ref=ObjectRef.of(manifest), manifest=manifest)
    targets = tuple(TargetCluster(name) for name in index.names)
    context = WorkContext(
        targets=TargetGroups(index.index_by_name),
        interpreter=Interpreter.of([]),
        override=OverrideEngine(policies, index).override,
    )
    return render_works(template, Binding(ref=template.ref, api_version="v1", targets=targets), context)


def record_of(manifest: dict[str, Any], *policies: OverridePolicy, kept: int = 0) -> str:
    return RecordWriter(names=INDEX.names).text_of(works_of(manifest, list(policies)), kept=kept)


def entries_of(text: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = parse_documents(f"entries:\n{text}".encode())[0].value["entries"] if text else []
    return entries


FLAGS = a_config_map("flags", namespace="shop", color="blue", text="one\ntwo\n")
TARGETING = [
    (None, None),
    ("eu-1", ["eu-1"]),
    ({"exclude": ["eu-1"]}, ["eu-2", "us-1"]),
    ({"clusterNames": ["gone"]}, "no entry"),
]


@pytest.mark.parametrize(("target", "want"), TARGETING, ids=["all", "one", "all but one", "none"])
def test_an_entry_names_its_clusters_unless_it_is_for_all(target: Any, want: Any) -> None:
    entries = entries_of(record_of(FLAGS, an_override("p", labelled(on=target, x="1"))))
    assert [entry.get("clusters") for entry in entries] == ([] if want == "no entry" else [want])


def test_an_entry_for_many_clusters_counts_them() -> None:
    index = ClusterIndex([Cluster(name=f"c{number:02}", region=f"r{number // 21}") for number in range(42)])
    in_region = {"fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["r0"]}]}}
    policy = an_override("p", labelled(on=in_region, x="1"), labelled(on={"clusterNames": index.names[:20]}, y="1"))
    many, few = entries_of(RecordWriter(names=index.names).text_of(works_of(FLAGS, [policy], index)))
    assert (many["clusterCount"], "clusters" in many) == (21, False)
    assert (few["clusters"], "clusterCount" in few) == (list(index.names[:20]), False)


def test_a_rule_that_changes_nothing_has_no_entry() -> None:
    idle = [{"operator": "remove", "value": {"nowhere": ""}}]
    assert record_of(FLAGS, an_override("p", a_rule(labelsOverrider=idle), labelled(on="eu-1"))) == ""
    assert record_of(FLAGS) == ""


def test_a_rule_that_changes_the_same_is_one_entry_whatever_else_differs() -> None:
    policies = an_override("a", patching("/data/color", "red", on="eu-1")), an_override("b", labelled(x="1"))
    assert [(entry["policy"], entry.get("clusters")) for entry in entries_of(record_of(FLAGS, *policies))] == [
        ("ClusterOverridePolicy a", ["eu-1"]),
        ("ClusterOverridePolicy b", None),
    ]


def test_a_rule_that_changes_what_another_left_has_an_entry_for_each() -> None:
    policies = (
        an_override("a", patching("/data/color", "red", on="eu-1")),
        an_override("b", patching("/data/color", "x")),
    )
    assert [
        (entry.get("clusters"), entry["changes"][0]["before"]) for entry in entries_of(record_of(FLAGS, *policies))
    ][1:] == [(["eu-1"], "red"), (["eu-2", "us-1"], "blue")]


def test_clusters_that_keep_what_they_have_are_in_no_entry() -> None:
    failing = an_override("b", patching("/data/nowhere", 1, on="us-1"))
    policies = an_override("a", labelled(x="1")), failing
    assert [entry["clusters"] for entry in entries_of(record_of(FLAGS, *policies, kept=0b001))] == [["eu-2"]]
    assert record_of(FLAGS, *policies, kept=0b011) == ""


class Value(NamedTuple):
    why: str
    edit: dict[str, Any]
    want: str


def adding(value: Any) -> dict[str, Any]:
    return patching("/spec", value, operator="add")


LARGE = json.dumps({"a": ["word"] * 300, "b": 1})
VALUES = [
    Value("a number", adding(5), "after: 5\n"),
    Value("a word that YAML reads as another", adding("off"), 'after: "off"\n'),
    Value("null", adding(None), "after: null\n"),
    Value("nothing in it", adding({}), "after: {}\n"),
    Value("a mapping", adding({"a": {"b": [1]}}), "after:\n        a:\n          b:\n          - 1\n"),
    Value("lines", adding("one\n\n  two\n"), "after: |\n        one\n\n          two\n"),
    Value("lines that start with a space", adding(" one\ntwo"), "after: |2-\n         one\n        two\n"),
    Value("a long text is cut", adding("x" * 1001), f"after: {'x' * 1000}... (1001 characters)\n"),
    Value(
        "a large mapping is cut as JSON",
        adding({"b": 1, "a": ["word"] * 300}),
        f"after: {json.dumps(LARGE[:1000] + '... (2415 characters)')}\n",
    ),
]


@each_row("case", VALUES, ids=lambda case: case.why)
def test_a_value_stands_as_yaml(case: Value) -> None:
    text = record_of(FLAGS, an_override("p", case.edit))
    head = "  - policy: ClusterOverridePolicy p\n    rule: spec.overrideRules[0]\n    changes:\n    - path: /spec\n"
    assert text == f"{head}      operator: add\n      {case.want}"
    assert entries_of(text)


def test_equal_values_of_other_types_are_told_apart() -> None:
    policy = an_override("p", patching("/data", 1, on="eu-1"), patching("/data", True, on="eu-2"))
    assert [entry["changes"][0]["after"] is True for entry in entries_of(record_of(FLAGS, policy))] == [False, True]


def test_the_values_of_a_secret_are_hidden() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "shop"},
        "data": {"a": "b25l"},
        "stringData": {"b": "two"},
    }
    edits = patching("/data/a", "dHdv"), patching("/stringData", {"b": "three"}), labelled(x="1")
    assert record_of(secret, an_override("p", *edits)) == (
        "  - policy: ClusterOverridePolicy p\n    rule: spec.overrideRules[0]\n    changes:\n"
        "    - path: /data/a\n      operator: replace\n      before: (hidden)\n      after: (hidden)\n"
        "  - policy: ClusterOverridePolicy p\n    rule: spec.overrideRules[1]\n    changes:\n"
        "    - path: /stringData/b\n      operator: replace\n      before: (hidden)\n      after: (hidden)\n"
        "  - policy: ClusterOverridePolicy p\n    rule: spec.overrideRules[2]\n    changes:\n"
        '    - path: /metadata/labels\n      operator: add\n      after:\n        x: "1"\n'
    )


def test_a_record_depends_on_nothing_but_its_object() -> None:
    """A writer that has written other records writes the same text."""
    writer = RecordWriter(names=INDEX.names)
    policies = [an_override("a", labelled(x="1"), patching("/metadata/labels/x", "2", on="eu-1"))]
    objects = [FLAGS, a_deployment("web", namespace="shop"), {**FLAGS, "data": {"other": "1"}}]
    fresh = [RecordWriter(names=INDEX.names).text_of(works_of(each, policies)) for each in objects]
    assert [writer.text_of(works_of(each, policies)) for each in (*objects, *objects)] == fresh * 2


@given(manifest=MANIFESTS.filter(lambda manifest: manifest["kind"] == "Widget"), drawn=POLICIES)
def test_replaying_a_record_on_the_template_makes_every_manifest(
    manifest: dict[str, Any], drawn: list[tuple[str, list[dict[str, Any]]]]
) -> None:
    policies = [
        parse_override_policy({"metadata": {"name": f"p{index}", "namespace": scope}, "spec": {"overrideRules": rules}})
        for index, (scope, rules) in enumerate(drawn)
    ]
    works = works_of(manifest, policies)
    entries = entries_of(RecordWriter(names=INDEX.names).text_of(works))
    for content in works.contents:
        for index in indexes_of_mask(content.clusters):
            there = [entry for entry in entries if INDEX.names[index] in entry.get("clusters", INDEX.names)]
            assert manifest_without_pruned_fields(replayed(manifest, there)) == content.manifest
    failed = {INDEX.names[index] for failure in works.failures for index in indexes_of_mask(failure.clusters)}
    assert not failed.intersection(name for entry in entries for name in entry.get("clusters", INDEX.names))


def replayed(manifest: dict[str, Any], entries: list[dict[str, Any]]) -> dict[str, Any]:
    changes = [change for entry in entries for change in entry["changes"]]
    patch = [{"op": change["operator"], "path": change["path"], "value": change.get("after")} for change in changes]
    made: dict[str, Any] = jsonpatch.apply_patch(manifest, patch)
    return made
