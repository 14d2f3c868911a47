"""The trailers of rendered commits, which are all that is needed to make one again, and Argosy's version."""

from collections.abc import Mapping
from functools import cache

SOURCE = "Argosy-Source"
PREVIOUS = "Argosy-Previous"
VERSION = "Argosy-Version"
ALLOW_REMOVAL = "Argosy-Allow-Removal"
ALLOW_MOVEMENT = "Argosy-Allow-Movement"


@cache
def engine_version() -> str:
    """Return the version of the engine, as commits record it."""
    from importlib.metadata import version

    return version("argosy")


def rendered_trailers(*, source: str, previous: str | None) -> Mapping[str, str]:
    """Return the trailers of a rendered commit: all that is needed to make it again."""
    trailers = {SOURCE: source, VERSION: engine_version()}
    return {**trailers, PREVIOUS: previous} if previous else trailers
