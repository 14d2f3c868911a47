"""A bug as it is reported: which error and where in the code, and never a value, which may be a secret."""

import traceback
from collections.abc import Iterator

_MOST_FRAMES = 12


def lines_naming_bug(error: Exception) -> Iterator[str]:
    """Yield the lines that name a bug: the error, and the frames that led to it."""
    name = f"{type(error).__name__}: {error.name}" if isinstance(error, ImportError) else type(error).__name__
    yield f"a bug: {name}; please report it with these lines"
    yield from (f"  {place}" for place in code_frames_of_error(error))


def code_frames_of_error(error: Exception) -> Iterator[str]:
    """Yield the places in the code that led to an error, the last ones alone."""
    for frame in traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]:
        yield f"{frame.filename}:{frame.lineno} in {frame.name}"
