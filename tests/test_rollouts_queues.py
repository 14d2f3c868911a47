"""Whole passes over fleets that change at random while newer changes wait for the one that goes out."""

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from render.model import ObjectRef

from .build import a_cluster, a_config_map, a_policy, on_clusters
from .rolling import WEB, RollingFleet, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome", "tokyo")
CONF = ObjectRef("", "ConfigMap", "default", "conf")
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
WAVES = [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=2)]


class Source:
    """The source of a fleet: the versions that its commits bring, of which those that change nothing are no change."""

    def __init__(self, chance: Random, action: str) -> None:
        self.chance = chance
        selectors = [WEB, CONFIG_MAP]
        policy = a_rollout_policy(waves=WAVES, selectors=selectors, onNewChange=action, approvers=["ada"])
        self.fleet = RollingFleet.of(CLUSTERS, {"rollout": policy}, waves=WAVES)
        placed = a_policy("web", selectors=selectors, placement=on_clusters())
        self.fleet.commit(policy=placed, conf=a_config_map("conf", a="1")).run()
        self.now = ("1", "1")
        self.commits = [self.now]
        self.seen = [self.now]

    def change(self) -> None:
        """Commit another version of one object, or of both."""
        image, entry = self.now
        if self.chance.random() < 0.7:
            image = str(self.chance.randint(1, 4))
        if self.chance.random() < 0.4:
            entry = str(self.chance.randint(1, 3))
        self.fleet.commit(web=web(image), conf=a_config_map("conf", a=entry))
        if (image, entry) != self.now:
            self.now = image, entry
            self.commits.append(self.now)

    def live(self) -> None:
        """Let something happen to a cluster that is not the canary, or to the health of any."""
        name = self.chance.choice((*CLUSTERS, "berlin"))
        event = self.chance.choice(("break", "mend", "silence", "answer", "join", "leave"))
        if event == "break":
            self.fleet.unwell.add(name)
        elif event == "mend":
            self.fleet.unwell.discard(name)
        elif event == "answer" or name == "oslo":
            self.fleet.down.discard(name)
        elif event == "silence":
            self.fleet.down.add(name)
        elif event == "join":
            self.fleet.commit(**{name: a_cluster(name)})
        elif len([each for each in CLUSTERS if self.fleet.files.get(each)]) > 2:
            self.fleet.commit(**{name: None})

    def run(self) -> None:
        """Run passes until one writes nothing, and remember what the canary had after each."""
        self.fleet.settle()
        for _ in range(60):
            if not self.fleet.pass_once():
                return
            seen = self.canary()
            if seen != self.seen[-1]:
                self.seen.append(seen)
        raise AssertionError("passes go on and on")

    def canary(self) -> tuple[str, str]:
        found: Any = self.fleet.manifest("oslo")["spec"]["template"]["spec"]["containers"][0]["image"]
        return found.removeprefix("web:"), self.fleet.manifest("oslo", CONF)["data"]["a"]


def played_source(seed: int, action: str) -> Source:
    """Return a source after some commits and events, and passes until everybody is well and has what it says."""
    chance = Random(seed)
    source = Source(chance, action)
    for _ in range(14):
        (source.change if chance.random() < 0.4 else source.live)()
        source.run()
    source.fleet.unwell, source.fleet.down = set(), set()
    source.run()
    members = [name for name in (*CLUSTERS, "berlin") if source.fleet.files.get(name)]
    assert {name: source.fleet.images()[name] for name in members} == dict.fromkeys(members, source.now[0])
    state = source.fleet.state()
    assert state is None or (state.is_completed, state.queue) == (True, ())
    assert len(source.fleet.files_below("versions")) == 2, "what nobody stands at and nobody waits for is not kept"
    return source


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_every_change_goes_out_in_the_order_of_the_commits(seed: int) -> None:
    source = played_source(seed, "Wait")
    assert source.seen == source.commits


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_changes_that_go_out_together_come_to_the_newest(seed: int) -> None:
    """The canary had in between what some commit said, and a later one each time."""
    source = played_source(seed, "Coalesce")
    left = iter(source.commits)
    assert all(each in left for each in source.seen)
    assert source.seen[-1] == source.commits[-1]
