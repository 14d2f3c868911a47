"""Groups of objects that go out by themselves, in memory: what each cluster has of every object, commit by commit."""

from collections.abc import Mapping
from typing import Any

import pytest

from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from render.model import ObjectRef

from .build import a_cluster_policy, a_config_map, a_deployment, a_policy, on_clusters
from .rolling import RollingFleet, a_control, a_rollout_policy, a_wave

CLUSTERS = ("oslo", "paris", "rome")
WAVES = (a_wave("canary", "oslo"), a_wave("rest"))
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
SELECTED = (DEPLOYMENT, {"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "v1", "kind": "Namespace"})
API, WEB = (ObjectRef("apps", "Deployment", "default", name) for name in ("api", "web"))
CONF = ObjectRef("", "ConfigMap", "default", "conf")
BY_OBJECT: dict[str, Any] = {"group": {"by": "Object"}}
BY_TEAM: dict[str, Any] = {"group": {"by": "Label", "label": "team"}}


def deployed(name: str, version: int, *, conf: str = "", team: str = "") -> dict[str, Any]:
    """A Deployment in a version that its image shows, which may name a ConfigMap and have a team."""
    found = a_deployment(name, image=f"{name}:{version}")
    if conf:
        found["spec"]["template"]["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": conf}}]
    return labelled(found, team)


def configured(version: int, *, team: str = "") -> dict[str, Any]:
    return labelled({**a_config_map("conf"), "data": {"v": str(version)}}, team)


def labelled(manifest: dict[str, Any], team: str) -> dict[str, Any]:
    labels = {"labels": {"team": team}} if team else {}
    return {**manifest, "metadata": {**manifest["metadata"], **labels}}


def a_fleet(files: Mapping[str, Any], **policy: Any) -> RollingFleet:
    """A fleet that has all of the files everywhere, with one rollout policy that selects them."""
    placed = a_policy("web", selectors=SELECTED, placement=on_clusters())
    rollout = a_rollout_policy(selectors=SELECTED, waves=WAVES, **policy)
    return RollingFleet.of(CLUSTERS, {"policy": placed, "web": None, **files, "rollout": rollout}, waves=WAVES)


def versions(fleet: RollingFleet, ref: ObjectRef) -> str:
    """The version of an object in each cluster, in the order of their names."""
    found = ""
    for name in CLUSTERS:
        manifest = fleet.manifest(name, ref)
        data = manifest.get("data") if manifest else None
        image = manifest["spec"]["template"]["spec"]["containers"][0]["image"] if manifest and not data else ""
        found += data["v"] if data else image.rpartition(":")[2] or "-"
    return found


def rollouts(fleet: RollingFleet) -> dict[str, str]:
    """The phase of each rollout, by the group that it is of."""
    assert fleet.previous is not None
    return {each.group: str(each.phase) for each in rollout_states_of_tree(fleet.previous.tree).values()}


def kept_versions(fleet: RollingFleet, ref: ObjectRef) -> list[str]:
    """The files of the versions of an object that are kept."""
    return [path for path in fleet.files_below("versions") if f"/{ref.name}/" in path]


def stuck(fleet: RollingFleet, *names: str) -> RollingFleet:
    """The fleet, in which some clusters do not become healthy."""
    fleet.unwell = set(names)
    return fleet


def test_what_changes_is_one_group_by_default() -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}), "oslo")
    fleet.commit(web=deployed("web", 2), api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, API), rollouts(fleet)) == ("211", "211", {"": "Progressing"})
    assert fleet.files_below("rollouts") == ["default/web.yaml"]


def test_each_object_goes_out_by_itself_where_they_are_groups() -> None:
    fleet = a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT)
    stuck(fleet, "oslo").commit(web=deployed("web", 2)).run()
    fleet.health[API, "oslo"] = ("", "Healthy", "")
    fleet.commit(api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("211", "211")
    assert rollouts(fleet) == {
        "Deployment.apps default/web": "Progressing",
        "Deployment.apps default/api": "Progressing",
    }
    assert fleet.files_below("rollouts") == [
        "default/web/%44eployment.apps%20default%2Fapi.yaml",
        "default/web/%44eployment.apps%20default%2Fweb.yaml",
    ]


def test_a_newer_change_of_one_group_leaves_another_where_it_is() -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT), "rome")
    fleet.commit(web=deployed("web", 2)).run()
    assert versions(fleet, WEB) == "222"
    stuck(fleet, "oslo", "rome").commit(api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("222", "211")
    stuck(fleet).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("222", "222")
    assert set(rollouts(fleet).values()) == {"Completed"}


def test_a_failure_concerns_its_group_alone() -> None:
    fleet = a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, gate={"deadline": "10m"}, **BY_OBJECT)
    stuck(fleet, "oslo").commit(web=deployed("web", 2)).run()
    stuck(fleet, "oslo").run(seconds=601)
    stuck(fleet).commit(api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("211", "222")
    assert rollouts(fleet) == {"Deployment.apps default/web": "Failed", "Deployment.apps default/api": "Completed"}


def test_a_changed_dependency_goes_with_its_owner() -> None:
    files = {"web": deployed("web", 1, conf="conf"), "conf": configured(1), "api": deployed("api", 1)}
    fleet = stuck(a_fleet(files, **BY_OBJECT), "oslo")
    fleet.commit(web=deployed("web", 2, conf="conf"), conf=configured(2), api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, CONF)) == ("211", "211")
    assert set(rollouts(fleet)) == {"Deployment.apps default/web", "Deployment.apps default/api"}


def test_an_object_that_two_groups_need_joins_them() -> None:
    files = {"web": deployed("web", 1, conf="conf"), "conf": configured(1), "api": deployed("api", 1, conf="conf")}
    fleet = stuck(a_fleet(files, **BY_OBJECT), "oslo")
    fleet.commit(web=deployed("web", 2, conf="conf"), conf=configured(2), api=deployed("api", 2, conf="conf")).run()
    assert rollouts(fleet) == {"Deployment.apps default/api": "Progressing"}
    assert {versions(fleet, each) for each in (WEB, API, CONF)} == {"211"}


def test_a_namespace_that_changes_joins_what_is_in_it() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    policy = a_rollout_policy(selectors=SELECTED, waves=WAVES, **BY_OBJECT)
    policy |= {"kind": "ClusterRolloutPolicy", "metadata": {"name": "all"}}
    placed = a_cluster_policy("all", selectors=SELECTED, placement=on_clusters())
    files = {"web": deployed("web", 1), "space": space, "rollout": policy, "policy": placed}
    fleet = stuck(RollingFleet.of(CLUSTERS, files), "oslo")
    fleet.commit(web=deployed("web", 2), space=labelled(space, "a")).run()
    assert rollouts(fleet) == {"Deployment.apps default/web": "Progressing"}


def test_two_groups_that_are_joined_meanwhile_begin_anew_together() -> None:
    files = {"web": deployed("web", 1), "api": deployed("api", 1), "conf": configured(1)}
    fleet = a_fleet(files, **BY_OBJECT)
    stuck(fleet, "rome").commit(web=deployed("web", 2)).run()
    stuck(fleet, "oslo").commit(api=deployed("api", 2)).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("222", "211")
    both = {"web": deployed("web", 3, conf="conf"), "api": deployed("api", 3, conf="conf"), "conf": configured(3)}
    fleet.commit(**both).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("322", "311")
    assert rollouts(fleet) == {"Deployment.apps default/api": "Progressing"}
    stuck(fleet).run()
    assert (versions(fleet, WEB), versions(fleet, API)) == ("333", "333")


def test_groups_by_label_go_out_by_themselves_and_those_without_it_by_object() -> None:
    files = {"web": deployed("web", 1, team="a"), "api": deployed("api", 1), "conf": configured(1, team="a")}
    fleet = stuck(a_fleet(files, **BY_TEAM), "oslo")
    fleet.commit(web=deployed("web", 2, team="a"), conf=configured(2, team="a"), api=deployed("api", 2)).run()
    assert rollouts(fleet) == {"a": "Progressing", "Deployment.apps default/api": "Progressing"}


def test_an_object_that_gets_another_label_stays_in_its_group_until_that_is_through() -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1, team="a")}, **BY_TEAM), "oslo")
    fleet.commit(web=deployed("web", 2, team="a")).run()
    fleet.commit(web=deployed("web", 3, team="b")).run()
    assert rollouts(fleet) == {"a": "Progressing"}
    stuck(fleet).run()
    assert rollouts(fleet) == {}, "the objects of the group are in another one now"
    stuck(fleet, "oslo").commit(web=deployed("web", 4, team="b")).run()
    assert rollouts(fleet) == {"b": "Progressing"}


def test_groups_end_as_they_began_when_the_policy_makes_none_any_more() -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT), "oslo")
    fleet.commit(web=deployed("web", 2)).run()
    fleet.commit(rollout=a_rollout_policy(selectors=SELECTED, waves=WAVES), api=deployed("api", 2)).run()
    assert rollouts(fleet) == {"": "Progressing", "Deployment.apps default/web": "Progressing"}
    stuck(fleet).run()
    assert rollouts(fleet) == {"": "Completed"}


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_group_ends_with_its_policy_or_its_object(is_removed: bool) -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT), "oslo")
    fleet.commit(web=deployed("web", 2)).run()
    fleet.commit(**{"web" if is_removed else "rollout": None}).run()
    assert versions(fleet, WEB) == ("---" if is_removed else "211")
    stuck(fleet).run()
    assert (versions(fleet, WEB), rollouts(fleet)) == ("---" if is_removed else "222", {})
    assert fleet.files_below("rollouts") == []


def test_a_control_is_about_one_group() -> None:
    fleet = stuck(a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT), "oslo")
    fleet.commit(web=deployed("web", 2), api=deployed("api", 2)).run()
    assert fleet.previous is not None
    states = rollout_states_of_tree(fleet.previous.tree)
    change = states["RolloutPolicy default/web for Deployment.apps default/web"].change
    control = a_control("wait", change, "Pause")
    fleet.commit(control=control).run()
    assert set(rollouts(fleet).values()) == {"Progressing"}, "a control without a group is about none of them"
    control["spec"]["rollout"]["group"] = "Deployment.apps default/web"
    stuck(fleet).commit(control=control).run()
    assert rollouts(fleet) == {"Deployment.apps default/web": "Paused", "Deployment.apps default/api": "Completed"}


def test_the_file_of_a_group_is_in_no_folder_named_as_the_file_of_another_policy() -> None:
    only_web = [{**DEPLOYMENT, "name": "web"}]
    only_api = [{**DEPLOYMENT, "name": "api"}]
    fleet = a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)})
    dotted = a_rollout_policy("web.yaml", selectors=only_api, waves=WAVES, **BY_OBJECT)
    fleet.commit(rollout=a_rollout_policy(selectors=only_web, waves=WAVES), dotted=dotted).run()
    stuck(fleet, "oslo").commit(web=deployed("web", 2), api=deployed("api", 2)).run()
    assert fleet.files_below("rollouts") == [
        "default/web%2Eyaml/%44eployment.apps%20default%2Fapi.yaml",
        "default/web.yaml",
    ]


def test_groups_do_not_all_begin_in_the_same_clusters() -> None:
    names = [f"app{number}" for number in range(8)]
    files = {name: deployed(name, 1) for name in names}
    fleet = stuck(a_fleet(files, **BY_OBJECT), *CLUSTERS)
    waves = [a_wave("first", size=1), a_wave("rest")]
    fleet.commit(rollout=a_rollout_policy(selectors=SELECTED, waves=waves, **BY_OBJECT)).run()
    fleet.commit(**{name: deployed(name, 2) for name in names}).run()
    begun = {versions(fleet, ObjectRef("apps", "Deployment", "default", name)) for name in names}
    assert len(begun) > 1
    assert all(sorted(each) == ["1", "1", "2"] for each in begun)


def test_what_the_policy_selects_no_longer_is_free_as_soon_as_its_change_has_ended() -> None:
    """It is free in the commit that ends it: an idle pass after that has nothing left to write."""
    fleet = a_fleet({"web": deployed("web", 1), "api": deployed("api", 1)}, **BY_OBJECT)
    waves = [a_wave("canary", "oslo", approval=True), a_wave("rest")]
    fleet.commit(rollout=a_rollout_policy(selectors=SELECTED, waves=waves, **BY_OBJECT)).run()
    fleet.commit(web=deployed("web", 2), api=deployed("api", 2)).run()
    fleet.commit(rollout=a_rollout_policy(selectors=[{**DEPLOYMENT, "name": "web"}], waves=waves, **BY_OBJECT)).run()
    assert kept_versions(fleet, API), "what has begun is not over yet"
    assert fleet.commit(api=deployed("api", 1)).pass_once()
    assert not kept_versions(fleet, API)
    assert not fleet.pass_once()
