"""ResiliencePolicies from admitted objects."""

from collections.abc import Iterable

from render.limits import Limit
from render.model import Manifest
from render.parsing.selectors import parse_resource_selectors
from render.placement import SpreadField

from .policy import ALL, ONE, CountingTime, ResiliencePolicy, SurvivedLoss


def parse_resilience_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> ResiliencePolicy:
    """Return the value of an admitted policy of either kind."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    return ResiliencePolicy(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        resource_selectors=parse_resource_selectors(spec.get("resourceSelectors") or ()),
        survive=parse_losses(spec.get("survive")),
        path=path,
        document=document,
    )


def parse_losses(plain: Iterable[Manifest] | None) -> tuple[SurvivedLoss, ...]:
    """Return admitted losses, as policies and tests name them."""
    return tuple(map(_parse_loss, plain or ()))


def _parse_loss(plain: Manifest) -> SurvivedLoss:
    return SurvivedLoss(
        field=SpreadField(plain["loss"]),
        count=plain.get("count") or 1,
        min_replicas=_parse_limit(plain.get("minReplicas")) or ALL,
        min_copies=_parse_limit(plain.get("minCopies")) or ONE,
        when=CountingTime(plain.get("when") or CountingTime.RESCHEDULED),
    )


def _parse_limit(plain: int | str | None) -> Limit | None:
    return None if plain is None else Limit.of_text(str(plain))
