"""The resilience guard: a change after which objects do not survive losses that they survived before."""

from collections.abc import Collection, Iterable

from msgspec import Struct

from reconciler.repository.trailers import ALLOW_FRAGILE
from render.errors import GuardRefused

from .allowances import EACH, hint_to_allow

_MOST, _FEW = 20, 3


class LostResilience(Struct, frozen=True, kw_only=True):
    """An object (``subject``) that does not survive a loss any more, in words."""

    subject: str
    message: str


def check_resilience(lost: Iterable[LostResilience], allowed: Collection[str]) -> None:
    """Raise GuardRefused when objects lose resilience that nobody allows them to lose."""
    refused = [each for each in lost if EACH not in allowed and each.subject not in allowed]
    if not refused:
        return
    lines = ["this change takes resilience away", *(f"  {each.message}" for each in refused[:_MOST])]
    if len(refused) > _MOST:
        lines.append(f"  and {len(refused) - _MOST} more")
    subjects = sorted({each.subject for each in refused})
    trailers = [f"{ALLOW_FRAGILE}: {subject}" for subject in (subjects if len(subjects) <= _FEW else [EACH])]
    raise GuardRefused("\n".join(lines), hint=hint_to_allow(trailers, "pass --allow-fragile"))
