"""Bindings we write are admitted and read back the same; Karmada's own are admitted too."""

from hypothesis import given, settings

from render.admission import admit
from render.binding import Binding
from render.parsing import binding_manifest, parse_binding
from tests.test_render_parsing_bindings import BINDING, MANIFEST, bindings


def test_a_binding_of_ours_is_admitted_as_it_is() -> None:
    admitted = admit(MANIFEST)
    assert (admitted.problems, admitted.warnings) == ((), ())
    assert admitted.object is not None
    assert parse_binding(admitted.object) == BINDING


def test_what_only_karmada_writes_is_no_problem() -> None:
    task = {"fromCluster": "eu", "reason": "TaintUntolerated", "producer": "TaintManager"}
    status = {
        "schedulerObservedGeneration": 3,
        "conditions": [
            {
                "type": "Scheduled",
                "status": "True",
                "reason": "Success",
                "message": "",
                "lastTransitionTime": "2026-01-02T03:04:05Z",
            }
        ],
        "aggregatedStatus": [{"clusterName": "eu", "applied": True, "health": "Healthy", "status": {"replicas": 1}}],
    }
    spec = {
        **MANIFEST["spec"],
        "gracefulEvictionTasks": [{**task, "creationTimestamp": "2026-01-02T03:04:05Z", "gracePeriodSeconds": 600}],
        "components": [{"name": "driver", "replicas": 1, "replicaRequirements": {"resourceRequest": {"cpu": 1}}}],
        "failover": {"application": {"decisionConditions": {}}},
    }
    assert admit({**MANIFEST, "spec": spec, "status": status}).problems == ()


def test_a_damaged_binding_is_refused_where_it_is_damaged() -> None:
    spec = {**MANIFEST["spec"], "replicas": "5", "clusters": [{"replicas": 1}], "conflictResolution": "Maybe"}
    status = {"conditions": [{"type": "Scheduled", "status": True}]}
    assert list(map(str, admit({**MANIFEST, "spec": spec, "status": status}).problems)) == [
        "spec.clusters[0].name: required, but missing",
        "spec.conflictResolution: unknown value 'Maybe'\n  hint: write 'Abort' or 'Overwrite'",
        "spec.replicas: must be a whole number, not a string\n  hint: write it without quotes",
        "status.conditions[0].status: must be a string, not a boolean\n  hint: write 'True', 'False' or 'Unknown'",
    ]


@settings(max_examples=60)
@given(bindings)
def test_types_are_those_of_the_schema(found: Binding) -> None:
    assert [problem for problem in admit(binding_manifest(found)).problems if problem.kind == "TypeInvalid"] == []
