"""The options that say who may see the page: of ``argosy ui``, and of ``argosy run``, where they begin with ``ui-``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

if TYPE_CHECKING:
    from reconciler.run.web.entry import EntryRules

_Command = TypeVar("_Command", bound=Callable[..., Any])


class EntryOptions(Struct, frozen=True, kw_only=True):
    """The options that say who may see the page."""

    token_file: Path | None = None
    trust_header: str = ""
    trusted_proxies: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()

    @classmethod
    def taken_from(cls, options: dict[str, Any], prefix: str = "") -> "EntryOptions":
        """Return those of a command's options, which has the others left."""
        return cls(**{name: options.pop(f"{prefix}{name}") for name in cls.__struct_fields__})

    def rules(self) -> "EntryRules":
        """Return the rules of who may see the page, if it is not served to this machine alone."""
        from ipaddress import ip_network

        from reconciler.run.web.entry import EntryRules, name_of_host

        return EntryRules(
            token_file=str(self.token_file or ""),
            header=self.trust_header,
            proxies=tuple(map(ip_network, self.trusted_proxies)),
            hosts=frozenset(map(name_of_host, self.allowed_hosts)),
        )


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
            help="Believe this header of a proxy that asks people who they are.",
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
            help="Answer to this name, too, such as the one that a proxy passes on (repeatable).",
        ),
    )


def _parse_header(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if value and not value.replace("-", "").isalnum():
        raise click.BadParameter("write the name of a header, such as X-Forwarded-User")
    if value.lower() in {"x-forwarded-for", "x-forwarded-by", "x-forwarded-host", "x-forwarded-port", "forwarded"}:
        raise click.BadParameter("write a header that says who asks: this one says where a request came from")
    return value


def _parse_networks(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    from render.addresses import is_ip_address_or_network

    for value in values:
        if not is_ip_address_or_network(value):
            raise click.BadParameter(f"write an address or a network, such as 10.0.0.7 or 10.0.0.0/8, not {value!r}")
    return values


def _parse_hosts(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not value.replace("-", "").replace(".", "").replace(":", "").strip("[]").isalnum():
            raise click.BadParameter(f"write a name, such as fleet.example.com, not {value!r}")
    return values
