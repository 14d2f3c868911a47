"""The scope of the next pass, from the checkpoint of the last one: None where everything has to be looked at."""

from reconciler.branches.checkpoint import PassContents, read_checkpoint
from reconciler.branches.reading import ObservedInputs, Source
from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.ledger.rollout_pauses import PausesFile
from reconciler.pipeline.cron import targets_of_rules
from reconciler.pipeline.previous import Previous, StoredBindings
from reconciler.pipeline.readme import Tally, plain_tally
from reconciler.pipeline.scope import (
    Scope,
    bindings_competing_for_room,
    changed_refs,
    is_decided_by_more_than_template,
)
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from render.errors import GitError
from render.gitobjects import TreeEntry
from render.model import ObjectRef
from render.timing import instant_text

from .changed_parts import objects_reached_by_changed_parts
from .recorded_pass import SeenSource, source_seen_by_record, words_of_ref
from .time_and_health import next_flip_of_each_object, objects_concerned

_BESIDE_FACTS = frozenset({HealthFile.NAME, ChecksFile.NAME, PausesFile.NAME})
"""The files in the folder of facts that a pass writes anew whatever it looks at."""


def contents_of(outcome: Outcome, facts: bytes | None, noteworthy: frozenset[ObjectRef]) -> PassContents:
    """Return what a pass saw, to be written down; ``noteworthy`` are others that the next pass looks at."""
    desired, rendered = outcome.source.desired, outcome.rendered
    failover, tally = rendered.built.failover, rendered.tally
    volatile = {binding.ref for binding in rendered.built.bindings if is_decided_by_more_than_template(binding)}
    return PassContents(
        source_digest=desired.source_digest,
        rest_digest=desired.source_digests.rest,
        parts=[list(part) for part in desired.source_digests.parts],
        digests=[[*words_of_ref(template.ref), template.digest] for template in desired.templates],
        volatile=sorted(map(words_of_ref, volatile | failover.restless | noteworthy)),
        facts=(facts or b"").hex(),
        tally=plain_tally(tally),
        waits=[[*words_of_ref(ref), instant_text(flip.at), flip.what] for ref, flip in sorted(failover.waits.items())],
    )


def scope_after_previous_pass(
    repository: Repository, previous: Previous, source: Source, given: RenderInputs
) -> Scope | None:
    """Return what the pass after ``previous`` has to look at, reading the bindings and folders it will need.

    But for capacity and the health of workloads, the facts must be those of the last pass: a cluster that serves or is
    something else concerns whatever may be placed there.
    """
    desired, seen = source.desired, _source_seen(repository, previous, source)
    if seen is None:
        return None
    contents = seen.contents
    reached = objects_reached_by_changed_parts(repository, desired, contents, seen.commit)
    if reached is None:
        return None
    digests = {ObjectRef(*words): digest for *words, digest in contents.digests}
    turned = objects_concerned(repository, desired, contents, given)
    if turned is None or not isinstance(previous.bindings, StoredBindings):
        return None
    volatile = frozenset(ObjectRef(*words) for words in contents.volatile)
    # Rules of cron may be due for what they scale in any pass.
    scaled = targets_of_rules((*desired.cron_autoscalers, *desired.federated_autoscalers))
    refs = changed_refs(digests, volatile | turned | reached | (scaled & digests.keys()), desired)
    facts = given.observed.folder
    rendered_facts = previous.tree.trees.entries(previous.tree.root).get("facts")
    changed_facts = _clusters_with_changed_facts(repository, rendered_facts, given.observed)
    if refs is None or changed_facts is None:
        return None
    if not are_equal_but_for_capacity(repository, bytes.fromhex(contents.facts) or None, facts):
        return None
    previous.bindings.load(refs)
    previous.tree.load(refs)
    others = tuple(bindings_competing_for_room(desired, previous.bindings, refs))
    waits = {ref: flip for ref, flip in next_flip_of_each_object(contents).items() if ref not in refs}
    return Scope(refs=refs, tally=Tally(**contents.tally), others=others, facts=changed_facts, waits=waits)


def _source_seen(repository: Repository, previous: Previous, source: Source) -> SeenSource | None:
    """Return what the last pass saw, as its checkpoint says, or the commit that it made; None for a pass over all."""
    # Answers of webhooks are recorded for all objects at once, the descheduler looks at all that is divided by room.
    # Emitted objects follow from all that clusters hold.
    desired = source.desired
    if desired.webhooks or desired.fleet.descheduler.is_enabled or desired.fleet.emit:
        return None
    checkpoint = read_checkpoint(repository)
    is_of_previous = checkpoint is not None and checkpoint.tips.rendered == previous.commit
    if checkpoint is None or not is_of_previous or previous.version != engine_version():
        return source_seen_by_record(repository, previous, source)
    return SeenSource(contents=checkpoint.contents, commit=checkpoint.tips.source)


def are_equal_but_for_capacity(repository: Repository, before: bytes | None, after: bytes | None) -> bool:
    """Return whether two folders of facts describe the same clusters alike, but for how much room there is."""
    if before is None or after is None or before == after:
        return before == after
    try:
        old, new = (_blob_ids(repository, tree_id) for tree_id in (before, after))
        if old.keys() != new.keys():
            return False
        changed_names = [name for name in old if old[name] != new[name]]
        contents = repository.read_blobs([ids[name] for name in changed_names for ids in (old, new)])
    except GitError:  # the status branch may have been squashed since
        return False
    pairs = [
        (
            ClusterFacts.read(f"facts/{name}", contents[old[name]]),
            ClusterFacts.read(f"facts/{name}", contents[new[name]]),
        )
        for name in changed_names
    ]
    return all(one.beside_capacity() == other.beside_capacity() for one, other in pairs)


def _clusters_with_changed_facts(
    repository: Repository, rendered: TreeEntry | None, observed: ObservedInputs
) -> frozenset[str] | None:
    """Return the clusters whose facts are not those of the rendered commit; None where it has others as well."""
    if observed.folder is None:
        return None if rendered else frozenset()
    old, new = _blob_ids(repository, rendered.id) if rendered else {}, observed.rendered_ids
    changed_names = {name for name in new if old.get(name) != new[name]}
    return frozenset(name.removesuffix(".yaml") for name in changed_names) if old.keys() <= new.keys() else None


def _blob_ids(repository: Repository, tree_id: bytes) -> dict[str, bytes]:
    """Return the ids of the files of facts, each of one cluster."""
    entries = repository.read_trees([tree_id])[tree_id]
    return {entry.text: entry.id for entry in entries if entry.text not in _BESIDE_FACTS}
