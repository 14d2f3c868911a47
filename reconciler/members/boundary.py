"""The boundary of one member: whatever goes wrong there is a failure of that member, and of nothing else."""

import traceback
from collections.abc import Callable
from typing import TypeVar

from render.errors import ReconcileError

from .exchange import Failure, FailureKind

_MOST_FRAMES = 12
_Result = TypeVar("_Result")


def guarded(call: Callable[[], _Result]) -> _Result | Failure:
    """Return the result of a call about one member, or the failure of that member for anything unexpected.

    What stops a run on purpose (Git that cannot be written, an input that is refused) passes through.
    """
    try:
        return call()
    except ReconcileError:
        raise
    except Exception as error:  # noqa: BLE001 - the one place per member where a bug is caught and named
        return unexpected_failure(error)


def unexpected_failure(error: Exception) -> Failure:
    """Return the failure of a member whose answers led to an error nobody thought of."""
    return Failure(
        kind=FailureKind.UNEXPECTED,
        message=f"an unexpected {type(error).__name__} stopped the work on this cluster",
        hint="see whether an API server answers there; if one does, report this as a bug, with what -v prints",
        trace=_trace(error),
    )


def _trace(error: Exception) -> str:
    """Return where an error happened; frames name code only, never values, which may be secrets."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return "\n".join(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
