"""The check whether a member takes what passes send: of each kind one object is put to it, by a dry run.

A kind that can be listed may be one that cannot be written: its conversion webhook is asked only where an object is
sent in another version than it is stored in, and an admission webhook only by writes. What the server says of the
object itself is for ``argosy apply --dry-run server``; here it counts that the kind as such cannot be written.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from reconciler.deliver.questions import send_dry_run
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import Client, Failure, FailureKind
from reconciler.members.parallel import results_in_parallel
from reconciler.plans.cluster import make_plan
from reconciler.plans.model import WRITES, Action, ClusterDesired, ObservedCluster, PlannedObject, PlanOptions

_OF_ONE_OBJECT = frozenset(
    {
        *(FailureKind.BAD_REQUEST, FailureKind.INVALID, FailureKind.IMMUTABLE, FailureKind.MANIFEST),
        *(FailureKind.TOO_LARGE, FailureKind.CONFLICT, FailureKind.RACE, FailureKind.FORMER_VERSION),
        *(FailureKind.NOT_FOUND, FailureKind.NOT_SERVED, FailureKind.FORBIDDEN),
        *(FailureKind.NAMESPACE_MISSING, FailureKind.NAMESPACE_TERMINATING),
    }
)
"""The failures that say nothing of another object of the same kind, or that other checks tell."""


def unwritable_kinds(
    client: Client, desired: ClusterDesired, observed: ObservedCluster, inventory: Inventory, options: PlanOptions
) -> Iterator[tuple[str, Failure]]:
    """Yield the kinds that a member does not take at the moment, each with its failure, in the order of their names."""
    asked = dict(sorted(_one_object_of_each_kind(make_plan(desired, observed, inventory, options).objects).items()))
    answers = results_in_parallel(
        lambda item: send_dry_run(client, item, options.applyset.manager, is_forced=True),
        list(asked.values()),
        limit=client.concurrency,
    )
    for group_kind, answer in zip(asked, answers, strict=True):
        if isinstance(answer, Failure) and answer.kind not in _OF_ONE_OBJECT:
            yield group_kind, answer


def _one_object_of_each_kind(objects: tuple[PlannedObject, ...]) -> dict[str, PlannedObject]:
    """Return one object of each kind, and one that a pass would write where there is any."""
    chosen: dict[str, PlannedObject] = {}
    for item in objects:
        known = chosen.get(item.ref.group_kind)
        is_sendable = item.resource is not None and item.manifest is not None and item.action is not Action.BLOCKED
        if is_sendable and (known is None or (item.action in WRITES and known.action not in WRITES)):
            # What is not ours is asked about as it would be if it were.
            chosen[item.ref.group_kind] = replace(item, resource_version="")
    return chosen
