"""The two courses of a fleet: the one that it really took, and passes in memory, each from the one before.

Nothing is committed. A pass looks at what may have changed since the one before it, as passes of a running fleet do.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import Source
from reconciler.console.log import Log
from reconciler.ledger.facts import Facts
from reconciler.ledger.health import ObservedHealth
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.cron import targets_of_rules
from reconciler.pipeline.following_passes import PassMemory
from reconciler.pipeline.health import workloads_with_changed_health
from reconciler.pipeline.previous import Previous, parse_binding_file
from reconciler.pipeline.readme import Tally
from reconciler.pipeline.scope import (
    Scope,
    bindings_competing_for_room,
    changed_refs,
    is_decided_by_more_than_template,
)
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.rendering.problems import problems_by_object
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from reconciler.source.desired import Desired, is_failing_over
from render.binding import Binding
from render.model import ObjectRef
from render.timing import Flip

from .trees import changed_paths

_PASSES_BETWEEN_CLEANINGS = 64
_FOLDER_OF_BINDINGS = "bindings"


class _SeenInputs(Struct, frozen=True, kw_only=True):
    """The inputs that the last pass saw, and what the next one has to look at whatever changes."""

    source_digest: str
    digests: Mapping[ObjectRef, str]
    volatile: frozenset[ObjectRef]
    waits: Mapping[ObjectRef, Flip]
    facts: Facts
    health: ObservedHealth
    tally: Tally


class FleetCourse(Struct, kw_only=True):
    """A fleet on its way; ``previous`` is the outcome that the next pass starts from, as if it had been committed.

    ``flip`` is when the last pass would decide otherwise by itself.
    """

    repository: Repository
    log: Log
    previous: Previous | None = None
    flip: Flip | None = None
    _memory: PassMemory = field(default_factory=PassMemory)
    _seen: _SeenInputs | None = None
    _facts: Facts = field(default_factory=dict)
    _last: datetime | None = None
    _adopted: int = 0

    @property
    def bindings(self) -> Mapping[ObjectRef, Binding]:
        """The bindings that the fleet has now."""
        return self.previous.bindings if self.previous is not None else {}

    def flips_after(self, at: datetime) -> tuple[datetime, ...]:
        """Return the instants after a time at which an answer flips by itself."""
        waits = self._seen.waits.values() if self._seen is not None else ()
        return tuple(each.at for each in (*waits, *([self.flip] if self.flip else [])) if each.at > at)

    def become_of_engine(self, version: str) -> None:
        """Go on as if a version of the engine had made the last outcome, where not this version makes the next one.

        What another version made is made here by this one, and that is no upgrade.
        """
        if self.previous is not None and version != engine_version():
            self.previous = replace(self.previous, version=engine_version())

    def begin(self, previous: Previous) -> None:
        """Start from a rendered commit."""
        self.previous, self._memory = previous, PassMemory(beneath=previous.tree)

    def outcome_of_pass(self, source: Source, given: RenderInputs) -> Outcome:
        """Return what a pass renders from here; nothing goes on from it until it is adopted."""
        if given.now is not None and self._last is not None:
            given = replace(given, now=max(given.now, self._last))
        given = replace(given, scope=self._scope(source.desired, given))
        return run_pass(self.repository, source, self.previous, given, self.log)

    def leave_as_it_is(self, outcome: Outcome, given: RenderInputs) -> None:
        """Remember the inputs of a pass that changed nothing, so that the next one need not look at all of them."""
        self._seen = self._seen_inputs(outcome, given)
        self.flip = outcome.flip

    def adopt(self, outcome: Outcome, given: RenderInputs, *, commit: str, version: str) -> tuple[ObjectRef, ...]:
        """Go on from the outcome of a pass, and return the objects whose bindings are others now.

        ``commit`` is the rendered commit in whose place it stands, ``version`` that of the engine that made that one.
        """
        before = self.previous.bindings if self.previous is not None else {}
        left = outcome.scope.refs if outcome.scope is not None else before.keys()
        built = {each.ref: each for each in outcome.rendered.built.bindings}
        changed = tuple(ref for ref in sorted({*left, *built}) if before.get(ref) != built.get(ref))
        self.leave_as_it_is(outcome, given)
        made = self._memory.previous_from_rendered(outcome.rendered, source=outcome.source.commit)
        self.previous = replace(made, commit=commit, version=version, bindings=_bindings_with(before, changed, built))
        self._facts = outcome.facts
        self._last = outcome.now if outcome.rendered.built.is_timed else None
        self._adopted += 1
        if self._adopted % _PASSES_BETWEEN_CLEANINGS == 0:
            self._memory.forget_all_but(made.tree.root)
        return changed

    def _scope(self, desired: Desired, given: RenderInputs) -> Scope | None:
        """Return what the next pass has to look at; None for everything."""
        seen, previous = self._seen, self.previous
        if seen is None or previous is None or desired.webhooks or desired.fleet.descheduler.is_enabled:
            return None
        if seen.source_digest != desired.source_digest or not _are_facts_equal_beside_capacity(
            seen.facts, given.observed.facts
        ):
            return None
        turned = self._objects_concerned(seen, desired, given)
        if turned is None or not self._facts.keys() <= given.observed.facts.keys():
            return None
        refs = changed_refs(seen.digests, seen.volatile | turned, desired)
        if refs is None:
            return None
        facts = given.observed.facts
        return Scope(
            refs=refs,
            tally=seen.tally,
            others=tuple(bindings_competing_for_room(desired, previous.bindings, refs)),
            facts=frozenset(name for name, each in facts.items() if self._facts.get(name) != each),
            waits={ref: flip for ref, flip in seen.waits.items() if ref not in refs},
        )

    def _objects_concerned(
        self, seen: _SeenInputs, desired: Desired, given: RenderInputs
    ) -> frozenset[ObjectRef] | None:
        """Return the objects that time, health and rules of cron concern since the last pass; None for all of them."""
        unwell: frozenset[ObjectRef] | None = frozenset()
        if is_failing_over(desired):
            unwell = workloads_with_changed_health(desired, seen.health, given.observed.health)
        if unwell is None:
            return None
        now = given.now
        due = (ref for ref, flip in seen.waits.items() if now is None or flip.at <= now)
        scaled = targets_of_rules((*desired.cron_autoscalers, *desired.federated_autoscalers))
        return unwell.union(due, scaled & seen.digests.keys())

    def _seen_inputs(self, outcome: Outcome, given: RenderInputs) -> _SeenInputs | None:
        built, desired = outcome.rendered.built, outcome.source.desired
        if outcome.rendered.held_removals:  # what is held back is looked at in each pass
            return None
        volatile = {each.ref for each in built.bindings if is_decided_by_more_than_template(each)}
        noteworthy = (*(each.ref for each in problems_by_object(outcome)), *(each.ref for each in outcome.thin_spreads))
        return _SeenInputs(
            source_digest=desired.source_digest,
            digests={template.ref: template.digest for template in desired.templates},
            volatile=frozenset(volatile | built.failover.restless).union(noteworthy),
            waits=built.failover.waits,
            facts=given.observed.facts,
            health=given.observed.health,
            tally=outcome.rendered.tally,
        )


class TrueCourse(Struct, kw_only=True):
    """The bindings of a rendered commit, which those of the next one replace."""

    repository: Repository
    bindings: dict[ObjectRef, Binding] = field(default_factory=dict)
    entries: Mapping[str, bytes] = field(default_factory=dict)
    _refs: dict[str, ObjectRef] = field(default_factory=dict)
    _by_blob: dict[bytes, Binding] = field(default_factory=dict)
    _reader: BindingReader = field(default_factory=BindingReader)

    def move_to(self, tree: bytes) -> dict[ObjectRef, tuple[Binding | None, Binding | None]]:
        """Go on to the tree of a commit; return the bindings that are others there, as they were and as they are."""
        entries = {entry.text: entry.id for entry in self.repository.read_trees([tree])[tree]}
        changed = changed_paths(
            self.repository, self.entries.get(_FOLDER_OF_BINDINGS), entries.get(_FOLDER_OF_BINDINGS)
        )
        files = {path: blob for path, _, blob in changed}
        unread = {id_: path for path, id_ in files.items() if id_ is not None and id_ not in self._by_blob}
        for id_, content in self.repository.read_blobs(unread).items() if unread else ():
            self._by_blob[id_] = parse_binding_file(unread[id_], self._reader.parse, content)
        changes: dict[ObjectRef, tuple[Binding | None, Binding | None]] = {}
        for path, blob in files.items():
            new = self._by_blob[blob] if blob is not None else None
            ref = new.ref if new is not None else self._refs.pop(path)
            changes[ref] = self.bindings.get(ref), new
            if new is None:
                self.bindings.pop(ref, None)
            else:
                self.bindings[ref] = new
                self._refs[path] = ref
        self.entries = entries
        return changes


def _bindings_with(
    before: Mapping[ObjectRef, Binding], changed: Iterable[ObjectRef], built: Mapping[ObjectRef, Binding]
) -> Mapping[ObjectRef, Binding]:
    after = dict(before)
    for ref in changed:
        if ref in built:
            after[ref] = built[ref]
        else:
            after.pop(ref, None)
    return after


def _are_facts_equal_beside_capacity(before: Facts, after: Facts) -> bool:
    """Say whether facts describe the same clusters alike, but for how much room there is."""
    if before.keys() != after.keys():
        return False
    changed = (name for name, each in after.items() if before[name] is not each)
    return all(before[name].beside_capacity() == after[name].beside_capacity() for name in changed)
