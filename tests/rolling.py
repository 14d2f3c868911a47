"""A fleet whose changes go out wave by wave, played pass by pass without Git: members are told apart by their images.

Each pass is rendered twice more, and has to give the same tree: from the health that it recorded, as ``argosy verify``
does it, and where nothing but templates changed with a scope.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from msgspec.structs import replace

from reconciler.asking.answers import CheckReply
from reconciler.ledger.health import HealthFile, ObservedHealth, ReportedHealth
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.passes.asked_checks import answers_after_asking
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.previous import Previous, RenderedTree, StoredBindings
from reconciler.pipeline.rollouts.attributes import ATTRIBUTES_FILE, parse_attributes
from reconciler.pipeline.rollouts.emergency_files import emergencies_of_tree
from reconciler.pipeline.rollouts.origins import ChangeAuthors, Review, RolloutOrigins
from reconciler.pipeline.rollouts.speakers import digest_of_control
from reconciler.pipeline.rollouts.stage_values import RolloutInputs
from reconciler.pipeline.rollouts.state_files import rollout_states_of_tree
from reconciler.pipeline.rollouts.versions import ClusterAttributes
from reconciler.pipeline.scope import Scope, changed_refs, is_decided_by_more_than_template
from reconciler.pipeline.stages import render_pass
from reconciler.source.desired import Desired
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.cluster import ClusterCondition
from render.documents import emit, parse_documents
from render.gitobjects import TreeEntry, content_of_blob, parse_tree
from render.model import ObjectRef
from render.rollouts.checks import Answers, CheckQuestion
from render.rollouts.status_ages import StatusLooks
from render.timing import instant_text

from .build import a_cluster, a_deployment, a_policy, on_clusters
from .sources import source_of

WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
WEB_REF = ObjectRef("apps", "Deployment", "default", "web")
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def a_rollout_policy(
    name: str = "web", *, waves: Iterable[Any] = (), selectors: Iterable[Any] = (WEB,), **spec: Any
) -> dict[str, Any]:
    """A RolloutPolicy of the default namespace."""
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RolloutPolicy",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"resourceSelectors": list(selectors), "waves": list(waves), **spec},
    }


def a_wave(name: str, *clusters: str, **more: Any) -> dict[str, Any]:
    """A wave of the clusters with these names; without any, of all that are left, unless ``more`` says which."""
    taken = {"clusterAffinity": {"clusterNames": list(clusters)}} if clusters else {"rest": True}
    return {"name": name, **({} if {"size", "clusterAffinity"} & more.keys() else taken), **more}


def web(version: int | str, **spec: Any) -> dict[str, Any]:
    """The Deployment that goes out, in a version that its image shows."""
    return a_deployment("web", image=f"web:{version}", **spec)


def a_control(name: str, change: str, verb: str, *, at: str = "2026-03-01T00:00:00Z", **more: Any) -> dict[str, Any]:
    """A RolloutControl about a change of the RolloutPolicy web."""
    rollout = {"kind": "RolloutPolicy", "namespace": "default", "name": "web"}
    spec = {"rollout": rollout, "change": change, "verb": verb, "at": at, **more}
    metadata = {"name": name}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "RolloutControl", "metadata": metadata, "spec": spec}


@dataclass
class RollingFleet:
    """Clusters by name, each with the Deployment web; ``told`` has a line for each rendered commit.

    ``unwell`` clusters do not become healthy, ``down`` ones do not answer. No pass looks at clusters that are
    ``unseen`` since a time, and each does before it decides at all others. ``signers`` have signed controls, by name.
    ``reviews`` are those of controls, by name, and ``origin`` is that of every change.
    ``checks`` has for the name of each check whether it is met (None: nobody answers); one about a cluster is also
    found as ``name cluster``. ``said`` are the sentences of all passes about rollouts.
    """

    files: dict[str, Any] = field(default_factory=dict)
    now: datetime = BEGIN
    engine: str = "1"
    unwell: set[str] = field(default_factory=set)
    down: set[str] = field(default_factory=set)
    unseen: dict[str, datetime] = field(default_factory=dict)
    previous: Previous | None = None
    last: Rendered | None = None
    latest: Rendered | None = None
    said: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    health: dict[tuple[ObjectRef, str], tuple[str, str, str]] = field(default_factory=dict)
    signers: dict[str, str] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    origin: ChangeAuthors | None = None
    checks: dict[str, bool | None] = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    _trees: dict[bytes, tuple[TreeEntry, ...]] = field(default_factory=dict)
    _blobs: dict[bytes, bytes] = field(default_factory=dict)
    _seen: tuple[str, dict[ObjectRef, str], frozenset[ObjectRef]] | None = None
    _last_seen: dict[tuple[ObjectRef, str], tuple[str, str, str]] = field(default_factory=dict)

    def known_health(self) -> dict[tuple[ObjectRef, str], tuple[str, str, str]]:
        """The health of clusters as passes know it: as it is, or was at the last look."""
        seen = {key: each for key, each in self.health.items() if key[1] not in self.unseen}
        return {**seen, **self._last_seen}

    @classmethod
    def of(cls, clusters: Iterable[str], files: Mapping[str, Any], **policy: Any) -> Self:
        """A fleet that has its first version everywhere, with one rollout policy."""
        placed = a_policy("web", selectors=[WEB], placement=on_clusters())
        members = {name: a_cluster(name) for name in clusters}
        fleet = cls({"policy": placed, "web": web(1), "rollout": a_rollout_policy(**policy), **members, **files})
        fleet.run()
        fleet.told.clear()
        return fleet

    def commit(self, **files: Any) -> "RollingFleet":
        """Change files of the source; None removes one."""
        self.files = {name: each for name, each in {**self.files, **files}.items() if each is not None}
        return self

    def run(self, seconds: float = 0.0) -> list[str]:
        """Let time go by, members settle, and passes run until one writes nothing; the lines of their commits."""
        self.now += timedelta(seconds=seconds)
        told = len(self.told)
        self.settle()
        for _ in range(12):
            if not self.pass_once():
                return self.told[told:]
        raise AssertionError(f"passes go on and on: {self.told[told:]}")

    def look_no_more(self, *names: str) -> None:
        """Let no pass look at some clusters from now on: what is known of them stays."""
        self.look_again(*names)
        self.unseen |= dict.fromkeys(names, self.now)
        self._last_seen |= {key: each for key, each in self.health.items() if key[1] in names}

    def look_again(self, *names: str) -> None:
        """Let passes look at some clusters again."""
        for name in names:
            self.unseen.pop(name, None)
        self._last_seen = {key: each for key, each in self._last_seen.items() if key[1] not in names}

    def settle(self) -> None:
        """Let members come to what they were given."""
        if self.last is not None:
            self._apply(self.last)

    def pass_once(self) -> bool:
        """Run one pass, and apply its outcome; say whether it made a commit."""
        desired = self._desired()
        health = self._observed_health(desired)
        rendered = self._rendered_with_checks(desired, health)
        self.latest = rendered
        self.said |= set(rendered.built.rolled.notes)
        self._keep(rendered)
        self._check_replay(desired, rendered)
        self._check_scope(desired, rendered)
        is_changed = self._is_changed(rendered)
        if is_changed:
            self.previous = self._previous_of(rendered, f"{len(self.told):040x}")
            self.last = rendered
            self.told.append(self._line())
        volatile = {each.ref for each in rendered.built.bindings if is_decided_by_more_than_template(each)}
        digests = {each.ref: each.digest for each in desired.templates}
        self._seen = (desired.source_digest, digests, frozenset(volatile | rendered.built.failover.restless))
        self._apply(rendered)
        return is_changed

    def _rendered_with_checks(self, desired: Desired, health: ObservedHealth) -> Rendered:
        """Render, ask the checks of rollouts, and render again as long as somebody answers otherwise than before."""
        while True:
            rendered = render_pass(self._inputs(desired, health))
            questions = rendered.built.rolled.questions
            said = {each.id: self._said(each) for each in questions}
            before = {id_: each for id_, each in self.answers.items() if id_ in said}
            self.answers = answers_after_asking(before, said, self.now)
            if self.answers == before:
                return rendered

    def _said(self, question: CheckQuestion) -> CheckReply:
        name = question.check.name
        is_met = self.checks.get(f"{name} {question.cluster}", self.checks.get(name))
        return CheckReply(is_met=bool(is_met), value=str(is_met), is_answer=is_met is not None)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences of the newest pass."""
        return self.latest.built.rolled.notes if self.latest is not None else ()

    def state(self) -> Any:
        """The state of the one rollout there is, as a value."""
        states = rollout_states_of_tree(self.previous.tree) if self.previous else {}
        return next(iter(states.values()), None)

    @property
    def change(self) -> str:
        """The digest of the change that goes out."""
        return str(self.state().change)

    def images(self) -> dict[str, str]:
        """The version of web in each cluster, by its image."""
        assert self.previous is not None
        found = {}
        for name, tree_id in sorted(self.previous.tree.clusters.items()):
            entry = self.previous.tree.trees.entry(tree_id, ("default", "Deployment.apps", "web.yaml"))
            if entry is not None:
                manifest = parse_documents(self._blobs[entry.id])[0].value
                found[name] = manifest["spec"]["template"]["spec"]["containers"][0]["image"].removeprefix("web:")
        return found

    def files_below(self, folder: str) -> list[str]:
        """The paths of files of the rendered commit below a folder."""
        assert self.previous is not None
        entry = self.previous.tree.trees.entries(self.previous.tree.root).get(folder)
        return ["/".join(path) for path, _ in sorted(self.previous.tree.files(entry.id))] if entry else []

    def manifest(self, cluster: str, ref: ObjectRef = WEB_REF) -> Any:
        """An object as a cluster has it; None where it has none."""
        assert self.previous is not None
        path = ("default", ref.group_kind, f"{ref.name}.yaml")
        entry = self.previous.tree.trees.entry(self.previous.tree.clusters[cluster], path)
        return None if entry is None else parse_documents(self._blobs[entry.id])[0].value

    def _line(self) -> str:
        """The versions of all clusters in the order of their names, and the phase of the rollout."""
        state = self.state()
        return "".join(self.images().values()) + (f" {state.phase}" if state else "")

    def _desired(self) -> Desired:
        source = source_of({f"{name}.yaml": emit(content).decode() for name, content in self.files.items()})
        loaded = load_source(source.files, SourceReading(source.read))
        assert not loaded.problems, loaded.problems[0]
        return loaded.desired

    def _inputs(
        self, desired: Desired, health: ObservedHealth, scope: Scope | None = None, answers: Answers | None = None
    ) -> Inputs:
        is_replayed = answers is not None
        looks = {} if is_replayed else {each.name: self.unseen.get(each.name, self.now) for each in desired.clusters}
        states = rollout_states_of_tree(self.previous.tree) if self.previous else {}
        emergencies = emergencies_of_tree(self.previous.tree) if self.previous else ()
        return Inputs(
            desired=desired,
            facts={},
            previous=self.previous,
            source="5" * 40,
            scope=scope,
            failover=FailoverInputs(now=self.now),
            rollouts=RolloutInputs(
                states=states,
                health=health,
                speakers=self._speakers(desired),
                origins=self._origins(desired),
                answers=self.answers if answers is None else answers,
                emergencies=emergencies,
                attributes=self._attributes_before(),
                upgrade=self.engine if self.previous and self.previous.version != self.engine else "",
                looks=StatusLooks.of(looks, health.status_ages),
            ),
        )

    def _speakers(self, desired: Desired) -> dict[str, str]:
        controls = desired.rollout_controls
        return {digest_of_control(each): self.signers[each.name] for each in controls if each.name in self.signers}

    def _origins(self, desired: Desired) -> RolloutOrigins:
        found = ((digest_of_control(each), self.reviews.get(each.name)) for each in desired.rollout_controls)
        return RolloutOrigins(
            reviews={digest: review for digest, review in found if review is not None},
            changes={"5" * 40: self.origin} if self.origin else {},
        )

    def _attributes_before(self) -> Mapping[str, ClusterAttributes]:
        """The attributes of clusters as the previous commit has them."""
        entries = self.previous.tree.trees.entries(self.previous.tree.root) if self.previous else {}
        found = entries.get(ATTRIBUTES_FILE)
        return parse_attributes(self._blobs[found.id]) if found else {}

    def _observed_health(self, desired: Desired) -> ObservedHealth:
        conditions = {
            each.name: (ClusterCondition(type="Ready", status="Unknown" if each.name in self.down else "True"),)
            for each in desired.clusters
        }
        workloads: dict[ObjectRef, list[ReportedHealth]] = {}
        for (ref, cluster), (version, health, since) in sorted(self.known_health().items()):
            reported = ReportedHealth(cluster=cluster, health=health, since=since, version=version)
            workloads.setdefault(ref, []).append(reported)
        return ObservedHealth(conditions=conditions, workloads={ref: tuple(found) for ref, found in workloads.items()})

    def _apply(self, rendered: Rendered) -> None:
        """Let every member that answers have what it was given, and remember since when it is so."""
        there = {
            each.ref: {target.name for target in each.targets} - each.undispatched_clusters
            for each in rendered.built.bindings
        }
        for ref, name in [*self.health]:
            if name not in self.down and name not in there.get(ref, ()):
                del self.health[ref, name]
        for binding in rendered.built.bindings:
            rollout = binding.rollout
            if rollout is None:
                continue
            kept = {name for each in binding.kept for name in each.clusters}
            failed = {name for each in binding.conditions if each.type == "Rendered" for name in each.clusters}
            for name in {each.name for each in binding.targets} - self.down - kept - failed:
                version = rollout.version_by_cluster.get(name, rollout.completed)
                health = "Unhealthy" if name in self.unwell else "Healthy"
                before = self.health.get((binding.ref, name), ("", "", ""))
                if before[:2] != (version, health):
                    self.health[binding.ref, name] = version, health, instant_text(self.now)

    def _keep(self, rendered: Rendered) -> None:
        self._trees |= {tree_id: tuple(parse_tree(content)) for tree_id, content in rendered.tree.trees.items()}
        blobs = rendered.tree.blobs.items()
        self._blobs |= {id_: content_of_blob(blob) for id_, blob in blobs}

    def _previous_of(self, rendered: Rendered, commit: str) -> Previous:
        def read(ids: Iterable[bytes]) -> Mapping[bytes, tuple[TreeEntry, ...]]:
            return {id_: self._trees[id_] for id_ in ids}

        def contents(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
            return {id_: self._blobs[id_] for id_ in ids}

        tree = RenderedTree.of(rendered.tree.root, read, contents)
        bindings = StoredBindings(commit, tree, contents)
        return Previous(commit=commit, source="5" * 40, version=self.engine, bindings=bindings, tree=tree)

    def _is_changed(self, rendered: Rendered) -> bool:
        if self.previous is None:
            return True
        before, after = (
            {entry.text: entry.id for entry in self._trees[root]}
            for root in (self.previous.tree.root, rendered.tree.root)
        )
        return any(
            before.get(name) != after.get(name) for name in (before.keys() | after.keys()) - {"facts", ATTRIBUTES_FILE}
        )

    def _check_replay(self, desired: Desired, rendered: Rendered) -> None:
        trees = self._previous_of(rendered, "0" * 40).tree.trees
        health, checks = (
            self._blobs[entry.id] if (entry := trees.entry(rendered.tree.root, ("facts", kind.NAME))) else None
            for kind in (HealthFile, ChecksFile)
        )
        again = render_pass(
            self._inputs(
                desired,
                HealthFile.read(HealthFile.PATH, health).health if health else ObservedHealth(),
                answers=ChecksFile.read(ChecksFile.PATH, checks).answers if checks else {},
            )
        )
        assert again.tree.root == rendered.tree.root, "what is recorded does not give the same commit again"

    def _check_scope(self, desired: Desired, rendered: Rendered) -> None:
        if self._seen is None or self._seen[0] != desired.source_digest or self.last is None:
            return
        if self.previous is not None and self.previous.version != self.engine:
            return
        _, digests, volatile = self._seen
        refs = changed_refs(digests, volatile, replace(desired, templates=(*desired.templates,)))
        if refs is None:
            now = {each.ref: each.digest for each in desired.templates}
            refs = volatile.union(ref for ref, _ in now.items() ^ digests.items())
        scope = Scope(refs=refs, tally=self.last.tally)
        scoped = render_pass(self._inputs(desired, self._observed_health(desired), scope))
        assert scoped.tree.root == rendered.tree.root, "a pass over what changed gives another commit"
