"""Whole rollouts in memory: each row is what happens to a fleet, and the commits that its passes make."""

from .rolling import RollingFleet, a_rollout_policy, a_wave, web


def a_fleet(**policy: object) -> RollingFleet:
    """Four clusters: oslo goes first, then all others."""
    waves = policy.pop("waves", [a_wave("canary", "oslo"), a_wave("rest")])
    return RollingFleet.of(("oslo", "paris", "rome", "tokyo"), waves=waves, **policy)


def test_a_change_reaches_clusters_wave_by_wave() -> None:
    fleet = a_fleet(waves=[a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=2)])
    assert fleet.commit(web=web(2)).run() == [
        "oslo=2 paris=1 rome=1 tokyo=1 Progressing",
        "oslo=2 paris=1 rome=2 tokyo=2 Progressing",
        "oslo=2 paris=2 rome=2 tokyo=2 Progressing",
        "oslo=2 paris=2 rome=2 tokyo=2 Completed",
    ]
    assert fleet.run(3600) == []


def test_versions_are_kept_as_long_as_a_cluster_stands_at_them() -> None:
    fleet = a_fleet()
    assert len(fleet.files_below("versions")) == 1
    fleet.commit(web=web(2)).pass_once()
    assert len(fleet.files_below("versions")) == 2
    fleet.run()
    assert len(fleet.files_below("versions")) == 1


def test_replicas_change_everywhere_at_once_and_begin_no_rollout() -> None:
    fleet = a_fleet()
    fleet.commit(web=web(1, replicas=5)).run()
    assert fleet.state() is None
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2, replicas=5)).run()
    fleet.commit(web=web(2, replicas=9)).run()
    assert fleet.told[-1] == "oslo=2 paris=1 rome=1 tokyo=1 Progressing"
    assert {name: fleet.manifest(name)["spec"]["replicas"] for name in fleet.images()} == dict.fromkeys(
        ("oslo", "paris", "rome", "tokyo"), 9
    )


def test_a_fleet_without_rollout_policies_has_no_file_of_rollouts() -> None:
    fleet = a_fleet().commit(rollout=None)
    fleet.run()
    assert (fleet.files_below("versions"), fleet.files_below("rollouts")) == ([], [])
    assert fleet.commit(web=web(2)).run() == ["oslo=2 paris=2 rome=2 tokyo=2 -"]


def test_a_policy_that_is_deleted_meanwhile_ends_by_its_recorded_plan() -> None:
    fleet = a_fleet()
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    fleet.commit(rollout=None)
    assert fleet.run() == []
    fleet.unwell = set()
    assert fleet.run() == [
        "oslo=2 paris=2 rome=2 tokyo=2 Progressing",
        "oslo=2 paris=2 rome=2 tokyo=2 -",
    ]
    assert fleet.files_below("versions") == []


def test_a_newer_change_waits_for_the_one_under_way_where_the_policy_says_so() -> None:
    fleet = a_fleet(onNewChange="Wait")
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    assert fleet.commit(web=web(3)).run() == []
    fleet.unwell = set()
    assert fleet.run() == [
        "oslo=2 paris=2 rome=2 tokyo=2 Progressing",
        "oslo=3 paris=2 rome=2 tokyo=2 Progressing",
        "oslo=3 paris=3 rome=3 tokyo=3 Progressing",
        "oslo=3 paris=3 rome=3 tokyo=3 Completed",
    ]


def test_a_rollout_policy_that_is_new_holds_nothing_back_of_its_own_commit() -> None:
    fleet = a_fleet().commit(rollout=None)
    fleet.run()
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    fleet.commit(rollout=a_rollout_policy(waves=waves), web=web(2))
    assert fleet.run() == ["oslo=2 paris=2 rome=2 tokyo=2 -"]
