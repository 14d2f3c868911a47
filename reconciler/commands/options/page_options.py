"""The options that say who may see the page: of ``argosy ui``, and of ``argosy run``, where they begin with ``ui-``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

if TYPE_CHECKING:
    from reconciler.pages.entry import EntryRules

_Command = TypeVar("_Command", bound=Callable[..., Any])


class EntryOptions(Protocol):
    """As much of a command's options as says who may see the page."""

    @property
    def token_file(self) -> Path | None:
        """The file of the token."""

    @property
    def trust_header(self) -> str:
        """The header that a proxy says who asks in."""

    @property
    def trusted_proxies(self) -> tuple[str, ...]:
        """The addresses and networks of such proxies."""

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Further names that the page is asked for by."""


def with_entry_options(prefix: str) -> Callable[[_Command], _Command]:
    """Add the options that say who may see the page, each beginning with ``prefix``."""

    def with_options(function: _Command) -> _Command:
        for option in reversed(_entry_options(prefix)):
            function = option(function)
        return function

    return with_options


def _entry_options(prefix: str) -> tuple[Callable[[_Command], _Command], ...]:
    name = prefix.replace("-", "_")
    return (
        click.option(
            f"--{prefix}token-file",
            f"{name}token_file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Ask for the token in this file, of 16 bytes at least.",
        ),
        click.option(
            f"--{prefix}trust-header",
            f"{name}trust_header",
            default="",
            metavar="NAME",
            callback=_parse_header,
            help="Believe this header of a proxy that asks people who they are, such as X-Forwarded-User.",
        ),
        click.option(
            f"--{prefix}trusted-proxy",
            f"{name}trusted_proxies",
            multiple=True,
            metavar="ADDRESS",
            callback=_parse_networks,
            help="Believe it of this address or network, such as 10.0.0.0/8 (repeatable).",
        ),
        click.option(
            f"--{prefix}allowed-host",
            f"{name}allowed_hosts",
            multiple=True,
            metavar="NAME",
            callback=_parse_hosts,
            help="ViewAnswer to this name, too, such as the one that a proxy passes on (repeatable).",
        ),
    )


def _parse_header(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if value and not value.replace("-", "").isalnum():
        raise click.BadParameter("write the name of a header, such as X-Forwarded-User")
    if value.lower() in {"x-forwarded-for", "x-forwarded-by", "x-forwarded-host", "x-forwarded-port", "forwarded"}:
        raise click.BadParameter("write a header that says who asks: this one says where a request came from")
    return value


def _parse_networks(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    from ipaddress import ip_network

    for value in values:
        try:
            ip_network(value)
        except ValueError as error:
            message = f"write an address or a network, such as 10.0.0.7 or 10.0.0.0/8, not {value!r}"
            raise click.BadParameter(message) from error
    return values


def _parse_hosts(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not value.replace("-", "").replace(".", "").replace(":", "").strip("[]").isalnum():
            raise click.BadParameter(f"write a name, such as fleet.example.com, not {value!r}")
    return values


def entry_of_options(options: EntryOptions, *, is_local: bool) -> "EntryRules":
    """Return the rules of who may see the page."""
    from ipaddress import ip_network

    from reconciler.pages.entry import EntryRules, name_of_host

    return EntryRules(
        is_local=is_local,
        token_file=str(options.token_file or ""),
        header=options.trust_header,
        proxies=tuple(map(ip_network, options.trusted_proxies)),
        hosts=frozenset(map(name_of_host, options.allowed_hosts)),
    )
