"""Removals that go out wave by wave, in memory: which clusters still have an object, commit by commit."""

from pathlib import Path
from typing import Any

import pytest

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.rollouts.observations import observations_of_clusters
from render.model import ObjectRef
from render.object_rollout import ABSENT

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters
from .rolling import WEB_REF, RollingFleet, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1))
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
API = ObjectRef("apps", "Deployment", "default", "api")
ALSO: dict[str, Any] = {"alsoFor": ["Removals"]}


def a_fleet(**policy: Any) -> RollingFleet:
    """A fleet with web and api everywhere, with a rollout policy for both."""
    selectors = [DEPLOYMENT]
    files = {
        "policy": a_policy("web", selectors=selectors, placement=on_clusters()),
        "api": a_deployment("api", image="web:1"),
        "conf": a_config_map("conf"),
    }
    return RollingFleet.of(CLUSTERS, files, selectors=selectors, waves=WAVES, **policy)


def stuck(fleet: RollingFleet, *names: str) -> RollingFleet:
    fleet.unwell = set(names)
    return fleet


def where(fleet: RollingFleet, ref: ObjectRef = WEB_REF) -> list[str]:
    assert fleet.previous is not None
    return [name for name in CLUSTERS if name in fleet.previous.tree.clusters and fleet.manifest(name, ref)]


def test_an_object_is_removed_at_once_unless_a_policy_asks_for_waves() -> None:
    fleet = a_fleet().commit(web=None)
    assert fleet.run() == [""]


def test_an_object_whose_template_is_deleted_leaves_wave_by_wave() -> None:
    fleet = a_fleet(**ALSO).commit(web=None)
    assert fleet.run() == ["11 Progressing", "1 Progressing", " Progressing", " Completed"]
    assert fleet.previous is not None
    assert WEB_REF not in fleet.previous.bindings
    assert not [path for path in fleet.files_below("versions") if "/web/" in path]


def test_one_that_nobody_places_any_more_does_so_where_the_fleet_removes_it() -> None:
    settings = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": {"onPolicyRemoval": "Remove"},
    }
    fleet = a_fleet(**ALSO).commit(argosy=settings)
    fleet.run()
    narrowed = a_policy("web", selectors=[{**DEPLOYMENT, "name": "api"}], placement=on_clusters())
    assert fleet.commit(policy=narrowed).run()[0] == "11 Progressing"
    assert where(fleet) == []


def test_a_wave_waits_until_the_object_is_gone_in_the_one_before() -> None:
    fleet = a_fleet(**ALSO).commit(web=None)
    fleet.down = {"oslo"}
    fleet.run()
    assert where(fleet) == list(CLUSTERS), "nobody of the first wave can be asked"
    fleet.down = set()
    assert fleet.run() == ["11 Progressing", "1 Progressing", " Progressing", " Completed"]


def test_a_cluster_in_which_the_object_is_still_seen_is_not_through() -> None:
    seen = ObservedHealth(
        workloads={WEB_REF: (ReportedHealth(cluster="oslo", health="Healthy", since="", version="1"),)}
    )
    for health, is_gone in ((seen, False), (ObservedHealth(), True)):
        found = observations_of_clusters({"oslo": {WEB_REF: ABSENT}}, health, ())["oslo"]
        assert (found.well_since is not None) is is_gone


def test_everything_else_that_goes_out_is_through_before_anything_leaves() -> None:
    fleet = stuck(a_fleet(**ALSO), "rome").commit(web=None, api=a_deployment("api", image="web:2"))
    fleet.run()
    assert (where(fleet), fleet.state().phase) == (list(CLUSTERS), "Progressing")
    stuck(fleet).run()
    assert (where(fleet), fleet.state().phase) == ([], "Completed")


def test_a_change_meanwhile_goes_out_before_the_rest_of_the_removal() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"}, **ALSO).commit(web=None)
    fleet.run()
    assert where(fleet) == ["paris", "rome"]
    fleet.commit(api=a_deployment("api", image="web:2")).run()
    assert where(fleet) == ["paris", "rome"]
    for _ in range(8):
        fleet.run(seconds=601)
    assert (where(fleet), fleet.state().phase) == ([], "Completed")


def test_an_object_that_comes_back_meanwhile_goes_out_again_where_it_had_left() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"}, **ALSO).commit(web=None)
    fleet.run()
    assert where(fleet) == ["paris", "rome"]
    fleet.commit(web=web(1)).run()
    assert where(fleet) == list(CLUSTERS)
    fleet.run(seconds=601)
    assert fleet.state().is_completed


def test_a_policy_that_is_deleted_meanwhile_counts_to_the_end() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"}, **ALSO).commit(web=None)
    fleet.run()
    fleet.commit(rollout=None).run()
    assert where(fleet) == ["paris", "rome"]
    fleet.run(seconds=601)
    assert where(fleet) != ["paris", "rome"]
    fleet.run(seconds=601)
    fleet.run(seconds=601)
    assert (where(fleet), fleet.state()) == ([], None)


def test_a_paused_removal_keeps_the_object_where_it_is() -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest", approval=True)]
    fleet = a_fleet(**ALSO).commit(rollout=a_rollout_policy(selectors=[DEPLOYMENT], waves=waves, **ALSO))
    fleet.run()
    fleet.commit(web=None).run()
    assert (where(fleet), fleet.state().reason) == (["paris", "rome"], "ApprovalMissing")


def test_a_suspension_of_dispatching_keeps_no_object_whose_template_is_gone() -> None:
    """Its policy does not reach it any more, so that nobody could lift the suspension."""
    fleet = a_fleet(**ALSO)
    suspended = {"dispatchingOnClusters": {"clusterNames": ["oslo"]}}
    placed = a_policy("web", selectors=[DEPLOYMENT], placement=on_clusters(), suspension=suspended)
    fleet.commit(policy=placed).run()
    assert fleet.commit(web=None).run()[-1].endswith(" Completed")
    assert where(fleet) == []


def test_a_cluster_that_leaves_meanwhile_keeps_what_it_has() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"}, **ALSO).commit(web=None)
    fleet.run()
    fleet.commit(paris=None).run()
    for _ in range(3):
        fleet.run(seconds=601)
    assert fleet.state().is_completed


@pytest.mark.parametrize("action", ["Wait", "Coalesce"])
def test_a_removal_waits_for_the_change_under_way_where_newer_ones_do(action: str) -> None:
    fleet = stuck(a_fleet(onNewChange=action, **ALSO), "oslo").commit(api=a_deployment("api", image="web:2"))
    fleet.run()
    fleet.commit(web=None).run()
    assert where(fleet) == list(CLUSTERS)
    stuck(fleet).run()
    assert (where(fleet), fleet.state().phase) == ([], "Completed")


def test_what_an_object_that_leaves_needs_stays_with_it() -> None:
    fleet = a_fleet(gate={"healthyFor": "10m"}, **ALSO)
    named = web(1)
    named["spec"]["template"]["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": "conf"}}]
    both = [DEPLOYMENT, {"apiVersion": "v1", "kind": "ConfigMap"}]
    fleet.commit(policy=a_policy("web", selectors=both, placement=on_clusters()), web=named)
    for _ in range(4):
        fleet.run(seconds=601)
    fleet.commit(web=None, conf=None).run()
    conf = ObjectRef("", "ConfigMap", "default", "conf")
    assert (where(fleet), where(fleet, conf)) == (["paris", "rome"], ["paris", "rome"])


def test_first_deliveries_that_are_removed_meanwhile_leave_wave_by_wave_as_well() -> None:
    both: dict[str, Any] = {"alsoFor": ["FirstDeliveries", "Removals"]}
    fleet = RollingFleet.of(CLUSTERS, {"web": None, "berlin": a_cluster("berlin")}, waves=WAVES, **both)
    stuck(fleet, "rome", "berlin", "paris").commit(web=web(1)).run()
    assert len(fleet.images()) == 2
    assert stuck(fleet).commit(web=None).run() == ["1 Progressing", " Progressing", ""]


def departures(fleet: RollingFleet) -> tuple[list[str], list[str]]:
    """The clusters in which guards judge the removal of web by a commit, and those in which it was judged before."""
    assert fleet.last is not None
    built, path = fleet.last.built, ("default", "Deployment.apps", "web.yaml")
    begun, ended = built.begun_removals, built.removals_judged_before
    return (
        sorted(name for name, paths in begun.items() if path in paths),
        sorted(name for name, paths in ended.items() if path in paths),
    )


def test_guards_judge_a_removal_once_before_its_first_wave() -> None:
    fleet = a_fleet(**ALSO).commit(web=None)
    seen = []
    while fleet.pass_once():
        seen.append((len(where(fleet)), *departures(fleet)))
    # In oslo the tree of the first commit shows it.
    assert seen[0] == (2, ["paris", "rome"], [])
    assert [(begun, len(ended)) for _, begun, ended in seen[1:]] == [([], 1), ([], 1), ([], 0)]


def test_guards_judge_a_removal_that_waits_when_it_is_asked_for() -> None:
    fleet = stuck(a_fleet(**ALSO), "oslo").commit(web=None, api=a_deployment("api", image="web:2"))
    fleet.pass_once()
    assert departures(fleet) == (list(CLUSTERS), [])
    stuck(fleet).run()
    assert where(fleet) == []


def test_guards_let_a_rollback_take_away_what_just_came() -> None:
    policy: dict[str, Any] = {"onFailure": "Rollback", "gate": {"deadline": "10m"}, "alsoFor": ["FirstDeliveries"]}
    fleet = RollingFleet.of(CLUSTERS, {"web": None}, waves=WAVES, **policy)
    stuck(fleet, "oslo").commit(web=web(1)).run()
    fleet.run(seconds=601)
    assert (where(fleet), departures(fleet)) == ([], ([], ["oslo"]))


def test_clusters_that_are_held_back_one_by_one_are_judged_in_their_wave() -> None:
    settings = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": {"removalGuard": {"scope": "Cluster"}},
    }
    fleet = a_fleet(**ALSO).commit(argosy=settings)
    fleet.run()
    fleet.commit(web=None).pass_once()
    assert departures(fleet) == ([], [])


def test_a_removal_of_all_waves_is_refused_before_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    config_maps = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    names = [f"c{number}.yaml" for number in range(6)]
    repository.commit(
        {
            "p.yaml": a_policy("conf", selectors=config_maps, placement=on_clusters()),
            "r.yaml": a_rollout_policy(selectors=config_maps, waves=[a_wave("canary", "oslo"), a_wave("rest")], **ALSO),
            **{f"{name}.yaml": a_cluster(name) for name in CLUSTERS},
            **{name: a_config_map(name.removesuffix(".yaml")) for name in names},
            "other.yaml": a_deployment("other"),
            "q.yaml": a_policy("other", selectors=[DEPLOYMENT], placement=on_clusters()),
        }
    )
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit(dict.fromkeys(names))
    refused = argosy(repository, capsys, "reconcile")
    assert refused.code == 6
    assert all(f"  {name}: 6 of 7 objects (" in refused.err for name in CLUSTERS)
    repository.git("commit", "-q", "--allow-empty", "-m", "Remove them\n\nArgosy-Allow-Removal: * 6")
    for _ in range(2):
        assert argosy(repository, capsys, "reconcile").code == 0
    kept = repository.git("ls-tree", "-r", "--name-only", "argosy/rendered", "clusters/rome/default/ConfigMap")
    assert len(kept.splitlines()) == 6
    for words in (["verify"], ["validate"], ["diff"], ["diff", "HEAD~1", "HEAD"], ["doctor"]):
        assert argosy(repository, capsys, *words).code in {0, 1, 3}, words
    for words in (["status"], ["status", "configmap/c0"], ["status", "cluster/rome"], ["explain", "cluster/rome"]):
        assert argosy(repository, capsys, *words).code in {0, 1, 3}, words
    said = argosy(repository, capsys, "status", "configmap/c0").out
    assert [line.split()[0] for line in said.splitlines()[-3:]] == list(CLUSTERS)
