"""Whole passes over fleets that change at random while one change after the other goes out.

What must hold at every commit is told from what the fleet is and what its clusters have, and from nothing that a pass
decided: who may have been given what, by whose health, at which time. Each pass is rendered again from what it recorded
and with a scope, as in every rolling fleet.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.pipeline.pass_values import Rendered
from render.limits import Limit
from render.rollouts.state import RolloutReason
from render.timing import parse_instant

from .build import a_cluster
from .random_rollouts import APPROVER, NAMES, WAVES, Changes, Clock, Frozen, Terms
from .rolling import WEB_REF, RollingFleet, a_control, web

EVENTS = (
    *("join", "leave", "relabel", "silence", "answer", "answer", "break", "mend", "mend", "change", "back", "scale"),
    *("look no more", "look again", "freeze", "thaw", "expedite", "expedite"),
)


@dataclass
class Judge:
    """The judge of the passes of a fleet: what each cluster had before one, and what it has afterwards.

    ``newest`` is the version that the source says, ``changes`` has what goes out of its versions and what waits, and
    ``completed`` is the last that everybody came to. ``frozen`` is a freeze of argosy.yaml. ``seen`` are the
    clusters that the last pass knew: of one that left and comes back the branch has what it had.
    """

    fleet: "WatchedFleet"
    terms: Terms
    newest: int = 1
    completed: int = 1
    clocks: dict[str, Clock] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    frozen: Frozen = field(default_factory=Frozen)
    changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        self.changes = Changes(self.terms.action)

    @property
    def going(self) -> int:
        """The version that goes out."""
        return self.changes.going

    def run(self) -> None:
        """Let members settle, and passes run until one commits nothing."""
        self.fleet.settle()
        for _ in range(20):
            if not self.run_pass():
                return
        raise AssertionError("passes go on and on")

    def run_pass(self) -> bool:
        """Run a pass, and look at what it does; say whether it made a commit."""
        before = {name: image for name, image in self.images().items() if name in self.seen}
        self._look(before)
        late = self._late_clusters(before) if self._is_waited_for() else None
        is_changed, self.seen = self.fleet.pass_once(), frozenset(self.members())
        self._look_at_queue(before, late)
        self._look_at_outcome(before, self.images())
        return is_changed

    def _is_waited_for(self) -> bool:
        """Say whether a change is under way that newer ones have to wait for, if they do at all."""
        state = self.fleet.state()
        return state is not None and not state.is_completed and state.phase not in {"Failed", "Held"}

    def _late_clusters(self, images: dict[str, int]) -> set[str]:
        """The clusters that the change is not through in, nor has failed."""
        names = {name for name in self._asked() & images.keys() if self._is_concerned(name, images)}
        return {name for name in names if not (self._is_through(name, images) or self._is_failed(name, images))}

    def _look_at_queue(self, before: dict[str, int], late: set[str] | None) -> None:
        """Let what waits go out where the pass does, and look whether it was due: nobody was ``late``.

        Nothing had to be waited for where that is None: it had failed, or gone back.
        """
        state = self.fleet.state()
        waiting = 0 if state is None else len(state.queue)
        assert waiting <= len(self.changes.queue), "something waits that nobody asked for"
        while len(self.changes.queue) > waiting:
            if late is not None:
                assert not late, f"it goes on, and {sorted(late)} are not through"
                self.completed = self.going
                before.update(dict.fromkeys(before, self.completed))
            self._begin(self.changes.queue.pop(0), before)

    def _begin(self, version: int, images: dict[str, int], *, is_expedited: bool = False) -> None:
        self.changes.go_on_to(version, is_expedited=is_expedited)
        has = {name for name, image in images.items() if image == version != self.completed}
        self.clocks = {name: Clock(self.fleet.now) for name in has}

    def _look_at_outcome(self, before: dict[str, int], after: dict[str, int]) -> None:
        had = {name: before.get(name, self.completed) for name in after}  # a joiner gets the completed version
        started = {name for name in after if after[name] == self.going != had[name]}
        state = self.fleet.state()
        assert state is None or state.next_step
        if state is None or state.is_completed:
            assert set(after.values()) <= {self.going} == {self.newest}
            self.completed, self.clocks, self.changes.is_expedited = self.going, {}, False
            return
        if state.reason is RolloutReason.ROLLED_BACK:
            assert set(after.values()) <= {self.completed}
            self.clocks = {}
            return
        for name in after.keys() - started:
            assert after[name] == had[name], f"{name} got what nobody gives it"
        self._expect_room_for_failures(started & before.keys())
        for name in sorted(started):
            self._expect_right_start(name, before, state.wave)
            self.clocks.setdefault(name, Clock(self.fleet.now))
        self._expect_no_more_than_may_be(started)

    def begin_change(self, version: int) -> None:
        """Let the source say another version; who has it already has it from now on."""
        self.newest = version
        if self.changes.come(version, is_waited_for=self._is_waited_for()):
            self._begin(version, self.images())

    def expedite(self) -> None:
        """Let the newest change take the place of all before it, and go to all waves at once."""
        self._begin(self.newest, self.images(), is_expedited=True)

    def give_time_again(self) -> None:
        """Let clusters that have failed begin anew, as somebody asks for a retry."""
        images = self.images()
        failed = [name for name in self.clocks if self._is_failed(name, images)]
        self.clocks |= {name: Clock(self.fleet.now) for name in failed}

    def members(self) -> dict[str, str]:
        """The wave of each cluster of the source."""
        found = {name: self.fleet.files.get(name) for name in NAMES}
        return {name: each["metadata"]["labels"]["wave"] for name, each in found.items() if each is not None}

    def images(self) -> dict[str, int]:
        """The version of each cluster of the source that has one."""
        return {name: int(image) for name, image in self.fleet.images().items() if name in self.members()}

    def _asked(self) -> set[str]:
        return set(self.members()) - self.fleet.down

    def _look(self, images: dict[str, int]) -> None:
        """Start the clocks anew of clusters that were through and are no longer."""
        for gone in self.clocks.keys() - images.keys():
            del self.clocks[gone]
        for name in self._asked() & self.clocks.keys():
            clock = self.clocks[name]
            if self._is_through(name, images):
                clock.was_through = True
            elif clock.was_through and not self._has_old_status(name):
                self.clocks[name] = Clock(self._well_since(name) or self.fleet.now)

    def _well_since(self, name: str) -> datetime | None:
        version, health, since = self.fleet.known_health().get((WEB_REF, name), ("", "", ""))
        given = self.fleet.health.get((WEB_REF, name), ("", "", ""))[0]
        return parse_instant(since) if health == "Healthy" and version == given else None

    def _has_old_status(self, name: str) -> bool:
        """Say whether a cluster was well when a pass looked at it last, which is too long ago."""
        at, age = self.fleet.unseen.get(name), self.terms.age
        is_old = at is not None and age is not None and at + timedelta(seconds=age) < self.fleet.now
        return is_old and self._well_since(name) is not None

    def _is_through(self, name: str, images: dict[str, int]) -> bool:
        since = self._well_since(name)
        if name not in self.clocks or since is None or images.get(name) != self.going:
            return False
        opens = max(since, self.clocks[name].at) + timedelta(seconds=self.terms.healthy_for)
        return opens <= self.fleet.now and not self._has_old_status(name)

    def _is_failed(self, name: str, images: dict[str, int]) -> bool:
        if name not in self.clocks or self.terms.deadline is None or self._is_through(name, images):
            return False
        if self._has_old_status(name):
            return False
        return self.clocks[name].at + timedelta(seconds=self.terms.deadline) <= self.fleet.now

    def _expect_room_for_failures(self, started: set[str]) -> None:
        if not started:
            return
        images = self.images()
        asked = self._asked()
        failed = {name for name in asked if self._is_failed(name, images)}
        assert len(failed) <= self.terms.failures, f"{started} start though {failed} failed"
        silent = {name for name in self.members() if name in self.fleet.down and self._is_concerned(name, images)}
        if self.terms.unreachable is not None:
            assert len(silent) <= self.terms.unreachable, f"{started} start though {silent} are silent"

    def _is_concerned(self, name: str, images: dict[str, int]) -> bool:
        return name in images and (images[name] != self.going or name in self.clocks)

    def _expect_right_start(self, name: str, before: dict[str, int], begun: str) -> None:
        waves = self.members()
        place = WAVES.index(waves[name])
        assert name in self._asked(), f"{name} does not answer"
        if self.changes.is_expedited:
            return
        assert not self.frozen.closes(name, self.fleet.now), f"{name} is frozen"
        assert place <= WAVES.index(begun), f"{name} starts before its wave"
        for other in self._asked() & before.keys():
            if WAVES.index(waves[other]) < place and self._is_concerned(other, before):
                is_over = self._is_through(other, before) or self._is_failed(other, before)
                assert is_over, f"{name} starts before {other} is through"

    def _expect_no_more_than_may_be(self, started: set[str]) -> None:
        images, waves = self.images(), self.members()
        under_way = {
            name
            for name in self._asked() & self.clocks.keys()
            if name in started or not (self._is_through(name, images) or self._is_failed(name, images))
        }
        for wave in {waves[name] for name in started}:
            limit = self.terms.concurrent[wave]
            if limit is None:
                continue
            concerned = [name for name in waves if waves[name] == wave and self._is_concerned(name, images)]
            found = Limit.of_text(str(limit))
            assert found is not None
            most = found.of_total(len(concerned), at_least=1)
            # What is expedited goes to all waves at once, each of which has room of its own.
            here = {name for name in under_way if not self.changes.is_expedited or waves[name] == wave}
            assert len(here) <= most, f"{sorted(here)} are under way, and {most} may be"


class Life:
    """A fleet to which things happen at random, with its judge."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        terms = Terms.at_random(self.chance)
        clusters = {name: self._cluster(name) for name in self.chance.sample(NAMES, 5)}
        self.fleet = WatchedFleet.of((), clusters, **terms.spec())
        self.judge = Judge(self.fleet, terms)
        self.versions = 1
        self.controls = 0

    def _cluster(self, name: str) -> dict[str, Any]:
        return a_cluster(name, region=self.chance.choice(["eu", "us"]), labels={"wave": self.chance.choice(WAVES)})

    def happens(self, event: str, name: str) -> None:
        match event:
            case "join" | "leave" | "relabel":
                self._moves(event, name)
            case "silence" | "answer":
                (self.fleet.down.add if event == "silence" else self.fleet.down.discard)(name)
            case "break" | "mend":
                (self.fleet.unwell.add if event == "break" else self.fleet.unwell.discard)(name)
            case "look no more" | "look again":
                (self.fleet.look_no_more if event == "look no more" else self.fleet.look_again)(name)
            case _:
                self._source_changes(event)

    def _source_changes(self, event: str) -> None:
        match event:
            case "scale":
                self.fleet.commit(web=web(self.judge.newest, replicas=self.chance.randint(1, 9)))
            case "change":
                self.versions += 1
                self._goes_out(self.versions)
            case "back":
                self._goes_out(max(1, self.versions - 1))
            case "freeze" | "thaw":
                self.judge.frozen = Frozen.at_random(self.chance, self.fleet.now) if event == "freeze" else Frozen()
                self.fleet.commit(argosy=self.judge.frozen.content())
            case "expedite":
                self._expedites()

    def _moves(self, event: str, name: str) -> None:
        """Let a cluster join, leave or be relabelled; two are always there."""
        members = self.judge.members()
        if (event == "join") == (name in members):
            return
        if event != "leave" or len(members) > 2:
            self.fleet.commit(**{name: None if event == "leave" else self._cluster(name)})

    def _goes_out(self, version: int) -> None:
        if version != self.judge.newest:
            self.judge.begin_change(version)
            self.fleet.commit(web=web(version))

    def _expedites(self) -> None:
        """Let an approver expedite the newest change, where one waits."""
        state = self.fleet.state()
        if self.judge.terms.action != "Expedite" or state is None or not state.queue:
            return
        self.controls += 1
        name = f"hurry-{self.controls}"
        self.fleet.signers[name] = APPROVER
        self.judge.expedite()
        control = a_control(name, state.queue[-1].digest, "Expedite", reason="a hole")
        self.fleet.commit(**{name: control})

    def recover(self) -> None:
        """Let everybody be well and answer, and somebody do what comes next, until all have the newest version."""
        self.fleet.unwell.clear()
        self.fleet.down.clear()
        self.fleet.look_again(*NAMES)
        # Steps are no measure: where looks grow old, an answer flips every 21 seconds that a freeze or a gate takes.
        end = self.fleet.now + timedelta(hours=1) * (1 + len(self.judge.changes.queue))
        while self.fleet.now <= end:
            self.judge.run()
            state = self.fleet.state()
            if state is None or state.is_completed:
                assert set(self.judge.images().values()) == {self.judge.newest}
                return
            if "argosy rollout retry" in state.next_step:
                self.controls += 1
                name = f"retry-{self.controls}"
                self.fleet.commit(**{name: a_control(name, self.fleet.change, "Retry")})
                self.judge.give_time_again()
                self.fleet.now += timedelta(seconds=1)
            else:
                assert self.fleet.flip is not None, f"nothing comes next: {state.next_step}"
                self.fleet.now = max(self.fleet.now + timedelta(seconds=1), self.fleet.flip)
        raise AssertionError(f"it never ends: {self.fleet.state()}")

    def wait(self, seconds: int) -> None:
        """Let time go by; where no answer flips meanwhile, a pass commits nothing."""
        flip, later = self.fleet.flip, self.fleet.now + timedelta(seconds=seconds)
        self.fleet.now = later
        if flip is None or flip > later:
            assert not self.fleet.pass_once(), "something flips that nobody foretold"


class WatchedFleet(RollingFleet):
    """A rolling fleet that says when the next answer flips by itself."""

    flip: datetime | None = None

    def settle(self) -> None:
        """Let members that answer become what they were told."""
        if self.last is not None:
            self._apply(self.last)

    def _keep(self, rendered: Rendered) -> None:
        self.flip = rendered.built.flip.at if rendered.built.flip else None
        super()._keep(rendered)


@settings(max_examples=18)
@given(seed=st.integers(0, 2**32))
def test_no_pass_gives_a_change_to_a_cluster_that_may_not_have_it(seed: int) -> None:
    """Whatever has happened, a fleet that is well again comes to the newest version by the steps that are named."""
    life = Life(seed)
    for _ in range(20):
        life.happens(life.chance.choice(EVENTS), life.chance.choice(NAMES))
        life.judge.run()
        life.wait(life.chance.choice([1, 30, 60, 301]))
    life.recover()
