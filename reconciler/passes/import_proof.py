"""The proof that a fleet may be taken over as it is: its files are rendered and compared with what clusters hold.

They are rendered in a repository of their own, which is gone afterwards, with the room that a control plane knows its
members to have: the first pass will know it, too. They are compared by the plans that apply them. An
object is proven where applying it takes it over and changes no value. Nothing is written to a cluster.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.publication import Publication
from reconciler.check.imported import repository_with_files
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.deliver.results import ClusterReport
from reconciler.diff.live import change_lines, is_unwanted, live_changes
from reconciler.ledger.facts import Facts
from reconciler.members.visits import MemberReach
from reconciler.plans.model import Action, ObjectOutcome
from reconciler.preview.rendering import PreviewOptions, preview_outcome
from reconciler.rendering.memory import SourceMemory
from reconciler.rendering.outcome import commit_outcome
from reconciler.rendering.problems import problems_by_object
from reconciler.repository import Repository
from render.errors import InputError
from render.words import counted_noun

from .applying import ApplyRun, Delivery

_EQUAL = "Equal"


class ClusterProof(Struct, frozen=True, kw_only=True):
    """The outcome of taking over one cluster: how many objects stay as they are, and those that do not."""

    cluster: str
    proven: int = 0
    different: tuple[ObjectOutcome, ...] = ()
    failure: str = ""
    reason: str = ""


class Proof(Struct, frozen=True, kw_only=True):
    """The proof of each cluster; ``problems`` are those for which files are not rendered, or objects not placed."""

    clusters: tuple[ClusterProof, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Say whether nothing that was looked at would change."""
        return not self.problems and not any(each.different for each in self.clusters)

    @property
    def is_partial(self) -> bool:
        """Say whether a cluster could not be looked at."""
        return any(each.failure for each in self.clusters)

    def text(self) -> Iterator[str]:
        """Yield the proof for people, cluster by cluster."""
        for problem in self.problems:
            yield f"not proven: {problem}\n"
        for each in self.clusters:
            if each.failure:
                yield f"{each.cluster}: not known: {each.failure}\n"
                continue
            same = f"{counted_noun(each.proven, 'object')} taken over without a change"
            other = f", {len(each.different)} not as wanted" if each.different else ""
            yield f"{each.cluster}: {same}{other}\n"
            for change in each.different:
                yield from change_lines(change)


def proof_of_import(files: Mapping[str, bytes], facts: Facts, reach: MemberReach, log: Log) -> Proof:
    """Render files, with what is known of members, and compare what they give each cluster with what it holds."""
    with repository_with_files(files) as repository:
        repository.commit_paths(files, "Import a fleet")
        place = str(repository.folder.work_tree)
        return _proof_in(repository, facts, reach, replace(log, level=ERRORS_ONLY, repository=place))


def _proof_in(repository: Repository, facts: Facts, reach: MemberReach, log: Log) -> Proof:
    try:
        outcome = preview_outcome(repository, "", SourceMemory(), log, PreviewOptions(is_first=True, facts=facts))
    except InputError as error:
        return Proof(problems=tuple(map(str, error.problems)))
    publication, desired = Publication(repository=repository), outcome.source.desired
    commit = commit_outcome(outcome, publication, desired.fleet.rendered_branch)
    context = FleetContext.of(desired.fleet, desired, publication)
    delivery = Delivery(members=desired.clusters, is_observing=True)
    run = ApplyRun(context=context, commit=str(commit), delivery=delivery, reach=reach)
    return Proof(
        clusters=tuple(map(_cluster_proof, run.reports())), problems=tuple(map(str, problems_by_object(outcome)))
    )


def _cluster_proof(report: ClusterReport) -> ClusterProof:
    if report.failure is not None:
        return ClusterProof(
            cluster=report.cluster,
            failure=report.failure.message,
            reason=str(report.failure.kind),
        )
    changes = [each for each in live_changes(report) if is_unwanted(each)]
    different = tuple(each for each in changes if not _is_unchanged_by_takeover(each))
    planned = len(report.plan.objects) if report.plan is not None else 0
    return ClusterProof(cluster=report.cluster, proven=planned - len(different), different=different)


def _is_unchanged_by_takeover(change: ObjectOutcome) -> bool:
    """Say whether an object is as wanted, so that taking it over changes no value."""
    return change.action is Action.ADOPTED and change.reason == _EQUAL
