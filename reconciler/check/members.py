"""The checks of members: reached, the clusters they should be, their clocks, versions, kinds and permissions.

Each member is asked in a thread of its own and within its own time: a dead one costs nobody else's.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.inventory import Inventory
from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.boundary import result_or_failure
from reconciler.members.discovery import Discovery, discover_served_kinds
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.listing import read_object
from reconciler.members.visits import MemberReach, Visit, Visits
from reconciler.observe.members import failure_of_readiness
from reconciler.observe.objects import NAMESPACES, PREFLIGHT_SECONDS, observe_cluster, read_uid
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import OWN_CONTEXT, defined_kinds
from reconciler.plans.model import ClusterDesired, PlanOptions
from reconciler.plans.stages import CRD
from reconciler.source.schemas.kubernetes import minor_version
from render.model import ObjectRef, group_of
from render.words import counted_noun, first_few

from .permissions import missing_permissions, needs_of, needs_of_observation, permission_lines, unserved_kinds
from .prerequisites import Check
from .writing import unwritable_kinds

MOST_SECONDS = 30.0
MOST_SKEW = 30.0
"""The seconds by which a member's clock may differ from ours: tokens and leases go by time."""
_CREDENTIALS = frozenset({FailureKind.CREDENTIALS, FailureKind.UNAUTHORIZED, FailureKind.CERTIFICATE})
FIRST_APPLY, FINISHED_APPLY = 16, 22
"""The minor versions of Kubernetes that first had server-side apply switched on, and that called it finished."""
_UNFINISHED = (
    "its server-side apply is a beta that does not record who scaled a workload, so that such replicas are taken back"
    " where no autoscaler is listed"
)
_UPGRADE = "upgrade the cluster"
_READY = "see what kubectl get --raw '/readyz?verbose' says there; whoever stands in between must let /readyz through"
_GRANT = "grant the user of this context what is missing: argosy rbac --cluster NAME prints all that a pass needs"


class MemberQuestion(Struct, frozen=True, kw_only=True):
    """A member to check: everything it must hold, and the inventory that is recorded for it (None: there is none).

    ``scaled_kinds`` are those whose definitions tell how many replicas an object has.
    """

    desired: ClusterDesired
    inventory: Inventory | None = None
    scaled_kinds: frozenset[KindVersion] = frozenset()

    @property
    def uid(self) -> str:
        """The UID of the cluster that is recorded for it ("": none)."""
        return self.inventory.uid if self.inventory else ""

    @property
    def cluster(self) -> str:
        """The member's name."""
        return self.desired.cluster


class MemberAsking(Struct, frozen=True, kw_only=True):
    """The reach of the checks, what marks our objects in members, and our own clock.

    ``grace`` seconds after its time a member is given up, whatever it is at.
    """

    reach: MemberReach
    applyset: ApplySet = field(default_factory=ApplySet)
    grace: float = 2.0
    clock: Callable[[], float] = time.time


class _Examined(Struct, frozen=True, kw_only=True):
    """The checks of one member, and the UID of the cluster that answered."""

    checks: tuple[Check, ...]
    uid: str = ""


def member_checks(questions: Iterable[MemberQuestion], asking: MemberAsking) -> tuple[Check, ...]:
    """Return the checks of every member, in the order asked, as far as each got within its time."""
    asked = tuple(questions)
    found = _examined_members(asked, asking)
    members = Counter(each.uid for each in found if each.uid)
    checks: list[Check] = []
    for question, each in zip(asked, found, strict=True):
        others = [
            other.cluster
            for other, its in zip(asked, found, strict=True)
            if members[each.uid] > 1 and its.uid == each.uid and other is not question
        ]
        more = (_check_of_shared_cluster(others),) if others else ()
        checks += [replace(check, member=question.cluster) for check in (*each.checks, *more)]
    return tuple(checks)


def _examined_members(questions: Sequence[MemberQuestion], asking: MemberAsking) -> list[_Examined]:
    """Visit all members at once, and give up what its time is over for."""
    by_name = {question.cluster: question for question in questions}
    visits: Visits[_Examined | Failure] = asking.reach.visits(
        lambda visit: result_or_failure(lambda: _examination_of(by_name[visit.name], asking, visit)), by_name
    )
    seconds = asking.reach.timeout + asking.grace
    while not visits.are_over:
        visits.next_ended_visit(
            min((visit.began + seconds for visit in visits.under_way.values()), default=time.monotonic())
        )
        for visit in tuple(visits.under_way.values()):
            if visit.began + seconds <= time.monotonic():
                visits.give_up(visit)
    return [_examined_or_failed(visits.begun[question.cluster].result, asking) for question in questions]


def _examined_or_failed(outcome: "_Examined | Failure | None", asking: MemberAsking) -> _Examined:
    if isinstance(outcome, _Examined):
        return outcome
    message = f"it did not answer everything within {asking.reach.timeout:g} s"
    overdue = Failure(kind=FailureKind.DEADLINE, message=message)
    return _Examined(checks=(_check_of_failure(outcome or overdue),))


def _check_of_shared_cluster(others: Iterable[str]) -> Check:
    return Check(
        name="identity",
        is_well=False,
        state=f"its context leads to the same cluster as that of {first_few(sorted(others))}",
        hint=OWN_CONTEXT,
    )


def _examination_of(question: MemberQuestion, asking: MemberAsking, visit: Visit[_Examined | Failure]) -> _Examined:
    opened = asking.reach.open(question.cluster)
    if isinstance(opened, Failure):
        return _Examined(checks=(_check_of_failure(opened),))
    client = visit.heard_through(opened)
    request = Request(method="GET", path="/version", expects=Expected.VERSION, timeout=PREFLIGHT_SECONDS, tries=1)
    version = client.send(request)
    now = asking.clock()
    if isinstance(version, Failure):
        return _Examined(
            checks=(_check_of_failure(version, "may not get /version: by that path a server is known to be well"),)
        )
    uid = read_uid(client)
    if isinstance(uid, Failure):
        return _Examined(checks=(_check_of_failure(uid, "may not get namespaces: by kube-system a cluster is known"),))
    checks = [
        _check_of_identity(question, uid),
        _check_of_version(version),
        *_check_of_clock(version, now),
        *_check_of_readiness(client),
    ]
    # A cluster that is another one than it was is asked nothing more, for its tree is not meant for it.
    if checks[0].is_well:
        checks += _kinds_and_permissions(client, question, asking.applyset)
    return _Examined(checks=tuple(checks), uid=uid)


def _check_of_failure(failure: Failure, forbidden: str = "") -> Check:
    """Return the check of a member that says no; ``forbidden`` says what it does not allow, where that is why."""
    if forbidden and failure.kind is FailureKind.FORBIDDEN:
        return Check(name="permissions", is_well=False, state=forbidden, hint=_GRANT)
    name = "credentials" if failure.kind in _CREDENTIALS else "connection"
    name = "identity" if failure.kind is FailureKind.WRONG_CLUSTER else name
    return Check(name=name, is_well=False, state=f"{failure.kind}: {failure.message}", hint=failure.hint)


def _check_of_identity(question: MemberQuestion, uid: str) -> Check:
    if not question.uid:
        return Check(name="identity", is_well=True, state=f"UID {uid}, not recorded yet")
    if question.uid == uid:
        return Check(name="identity", is_well=True, state=f"UID {uid} as recorded")
    return Check(
        name="identity",
        is_well=False,
        state=f"its context leads to another cluster: the UID is {uid}, not {question.uid}",
        hint="correct the context; if the cluster was built anew, take it in again:"
        f" argosy cluster rejoin {question.cluster} --accept-uid {uid}",
    )


def _check_of_version(answer: Answer) -> Check:
    """Tell the version, and what a server lacks that is older than what an apply builds upon."""
    version = str(answer.body.get("gitVersion") or "")
    check = Check(name="version", is_well=True, state=f"Kubernetes {version or 'unknown'}")
    minor = minor_version(version)
    if minor is None or minor >= FINISHED_APPLY:
        return check
    if minor >= FIRST_APPLY:
        state = f"{check.state} is older than 1.{FINISHED_APPLY}: {_UNFINISHED}"
        return replace(check, is_warning=True, state=state, hint=_UPGRADE)
    state = f"{check.state} is older than 1.{FIRST_APPLY}, which has the first usable server-side apply"
    return replace(check, is_well=False, state=state, hint=_UPGRADE)


def _check_of_readiness(client: Client) -> Iterator[Check]:
    """Ask what a pass asks first: without a yes it counts the cluster as not observed, whatever it can apply."""
    failure = failure_of_readiness(client)
    if failure is not None:
        state = f"it does not say that it is healthy: {failure.kind}: {failure.message}"
        yield Check(name="readiness", is_well=False, state=state, hint=_READY)


def _check_of_clock(answer: Answer, now: float) -> Iterator[Check]:
    """Compare the member's clock with ours; an answer without a usable date says nothing of it."""
    ahead = answer.seconds_ahead(now)
    if ahead is None:
        return
    if abs(ahead) <= MOST_SKEW:
        yield Check(name="clock", is_well=True, state="clock like here")
        return
    state = f"its clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the one here"
    yield Check(name="clock", is_well=False, state=state, hint="correct one of them: tokens and leases go by time")


def _kinds_and_permissions(client: Client, question: MemberQuestion, applyset: ApplySet) -> Iterator[Check]:
    discovery = discover_served_kinds(client)
    if isinstance(discovery, Failure):
        yield Check(name="kinds", is_well=False, state=f"{discovery.kind}: {discovery.message}", hint=discovery.hint)
        return
    yield _check_of_kinds(question.desired, discovery)
    permissions = tuple(_checks_of_permissions(client, question, discovery, applyset))
    yield from permissions
    is_granted = all(check.is_well for check in permissions)
    yield from _checks_of_objects(client, question, applyset, is_granted=is_granted)


def _checks_of_objects(
    client: Client, question: MemberQuestion, applyset: ApplySet, *, is_granted: bool
) -> Iterator[Check]:
    """Tell the kinds that cannot be read or written as a pass does both; missing rights are told elsewhere."""
    inventory = question.inventory or Inventory(cluster=question.cluster)
    observed = observe_cluster(client, question.desired, inventory, applyset)
    if observed.failure is not None:
        state = f"it cannot be looked at as passes do: {observed.failure.kind}: {observed.failure.message}"
        yield Check(name="objects", is_well=False, state=state, hint=observed.failure.hint)
        return
    failures = {kind: failure for (kind, _), failure in observed.unlisted_places.items()} | dict(observed.unlisted)
    failures |= {str(ref): failure for ref, failure in observed.unread.items()}
    for subject, failure in sorted(failures.items()):
        if is_granted or failure.kind is not FailureKind.FORBIDDEN:
            verb = "read" if " " in subject else "list"
            state = f"it cannot {verb} {subject}: {failure.kind}: {failure.message}"
            yield Check(name="objects", is_well=False, state=state, hint=failure.hint)
    if is_granted:
        options = PlanOptions(applyset=applyset)
        for kind, failure in unwritable_kinds(client, question.desired, observed, inventory, options):
            state = f"it cannot write {kind}: {failure.kind}: {failure.message}"
            yield Check(name="objects", is_well=False, state=state, hint=failure.hint)


def _checks_of_permissions(
    client: Client, question: MemberQuestion, discovery: Discovery, applyset: ApplySet
) -> Iterator[Check]:
    """Ask for all rights at once: those that a pass needs, and those by which it sees more."""
    namespace = read_object(client, NAMESPACES, ObjectRef("", "Namespace", "", applyset.namespace))
    needs = needs_of(question.desired, discovery, applyset, has_namespace=isinstance(namespace, dict))
    scaled = (kind for kind in question.scaled_kinds if (each := discovery.resource(*kind)) and each.is_scaled)
    seen = needs_of_observation(question.desired, discovery, scaled)
    answer = missing_permissions(client, {*needs, *(need for seeing in seen for need in seeing.needs)})
    if isinstance(answer, Failure):
        state = f"it does not say what is allowed: {answer.kind}: {answer.message}"
        yield Check(name="permissions", is_well=False, state=state, hint=answer.hint)
        return
    missing = frozenset(answer)
    if lacking := missing.intersection(needs):
        state = f"may not {'; '.join(permission_lines(lacking))}"
        yield Check(name="permissions", is_well=False, state=state, hint=_GRANT)
    else:
        yield Check(name="permissions", is_well=True, state="may read, apply and delete them")
    for seeing in seen:
        if unseen := missing.intersection(seeing.needs):
            state = f"may not {'; '.join(permission_lines(unseen))}, {seeing.loss}"
            yield Check(name=seeing.check, is_well=True, state=state)


def _check_of_kinds(desired: ClusterDesired, discovery: Discovery) -> Check:
    crds = (item.manifest for item in desired.objects if item.ref.group_kind == CRD)
    defined = [kind for manifest in crds for kind in defined_kinds(manifest)]
    missing = list(unserved_kinds(desired, discovery, defined))
    if missing:
        return Check(
            name="kinds",
            is_well=False,
            state=f"it does not serve {'; '.join(missing)}",
            hint="propagate the CustomResourceDefinition, or install what serves the kind",
        )
    kinds = len({(group_of(str(item.manifest["apiVersion"])), item.ref.kind) for item in desired.objects})
    return Check(
        name="kinds",
        is_well=True,
        state=f"{counted_noun(len(desired.objects), 'object')} of {counted_noun(kinds, 'kind')}",
    )
