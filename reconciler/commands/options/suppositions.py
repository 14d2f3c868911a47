"""The options that say what is supposed of a fleet: clusters that are lost or changed, replicas, and files."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from msgspec import Struct


class Suppositions(Struct, frozen=True, kw_only=True):
    """The changes that are supposed, as they were typed; of taints and capacities each with its cluster."""

    without_clusters: tuple[str, ...] = ()
    without_regions: tuple[str, ...] = ()
    without_zones: tuple[str, ...] = ()
    without_providers: tuple[str, ...] = ()
    cordoned: tuple[str, ...] = ()
    tainted: tuple[tuple[str, str], ...] = ()
    sized: tuple[tuple[str, str], ...] = ()
    scaled: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def _parse_pair(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Read ``CLUSTER=REST``, split at the first sign."""
    pairs = [text.partition("=") for text in texts]
    if wrong := [text for text, (name, _, rest) in zip(texts, pairs, strict=True) if not (name and rest)]:
        raise click.UsageError(f"{option.opts[0]} {wrong[0]!r}: write {option.metavar}", context)
    return tuple((name, rest) for name, _, rest in pairs)


_LOSSES = (
    click.option(
        "--without-cluster", "without_clusters", multiple=True, metavar="NAME|GLOB", help="Suppose that it is lost."
    ),
    click.option(
        "--without-region", "without_regions", multiple=True, metavar="NAME", help="Suppose that all in it are lost."
    ),
    click.option(
        "--without-zone", "without_zones", multiple=True, metavar="NAME", help="Suppose that all in it are lost."
    ),
    click.option(
        "--without-provider",
        "without_providers",
        multiple=True,
        metavar="NAME",
        help="Suppose that all of it are lost.",
    ),
)
_OTHER_CHANGES = (
    click.option("--cordon", "cordoned", multiple=True, metavar="NAME|GLOB", help="Suppose that it is cordoned."),
    click.option(
        "--taint",
        "tainted",
        multiple=True,
        callback=_parse_pair,
        metavar="CLUSTER=KEY=VALUE:EFFECT",
        help="Suppose that a cluster has a taint.",
    ),
    click.option(
        "--capacity",
        "sized",
        multiple=True,
        callback=_parse_pair,
        metavar="CLUSTER=RESOURCE=AMOUNT,...",
        help="Suppose that a cluster has so much to allocate.",
    ),
    click.option("--scale", "scaled", multiple=True, metavar="KIND/NAME=N", help="Suppose that it has N replicas."),
    click.option(
        "--add", "added", multiple=True, metavar="FILE|FOLDER", help="Suppose that the source has these files, too."
    ),
)


def with_suppositions(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is supposed; the command gets them as one value, ``supposed``."""
    names = Suppositions.__struct_fields__

    @wraps(command)
    def command_with_suppositions(*arguments: Any, **options: Any) -> Any:
        supposed = Suppositions(**{name: options.pop(name) for name in names})
        return command(*arguments, supposed=supposed, **options)

    made: Callable[..., Any] = command_with_suppositions
    for option in reversed((*_LOSSES, *_OTHER_CHANGES)):
        made = option(made)
    return made
