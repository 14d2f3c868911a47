"""Waiting for CustomResourceDefinitions: their kinds exist once a server has established them."""

from collections.abc import Sequence
from dataclasses import replace

from reconciler.members.exchange import Failure
from reconciler.members.listing import read_object
from reconciler.members.parallel import in_parallel
from reconciler.plans.plan_values import Action
from render.model import Manifest

from .apply_one import Site
from .apply_values import Result

_PAUSE = 0.1
_CRD = "CustomResourceDefinition"


def wait_until_established(site: Site, done: Sequence[Result]) -> list[Result]:
    """Wait for the CRDs that were written; one that does not become established is a failure."""
    return in_parallel(lambda result: _awaited(site, result), done, limit=site.client.concurrency)


def _awaited(site: Site, result: Result) -> Result:
    if result.is_failure or result.live is None or result.ref.kind != _CRD:
        return result
    resource = site.plan.discovery.resource(str(result.live["apiVersion"]), _CRD)
    live: Manifest | Failure | None = result.live
    waited, pause = 0.0, _PAUSE
    while not _is_established(live):
        if resource is None or waited >= site.options.settle_seconds or not site.client.wait(pause):
            return _not_established(result, live)
        waited, pause = waited + pause, min(pause * 2, 1.0)
        live = read_object(site.client, resource, result.ref)
    return result


def _is_established(live: Manifest | Failure | None) -> bool:
    return not isinstance(live, Failure) and live is not None and _status(live, "Established") == "True"


def _status(live: Manifest, kind: str) -> str:
    conditions = (live.get("status") or {}).get("conditions") or ()
    return next((str(item.get("status")) for item in conditions if item.get("type") == kind), "")


def _not_established(result: Result, live: Manifest | Failure | None) -> Result:
    is_refused = isinstance(live, dict) and _status(live, "NamesAccepted") == "False"
    message = "its names clash with another kind's" if is_refused else "it is not established yet"
    hint = "see `kubectl describe crd`; custom resources of its kind wait for it"
    return replace(result, action=Action.FAILED, reason="NotEstablished", message=message, hint=hint)
