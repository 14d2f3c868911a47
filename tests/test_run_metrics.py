"""The metrics of a controller: what a pass leaves in them, and their names."""

from msgspec.structs import replace

from reconciler.run.metrics import RunMetrics
from reconciler.run.pass_job import ClusterEnd, PassReport, RolloutEnd

EAST = ClusterEnd(state="Converged", drifted=2, seconds=1.5, actions={"created": 3, "unchanged": 4})
WEST = ClusterEnd(state="Unreachable", is_reached=False, is_converged=False)
PASS = PassReport(
    code=7,
    source="a",
    rendered="b",
    is_committed=True,
    unplaced=("x",),
    moved=4,
    seconds=2.0,
    steps={"render": 0.5, "commit": 0.1},
    conflicts=1,
    clusters={"east": EAST, "west": WEST},
)
NAMES = {
    *("argosy_apply_duration_seconds_count", "argosy_apply_duration_seconds_sum", "argosy_apply_objects_total"),
    *("argosy_build_info", "argosy_cluster_lag_commits", "argosy_cluster_last_success_timestamp_seconds"),
    *(
        "argosy_cluster_held",
        "argosy_cluster_unseen",
        "argosy_cluster_up",
        "argosy_consecutive_failures",
        "argosy_drift_objects",
        "argosy_git_operations_total",
    ),
    *("argosy_git_push_conflicts_total", "argosy_guard_refusals_total", "argosy_leader", "argosy_notifications_total"),
    *("argosy_reconcile_duration_seconds_bucket", "argosy_reconcile_duration_seconds_count"),
    *("argosy_reconcile_duration_seconds_sum", "argosy_reconcile_total", "argosy_render_cache_hits_total"),
    *("argosy_render_duration_seconds_bucket", "argosy_render_duration_seconds_count"),
    *("argosy_render_duration_seconds_sum", "argosy_replica_moves_total", "argosy_source_refused", "argosy_source_up"),
    *("argosy_rollout_clusters", "argosy_rollout_emergencies", "argosy_rollout_phase"),
    *("argosy_unschedulable_bindings", "argosy_webhook_requests_total"),
}


def samples(metrics: RunMetrics) -> set[str]:
    """The lines that /metrics prints, those left out that count buckets or say when something was made."""
    lines = metrics.text().decode().splitlines()
    return {line for line in lines if not line.startswith("#") and "_bucket" not in line and "_created" not in line}


def test_the_names_are_those_that_dashboards_are_written_for() -> None:
    assert set(RunMetrics().names()) == NAMES


def test_a_pass_leaves_its_numbers() -> None:
    metrics = RunMetrics()
    metrics.count_pass("shop", PASS, failures=1)
    found = samples(metrics)
    assert found >= {
        'argosy_reconcile_total{fleet="shop",result="partial"} 1.0',
        'argosy_reconcile_duration_seconds_sum{fleet="shop"} 2.0',
        'argosy_render_duration_seconds_sum{fleet="shop"} 0.5',
        'argosy_git_operations_total{fleet="shop",op="commit",result="ok"} 1.0',
        'argosy_git_push_conflicts_total{fleet="shop"} 1.0',
        'argosy_unschedulable_bindings{fleet="shop"} 1.0',
        'argosy_replica_moves_total{fleet="shop"} 4.0',
        'argosy_consecutive_failures{fleet="shop"} 1.0',
        'argosy_apply_objects_total{action="created",cluster="east",fleet="shop"} 3.0',
        'argosy_apply_objects_total{action="unchanged",cluster="east",fleet="shop"} 4.0',
        'argosy_apply_duration_seconds_sum{cluster="east",fleet="shop"} 1.5',
        'argosy_cluster_up{cluster="east",fleet="shop"} 1.0',
        'argosy_cluster_up{cluster="west",fleet="shop"} 0.0',
        'argosy_cluster_lag_commits{cluster="east",fleet="shop"} 0.0',
        'argosy_cluster_lag_commits{cluster="west",fleet="shop"} 1.0',
        'argosy_drift_objects{cluster="east",fleet="shop"} 2.0',
    }
    assert not any('last_success_timestamp_seconds{cluster="west"' in line for line in found)


def test_a_pass_that_found_nothing_new_keeps_what_is_known_of_clusters() -> None:
    metrics = RunMetrics()
    metrics.count_pass("shop", PASS, failures=1)
    unchanged = PassReport(code=0, is_unchanged=True, clusters=PASS.clusters)
    metrics.count_pass("shop", unchanged, failures=0)
    assert samples(metrics) >= {
        'argosy_render_cache_hits_total{fleet="shop"} 1.0',
        'argosy_apply_objects_total{action="created",cluster="east",fleet="shop"} 3.0',
        'argosy_cluster_lag_commits{cluster="west",fleet="shop"} 1.0',
        'argosy_drift_objects{cluster="east",fleet="shop"} 0.0',
    }


def test_a_fleet_that_is_gone_leaves_no_gauge() -> None:
    metrics = RunMetrics()
    metrics.count_pass("shop", PASS, failures=1)
    metrics.forget_fleet("shop")
    gauges = ("argosy_cluster_", "argosy_unschedulable", "argosy_drift", "argosy_consecutive", "argosy_source")
    assert not any(line.startswith(gauges) for line in samples(metrics))


def test_a_cluster_that_passes_apply_to_no_more_leaves_no_gauge() -> None:
    """It left the fleet, or pulls; of one that a pass did not come to, and of others' fleets, all stays."""
    metrics = RunMetrics()
    for fleet in ("shop", "other"):
        metrics.count_pass(fleet, PASS, failures=0)
    metrics.count_pass("shop", PassReport(code=4), failures=1)
    metrics.count_pass("shop", PassReport(code=0, members=("north", "west")), failures=0)
    shown = {line.partition(" ")[0] for line in samples(metrics)}
    assert {line for line in shown if line.startswith(("argosy_cluster_", "argosy_drift"))} == {
        'argosy_cluster_lag_commits{cluster="east",fleet="other"}',
        'argosy_cluster_lag_commits{cluster="west",fleet="other"}',
        'argosy_cluster_lag_commits{cluster="west",fleet="shop"}',
        'argosy_cluster_last_success_timestamp_seconds{cluster="east",fleet="other"}',
        'argosy_cluster_up{cluster="east",fleet="other"}',
        'argosy_cluster_up{cluster="west",fleet="other"}',
        'argosy_cluster_up{cluster="west",fleet="shop"}',
        'argosy_drift_objects{cluster="east",fleet="other"}',
        'argosy_drift_objects{cluster="west",fleet="other"}',
        'argosy_drift_objects{cluster="west",fleet="shop"}',
    }


def test_a_cluster_that_is_held_is_a_gauge_until_a_pass_says_that_it_is_not() -> None:
    metrics = RunMetrics()
    line = 'argosy_cluster_held{cluster="east",fleet="shop"} 1.0'
    metrics.count_pass("shop", replace(PASS, held={"east": "held at c0ffee"}), failures=0)
    assert line in samples(metrics)
    metrics.count_pass("shop", replace(PASS, is_unchanged=True, clusters={}), failures=0)
    assert line in samples(metrics), "a pass that found nothing new says nothing of holds"
    metrics.count_pass("shop", replace(PASS, held={}), failures=0)
    assert line not in samples(metrics)
    metrics.count_pass("shop", replace(PASS, held={"east": "held at c0ffee"}), failures=0)
    metrics.forget_fleet("shop")
    assert line not in samples(metrics)


def test_emergencies_are_counted_until_somebody_confirms_them() -> None:
    metrics = RunMetrics()

    def found() -> set[str]:
        return {line for line in samples(metrics) if line.startswith("argosy_rollout_emergencies")}

    late = {'argosy_rollout_emergencies{fleet="shop",state="unconfirmed"} 0.0'} | {
        'argosy_rollout_emergencies{fleet="shop",state="overdue"} 1.0'
    }
    metrics.count_pass("shop", replace(PASS, emergencies={"unconfirmed": 0, "overdue": 1}), failures=0)
    assert found() == late
    metrics.count_pass("shop", PASS, failures=0)
    assert found() == late, "a pass that found nothing new says nothing of emergencies"
    metrics.forget_fleet("shop")
    assert found() == set()


def test_a_rollout_is_in_one_phase_and_has_its_clusters_counted_until_a_pass_says_otherwise() -> None:
    web = "RolloutPolicy shop/web"
    going = RolloutEnd(
        change="c", phase="Progressing", reason="ClustersUnderWay", next_step="", clusters=5, given=3, through=1
    )

    def found() -> set[str]:
        return {line.removeprefix("argosy_rollout_") for line in samples(metrics) if line.startswith("argosy_rollout_")}

    labels = f'fleet="shop",phase="{{}}",reason="{{}}",rollout="{web}"'
    counts = (
        f'clusters{{fleet="shop",rollout="{web}",state="{state}"}} {count}.0'
        for state, count in {"waiting": 2, "under_way": 2, "through": 1}.items()
    )
    want = {f"phase{{{labels.format('Progressing', 'ClustersUnderWay')}}} 1.0", *counts}
    metrics = RunMetrics()
    metrics.count_pass("shop", replace(PASS, rollouts={web: going}), failures=0)
    assert found() == want
    metrics.count_pass("shop", PASS, failures=0)
    assert found() == want, "a pass that found nothing new says nothing of rollouts"
    failed = replace(going, phase="Failed", reason="TooManyFailures")
    metrics.count_pass("shop", replace(PASS, rollouts={web: failed}), failures=0)
    assert {line for line in found() if line.startswith("phase")} == {
        f"phase{{{labels.format('Failed', 'TooManyFailures')}}} 1.0"
    }
    metrics.count_pass("shop", replace(PASS, rollouts={}), failures=0)
    assert found() == set()
    metrics.count_pass("shop", replace(PASS, rollouts={web: going}), failures=0)
    metrics.forget_fleet("shop")
    assert found() == set()
