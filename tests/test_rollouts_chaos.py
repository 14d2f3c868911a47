"""Everything that rollouts can do at once, at random: policies, edits, controls, and a fleet that lives meanwhile.

Whatever happens: every pass gives the same commit again from what it recorded, and with a scope; an idle pass commits
nothing until the instant that was foretold; every rollout that is not over says what comes next; and once the fleet is
well and somebody does what is said, all clusters come to what the source says.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.pipeline.pass_values import Rendered
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from render.documents import parse_documents
from render.model import ObjectRef
from render.rollouts.state import RolloutReason, RolloutState
from render.timing import instant_text

from .asked import a_fleet_asking
from .build import a_cluster, a_config_map, a_deployment, a_policy, on_clusters, weighted
from .rolling import RollingFleet, a_rollout_policy, a_wave

NAMES = tuple("abcdef")
WAVES = ("canary", "early", "late")
APPS = ("web", "api")
SELECTORS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
ADDRESS = "https://prometheus.example.com"
MOST_PASSES = 80


class ChaosFleet(RollingFleet):
    """A rolling fleet that says when the next answer flips by itself."""

    flip: datetime | None = None

    def _keep(self, rendered: Rendered) -> None:
        self.flip = rendered.built.flip.at if rendered.built.flip else None
        super()._keep(rendered)

    def states(self) -> Mapping[str, RolloutState]:
        assert self.previous is not None
        return rollout_states_of_tree(self.previous.tree)

    def run_to_rest(self) -> None:
        """Run passes until one commits nothing, however many groups go one cluster at a time."""
        self.settle()
        for _ in range(MOST_PASSES):
            if not self.pass_once():
                return
        raise AssertionError(f"passes go on and on: {self.told[-4:]}")


class Chaos:
    """A fleet, and all that happens to it."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.versions = dict.fromkeys((*APPS, "conf"), 1)
        self.controls = 0
        clusters = {name: self.cluster(name) for name in self.chance.sample(NAMES, 4)}
        objects = {name: self.built(name) for name in self.versions}
        self.fleet = ChaosFleet({"policy": self.placed(), **objects, **clusters})
        self.fleet.commit(argosy=self.fleet_file(is_frozen=False), rollout=self.rollout())
        self.run()

    def run(self) -> None:
        self.fleet.run_to_rest()
        for name, state in self.fleet.states().items():
            assert state.next_step, f"{name} has no next step"

    def wait(self, seconds: int) -> None:
        """Let time go by; where no answer flips meanwhile, a pass commits nothing."""
        flip, self.fleet.now = self.fleet.flip, self.fleet.now + timedelta(seconds=seconds)
        if flip is None or flip > self.fleet.now:
            assert not self.fleet.pass_once(), "something flips that nobody foretold"

    def cluster(self, name: str) -> dict[str, Any]:
        return a_cluster(name, region=self.chance.choice(["eu", "us"]), labels={"wave": self.chance.choice(WAVES)})

    def built(self, name: str) -> dict[str, Any]:
        version, team = self.versions[name], self.chance.choice(["one", "two"])
        if name == "conf":
            return a_config_map("conf", v=str(version))
        made = a_deployment(name, image=f"{name}:{version}", replicas=self.chance.randint(1, 9))
        made["metadata"]["labels"] = {"team": team}
        if name == "web" and self.chance.random() < 0.5:
            made["spec"]["template"]["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": "conf"}}]
        return made

    def override(self, *names: str) -> dict[str, Any]:
        """An override of all Deployments in some clusters, by their names, a label or their region."""
        added = {"path": "/metadata/annotations", "operator": "add", "value": {"by": str(self.chance.randint(1, 3))}}
        in_region = {"key": "region", "operator": "In", "values": [self.chance.choice(["eu", "us"])]}
        asked: dict[str, Any] = self.chance.choice(
            [
                {"clusterNames": list(names)},
                {"labelSelector": {"matchLabels": {"wave": self.chance.choice(WAVES)}}},
                {"fieldSelector": {"matchExpressions": [in_region]}},
            ]
        )
        rule: dict[str, Any] = {"overriders": {"plaintext": [added]}, "targetCluster": asked}
        return {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "OverridePolicy",
            "metadata": {"name": "all", "namespace": "default"},
            "spec": {"resourceSelectors": SELECTORS[:1], "overrideRules": [rule]},
        }

    def placed(self) -> dict[str, Any]:
        names = self.chance.sample(NAMES, self.chance.randint(2, 6)) if self.chance.random() < 0.4 else ()
        more: dict[str, Any] = {}
        divided = {"replicaScheduling": weighted(**dict.fromkeys(NAMES, 1))} if self.chance.random() < 0.4 else {}
        suspended = {"dispatchingOnClusters": {"clusterNames": [self.chance.choice(NAMES)]}}
        placement = on_clusters(*names, **divided)
        more |= {"suspension": suspended} if self.chance.random() < 0.2 else {}
        more |= {"propagateDeps": True} if self.chance.random() < 0.3 else {}
        return a_policy("all", selectors=SELECTORS, placement=placement, **more)

    def wave(self, name: str) -> dict[str, Any]:
        chance = self.chance
        by_label = {"clusterAffinity": {"labelSelector": {"matchLabels": {"wave": name}}}}
        taken: dict[str, Any] = chance.choice([by_label, by_label, {"size": chance.choice([1, 2, "25%"])}])
        more: dict[str, Any] = {"maxConcurrent": chance.choice([1, 2, "50%"])} if chance.random() < 0.5 else {}
        more |= {"approval": True} if chance.random() < 0.2 else {}
        gate: dict[str, Any] = {"share": chance.choice([1, "50%"])} if chance.random() < 0.2 else {}
        gate |= {"checks": [self.check()]} if chance.random() < 0.2 else {}
        more |= {"gate": gate} if gate else {}
        return a_wave(name, allowEmpty=True, **taken, **more)

    def check(self) -> dict[str, Any]:
        """A check of errors, of a wave or of each cluster, that somebody outside answers."""
        query = self.chance.choice(["errors", 'errors{cluster="{cluster}"}'])
        prometheus = {"address": ADDRESS, "query": query, "is": "< 1"}
        return {"name": "errors", "prometheus": prometheus, "beforeWave": self.chance.random() < 0.3}

    def fleet_file(self, *, is_frozen: bool) -> dict[str, Any]:
        """argosy.yaml, with a freeze of some clusters that ends by itself."""
        made: dict[str, Any] = parse_documents(a_fleet_asking(ADDRESS).encode())[0].value
        until = instant_text(self.fleet.now + timedelta(minutes=7))
        names = self.chance.sample(NAMES, 2)
        freeze = {"until": until, "reason": "a sale", "clusters": names}
        made["spec"].setdefault("rollouts", {})["freezes"] = [freeze] if is_frozen else []
        return made

    def rollout(self) -> dict[str, Any]:
        chance = self.chance
        gate: dict[str, Any] = {"healthyFor": chance.choice(["0s", "1m"])}
        gate |= {"deadline": "5m"} if chance.random() < 0.5 else {}
        gate |= {"maxStatusAge": chance.choice(["30s", "2m"])} if chance.random() < 0.4 else {}
        spec: dict[str, Any] = {
            "gate": gate,
            "maxFailures": chance.randint(0, 1),
            "onNewChange": chance.choice(["Supersede", "Supersede", "Wait", "Coalesce"]),
            "group": chance.choice([{"by": "Change"}, {"by": "Object"}, {"by": "Label", "label": "team"}]),
            "alsoFor": [each for each in ("FirstDeliveries", "Removals") if chance.random() < 0.4],
        }
        spec |= {"maxUnreachable": chance.randint(0, 1)} if chance.random() < 0.3 else {}
        if chance.random() < 0.4:
            spec |= {"onFailure": "Rollback", "rollback": chance.choice(["AtOnce", "ReverseWaves"])}
        if chance.random() < 0.2:
            until = instant_text(self.fleet.now + timedelta(minutes=7))
            spec["freezes"] = [{"until": until, "reason": "a release of somebody else's"}]
        waves = [self.wave(name) for name in chance.sample(WAVES, chance.randint(0, 3))]
        return a_rollout_policy("all", selectors=SELECTORS, waves=waves, **spec)

    def control(self, name: str, state: RolloutState, verb: str, **more: Any) -> None:
        self.controls += 1
        rollout = {"kind": "RolloutPolicy", "namespace": "default", "name": "all"}
        rollout |= {"group": state.group} if state.group else {}
        spec = {"rollout": rollout, "change": state.change, "verb": verb, "at": instant_text(self.fleet.now), **more}
        name = f"control-{self.controls:03}"
        manifest = {"apiVersion": "argosy.dev/v1alpha1", "kind": "RolloutControl", "metadata": {"name": name}}
        self.fleet.commit(**{name: {**manifest, "spec": spec}})

    def happens(self) -> None:
        events = self.events(self.chance.choice(NAMES))
        events[self.chance.choice(sorted(events))]()

    def events(self, name: str) -> dict[str, Any]:
        """Return the events that may happen to a cluster, to the source, or by a person, by name."""
        fleet = self.fleet
        there = [each for each in NAMES if fleet.files.get(each)]
        found = {
            "silence": lambda: fleet.down.add(name),
            "answer": lambda: fleet.down.discard(name),
            "look no more": lambda: fleet.look_no_more(name),
            "look again": lambda: fleet.look_again(name),
            "break": lambda: fleet.unwell.add(name),
            "mend": lambda: fleet.unwell.discard(name),
            "mend again": lambda: fleet.unwell.discard(name),
            "join or be relabelled": lambda: fleet.commit(**{name: self.cluster(name)}),
            "change web": lambda: self.change("web"),
            "change api": lambda: self.change("api"),
            "change conf": lambda: self.change("conf"),
            "change all": lambda: self.change(*self.versions),
            "take back": lambda: self.change(self.chance.choice(APPS), by=-1),
            "remove": lambda: fleet.commit(**{self.chance.choice(sorted(self.versions)): None}),
            "freeze": lambda: fleet.commit(argosy=self.fleet_file(is_frozen=True)),
            "freeze no more": lambda: fleet.commit(argosy=self.fleet_file(is_frozen=False)),
            "lie": lambda: fleet.checks.update(errors=self.chance.choice([True, False, None])),
            "override": lambda: fleet.commit(override=self.override(name)),
            "override no more": lambda: fleet.commit(override=None),
            "edit placement": lambda: fleet.commit(policy=self.placed()),
            "edit rollout": lambda: fleet.commit(rollout=self.rollout()),
            "delete rollout": lambda: fleet.commit(rollout=None),
            "say": self.say,
            "say again": self.say,
        }
        if name in there and len(there) > 2:
            found["leave"] = lambda: fleet.commit(**{name: None})
        return found

    def change(self, *names: str, by: int = 1) -> None:
        for name in names:
            self.versions[name] = max(1, self.versions[name] + by)
            self.fleet.commit(**{name: self.built(name)})

    def say(self) -> None:
        """Let a person ask for something about a rollout that is under way."""
        going = [(name, each) for name, each in sorted(self.fleet.states().items()) if not each.is_completed]
        if going:
            name, state = self.chance.choice(going)
            verb = self.chance.choice(["Pause", "Resume", "Retry", "Abort", "Approve"])
            waves = [each.name for each in state.plan.waves]
            if verb != "Approve":
                self.control(name, state, verb)
            elif waves:
                self.control(name, state, verb, wave=self.chance.choice(waves))

    def recover(self) -> None:
        """Let everybody be well and have everything, and somebody do what is said, until all rollouts are over."""
        fleet = self.fleet
        fleet.unwell.clear()
        fleet.down.clear()
        fleet.look_again(*NAMES)
        fleet.checks["errors"] = True
        fleet.commit(policy=a_policy("all", selectors=SELECTORS, placement=on_clusters()))
        for _ in range(60):
            self.run()
            going = {name: each for name, each in fleet.states().items() if not each.is_completed}
            if not going:
                return
            said = [self.does_what_is_said(name, each) for name, each in sorted(going.items())]
            if not any(said):
                assert fleet.flip is not None, f"nothing comes next: {[each.next_step for each in going.values()]}"
                fleet.now = max(fleet.now, fleet.flip)
        raise AssertionError(f"it never ends: {[str(each.reason) for each in fleet.states().values()]}")

    def does_what_is_said(self, name: str, state: RolloutState) -> bool:
        """Do what a rollout waits for somebody to do; say whether it was anything."""
        self.fleet.now += timedelta(seconds=1)  # of controls of the same time the last by name would count
        if "argosy rollout resume" in state.next_step:
            self.control(name, state, "Resume")
        elif "argosy rollout retry" in state.next_step:
            self.control(name, state, "Retry")
        elif state.reason is RolloutReason.APPROVAL_MISSING:
            for wave in state.plan.waves:
                self.control(name, state, "Approve", wave=wave.name)
        else:
            return False
        return True

    def expect_newest_everywhere(self) -> None:
        assert self.fleet.previous is not None
        for ref, version in self.objects():
            for name in self.fleet.previous.tree.clusters.keys() & self.fleet.files.keys():
                found = self.fleet.manifest(name, ref)
                has = None if found is None else self.version_of(found)
                assert has == version, f"{ref} in {name} is {has}, not {version}"
                if found is not None and ref.kind == "Deployment":
                    by = found["metadata"].get("annotations", {}).get("by")
                    assert by == self.overridden_by(name), f"{ref} in {name} is overridden as for others"

    def overridden_by(self, name: str) -> str | None:
        """The value that the override gives a cluster as it is now; None where it gives none."""
        override, cluster = self.fleet.files.get("override"), self.fleet.files[name]
        if override is None:
            return None
        (rule,) = override["spec"]["overrideRules"]
        asked, spec = rule["targetCluster"], cluster["spec"]
        by_label = asked.get("labelSelector", {}).get("matchLabels", {}).items()
        by_region = [each["values"] for each in asked.get("fieldSelector", {}).get("matchExpressions", ())]
        is_asked_for = (
            name in asked.get("clusterNames", [name])
            and by_label <= cluster["metadata"].get("labels", {}).items()
            and all(spec.get("region") in values for values in by_region)
        )
        return str(rule["overriders"]["plaintext"][0]["value"]["by"]) if is_asked_for else None

    def objects(self) -> Iterator[tuple[ObjectRef, str]]:
        for name, version in self.versions.items():
            if self.fleet.files.get(name):
                group, kind = ("", "ConfigMap") if name == "conf" else ("apps", "Deployment")
                yield ObjectRef(group, kind, "default", name), str(version)

    @staticmethod
    def version_of(manifest: Any) -> str:
        if manifest["kind"] == "ConfigMap":
            return str(manifest["data"]["v"])
        return str(manifest["spec"]["template"]["spec"]["containers"][0]["image"]).rpartition(":")[2]


@settings(max_examples=12)
@given(seed=st.integers(0, 2**32))
def test_whatever_happens_passes_can_be_made_again_and_come_to_an_end(seed: int) -> None:
    chaos = Chaos(seed)
    for _ in range(15):
        chaos.happens()
        chaos.run()
        chaos.wait(chaos.chance.choice([1, 30, 60, 301]))
    chaos.recover()
    chaos.expect_newest_everywhere()
