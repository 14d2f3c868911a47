"""Requests to roll back in a pass: the splits that are to stand again, by value, and the record of what was asked.

A request is answered by the pass that finds it first. So each rendered commit names the requests of its source
(``rollbacks.yaml``), and whatever the one before names asks for nothing any more. What the earlier commit had is read
by the shell, which has it by the id that stands in the source: the same source always asks for the same splits.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from render.binding import Binding
from render.documents import emit
from render.former_split import FormerSplit
from render.model import ARGOSY_API_VERSION, ObjectRef, TargetCluster
from render.rescheduling.rollbacks import RollbackRequest, former_split_of, is_decided_as_before
from render.scheduling.filtering import filter_clusters, rejections_by_filter
from render.scheduling.restoring import binding_looking_back
from render.scheduling.scheduler import Scheduler, affinity_groups_to_try
from render.words import counted_noun, first_few

from .previous import RenderedTree, parse_file_at_root
from .schedules import Schedule

ROLLBACKS_FILE = "rollbacks.yaml"
KIND = "KnownRollbacks"
_MOST = 10


class Restorations(Struct, frozen=True, kw_only=True):
    """The split of each object that is to stand again by a pass."""

    splits: Mapping[ObjectRef, FormerSplit] = field(default_factory=dict)


NO_RESTORATIONS = Restorations()


class _RollbacksFile(Struct, frozen=True, kw_only=True):
    requests: tuple[str, ...] = ()


def rollbacks_file(requests: Iterable[RollbackRequest]) -> bytes:
    """Return the file that names the requests of a source; nothing where there are none."""
    names = tuple(sorted(each.record_name for each in requests))
    if not names:
        return b""
    return emit({"apiVersion": ARGOSY_API_VERSION, "kind": KIND, **plain_data(_RollbacksFile(requests=names))})


def known_rollbacks(tree: RenderedTree) -> frozenset[str]:
    """Return the names of the requests that a rendered commit has answered, or had nothing to answer for."""
    entry = tree.trees.entries(tree.root).get(ROLLBACKS_FILE)
    content = tree.contents([entry.id])[entry.id] if entry else b""
    return parse_file_at_root(ROLLBACKS_FILE, content, _names_in_file) if content else frozenset()


def _names_in_file(content: bytes) -> frozenset[str]:
    return frozenset(converted_to_struct(object_of_any_size(content), _RollbacksFile).requests)


def requests_to_answer(requests: Iterable[RollbackRequest], known: Collection[str]) -> tuple[RollbackRequest, ...]:
    """Return the requests that no pass has found before."""
    return tuple(each for each in requests if each.record_name not in known)


def restorations_of_requests(
    asked: Sequence[tuple[RollbackRequest, Mapping[ObjectRef, Binding]]],
    templates: Iterable[ObjectRef],
    now: Mapping[ObjectRef, Binding],
) -> Restorations:
    """Return the splits that requests ask for, each with the bindings of the commit it names; the last one counts.

    ``templates`` are the objects of the source. What is decided as it was then asks for nothing, and takes back what
    a request before it asks for.
    """
    splits: dict[ObjectRef, FormerSplit] = {}
    refs = frozenset(templates)
    for request, former in asked:
        for ref in request.refs_among(refs):
            before, current = former.get(ref), now.get(ref)
            if before is None or not before.policy:
                continue
            if current is None or not is_decided_as_before(current, before):
                splits[ref] = former_split_of(before, request)
            else:
                splits.pop(ref, None)
    return Restorations(splits=splits)


class Unrestored(Struct, frozen=True, kw_only=True, order=True):
    """An object that does not stand as it did, in some clusters, and why.

    ``former`` and ``now`` are its replicas there, None where it is not.
    """

    ref: ObjectRef
    cluster: str
    former: int | None
    now: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.ref} in {self.cluster}: {self.words}"

    @property
    def words(self) -> str:
        """The replicas that it had there and has now, and the reason."""
        return f"{_words_of_share(self.former)} before, {_words_of_share(self.now)} now: {self.reason}"


def _words_of_share(replicas: int | None) -> str:
    if replicas is None:
        return "not there"
    return counted_noun(replicas, "replica") if replicas else "there"


def unrestored_lines(found: Sequence[Unrestored]) -> Iterator[str]:
    """Yield a line for each share that does not stand again; of many, the first few."""
    yield from map(str, found[:_MOST])
    if len(found) > _MOST:
        yield f"and {len(found) - _MOST} more shares that do not stand as they did"


def unrestored_shares(schedule: Schedule) -> tuple[Unrestored, ...]:
    """Return the shares that do not stand as they did, of all that was to be restored in a pass."""
    asked = {each.ref: each for each in schedule.undecided if each.restored is not None}
    done = [(asked[each.ref], each) for each in schedule.bindings if each.ref in asked]
    found = (_unrestored_of_object(before, after, schedule.scheduler) for before, after in done)
    return tuple(sorted(share for shares in found for share in shares))


def _unrestored_of_object(asked: Binding, done: Binding, scheduler: Scheduler) -> Iterator[Unrestored]:
    split = asked.restored
    assert split is not None
    former, now = _shares(split.targets), _shares(done.targets)
    names = {split.cluster} if split.cluster else former.keys() | now.keys()
    changed = sorted(name for name in names if former.get(name) != now.get(name))
    if not changed:
        return
    reasons = _reasons_against_clusters(asked, split, scheduler)
    gone = first_few(sorted(name for name in former if name in reasons))
    for name in changed:
        had = former.get(name)
        if had is not None and name in reasons:
            reason = reasons[name]
        elif split.request not in done.answered_requests:
            reason = "nothing of the split can stand again"
        elif split.replicas != asked.asked_replicas:
            reason = f"it asks for {asked.asked_replicas} replicas now, and asked for {split.replicas} then"
        elif gone and had is None:
            reason = f"in place of {gone}"
        elif gone:
            reason = f"no other cluster takes what {gone} had"
        else:
            reason = "its policy, as it is now, decides so"
        yield Unrestored(ref=asked.ref, cluster=name, former=had, now=now.get(name), reason=reason)


def _shares(targets: Iterable[TargetCluster]) -> dict[str, int]:
    return {each.name: each.replicas for each in targets}


def _reasons_against_clusters(asked: Binding, split: FormerSplit, scheduler: Scheduler) -> Mapping[str, str]:
    """Return why clusters of a split cannot have the object any more."""
    state = scheduler.state
    task = state.task(binding_looking_back(asked, split))
    filters = filter_clusters(state, task, affinity_groups_to_try(task)[0])
    found = {each.name: "it is not in the fleet any more" for each in split.targets}
    for name in found.keys() & state.index.index_by_name.keys():
        place = 1 << state.index.index_by_name[name]
        rejections = (each for each in rejections_by_filter(filters, state.index) if each.clusters & place)
        first = next(rejections, None)
        if filters.feasible & place:
            found[name] = ""
        else:
            found[name] = "it is being deleted" if first is None else first.reason.removeprefix("cluster(s) ")
    return {name: reason for name, reason in found.items() if reason}
