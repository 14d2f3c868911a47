"""The persons whom the forge names behind RolloutControls, and those who made the changes that these are about.

A review counts that a user of the forge has made whom argosy.yaml lists. Nobody approves of a change of their own:
those are known to have made it who signed one of its commits, or opened the pull request that brought it.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from render.rollouts.policy import RolloutControl, RolloutVerb
from render.rollouts.state import RolloutState


class Review(Struct, frozen=True, kw_only=True):
    """The author of the pull request that a control came with, and all who approved of it, as the forge names them."""

    author: str
    reviewers: tuple[str, ...] = ()


class ChangeAuthors(Struct, frozen=True, kw_only=True):
    """The persons behind what changed up to a source commit, after the source commit ``base`` ("": by that one alone).

    ``follows`` has the commits of each rollout that was under way, of which the change has what is not through.
    ``is_forge_asked`` is false while the forge has not said who opened the pull requests.
    """

    base: str = ""
    authors: tuple[str, ...] = ()
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_forge_asked: bool = False


class RolloutOrigins(Struct, frozen=True, kw_only=True):
    """The reviews of controls by the digests of these, and the origins of changes by their source commits."""

    reviews: Mapping[str, Review] = field(default_factory=dict)
    changes: Mapping[str, ChangeAuthors] = field(default_factory=dict)


NO_ORIGINS = RolloutOrigins()


class OriginRule(Struct, frozen=True, kw_only=True):
    """The rule by which persons count behind controls; ``reviewers`` are those of the forge whom argosy.yaml lists."""

    origins: RolloutOrigins
    states: tuple[RolloutState, ...]
    source: str
    reviewers: tuple[str, ...]

    def control_with_origin(self, control: RolloutControl, review: Review | None) -> RolloutControl:
        """Return a control with its reviewers, and those who made the change that it is about."""
        commits = tuple(self._commits_of_change(control))
        known = [self.origins.changes.get(each, ChangeAuthors()) for each in commits]
        changed = tuple(sorted({self._listed_name(person) for each in known for person in each.authors}))
        if review is None:
            return replace(control, changed_by=changed)
        is_about_itself = control.verb in {RolloutVerb.EMERGENCY, RolloutVerb.CONFIRM}
        counts = is_about_itself or all(each.is_forge_asked for each in known)
        found = {self._listed_name(person) for person in review.reviewers}.intersection(self.reviewers)
        return replace(
            control,
            changed_by=changed,
            reviewed_by=tuple(sorted(found)) if counts else (),
            proposed_by=self._listed_name(review.author) if self.reviewers else "",
        )

    def _listed_name(self, person: str) -> str:
        """Return a person as argosy.yaml writes the name; forges tell no capital letters apart."""
        folded = person.casefold()
        return next((each for each in self.reviewers if each.casefold() == folded), person)

    def _commits_of_change(self, control: RolloutControl) -> Iterator[str]:
        """Yield the commits of a change and of those whose place it took; of one that is new, the source commit."""
        states = [each for each in self.states if (str(each.plan), each.group) == (control.rollout, control.group)]
        named = [*commits_of_change(states, control.change)] or [self.source]
        names, seen = {each.name for each in states}, dict[str, None]()
        while named:
            commit = named.pop()
            if commit not in seen:
                seen[commit] = None
                follows = self.origins.changes.get(commit, ChangeAuthors()).follows
                named += [earlier for name in names for earlier in follows.get(name, ())]
        yield from seen


def commits_of_change(states: Iterable[RolloutState], change: str = "") -> Iterator[str]:
    """Yield the commits by which a change came that goes out or waits; without one, those of all that are not over."""
    for state in states:
        if state.change == change or not (change or state.is_completed):
            yield from state.commits
        for each in state.queue:
            if each.digest == change or not change:
                yield from each.commits
