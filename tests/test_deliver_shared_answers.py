"""Parts that members have in common are kept once, and every value stays exactly as it was answered."""

import json
from copy import deepcopy
from typing import Any

from reconciler.deliver.results import ClusterReport, ClusterResult, ObjectResult
from reconciler.deliver.shared_answers import SharedAnswers
from reconciler.members.masking import ConcealedManifest
from reconciler.plans.model import Action, ObservedCluster, Plan, PlannedObject
from render.model import ObjectRef

REF = ObjectRef("apps", "Deployment", "shop", "web")


def a_live_object(number: int, replicas: Any = 2) -> dict[str, Any]:
    fields: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": f"uid-{number}",
            "labels": {"app": "web"},
            "managedFields": [{"manager": "argosy", "time": f"2026-11-28T00:00:0{number}Z", "fieldsV1": fields}],
        },
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "web"}]}}},
        "status": {"readyReplicas": number},
    }


def a_report(live: dict[str, Any], answered: dict[str, Any]) -> ClusterReport:
    return ClusterReport(
        cluster="member1",
        observed=ObservedCluster(cluster="member1", live={REF: live}),
        plan=Plan(
            cluster="member1",
            objects=(
                PlannedObject(ref=REF, action=Action.CONFIGURED, live=live),
                PlannedObject(ref=REF, action=Action.CREATED),
            ),
        ),
        applied=ClusterResult(
            cluster="member1",
            results=(ObjectResult(ref=REF, action=Action.CONFIGURED, live=answered),),
        ),
    )


def test_a_report_is_equal_to_the_one_it_was_made_of_whatever_was_seen_before() -> None:
    shared = SharedAnswers()
    for number in (1, 2, 3):
        before, after = a_live_object(number, replicas=2), a_live_object(number, replicas=3)
        report, told = a_report(before, after), deepcopy((before, after))
        kept = shared.shared_report(report)
        assert kept == report
        assert (before, after) == told
        assert kept.observed is not None
        assert kept.plan is not None
        assert kept.observed.live[REF] is kept.plan.objects[0].live


def test_equal_parts_of_two_members_are_one_value_and_others_are_not() -> None:
    shared = SharedAnswers()
    one, other = (shared.shared_object(a_live_object(number)) for number in (1, 2))
    assert one["spec"] is other["spec"]
    assert one["metadata"]["labels"] is other["metadata"]["labels"]
    assert (one["status"], other["status"]) == ({"readyReplicas": 1}, {"readyReplicas": 2})
    owners = [each["metadata"]["managedFields"][0] for each in (one, other)]
    assert owners[0]["fieldsV1"] is owners[1]["fieldsV1"]
    assert [each["time"][-2] for each in owners] == ["1", "2"]


def test_values_that_python_takes_for_equal_stay_what_they_are() -> None:
    shared = SharedAnswers()
    replicas = (1, True, 1.0, "1", None)
    told = [json.dumps(shared.shared_object(a_live_object(1, each))["spec"]["replicas"]) for each in replicas]
    assert told == ["1", "true", "1.0", '"1"', "null"]


def test_what_is_concealed_or_no_json_stays_the_object_that_it_was() -> None:
    shared = SharedAnswers()
    concealed, unwritable = ConcealedManifest(a_live_object(1)), a_live_object(1, replicas=object())
    assert shared.shared_object(concealed) is concealed
    assert shared.shared_object(unwritable) is unwritable
