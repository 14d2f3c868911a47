"""The checkpoint of a pass, written once it has ended well."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.checkpoint import (
    NO_CONTENTS,
    BranchNames,
    BranchTips,
    Checkpoint,
    PassContents,
    ProposedCommit,
    write_checkpoint,
)
from reconciler.branches.mirror_branches import ref_of_mirror_as_left
from reconciler.branches.publication import Publication
from reconciler.branches.reading import Source
from reconciler.rendering.outcome import Outcome
from reconciler.rendering.problems import ObjectProblem, problems_by_object, reason_for_empty_outcome
from render.errors import Problem
from render.model import ObjectRef
from render.timing import Flip, instant_text

from .incremental import contents_of
from .recorded_pass import record_for_clones
from .source_tip import SourceTip


class SeenFacts(Struct, frozen=True, kw_only=True):
    """The facts that a pass saw: their folder on the status branch (None: none).

    ``turned`` are the objects whose health there is not the one that it rendered by (None: any may be).
    """

    folder: bytes | None
    turned: frozenset[ObjectRef] | None = frozenset()


class PassSeen(Struct, frozen=True, kw_only=True):
    """A pass as the next one compares with it: the contents that it saw, and what it could not place or build."""

    contents: PassContents
    problems: tuple[ObjectProblem, ...]

    @classmethod
    def of_outcome(cls, outcome: Outcome, seen: SeenFacts) -> "PassSeen":
        """Return what a pass saw; without digests where the next one has to look at everything."""
        problems = tuple(problems_by_object(outcome))
        noteworthy = frozenset((*(each.ref for each in problems), *(each.ref for each in outcome.thin_spreads)))
        contents = contents_of(outcome, seen.folder, noteworthy.union(seen.turned or ()))
        return cls(contents=replace(contents, digests=[]) if seen.turned is None else contents, problems=problems)

    def record_for_clones(self, outcome: Outcome) -> str:
        """Return what the commit of a pass says to a clone without its checkpoint; empty where everything counts."""
        # What is held back is said in each pass, and the next one has to look at everything.
        if outcome.rendered.held_removals:
            return ""
        return record_for_clones(self.contents, outcome.source, outcome.rendered.tree.root)


class EndedRender(Struct, frozen=True, kw_only=True):
    """A pass that committed, or proposed a commit ("": it did not), or found nothing new; ``rendered`` is the tip.

    ``flip`` is when it would decide otherwise by itself (None: at no time). ``waits_for_clusters``: a rollout or a
    move goes on by what is seen of members.
    """

    outcome: Outcome
    publication: Publication
    tip: SourceTip
    rendered: str
    proposed: str = ""
    flip: Flip | None = None
    waits_for_clusters: bool = False

    def write_checkpoint(self, seen: PassSeen, members: dict[str, Any] | None = None) -> None:
        """Write down what this pass saw and reported, so that the next one need not look at everything."""
        outcome, publication, tip = self.outcome, self.publication, self.tip
        repository, fleet = publication.repository, outcome.source.desired.fleet
        # What is held back is said in each pass, and the next one has to look at everything.
        if outcome.rendered.held_removals:
            return
        contents, proposed = seen.contents, None
        if self.proposed:
            proposed = ProposedCommit(commit=self.proposed, fleet_path=fleet.path, what=outcome.summary)
            contents = NO_CONTENTS
        checkpoint = Checkpoint(
            folder=repository.folder.under,
            branch=fleet.rendered_branch,
            names=BranchNames(
                source_remote=tip.remote,
                source_ref=tip.ref,
                publish_remote="" if repository.mirrors else publication.remote,
                rendered_ref=_published_ref(publication, fleet.rendered_branch),
                status_ref=_published_ref(publication, fleet.status_branch),
            ),
            tips=BranchTips(
                source=tip.commit,
                rendered=self.rendered,
                status=repository.tip(publication.ref(fleet.status_branch)),
            ),
            contents=contents,
            warnings=(*map(str, _warnings_of_source(outcome.source)), *outcome.lasting_warnings),
            problems=_problem_lines(outcome, seen.problems),
            next_flip=instant_text(self.flip.at) if self.flip else "",
            waits_for_clusters=self.waits_for_clusters,
            members=members,
            mirrors=_mirrors_as_left(outcome, publication),
            proposed=proposed,
        )
        write_checkpoint(repository, checkpoint)


def _problem_lines(outcome: Outcome, problems: Iterable[ObjectProblem]) -> tuple[str, ...]:
    nothing = reason_for_empty_outcome(outcome)
    return (*map(str, (*outcome.source.objects_left_out, *problems)), *filter(None, [nothing]))


def _warnings_of_source(source: Source) -> Iterator[Problem]:
    """Yield the warnings of a source without those about objects that are left out, which are problems of the pass."""
    left_out = set(source.objects_left_out)
    return (each for each in source.desired.warnings if each not in left_out)


def _mirrors_as_left(outcome: Outcome, publication: Publication) -> dict[str, str]:
    """Return the refs of the fleet's mirrors with the commits that passes left them at."""
    branches = outcome.folders_at(None).branches
    tips = {branch: publication.repository.tip(ref_of_mirror_as_left(publication, branch)) for branch in branches}
    return {_published_ref(publication, branch): tip for branch, tip in tips.items() if tip}


def _published_ref(publication: Publication, branch: str) -> str:
    """Return the ref to ask for a branch: the remote's own name where a remote is asked, else the ref known here."""
    is_asked = publication.remote and not publication.repository.mirrors
    return f"refs/heads/{branch}" if is_asked else publication.ref(branch)
