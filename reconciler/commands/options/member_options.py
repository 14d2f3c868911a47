"""The options that choose the clusters of a run, say how they are reached, and what may be written there."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import click

from reconciler.console.idle_options import refuse_given_options
from reconciler.members.options import AccessOptions, DeliveryOptions
from render.expressions import lazy_expression
from render.notations import seconds_of_duration

_SHARD = lazy_expression(r"(0|[1-9][0-9]*)/([1-9][0-9]*)")
_REACHING = ("timeout", "kubeconfig", "kubeconfigs", "as_user", "as_groups")
_UNATTENDED = ("rehearse", "no_prune", "migrate_from", "take_from", "remove_foreign")
_PRUNING = ("orphans", "confirmed", "confirm_all")

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A decorator that adds an option to a command."""


def _parse_shard(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, int]:
    """Read a share such as ``2/5``; 0/5 is 5/5, for the Pods of an Indexed Job count from 0."""
    matched = _SHARD.fullmatch(value)
    if not matched or int(matched[1]) > int(matched[2]):
        raise click.BadParameter("write i/n, such as 2/5, with i from 1 to n; 0 is the same as n")
    return int(matched[1]) or int(matched[2]), int(matched[2])


def parse_seconds(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """Read a duration such as ``90s``, ``5m`` or ``300``."""
    found = seconds_of_duration(value)
    if found is None:
        raise click.BadParameter("write a duration, such as 90s, 5m or 1h")
    return found


def _check_tool_names(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Take names of tools alone: another word would take over nothing, and whoever typed it would not know."""
    if value:
        from reconciler.plans.object import TAKEN_FROM

        for tool in value:
            click.Choice(TAKEN_FROM).convert(tool, option, context)
    return value


_LONGEST_MANAGER = 128


def _check_manager_names(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Take names that a server would take for a field manager; no object can have fields of another one."""
    for manager in value:
        if not manager.strip() or len(manager) > _LONGEST_MANAGER or not manager.isprintable():
            raise click.BadParameter(
                f"write the name of a field manager, of at most {_LONGEST_MANAGER} printable characters; kubectl get"
                " --show-managed-fields shows those of an object"
            )
    return value


def _check_selector(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a selector that can be read, before a pass begins."""
    if value:
        from reconciler.members.choice import parse_label_selector

        parse_label_selector(value)
    return value


def _check_confirmed_objects(
    _context: click.Context, _option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Take names of objects alone: another word would confirm nothing."""
    for word in value:
        parts = word.split("/")
        if len(parts) not in {2, 3} or not all(parts):
            raise click.BadParameter(f"{word!r} names no object: write KIND/NAME or KIND/NAMESPACE/NAME")
    return value


_ACCESS = (
    click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters (repeatable)."),
    click.option(
        "-l",
        "--selector",
        default="",
        metavar="LABELS",
        callback=_check_selector,
        help="Only clusters with these labels: env=prod,tier.",
    ),
    click.option(
        "--shard", default="1/1", callback=_parse_shard, metavar="I/N", help="Only this share of the clusters."
    ),
    click.option(
        "--max-parallel",
        type=click.IntRange(1, 512),
        default=32,
        show_default=True,
        help="Work on so many clusters at once.",
    ),
    click.option(
        "--timeout",
        default="5m",
        show_default=True,
        callback=parse_seconds,
        metavar="TIME",
        help="The time for all that is done in one cluster; what hangs there costs no other any.",
    ),
    click.option(
        "--kubeconfig",
        default="",
        metavar="FILE",
        help="Contexts, one named like each cluster  [default: KUBECONFIG, then ~/.kube/config]",
    ),
    click.option("--kubeconfigs", default="", metavar="FOLDER", help="A folder with one kubeconfig for each cluster."),
    click.option("--in-cluster", default="", metavar="NAME", help="The member that this process runs in."),
    click.option("--as", "as_user", default="", metavar="USER", help="Act as another user."),
    click.option("--as-group", "as_groups", multiple=True, metavar="GROUP", help="Act as a group (repeatable)."),
)
_OWN_KUBECONFIG = click.option(
    "--kubeconfig",
    default="",
    metavar="FILE",
    help="Reach the cluster by the context of its name in here  [default: the service account of the pod it runs in]",
)
"""The kubeconfig of a command that runs in its cluster: it looks for no other one by itself."""
_READING = (
    click.option(
        "--cluster", "clusters", multiple=True, metavar="CONTEXT", help="Read the cluster of this context (repeatable)."
    ),
    *(
        option
        for option, name in zip(_ACCESS, AccessOptions.names(), strict=True)
        if name in {"max_parallel", *_REACHING}
    ),
)
_ASKING = (
    click.option(
        "--cluster", "clusters", multiple=True, metavar="NAME", help="Only these clusters; prod-* means several."
    ),
    click.option(
        "--cluster-selector",
        default="",
        metavar="LABELS",
        callback=_check_selector,
        help="Only clusters with these labels: env=prod,tier.",
    ),
    *(
        option
        for option, name in zip(_ACCESS, AccessOptions.names(), strict=True)
        if name in {"max_parallel", *_REACHING} - {"timeout"}
    ),
    click.option(
        "--timeout",
        default="30s",
        show_default=True,
        callback=parse_seconds,
        metavar="TIME",
        help="The time for one cluster; what hangs there costs no other any.",
    ),
)
_WRITING = (
    click.option("--rehearse", is_flag=True, help="Ask each server about everything first, and stop at a refusal."),
    click.option("--no-prune", is_flag=True, help="Delete nothing."),
    click.option("--orphans", is_flag=True, help="Also delete what this fleet once rendered and forgot, after asking."),
    click.option("--yes", is_flag=True, help="Delete orphans without asking."),
    click.option(
        "--confirm",
        "confirmed",
        multiple=True,
        metavar="KIND/[NAMESPACE/]NAME",
        callback=_check_confirmed_objects,
        help="Let this Namespace, CRD or volume be pruned (repeatable).",
    ),
    click.option("--confirm-all", is_flag=True, help="Let all of them be pruned."),
    click.option("--allow-older", is_flag=True, help="Apply a commit that does not follow what a cluster holds."),
    click.option(
        "--migrate-from",
        multiple=True,
        metavar="MANAGER",
        callback=_check_manager_names,
        help="Take over the fields of this manager, such as kubectl-client-side-apply (repeatable).",
    ),
    click.option(
        "--take-from",
        multiple=True,
        metavar="TOOL",
        callback=_check_tool_names,
        help="Take over objects of helm, argocd, flux or another applyset (repeatable).",
    ),
    click.option("--remove-foreign", is_flag=True, help="Remove fields that people added to our objects."),
)


def with_reach_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that is for one member and asks it; it gets them as ``access``."""
    shown = tuple(option for option, name in zip(_ACCESS, AccessOptions.names(), strict=True) if name in _REACHING)

    @wraps(command)
    def command_with_access(*arguments: Any, name: str, **options: Any) -> Any:
        access = AccessOptions(clusters=(name,), **{each: options.pop(each) for each in _REACHING})
        _refuse_groups_without_user(access)
        return command(*arguments, name=name, access=access, **options)

    return _command_with_options(command_with_access, shown)


_OF_PAGE = ("kubeconfig", "kubeconfigs", "in_cluster", "as_user", "as_groups")


def with_access_options_of_page(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how pages reach members; the command gets them as the words that say the same."""
    shown = {name: option for option, name in zip(_ACCESS, AccessOptions.names(), strict=True)}

    @wraps(command)
    def command_with_access(*arguments: Any, **options: Any) -> Any:
        access = AccessOptions(**{name: options.pop(name) for name in _OF_PAGE})
        _refuse_groups_without_user(access)
        return command(*arguments, access_words=tuple(_words_of_access(access)), **options)

    return _command_with_options(command_with_access, [shown[name] for name in _OF_PAGE])


def _words_of_access(access: AccessOptions) -> Iterator[str]:
    """Yield the options that say how members are reached, as they are written on a command line."""
    for name in _OF_PAGE:
        value = getattr(access, name)
        option = {"as_user": "--as", "as_groups": "--as-group"}.get(name, f"--{name.replace('_', '-')}")
        for text in value if isinstance(value, tuple) else (value,):
            if text:
                yield f"{option}={text}"


def with_access_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that looks at clusters and writes nothing; it gets them as one value, ``access``."""

    @wraps(command)
    def command_with_access(*arguments: Any, **options: Any) -> Any:
        access = AccessOptions(**{name: options.pop(name) for name in AccessOptions.names()})
        _refuse_groups_without_user(access)
        return command(*arguments, access=access, **options)

    return _command_with_options(command_with_access, _ACCESS)


def with_reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that reads clusters which are no members yet; it gets them as ``access``."""
    names = ("clusters", "max_parallel", *_REACHING)

    @wraps(command)
    def command_with_access(*arguments: Any, **options: Any) -> Any:
        access = AccessOptions(**{name: options.pop(name) for name in names})
        _refuse_groups_without_user(access)
        return command(*arguments, access=access, **options)

    return _command_with_options(command_with_access, _READING)


def with_asking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that asks members for their objects; it gets them as ``access``.

    Clusters may be patterns there, and ``-l`` is left to objects.
    """
    names = ("clusters", "cluster_selector", "max_parallel", *_REACHING)

    @wraps(command)
    def command_with_access(*arguments: Any, **options: Any) -> Any:
        chosen = {name: options.pop(name) for name in names}
        access = AccessOptions(selector=chosen.pop("cluster_selector"), **chosen)
        _refuse_groups_without_user(access)
        return command(*arguments, access=access, **options)

    return _command_with_options(command_with_access, _ASKING)


def with_delivery_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that applies; it gets them as one value, ``delivery``."""

    @wraps(command)
    def command_with_delivery_options(*arguments: Any, **options: Any) -> Any:
        delivery = DeliveryOptions(**{name: options.pop(name) for name in DeliveryOptions.names()})
        if delivery.no_prune:
            refuse_given_options(_PRUNING, "goes without --no-prune, which deletes nothing")
        if not delivery.orphans:
            refuse_given_options(["yes"], "goes with --orphans, which asks")
        _refuse_groups_without_user(delivery)
        return command(*arguments, delivery=delivery, **options)

    return _command_with_options(command_with_delivery_options, (*_ACCESS, *_WRITING))


def with_unattended_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make sense for passes nobody watches; it gets them as one value, ``delivery``.

    What a person agrees to once - orphans, confirmations, an older commit - is not among them.
    """
    names = (*AccessOptions.names(), *_UNATTENDED)
    writing = dict(zip(DeliveryOptions.names()[len(_ACCESS) :], _WRITING, strict=True))

    @wraps(command)
    def command_with_delivery_options(*arguments: Any, **options: Any) -> Any:
        delivery = DeliveryOptions(**{name: options.pop(name) for name in names})
        _refuse_groups_without_user(delivery)
        return command(*arguments, delivery=delivery, **options)

    return _command_with_options(command_with_delivery_options, (*_ACCESS, *(writing[name] for name in _UNATTENDED)))


def with_agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command that applies to the cluster it runs in; it gets them as ``delivery``.

    It takes ``cluster``, which is reached from inside unless a kubeconfig is named.
    """
    names = ("timeout", "kubeconfig", *_UNATTENDED)
    every = dict(zip(DeliveryOptions.names(), (*_ACCESS, *_WRITING), strict=True)) | {"kubeconfig": _OWN_KUBECONFIG}

    @wraps(command)
    def command_with_delivery_options(*arguments: Any, cluster: str, **options: Any) -> Any:
        chosen = {name: options.pop(name) for name in names}
        inside = "" if chosen["kubeconfig"] else cluster
        delivery = DeliveryOptions(clusters=(cluster,), in_cluster=inside, **chosen)
        return command(*arguments, cluster=cluster, delivery=delivery, **options)

    return _command_with_options(command_with_delivery_options, (every[name] for name in names))


def _command_with_options(command: Callable[..., Any], options: Iterable[Option]) -> Callable[..., Any]:
    # Click lists options in the order of their decorators, and Python applies the lowest decorator first.
    for option in reversed(tuple(options)):
        command = option(command)
    return command


def _refuse_groups_without_user(access: AccessOptions) -> None:
    if not access.as_user:
        refuse_given_options(["as_groups"], "goes with --as, as for kubectl")
