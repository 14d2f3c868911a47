"""The boundary of one file or one record: whatever goes wrong there is a problem of it, and of nothing else.

A bug is still said to be one: the problem asks for a report, and names the places in the code, but never a value, which
may be a secret.
"""

from collections.abc import Callable, Iterator
from traceback import walk_tb
from typing import TypeVar

from .errors import Problem, ReconcileError

INTERNAL = "InternalError"
"""The kind of a problem that nobody thought of, as Kubernetes calls it."""
REPORT_IT = "this is a bug of Argosy, so please report it"

_MOST_FRAMES = 8
_Result = TypeVar("_Result")


def result_or_substitute(call: Callable[[], _Result], otherwise: Callable[[Exception], _Result]) -> _Result:
    """Return the result of a call about one record, or what stands for it where nobody thought of its error.

    What stops a run on purpose passes through, and so does what this machine refuses.

    >>> result_or_substitute(lambda: [1 // 0], lambda error: [type(error).__name__])
    ['ZeroDivisionError']
    """
    try:
        return call()
    except (ReconcileError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - the one place per record where a bug is caught and named
        return otherwise(error)


def words_of_unexpected_error(error: Exception) -> str:
    """Return the words for an error that nobody thought of, with the place in the code where it came up."""
    places = list(places_in_traceback(error))
    return f"an unexpected {type(error).__name__}" + (f" in {places[-1]}" if places else "")


def unexpected_problem(path: str, error: Exception, *, what: str = "is not read") -> Problem:
    """Return the problem of a file that led to an error nobody thought of."""
    frames = "".join(f"\n    {place}" for place in places_in_traceback(error))
    message, hint = f"{what}: an unexpected {type(error).__name__} came up", f"{REPORT_IT} with these lines:{frames}"
    return Problem(path, 0, "", message, hint, INTERNAL)


def places_in_traceback(error: Exception) -> Iterator[str]:
    """Yield the places in the code that led to an error, the last ones alone, by their modules on every machine."""
    frames = list(walk_tb(error.__traceback__))[-_MOST_FRAMES:]
    for frame, line in frames:
        yield f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}"
