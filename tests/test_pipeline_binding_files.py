"""Bindings come back from their files as they were, also when somebody wrote them by hand."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault
from reconciler.pipeline.binding_files import BindingReader, BindingWriter
from render.admission import admit
from render.binding import Binding, Condition
from render.documents import emit, parse_documents
from render.interpretation.requirements import node_claim_of_pod
from render.model import ObjectRef, TargetCluster
from render.parsing import binding_manifest, parse_binding
from render.placement import (
    ClusterPreferences,
    Placement,
    ReplicaDivisionPreference,
    ReplicaScheduling,
    ReplicaSchedulingType,
    StaticClusterWeight,
)
from render.resources import ReplicaRequirements
from render.selectors import ClusterAffinity

REF = ObjectRef("apps", "Deployment", "shop", "web")
NAMES = st.one_of(
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True),
    st.sampled_from(["y", "no", "1e3", "0x1", "null"]),
)
TARGETS = st.lists(st.builds(TargetCluster, NAMES, st.integers(0, 2**31 - 1)), max_size=6).map(tuple)


@given(TARGETS)
def test_a_binding_comes_back_from_its_file(targets: tuple[TargetCluster, ...]) -> None:
    made = Binding(ref=REF, api_version="apps/v1", targets=targets)
    assert BindingReader().parse(BindingWriter().file_of(made).data()) == made


@given(TARGETS)
def test_the_file_means_to_any_yaml_parser_what_it_means_to_us(targets: tuple[TargetCluster, ...]) -> None:
    made = Binding(ref=REF, api_version="apps/v1", targets=targets)
    assert parse_documents(BindingWriter().file_of(made).data())[0].value == binding_manifest(made)


@given(TARGETS)
def test_a_file_in_another_style_is_read_too(targets: tuple[TargetCluster, ...]) -> None:
    made = Binding(ref=REF, api_version="apps/v1", targets=targets)
    assert BindingReader().parse(emit(binding_manifest(made))) == made


NASTY = ("a", "y", 'say "so"', "a\\b", "a\tb", "a: b", "*a", "&a", "\u2028", "a\nb", "spec:\n  placement: x")
WEIGHTS = st.builds(
    ClusterPreferences,
    static_weight_list=st.lists(
        st.builds(
            StaticClusterWeight,
            target_cluster=st.builds(ClusterAffinity, cluster_names=st.tuples(st.sampled_from(NASTY))),
            weight=st.integers(1, 9),
        ),
        max_size=3,
    ).map(tuple),
)
PLACEMENTS = st.none() | st.builds(
    Placement,
    cluster_affinity=st.none() | st.builds(ClusterAffinity, cluster_names=st.lists(st.sampled_from(NASTY)).map(tuple)),
    replica_scheduling=st.none()
    | st.builds(
        ReplicaScheduling,
        type=st.just(ReplicaSchedulingType.DIVIDED),
        division_preference=st.just(ReplicaDivisionPreference.WEIGHTED),
        weight_preference=WEIGHTS,
    ),
)
BINDINGS = st.builds(
    Binding,
    ref=st.just(REF),
    api_version=st.just("apps/v1"),
    policy=st.sampled_from(["", "PropagationPolicy shop/web", "ClusterPropagationPolicy all"]),
    replicas=st.integers(0, 12),
    placement=PLACEMENTS,
    applied_placement=PLACEMENTS,
    targets=TARGETS,
    scheduler_name=st.sampled_from(("", *NASTY)),
    observed_affinity=st.sampled_from(("", *NASTY)),
)


@given(st.lists(BINDINGS, min_size=1, max_size=4))
def test_bindings_of_any_placement_are_written_as_any_data_and_come_back(bindings: list[Binding]) -> None:
    """No binding may get what is another's, because texts that bindings share are written and read once."""
    writer, reader = BindingWriter(), BindingReader()
    for made in bindings:
        content, plain = writer.file_of(made).data(), binding_manifest(made)
        assert parse_documents(content)[0].value == plain
        assert reader.parse(content) == BindingReader().parse(emit(plain)) == parse_binding(plain)
        if not made.targets:
            assert content == emit(plain)


BY_HAND = [
    b"placement: {clusterAffinity: {clusterNames: [a]}}\n",
    b"placement:\n    clusterAffinity:\n      clusterNames: [a]\n",
    b"placement:\n    clusterAffinity:\n\n      clusterNames: [a]\n",
    b"placement:\n    clusterAffinity:\n# a comment\n      clusterNames: [a]\n",
    b"placement:\n    clusterAffinity: &all {clusterNames: [a]}\n  suspension: {dispatchingOnClusters: *all}\n",
    b"placement:\n     clusterAffinity:\n       clusterNames:\n       - a\n",
    b'placement:\n    clusterAffinity:\n      clusterNames: ["\n    a"]\n',
]


@pytest.mark.parametrize("spec", BY_HAND, ids=range(len(BY_HAND)))
@pytest.mark.parametrize("name", ['"{\\"clusterAffinity\\":{}}"', "'{}'", '"{"', '"a\n      b"'])
def test_a_placement_that_somebody_wrote_by_hand_is_read_as_yaml(spec: bytes, name: str) -> None:
    head = f"metadata:\n  annotations:\n    policy.karmada.io/applied-placement: {name}\n".encode()
    content = head + b"spec:\n  resource: {apiVersion: v1, kind: ConfigMap, name: web, namespace: shop}\n  " + spec
    for written in (content, content + b"status: {}\n", content.replace(head, b"") + head):
        assert BindingReader().parse(written) == parse_binding(parse_documents(written)[0].value)


def test_a_word_that_yaml_reads_as_something_else_is_not_taken_for_a_name() -> None:
    content = emit(binding_manifest(Binding(ref=REF, api_version="apps/v1")))
    by_hand = content.replace(b"spec:\n", b"spec:\n  clusters:\n  - {name: y}\n")
    with pytest.raises(FileFault, match=r"spec\.clusters\[0\]\.name is no text"):
        BindingReader().parse(by_hand)


RECORDS = st.lists(
    st.sampled_from(
        [
            "  - policy: ClusterOverridePolicy p\n    rule: spec\n    clusterCount: 30\n    changes:\n",
            "    - path: /text\n      operator: add\n      after: |\n        one\n\n        status:\n          two\n",
            '    - path: /data/n\n      operator: replace\n      before: 1\n      after: "\\nstatus:\\n"\n',
        ]
    ),
    max_size=3,
).map(lambda parts: "".join(("  - changes:\n", *parts)) if parts else "")


@given(TARGETS, RECORDS, st.booleans())
def test_the_record_of_overrides_comes_back_as_the_lines_it_is(
    targets: tuple[TargetCluster, ...], record: str, has_condition: bool
) -> None:
    conditions = (Condition(type="Scheduled", status="True"),) if has_condition else ()
    made = Binding(ref=REF, api_version="apps/v1", targets=targets, applied_overrides=record, conditions=conditions)
    content = BindingWriter().file_of(made).data()
    assert BindingReader().parse(content) == made
    assert record.encode() in content


def test_the_record_stands_in_the_status() -> None:
    record = (
        "  - policy: ClusterOverridePolicy p\n    rule: spec\n    changes:\n    - path: /a\n      operator: remove\n"
    )
    made = Binding(ref=REF, api_version="apps/v1", applied_overrides=record)
    entry = {"policy": "ClusterOverridePolicy p", "rule": "spec", "changes": [{"path": "/a", "operator": "remove"}]}
    assert parse_documents(BindingWriter().file_of(made).data())[0].value == binding_manifest(made)
    assert binding_manifest(made)["status"] == {"appliedOverrides": [entry]}
    assert admit(binding_manifest(made)).problems == ()


def test_a_record_in_another_style_is_passed_over() -> None:
    record = "  - policy: ClusterOverridePolicy p\n    rule: spec\n    changes: []\n"
    made = Binding(ref=REF, api_version="apps/v1", applied_overrides=record)
    by_hand = json.dumps(binding_manifest(made), indent=2).encode()
    assert BindingReader().parse(by_hand) == replace(made, applied_overrides="")


@pytest.mark.parametrize("value", [None, 5, True, {"a": 1}], ids=str)
def test_what_a_template_states_of_nodes_comes_back_whatever_it_is(value: Any) -> None:
    """The next pass ends at a binding that it cannot read, and only a server says that a label is no text."""
    claim = node_claim_of_pod({"nodeSelector": {"disk": value}, "tolerations": [{"key": value, "operator": "Exists"}]})
    made = Binding(ref=REF, api_version="apps/v1", requirements=ReplicaRequirements(node_claim=claim))
    assert BindingReader().parse(BindingWriter().file_of(made).data()) == made


def test_bindings_that_share_a_list_share_the_value() -> None:
    reader, writer = BindingReader(), BindingWriter()
    targets = (TargetCluster("eu-1", 3), TargetCluster("us-1", 1))
    files = [
        writer.file_of(Binding(ref=ObjectRef("", "ConfigMap", "shop", name), api_version="v1", targets=targets))
        for name in ("one", "two")
    ]
    one, two = (reader.parse(file.data()) for file in files)
    assert one.targets is two.targets


def test_a_target_is_a_line() -> None:
    made = Binding(ref=REF, api_version="apps/v1", targets=(TargetCluster("eu-1", 3), TargetCluster("1e3")))
    lines = BindingWriter().file_of(made).data().decode().splitlines()
    assert [line for line in lines if line.startswith("  - {")] == [
        "  - {name: eu-1, replicas: 3}",
        '  - {name: "1e3"}',
    ]
