"""Freezes and windows of argosy.yaml: what they hold back, of which objects, in which clusters, and until when."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec import Struct, field

from render.model import ObjectRef

from .build import a_cluster, a_config_map, a_policy, on_clusters
from .rolling import BEGIN, WEB, WEB_REF, RollingFleet, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome", "tokyo")
HOUR = 3600


def a_freeze(until: str = "2026-03-02T00:00:00Z", reason: str = "audit", **more: Any) -> dict[str, Any]:
    return {"until": until, "reason": reason, **more}


def fleet_file(*freezes: Any, windows: Sequence[Any] = (), name: str = "default") -> dict[str, Any]:
    """argosy.yaml with a calendar."""
    rollouts = {"freezes": list(freezes), "windows": list(windows)}
    metadata = {"name": name}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": metadata, "spec": {"rollouts": rollouts}}


def a_frozen_fleet(argosy: Mapping[str, Any], **files: Any) -> RollingFleet:
    """A fleet without a rollout policy, at its first version, with a calendar."""
    placed = a_policy("web", selectors=[WEB], placement=on_clusters())
    members = {name: a_cluster(name, region="eu" if name != "tokyo" else "asia") for name in CLUSTERS}
    fleet = RollingFleet({"argosy": argosy, "policy": placed, "web": web(1), **members, **files})
    fleet.run()
    fleet.told.clear()
    return fleet


class Step(Struct, kw_only=True):
    """Something that happens, and the commits of it."""

    commits: Sequence[str]
    files: Mapping[str, Any] = field(default_factory=dict)
    hours: float = 0


class Row(Struct, kw_only=True):
    why: str
    calendar: Mapping[str, Any]
    steps: Sequence[Step]
    files: Mapping[str, Any] = field(default_factory=dict)


def changed(*commits: str, to: int = 2, **files: Any) -> Step:
    return Step(commits=commits, files={"web": web(to), **files})


ROWS = (
    Row(
        why="a freeze holds a change back, and ends by itself",
        calendar=fleet_file(a_freeze()),
        steps=[
            changed("1111 Waiting"),
            Step(commits=[], hours=23),
            Step(commits=["2222"], hours=1),
            Step(commits=[], hours=100),
        ],
    ),
    Row(
        why="a freeze of one cluster holds back nobody else",
        calendar=fleet_file(a_freeze(clusters=["rome"])),
        steps=[changed("2212 Waiting"), changed("3313 Waiting", to=3), Step(commits=["3333"], hours=24)],
    ),
    Row(
        why="a freeze of a region, and one of a label, end one after the other",
        calendar=fleet_file(
            a_freeze(regions=["asia"]), a_freeze(until="2026-03-03T00:00:00Z", clusterLabels=["tier=gold"])
        ),
        files={"oslo": a_cluster("oslo", labels={"tier": "gold"})},
        steps=[changed("1221 Waiting"), Step(commits=["1222 Waiting"], hours=24), Step(commits=["2222"], hours=24)],
    ),
    Row(
        why="a freeze of another namespace, or of another kind, holds nothing back",
        calendar=fleet_file(a_freeze(namespaces=["shop"]), a_freeze(kinds=["ConfigMap"])),
        steps=[changed("2222")],
    ),
    Row(
        why="a freeze of the namespace and the kind holds back",
        calendar=fleet_file(a_freeze(namespaces=["default"], kinds=["Deployment.apps"])),
        steps=[changed("1111 Waiting")],
    ),
    Row(
        why="a freeze that begins later holds nothing back before",
        calendar=fleet_file(a_freeze(**{"from": "2026-03-01T02:00:00Z"})),
        steps=[
            changed("2222"),
            Step(commits=[], hours=2),
            changed("2222 Waiting", to=3),
            Step(commits=["3333"], hours=22),
        ],
    ),
    Row(
        why="a window lets changes out, and closes",
        calendar=fleet_file(windows=[{"from": "09:00", "to": "10:00"}]),
        steps=[
            changed("1111 Waiting"),
            Step(commits=["2222"], hours=9),
            changed("3333", to=3),
            Step(commits=[], hours=1),
            changed("3333 Waiting", to=4),
            Step(commits=["4444"], hours=23),
        ],
    ),
    Row(
        why="a freeze comes before a window, and a window of another day does not count",
        calendar=fleet_file(a_freeze(), windows=[{"from": "00:00", "to": "23:00", "days": ["Mon", "Sun"]}]),
        steps=[changed("1111 Waiting"), Step(commits=["2222"], hours=24)],
    ),
    Row(
        why="numbers are scaled while a freeze holds the image back",
        calendar=fleet_file(a_freeze()),
        steps=[Step(commits=["1111 Waiting"], files={"web": web(2, replicas=5)}), Step(commits=["2222"], hours=24)],
    ),
    Row(
        why="a cluster that joins during a freeze gets the version that the others have",
        calendar=fleet_file(a_freeze()),
        steps=[
            changed("1111 Waiting"),
            Step(commits=["11111 Waiting"], files={"berlin": a_cluster("berlin")}),
            Step(commits=["22222"], hours=24),
        ],
    ),
    Row(
        why="a change that is taken back during a freeze is no change",
        calendar=fleet_file(a_freeze(clusters=["rome"])),
        steps=[changed("2212 Waiting"), changed("1111", to=1)],
    ),
    Row(
        why="a freeze that is taken out of argosy.yaml holds nothing back any more",
        calendar=fleet_file(a_freeze()),
        steps=[changed("1111 Waiting"), Step(commits=["2222"], files={"argosy": None})],
    ),
    Row(
        why="a freeze holds back the clusters of a rollout policy, whose waves then go on",
        calendar=fleet_file(a_freeze()),
        files={"rollout": a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")])},
        steps=[
            changed("1111 Waiting"),
            Step(commits=["2111 Progressing", "2222 Progressing", "2222 Completed"], hours=24),
        ],
    ),
    Row(
        why="a frozen cluster holds up the end of its wave, and nobody beside it",
        calendar=fleet_file(a_freeze(clusters=["paris"])),
        files={"rollout": a_rollout_policy(waves=[a_wave("canary", "oslo", "paris"), a_wave("rest")])},
        steps=[
            changed("2111 Progressing", "2111 Waiting"),
            Step(commits=["2211 Progressing", "2222 Progressing", "2222 Completed"], hours=24),
        ],
    ),
    Row(
        why="an object of a change that a freeze covers holds back the change in its clusters: it is not torn",
        calendar=fleet_file(a_freeze(kinds=["ConfigMap"])),
        files={
            "config": a_config_map("config", a="1"),
            "policy": a_policy(
                "web",
                selectors=[WEB, {"apiVersion": "v1", "kind": "ConfigMap"}],
                placement=on_clusters(),
            ),
            "rollout": a_rollout_policy(selectors=[WEB, {"apiVersion": "v1", "kind": "ConfigMap"}]),
        },
        steps=[changed("1111 Waiting", config=a_config_map("config", a="2"))],
    ),
    Row(
        why="a policy that comes during a freeze takes over what is held back",
        calendar=fleet_file(a_freeze()),
        steps=[
            changed("1111 Waiting"),
            Step(commits=["1111 Waiting"], files={"rollout": a_rollout_policy(waves=[a_wave("canary", "oslo")])}),
            Step(commits=["2111 Progressing", "2222 Progressing", "2222 Completed"], hours=24),
        ],
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.why)
def test_calendars_of_the_fleet(row: Row) -> None:
    fleet = a_frozen_fleet(row.calendar, **row.files)
    for step in row.steps:
        assert fleet.commit(**step.files).run(step.hours * HOUR) == list(step.commits)


def test_what_is_held_back_says_what_it_waits_for_and_when_it_goes_on() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze(clusters=["rome"])))
    fleet.commit(web=web(2)).run()
    state = fleet.state()
    assert (str(state.plan), state.reason, dict(state.seats)) == ("Fleet default", "Frozen", {"rome": "others"})
    assert state.next_step == "Deployment.apps default/web waits for the end of the freeze (audit) in rome"
    assert fleet.last is not None
    flip = fleet.last.built.flip
    assert flip is not None
    assert f"{flip.at:%F %T}" == "2026-03-02 00:00:00"


def test_versions_are_kept_while_a_calendar_covers_an_object_and_no_longer() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    assert len(fleet.files_below("versions")) == 1
    fleet.commit(web=web(2)).run()
    assert len(fleet.files_below("versions")) == 2
    assert fleet.files_below("rollouts") == ["_fleet/default.yaml"]
    fleet.commit(argosy=None).run()
    assert (fleet.files_below("versions"), fleet.files_below("rollouts")) == ([], [])


def test_a_freeze_asks_for_no_health() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    fleet.commit(web=web(2)).run()
    assert "_health.yaml" not in fleet.files_below("facts")


def test_what_a_deleted_policy_has_let_out_is_covered_from_the_pass_that_ends_it() -> None:
    """The next pass said so first: a change that came until then went everywhere in the middle of a freeze."""
    rollout = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")])
    fleet = a_frozen_fleet(fleet_file(a_freeze(**{"from": "2026-03-01T01:00:00Z"})), rollout=rollout)
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    fleet.commit(rollout=None).run()
    fleet.unwell = set()
    fleet.settle()
    while fleet.state() is not None:
        assert fleet.pass_once()
    fleet.commit(web=web(3))
    assert fleet.run(3600)[-1] == "2222 Waiting"


def test_replicas_of_a_frozen_object_are_those_of_now() -> None:
    fleet = a_frozen_fleet(fleet_file(a_freeze()))
    fleet.commit(web=web(2, replicas=5)).run()
    assert fleet.manifest("rome", WEB_REF)["spec"]["replicas"] == 5


def test_an_object_that_its_policy_selects_no_longer_leaves_its_rollout() -> None:
    """Its binding says nothing of versions then; it did say that its clusters stand at the former one."""
    fleet = RollingFleet.of(CLUSTERS, {"conf": a_config_map("conf")}, selectors=[WEB])
    other = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other"}]
    fleet.commit(rollout=a_rollout_policy(selectors=other), web=web(2)).run()
    assert fleet.images() == dict.fromkeys(CLUSTERS, "2")
    assert fleet.files_below("versions") == []


CONF = ObjectRef("", "ConfigMap", "default", "conf")
EVERY = {"apiVersion": "v1", "kind": "ConfigMap"}


def clusters_having(fleet: RollingFleet, ref: ObjectRef) -> list[str]:
    return [name for name in CLUSTERS if fleet.manifest(name, ref) is not None]


def a_fleet_with_config(*freezes: Any, **files: Any) -> RollingFleet:
    """A frozen fleet whose policy selects the Deployment and ConfigMaps."""
    placed = a_policy("web", selectors=[WEB, EVERY], placement=on_clusters())
    return a_frozen_fleet(fleet_file(*freezes), policy=placed, **files)


def test_a_freeze_holds_back_what_is_new_until_it_ends() -> None:
    fleet = a_fleet_with_config(a_freeze(clusters=["rome", "tokyo"]))
    fleet.commit(conf=a_config_map("conf")).run()
    assert clusters_having(fleet, CONF) == ["oslo", "paris"]
    assert fleet.state().next_step == "ConfigMap default/conf waits for the end of the freeze (audit) in rome, tokyo"
    fleet.run(24 * HOUR)
    assert clusters_having(fleet, CONF) == list(CLUSTERS)
    assert fleet.files_below("rollouts") == []
    assert fleet.run(HOUR) == []


def test_a_freeze_holds_back_a_removal_until_it_ends() -> None:
    fleet = a_fleet_with_config(a_freeze(clusters=["rome", "tokyo"]), conf=a_config_map("conf"))
    assert clusters_having(fleet, CONF) == list(CLUSTERS)
    fleet.commit(conf=None).run()
    assert clusters_having(fleet, CONF) == ["rome", "tokyo"]
    assert fleet.state().next_step == "ConfigMap default/conf waits for the end of the freeze (audit) in rome, tokyo"
    fleet.run(24 * HOUR)
    assert clusters_having(fleet, CONF) == []
    assert [path for path in fleet.files_below("bindings") if "conf" in path] == []
    assert fleet.run(HOUR) == []


def test_a_removal_that_is_taken_back_in_a_freeze_is_none() -> None:
    fleet = a_fleet_with_config(a_freeze(clusters=["rome"]), conf=a_config_map("conf"))
    fleet.commit(conf=None).run()
    fleet.commit(conf=a_config_map("conf")).run()
    assert clusters_having(fleet, CONF) == list(CLUSTERS)
    assert fleet.files_below("rollouts") == []


def test_what_is_new_in_a_freeze_and_has_a_rollout_policy_goes_by_its_waves_afterwards() -> None:
    rollout = a_rollout_policy(selectors=[EVERY], waves=[a_wave("canary", "oslo"), a_wave("rest")])
    fleet = a_fleet_with_config(a_freeze(), rollout=rollout)
    fleet.commit(conf=a_config_map("conf")).run()
    assert clusters_having(fleet, CONF) == []
    fleet.pass_once()
    fleet.now = BEGIN + timedelta(hours=24)
    fleet.pass_once()
    assert clusters_having(fleet, CONF) == ["oslo"]
    fleet.run()
    assert clusters_having(fleet, CONF) == list(CLUSTERS)


def test_the_first_pass_of_a_fleet_is_no_change() -> None:
    assert a_frozen_fleet(fleet_file(a_freeze())).images() == dict.fromkeys(CLUSTERS, "1")


def test_a_freeze_that_comes_with_a_change_holds_it_back() -> None:
    """No version was recorded before: clusters keep what the rendered commit has for them."""
    fleet = a_frozen_fleet(fleet_file())
    frozen = fleet_file(a_freeze(clusters=["oslo", "rome", "tokyo"]))
    assert fleet.commit(argosy=frozen, web=web(2, replicas=5)).run() == ["1211 Waiting"]
    assert fleet.manifest("rome")["spec"]["replicas"] == 5
    assert fleet.commit(web=web(3)).run() == ["1311 Waiting"]
    assert fleet.run(24 * HOUR) == ["3333"]
    assert len(fleet.files_below("versions")) == 1


def test_a_freeze_that_comes_with_a_change_of_a_rollout_policy_holds_it_back() -> None:
    fleet = a_frozen_fleet(fleet_file())
    rollout = a_rollout_policy(waves=[a_wave("canary", "oslo"), a_wave("rest")])
    assert fleet.commit(argosy=fleet_file(a_freeze()), rollout=rollout, web=web(2)).run() == ["1111 Waiting"]
    assert fleet.run(24 * HOUR) == ["2111 Progressing", "2222 Progressing", "2222 Completed"]
