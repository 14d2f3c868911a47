"""CronFederatedHPAs in a pass: the number in force, what a binding records, and when that changes next."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.pipeline.cron import Autoscaler, CronScaling, scaled_by_cron
from render.autoscaling import FederatedAutoscaler, federated_autoscaler
from render.binding import Binding
from render.cron.rules import CronAutoscaler, cron_autoscaler, cron_rule
from render.interpreter import Interpreter
from render.model import ObjectRef, Template
from render.parsing import binding_manifest, parse_binding
from render.timing import Flip
from tests.build import a_deployment

WEB = ObjectRef("apps", "Deployment", "default", "nginx")
INTERPRETER = Interpreter.of(())


def _at(hour: int, minute: int = 0, day: int = 2) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def _autoscaler(name: str = "office", **replicas_by_hour: int) -> CronAutoscaler:
    rules: list[dict[str, Any]] = [
        {"name": rule, "schedule": f"0 {rule.removeprefix('h')} * * *", "targetReplicas": replicas}
        for rule, replicas in replicas_by_hour.items()
    ]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}
    manifest = {"metadata": {"name": name, "namespace": "default"}, "spec": {"scaleTargetRef": target, "rules": rules}}
    return cron_autoscaler(manifest)


OFFICE = _autoscaler(h8=5, h18=1)


class Passes:
    """Passes one after the other, each from the binding of the one before, as a file has it."""

    def __init__(self) -> None:
        self.binding = Binding(ref=WEB, api_version="apps/v1")

    def passed(self, now: datetime | None, *autoscalers: Autoscaler, replicas: int = 2) -> CronScaling:
        template = Template(ref=WEB, manifest=a_deployment(replicas=replicas))
        scaling = scaled_by_cron([template], autoscalers, INTERPRETER, {WEB: self.binding}, now)
        (made,) = scaling.with_cron_states([self.binding])
        self.binding = parse_binding(binding_manifest(made))
        assert (self.binding.cron, self.binding.scaled) == (made.cron, made.scaled)
        return scaling

    def replicas(self, now: datetime | None, *autoscalers: Autoscaler, replicas: int = 2) -> int:
        (template,) = self.passed(now, *autoscalers, replicas=replicas).templates
        number: int = template.manifest["spec"]["replicas"]
        return number


@pytest.fixture
def passes() -> Passes:
    return Passes()


def test_a_rule_that_is_new_makes_up_for_nothing(passes: Passes) -> None:
    scaling = passes.passed(_at(12), OFFICE)
    assert scaling.templates[0].manifest["spec"]["replicas"] == 2
    assert (scaling.flip, scaling.is_timed) == (Flip(_at(18), "office sets Deployment.apps default/nginx to 1"), True)


def test_a_rule_sets_the_replicas_from_its_time_on(passes: Passes) -> None:
    assert [passes.replicas(_at(hour), OFFICE) for hour in (7, 8, 9, 17, 18, 23)] == [2, 5, 5, 5, 1, 1]


def test_the_latest_of_many_missed_runs_decides(passes: Passes) -> None:
    assert passes.replicas(_at(7), OFFICE) == 2
    assert passes.replicas(_at(9, day=9), OFFICE) == 5
    assert [each.due for each in passes.binding.cron[0].state.histories[0].successes] == [_at(8, day=9)]


def test_a_newer_number_in_the_source_wins_until_the_next_rule(passes: Passes) -> None:
    assert passes.replicas(_at(7), OFFICE) == 2
    assert passes.replicas(_at(8), OFFICE) == 5
    assert passes.replicas(_at(9), OFFICE, replicas=3) == 3
    assert passes.replicas(_at(10), OFFICE, replicas=3) == 3
    assert passes.replicas(_at(18), OFFICE, replicas=3) == 1


def test_without_a_time_nothing_fires_and_what_is_in_force_stays(passes: Passes) -> None:
    passes.passed(_at(7), OFFICE)
    passes.passed(_at(8), OFFICE)
    before = passes.binding
    assert passes.replicas(None, OFFICE) == 5
    assert passes.binding == before


def test_an_autoscaler_that_leaves_takes_its_number_along(passes: Passes) -> None:
    passes.passed(_at(7), OFFICE)
    assert passes.replicas(_at(8), OFFICE) == 5
    assert passes.replicas(_at(9)) == 2
    assert (passes.binding.cron, passes.binding.scaled) == ((), None)


def test_of_two_autoscalers_the_one_that_was_due_last_decides(passes: Passes) -> None:
    night = _autoscaler("night", h20=0)
    assert [passes.replicas(_at(hour), night, OFFICE) for hour in (7, 21)] == [2, 0]


def test_a_pass_at_the_same_time_changes_nothing(passes: Passes) -> None:
    passes.passed(_at(7), OFFICE)
    passes.passed(_at(8), OFFICE)
    before = passes.binding
    passes.passed(_at(8), OFFICE)
    passes.passed(_at(8, 59), OFFICE)
    assert passes.binding == before


def test_a_binding_tells_people_what_scales_it(passes: Passes) -> None:
    passes.passed(_at(7), OFFICE)
    passes.passed(_at(8), OFFICE)
    assert binding_manifest(passes.binding)["status"] == {
        "scaled": {"replicas": 5, "template": 2, "by": "office", "rule": "h8", "at": "2026-03-02T08:00:00Z"},
        "cron": [
            {
                "name": "office",
                "rules": [
                    {
                        "name": "h8",
                        "inForce": {"schedule": "0 8 * * *", "targetReplicas": 5},
                        "next": "2026-03-03T08:00:00Z",
                        "runs": [{"due": "2026-03-02T08:00:00Z", "ran": "2026-03-02T08:00:00Z", "replicas": 5}],
                    },
                    {
                        "name": "h18",
                        "inForce": {"schedule": "0 18 * * *", "targetReplicas": 1},
                        "next": "2026-03-02T18:00:00Z",
                    },
                ],
            }
        ],
    }


def _federated(low: int = 3, high: int = 9, name: str = "web") -> FederatedAutoscaler:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}
    return federated_autoscaler(
        {
            "apiVersion": "autoscaling.karmada.io/v1alpha1",
            "kind": "FederatedHPA",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"scaleTargetRef": target, "minReplicas": low, "maxReplicas": high},
        }
    )


def _bounding(*rules: dict[str, Any]) -> CronAutoscaler:
    target = {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA", "name": "web"}
    named = [{"name": f"r{number}", **rule} for number, rule in enumerate(rules)]
    metadata = {"name": "bounds", "namespace": "default"}
    return cron_autoscaler({"metadata": metadata, "spec": {"scaleTargetRef": target, "rules": named}})


BY_DAY = _bounding(
    {"schedule": "0 8 * * *", "targetMinReplicas": 5, "targetMaxReplicas": 12},
    {"schedule": "0 18 * * *", "targetMinReplicas": 1, "targetMaxReplicas": 1},
)


@pytest.mark.parametrize(("own", "kept"), [(1, 3), (4, 4), (20, 9), (0, 0)])
def test_a_federated_hpa_keeps_replicas_within_its_bounds(passes: Passes, own: int, kept: int) -> None:
    assert passes.replicas(_at(7), _federated(), replicas=own) == kept
    assert (passes.binding.cron, passes.binding.bounds) == ((), None)


def test_what_a_rule_sets_is_kept_within_the_bounds_as_well(passes: Passes) -> None:
    assert [passes.replicas(_at(hour), OFFICE, _federated()) for hour in (7, 8, 18)] == [3, 5, 3]


def test_of_two_federated_hpas_of_a_workload_the_first_by_name_counts(passes: Passes) -> None:
    assert passes.replicas(_at(7), _federated(6, name="zoo"), _federated(4, name="all")) == 4


def test_a_rule_sets_the_bounds_until_those_of_the_source_change(passes: Passes) -> None:
    found = [passes.replicas(_at(hour), BY_DAY, _federated()) for hour in (7, 8, 17, 18)]
    assert found == [3, 5, 5, 1]
    assert passes.replicas(_at(19), BY_DAY, _federated(2, 9)) == 2
    assert passes.binding.bounds is None


def test_bounds_go_with_the_object_that_set_them(passes: Passes) -> None:
    assert [passes.replicas(_at(hour), BY_DAY, _federated()) for hour in (7, 8)] == [3, 5]
    assert passes.replicas(_at(9), _federated()) == 3


def test_a_minimum_above_the_maximum_is_a_run_that_failed(passes: Passes) -> None:
    rules = _bounding({"schedule": "0 8 * * *", "targetMinReplicas": 10})
    assert [passes.replicas(_at(hour), rules, _federated()) for hour in (7, 8)] == [3, 3]
    assert binding_manifest(passes.binding)["status"]["cron"][0]["rules"][0]["failedRuns"] == [
        {
            "due": "2026-03-02T08:00:00Z",
            "ran": "2026-03-02T08:00:00Z",
            "message": "a minimum of 10 would be above the maximum of 9",
        }
    ]


def test_the_next_flip_says_what_becomes_of_the_bounds(passes: Passes) -> None:
    scaling = passes.passed(_at(7), BY_DAY, _federated())
    assert scaling.flip == Flip(_at(8), "bounds keeps Deployment.apps default/nginx between 5 and 12")
    assert {ref: (each.replicas, each.asked) for ref, each in scaling.capped.items()} == {WEB: (3, 2)}


def test_a_run_that_is_found_too_late_has_failed(passes: Passes) -> None:
    strict = replace(OFFICE, deadline=600)
    assert [passes.replicas(_at(*at), strict) for at in ((7,), (8, 10), (18, 11), (19,))] == [2, 5, 5, 5]
    (run,) = passes.binding.cron[0].state.histories[1].failures
    assert (run.due, run.ran, run.failure) == (_at(18), _at(18, 11), "it was found more than 600 seconds late")
    assert passes.binding.cron[0].state.histories[1].upcoming == _at(18, day=3)


def test_as_many_failed_runs_are_kept_as_the_rule_says(passes: Passes) -> None:
    rule = {"schedule": "0 * * * *", "targetReplicas": 3, "failedHistoryLimit": 2}
    strict, none = (
        replace(_autoscaler(), rules=tuple(map(cron_rule, [{**rule, "name": "r", **limit}])), deadline=0)
        for limit in ({}, {"failedHistoryLimit": 0})
    )
    for hour in (7, 8, 9, 10):
        passes.passed(_at(hour, 1), strict)
    assert [each.due for each in passes.binding.cron[0].state.histories[0].failures] == [_at(10), _at(9)]
    fresh = Passes()
    for hour in (7, 8):
        fresh.passed(_at(hour, 1), none)
    assert fresh.binding.cron[0].state.histories[0].failures == ()
