"""The trailers of rendered commits, which are all that is needed to make one again, and Argosy's version."""

from collections.abc import Mapping, Sequence
from functools import cache

SOURCE = "Argosy-Source"
PREVIOUS = "Argosy-Previous"
VERSION = "Argosy-Version"
TOOL = "Argosy-Tool"
NOW = "Argosy-Now"
EVICTED = "Argosy-Evicted"
RENDERED = "Argosy-Rendered"
ALLOW_REMOVAL = "Argosy-Allow-Removal"
ALLOW_MOVEMENT = "Argosy-Allow-Movement"


@cache
def engine_version() -> str:
    """Return the version of the engine, as commits record it."""
    from importlib.metadata import version

    return version("argosy")


def rendered_trailers(
    *, source: str, previous: str | None, tools: Sequence[str] = (), removals: Sequence[str] = (), now: str = ""
) -> Mapping[str, str | Sequence[str]]:
    """Return the trailers of a rendered commit: all that is needed to make it again.

    ``tools`` are the programs that built some of the source, by name and version. ``removals`` are what options allowed
    to leave a cluster, where that decided the tree. ``now`` is the time of the pass, where a rule asked for it.
    """
    trailers: dict[str, str | Sequence[str]] = {SOURCE: source, VERSION: engine_version()}
    if previous:
        trailers[PREVIOUS] = previous
    if tools:
        trailers[TOOL] = tools
    if now:
        trailers[NOW] = now
    return {**trailers, ALLOW_REMOVAL: removals} if removals else trailers
