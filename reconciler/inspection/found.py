"""The answers of members together: what was found where, what nobody has, and who did not answer."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.members.exchange import UNREACHABLE, Failure
from reconciler.names.subjects import error_of_unknown_name
from render.errors import ClusterError
from render.words import first_few

from .asking import Answered, FoundKind
from .tables import Table
from .wanted import ObjectsWanted


class FoundInMembers(Struct, frozen=True, kw_only=True):
    """The answers of all members that were asked, by cluster, and what was wanted of them."""

    answers: Mapping[str, Answered | Failure]
    wanted: ObjectsWanted

    @property
    def tables(self) -> Iterator[tuple[str, str, Table]]:
        """The tables with their kinds, as names are prefixed with them, and their clusters."""
        return ((_prefix_of_kind(each), cluster, each.table) for cluster, each in self._kinds())

    @property
    def objects(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """The objects with their kinds and clusters."""
        return ((_prefix_of_kind(each), cluster, item) for cluster, each in self._kinds() for item in each.objects)

    @property
    def group_kinds(self) -> frozenset[str]:
        """The kinds that the words stand for in clusters that answered."""
        return frozenset(each.resource.group_kind for _, each in self._kinds())

    @property
    def is_empty(self) -> bool:
        """True where no cluster that answered has anything of what was wanted."""
        return all(each.is_empty for _, each in self._kinds())

    @property
    def unreached(self) -> tuple[str, ...]:
        """The clusters that could not be used at all."""
        return tuple(name for name, answer in self.answers.items() if _is_unreached(answer))

    @property
    def refusals(self) -> tuple[str, ...]:
        """A line for each cluster that failed, and for each kind that one did not tell of."""
        failed = [f"{name}: {each}" for name, each in self.answers.items() if isinstance(each, Failure)]
        parts = [f"{name}: {_prefix_of_kind(each)}: {each.failure}" for name, each in self._kinds() if each.failure]
        return (*failed, *parts)

    @property
    def names_nowhere(self) -> tuple[str, ...]:
        """The objects asked for by name, as ``KIND/NAME``, that no cluster has which could tell."""
        absent, present = dict[str, None](), set[str]()
        for _, each in self._kinds():
            kind = _prefix_of_kind(each)
            absent.update((f"{kind}/{name}", None) for name in each.absent)
            present.update(f"{kind}/{row.name}" for row in each.table.rows)
            present.update(f"{kind}/{item['metadata']['name']}" for item in each.objects)
        return tuple(name for name in absent if name not in present)

    @property
    def partly_served(self) -> str:
        """A sentence on the kinds that some of the clusters do not serve; "" where there are none."""
        words = dict[str, list[str]]()
        for name, answer in self._answered():
            for word in answer.unserved:
                words.setdefault(word, []).append(name)
        return "; ".join(f"{word} is not served in {first_few(names)}" for word, names in words.items())

    def raise_unless_somebody_answered(self) -> None:
        """Raise ClusterError where there was somebody to ask and nobody could be used."""
        if self.answers and len(self.unreached) == len(self.answers):
            hints = {each.hint for each in self.answers.values() if isinstance(each, Failure)}
            shared = hints.pop() if len(hints) == 1 else ""
            raise ClusterError("no cluster could be used", hint=shared or "the lines above say what each answered")

    def raise_for_unknown_kinds(self) -> None:
        """Raise UnknownName for a word that is a kind in none of the clusters that answered."""
        answered = [answer for _, answer in self._answered()]
        for kind in self.wanted.kinds:
            if answered and all(kind.word in each.unserved for each in answered):
                known = frozenset().union(*(each.known for each in answered))
                raise error_of_unknown_name(f"no cluster that was asked serves a kind {kind.word!r}", kind.word, known)

    def _answered(self) -> Iterator[tuple[str, Answered]]:
        return ((name, each) for name, each in self.answers.items() if isinstance(each, Answered))

    def _kinds(self) -> Iterable[tuple[str, FoundKind]]:
        return ((name, each) for name, answer in self._answered() for each in answer.kinds)


def _is_unreached(answer: Answered | Failure) -> bool:
    return isinstance(answer, Failure) and answer.kind in UNREACHABLE


def _prefix_of_kind(found: FoundKind) -> str:
    """Return a kind as kubectl writes it before names: ``deployment.apps``."""
    return found.resource.group_kind.lower()
