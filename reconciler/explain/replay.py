"""The pass in which something was decided: the one that made a rendered commit, or one that was not committed yet.

A source that was rendered is explained by making its rendered commit again, from the state that went before and the
facts it used. A target that this pass merely kept was decided in an earlier one, which is found by following
the binding back through the rendered branch. The explanation is told by the names that clusters have now.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.in_force import published_fleet
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_observed_inputs, read_previous, read_source
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.guards.source_trailers import allowed_by
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.previous import parse_binding_file
from reconciler.pipeline.renames import NewNames, renamed_binding
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.rendering.verified_controls import recorded_speakers
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import NOW, PREVIOUS, SOURCE, commit_written_by_argosy
from render.layout import object_path
from render.model import ObjectRef, TargetCluster
from render.scheduling.decisions import Trigger
from render.timing import parse_instant

_FARTHEST = 1000
_NAMES = frozenset({"cluster", "clusters", "terminating"})


class Replay(Struct, frozen=True, kw_only=True):
    """A pass with the rendered commit it made (empty: it was not committed), and the commit its facts are read from."""

    repository: Repository
    log: Log
    outcome: Outcome
    commit: str = ""
    facts: CommitInfo | None = None

    def deciding_pass(self, ref: ObjectRef) -> "Replay | None":
        """Return the earlier pass that decided what this one kept; None when this one decided, or none is known."""
        decision = self.outcome.rendered.built.schedule.decisions.get(ref)
        if decision is None or decision.trigger is not Trigger.NONE or self.outcome.previous is None:
            return None
        history = self.repository.history(self.outcome.previous.commit, _FARTHEST)
        made = _commit_that_last_moved(self.repository, ref, history, new_names_of_renamed_clusters(self.outcome))
        if made is None:
            return None
        replay = replay_pass(self.repository, made, self.log)
        earlier = replay.outcome.rendered.built.schedule.decisions.get(ref)
        return replay if earlier is not None and earlier.trigger is not Trigger.NONE else None


def replay_of_revision(
    repository: Repository, log: Log, *, revision: str, worktree: bool, now: datetime | None = None
) -> Replay:
    """Return the pass of a source revision (or a rendered commit); without either the one of ``HEAD``.

    With ``now`` a source is not explained by the commit it was rendered to, but by a pass at that time.
    """
    commit = "" if worktree else repository.resolve(revision or "HEAD")
    written = commit_written_by_argosy(repository, commit) if commit else None
    if written and len(written.trailer(SOURCE)) == 1:
        return replay_pass(repository, written, log)
    source = read_source(repository, commit)
    fleet = published_fleet(repository, commit, source.desired.fleet)
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(fleet.rendered_branch)
    made = _last_commit_rendered_from(repository, commit, tip)
    if made is not None and now is None:
        return replay_pass(repository, made, log)
    previous = read_previous(repository, tip) if tip else None
    status = publication.repository.tip(publication.ref(fleet.status_branch))
    inputs = RenderInputs(observed=read_observed_inputs(repository, status), now=given_or_current_time(now))
    outcome = run_pass(repository, source, previous, inputs, log)
    return Replay(
        repository=repository, log=log, outcome=outcome, facts=repository.commit_info(status) if status else None
    )


def _last_commit_rendered_from(repository: Repository, source: str, tip: str | None) -> CommitInfo | None:
    """Return the last rendered commit that was made from a source commit."""
    history = repository.history(tip, _FARTHEST) if tip and source else ()
    return next((info for info in history if info.trailer(SOURCE) == (source,)), None)


def replay_pass(repository: Repository, info: CommitInfo, log: Log) -> Replay:
    """Make the pass of a rendered commit again."""
    observed = read_observed_inputs(repository, info.id)
    speakers, origins = recorded_speakers(repository, info.tree)
    inputs = RenderInputs(
        observed=observed,
        now=pass_time_of_commit(info),
        allowed=allowed_by([info]),
        speakers=speakers,
        origins=origins,
    )
    source = read_source(repository, info.trailer(SOURCE)[0], facts=lambda _fleet: observed.facts)
    before = info.trailer(PREVIOUS)
    previous = read_previous(repository, before[0]) if before else None
    outcome = run_pass(repository, source, previous, inputs, log)
    return Replay(repository=repository, log=log, outcome=outcome, commit=info.id, facts=info)


def pass_time_of_commit(info: CommitInfo) -> datetime | None:
    """Return the time that a rendered commit was made by; None where no rule asked for it."""
    times = info.trailer(NOW)
    return parse_instant(times[0]) if times else None


def new_names_of_renamed_clusters(outcome: Outcome) -> NewNames:
    """Return the names that a source gives to renamed clusters, by each of their former names."""
    clusters = outcome.source.desired.clusters
    return {old: cluster.name for cluster in clusters for old in cluster.former_names}


def _commit_that_last_moved(
    repository: Repository, ref: ObjectRef, history: Sequence[CommitInfo], names: NewNames
) -> CommitInfo | None:
    """Return the commit that gave a binding the targets it has at the first of these; None beyond a shallow clone.

    ``names`` are the new names of clusters, for a cluster that was renamed did not move.
    """
    blobs = _blobs_at(repository, ("bindings", *object_path(ref)), history)
    contents = repository.read_blobs({blob for blob in blobs if blob is not None})
    reader, targets = BindingReader(), dict[bytes, tuple[TargetCluster, ...]]()
    for blob, content in contents.items():
        binding = parse_binding_file(f"a former binding of {ref}", reader.parse, content)
        targets[blob] = tuple(sorted(renamed_binding(binding, names).targets))
    wanted = targets[blobs[0]] if blobs and blobs[0] is not None else None
    for info, earlier in zip(history, [*blobs[1:], None], strict=True):
        if earlier is None or targets[earlier] != wanted:
            return None if repository.is_shallow and not info.parents else info
    return None


def _blobs_at(repository: Repository, path: tuple[str, ...], history: Iterable[CommitInfo]) -> list[bytes | None]:
    """Return the blob at a path in each of many commits, reading each level of their trees at once."""
    ids: list[bytes | None] = [info.tree for info in history]
    for name in path:
        trees = repository.read_trees({tree for tree in ids if tree is not None})
        entries = {tree: {entry.name: entry.id for entry in found} for tree, found in trees.items()}
        ids = [None if tree is None else entries[tree].get(name.encode()) for tree in ids]
    return ids


def value_with_new_cluster_names(value: Any, names: NewNames) -> Any:
    """Return a value whose fields about clusters have the new names."""
    if isinstance(value, TargetCluster):
        return TargetCluster(names.get(value.name, value.name), value.replicas)
    if isinstance(value, tuple):
        return tuple(value_with_new_cluster_names(each, names) for each in value)
    if not isinstance(value, Struct):
        return value
    inner = {name: getattr(value, name) for name in value.__struct_fields__}
    return replace(value, **{name: _field_value_with_new_names(name, part, names) for name, part in inner.items()})


def _field_value_with_new_names(name: str, value: Any, names: NewNames) -> Any:
    if name not in _NAMES:
        return value_with_new_cluster_names(value, names)
    return names.get(value, value) if isinstance(value, str) else tuple(names.get(each, each) for each in value)
