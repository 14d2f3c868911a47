"""The replicas that a member's object asks for, and the field manager that set them.

A tree says how many replicas a cluster is to have. Where an autoscaler or a person owns the field, the object asks for
others, and passes leave them to their owner. So the number is recorded as it is in the cluster, read by the rule by
which the replicas of the template are read.
"""

from reconciler.ledger.work import LiveReplicas
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Failure
from reconciler.plans.membership import is_manager_of_fleet
from reconciler.plans.ownership import Owner, managers_at
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.model import Manifest


def live_replicas(live: Manifest | None, interpreter: Interpreter) -> LiveReplicas | None:
    """Return the replicas of an object as it is in a member; None where it has none, or nothing tells them.

    A webhook is not asked: it would be called again at every change.
    """
    if live is None or interpreter.answering_layer(Operation.INTERPRET_REPLICA, live) is Layer.WEBHOOK:
        return None
    try:
        count = _count(live, interpreter)
    except InterpreterError:
        return None
    return None if count is None else LiveReplicas(replicas=count, manager=manager_of_replicas(live, interpreter))


def _count(live: Manifest, interpreter: Interpreter) -> int | None:
    """Return the replicas of an object; of one with several pod templates, those of all of them together."""
    read = interpreter.replicas(live)
    of_all = None
    if interpreter.answering_layer(Operation.INTERPRET_COMPONENT, live) is not Layer.WEBHOOK:
        components = interpreter.components(live)
        of_all = None if components is None else sum(each.replicas for each in components)
    if read is None or of_all is None:
        return of_all if read is None else read.replicas
    # A fleet counts such an object by the one or the other, which its objects do not tell.
    return of_all if of_all == read.replicas else None


def manager_of_replicas(live: Manifest, interpreter: Interpreter) -> str:
    """Return the field manager that set the replicas last, where Argosy does not own the field; else nothing."""
    path = interpreter.replica_field(live)
    if path is None:
        return ""
    managers = result_or_failure(lambda: managers_at(live, path))
    if isinstance(managers, Failure):  # its managed fields lead nowhere
        return ""
    if any(is_manager_of_fleet(each.manager) for each in managers):
        return ""
    return max(managers, key=_written_at, default=Owner("")).manager


def _written_at(owner: Owner) -> str:
    return owner.time
