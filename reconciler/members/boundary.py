"""The boundary of one member: whatever goes wrong there is a failure of that member, and of nothing else."""

from collections.abc import Callable
from typing import TypeVar

from reconciler.console.bugs import code_frames_of_error
from render.errors import ReconcileError

from .exchange import Failure, FailureKind

_Result = TypeVar("_Result")


def result_or_failure(call: Callable[[], _Result]) -> _Result | Failure:
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
        trace="\n".join(code_frames_of_error(error)),
    )
