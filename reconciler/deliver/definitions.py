"""CustomResourceDefinitions that were applied: a server takes a moment until it serves their kinds."""

from collections.abc import Sequence

from msgspec.structs import replace

from reconciler.members.exchange import Failure
from reconciler.members.listing import read_object
from reconciler.members.parallel import results_in_parallel
from reconciler.plans.model import Action
from reconciler.plans.stages import CRD
from render.model import Manifest

from .results import ObjectResult
from .server_side_apply import ApplyContext

_PAUSE = 0.1


def wait_until_established(context: ApplyContext, results: Sequence[ObjectResult]) -> list[ObjectResult]:
    """Wait for the CRDs that were written; one that does not become established is a failure."""
    return results_in_parallel(
        lambda result: _result_once_established(context, result), results, limit=context.client.concurrency
    )


def _result_once_established(context: ApplyContext, result: ObjectResult) -> ObjectResult:
    if result.is_failure or result.live is None or result.ref.group_kind != CRD:
        return result
    resource = context.plan.discovery.resource(str(result.live["apiVersion"]), result.ref.kind)
    live: Manifest | Failure | None = result.live
    waited, pause = 0.0, _PAUSE
    while not is_established(live):
        if resource is None or waited >= context.settings.settle_seconds or not context.client.wait(pause):
            return _result_of_crd_not_established(result, live)
        waited, pause = waited + pause, min(pause * 2, 1.0)
        live = read_object(context.client, resource, result.ref)
    return result if isinstance(live, Failure) or live is None else replace(result, live=live)


def is_established(live: Manifest | Failure | None) -> bool:
    """Return whether the kind of a CustomResourceDefinition is served, or once was: so it stays to the end."""
    return not isinstance(live, Failure) and live is not None and _condition_status(live, "Established") == "True"


def _condition_status(live: Manifest, kind: str) -> str:
    conditions = (live.get("status") or {}).get("conditions") or ()
    return next((str(item.get("status")) for item in conditions if item.get("type") == kind), "")


def _result_of_crd_not_established(result: ObjectResult, live: Manifest | Failure | None) -> ObjectResult:
    is_refused = isinstance(live, dict) and _condition_status(live, "NamesAccepted") == "False"
    message = "its names clash with another kind's" if is_refused else "it is not established yet"
    hint = "see `kubectl describe crd`; custom resources of its kind wait for it"
    return replace(result, action=Action.FAILED, reason="NotEstablished", message=message, hint=hint)
