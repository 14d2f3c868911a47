"""Whatever a policy says and whatever shape a manifest has: a manifest or an error, and never a change of the input."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from overrides.changes import changes_of
from overrides.draft import Draft
from overrides.engine import OverrideEngine
from overrides.explanation import effects_of_rules
from overrides.lint import lint_overrides
from overrides.parsing import parse_override_policy
from overrides.pointer import refusal_of_missing_segment
from overrides.record import AppliedRule, applied_annotations
from overrides.rules import compile_recorded_rule, run_edits_of_rule
from render.documents import emit, parse_documents
from render.model import Manifest, ObjectRef, Template
from tests.overriding import CLUSTERS, EVERY

SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "x", "nginx:1", "a: 1", '{"a":1}', "[1]"])
)
KEYS = st.sampled_from(["a", "spec", "containers", "name", "image", "args", "labels", "", "0"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
CONTAINERS = st.lists(
    st.fixed_dictionaries({}, optional={"name": st.just("c") | SCALARS, "image": SCALARS, "args": VALUES}) | SCALARS,
    max_size=2,
)
PODS = st.fixed_dictionaries({}, optional={"containers": CONTAINERS | SCALARS}) | SCALARS
SPECS = st.fixed_dictionaries(
    {}, optional={"a": VALUES, "containers": CONTAINERS, "template": st.fixed_dictionaries({"spec": PODS}) | SCALARS}
)
METADATA = st.fixed_dictionaries(
    {"name": st.just("web"), "namespace": st.just("shop")}, optional={"labels": VALUES, "annotations": VALUES}
)
MANIFESTS = st.fixed_dictionaries(
    {
        "apiVersion": st.just("v1"),
        "kind": st.sampled_from(["Pod", "Deployment", "Secret", "Widget"]),
        "metadata": METADATA,
    },
    optional={"spec": SPECS | SCALARS, "data": VALUES},
)
PATHS = st.lists(
    st.sampled_from(
        ["", "spec", "metadata", "labels", "name", "template", "containers", "0", "-1", "-", "a", "data", "image"]
    ),
    max_size=5,
).map("/".join) | st.sampled_from(
    ["", "/", "/spec", "/metadata/labels/a", "/spec/containers/0/image", "/data/a", "/kind"]
)
ENUM = st.sampled_from(["add", "replace", "remove"])
WORDS = st.sampled_from(["", "x", ":1", "r.io", "Up", "@sha256:1"])
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"operator": ENUM, "value": st.dictionaries(st.sampled_from(["a", "b/c"]), WORDS, max_size=2)}
    ),
    max_size=2,
)
COMMANDS = st.lists(
    st.fixed_dictionaries({"operator": ENUM, "containerName": st.sampled_from(["c", "x"]), "value": st.lists(WORDS)}),
    max_size=1,
)


def operations(pointer: str) -> st.SearchStrategy[Any]:
    return st.lists(st.fixed_dictionaries({pointer: PATHS, "operator": ENUM}, optional={"value": VALUES}), max_size=3)


IMAGES = st.lists(
    st.fixed_dictionaries(
        {"component": st.sampled_from(["Registry", "Repository", "Tag"]), "operator": ENUM, "value": WORDS},
        optional={"predicate": st.fixed_dictionaries({"path": PATHS})},
    ),
    max_size=2,
)
FIELDS = st.lists(
    st.fixed_dictionaries(
        {"fieldPath": PATHS}, optional={"json": operations("subPath"), "yaml": operations("subPath")}
    ),
    max_size=1,
)
OVERRIDERS = st.fixed_dictionaries(
    {},
    optional={
        "plaintext": operations("path"),
        "imageOverrider": IMAGES,
        "commandOverrider": COMMANDS,
        "argsOverrider": COMMANDS,
        "labelsOverrider": ENTRIES,
        "annotationsOverrider": ENTRIES,
        "fieldOverrider": FIELDS,
    },
)
TARGETS = st.sampled_from([["eu-1"], ["us-1"], ["eu-1", "eu-2"]])
POLICIES = st.lists(
    st.tuples(
        st.sampled_from(["", "shop"]),
        st.lists(
            st.fixed_dictionaries(
                {"overriders": OVERRIDERS},
                optional={"targetCluster": st.fixed_dictionaries({"clusterNames": TARGETS})},
            ),
            min_size=1,
            max_size=2,
        ),
    ),
    min_size=1,
    max_size=3,
)


@given(manifest=MANIFESTS, drawn=POLICIES)
def test_there_is_always_an_answer(manifest: dict[str, Any], drawn: list[tuple[str, list[dict[str, Any]]]]) -> None:
    before = deepcopy((manifest, drawn))
    policies = [
        parse_override_policy({"metadata": {"name": f"p{index}", "namespace": scope}, "spec": {"overrideRules": rules}})
        for index, (scope, rules) in enumerate(drawn)
    ]
    for overridden in OverrideEngine(policies, CLUSTERS).override(manifest, EVERY):
        applied_annotations(overridden.applied)
        steps = effects_of_rules(manifest, overridden.applied)
        assert [step.error for step in steps if step.error] == ([overridden.error] if overridden.error else [])
        assert overridden.error or overridden.manifest == one_by_one(manifest, overridden.applied)
        changes = [changes_of(run.before, run.after) for run in overridden.runs]
        assert overridden.error or changes == [step.changes for step in steps]
        if overridden.manifest is not None:
            assert ObjectRef.of(overridden.manifest) == ObjectRef.of(manifest)
            (document,) = parse_documents(emit(overridden.manifest))
            assert document.value == overridden.manifest
    lint_overrides(policies, [Template(ref=ObjectRef.of(manifest), manifest=manifest)], CLUSTERS)
    assert (manifest, drawn) == before


def one_by_one(manifest: Manifest, applied: Sequence[AppliedRule]) -> Manifest:
    """Return a manifest changed by rules, each run for it alone."""
    for record in applied:
        draft = Draft(manifest)
        assert run_edits_of_rule(compile_recorded_rule(record), draft) is None
        manifest = draft.root
    return manifest


def test_a_key_that_is_missing_is_compared_with_no_more_than_a_thousand() -> None:
    """Every rule may miss another one, of an object as large as a file may be."""
    keys = {f"key-{number}": "" for number in range(1_000)}
    found = [refusal_of_missing_segment([], "key_1", each) for each in (keys, {**keys, "more": ""})]
    assert [(each.message, each.hint) for each in found] == [
        ("'key_1' does not exist in the top level", "did you mean 'key-1'?"),
        ("'key_1' does not exist in the top level", ""),
    ]
