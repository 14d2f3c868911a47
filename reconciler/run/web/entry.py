"""The rules of who may see the page: by the name it was asked for, by a token, or by the word of a proxy.

A page on this machine's own address answers to names of this machine alone: otherwise the page of a stranger, open in
the same browser, could have its own name lead here and read what it likes. A header counts only from proxies that are
named, for anybody can send one.
"""

import hmac
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from msgspec import Struct

from render.errors import ConfigError

Network = IPv4Network | IPv6Network
_MOST_TOKEN, _LEAST_TOKEN = 4096, 16
NAMES_OF_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
"""The hosts at which a page is served to this machine alone, and by which it is asked for there."""


class EntryRefusal(Struct, frozen=True, kw_only=True):
    """The reason why a request is not answered, and the headers that say what it lacks."""

    status: HTTPStatus
    message: str
    headers: tuple[tuple[str, str], ...] = ()


class EntryRules(Struct, frozen=True, kw_only=True):
    """The rules of who may see the page.

    ``token`` is the file of one, read at each request, for it may be exchanged. ``header`` is what a proxy at one of
    ``proxies`` says of who asks. ``hosts`` are further names that the page is asked for by; ``is_local``: it is served
    to this machine alone, where a token is not needed.
    """

    is_local: bool = False
    token_file: str = ""
    header: str = ""
    proxies: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    @property
    def is_guarded(self) -> bool:
        """Say whether not everybody who reaches the address may see the page."""
        return self.is_local or bool(self.token_file) or bool(self.header)

    def check(self) -> None:
        """Refuse rules by which anybody could see the page, or nobody."""
        if not self.is_guarded:
            raise ConfigError(
                "without a token, or a proxy that says who asks, the page is served to this machine alone",
                hint="name the file of a token, or a header and the proxies that it counts from",
            )
        self.check_words()

    def check_words(self) -> None:
        """Refuse a header without proxies, proxies without a header, and a token that cannot be one."""
        if bool(self.header) != bool(self.proxies):
            raise ConfigError(
                "a header counts only from proxies that are named, and a proxy only by its header",
                hint="name both: the header, and the address or network of the proxy",
            )
        if self.token_file:
            self.read_token()

    def read_token(self) -> bytes:
        """Return the token; ConfigError where it cannot be one."""
        try:
            with open(self.token_file, "rb") as file:  # noqa: PTH123 - a limit for what is read
                token = file.read(_MOST_TOKEN).strip()
        except OSError as error:
            raise ConfigError(f"{self.token_file}: the token of the page cannot be read: {error.strerror}") from error
        if len(token) < _LEAST_TOKEN:
            hint = "write a longer one into the file: openssl rand -hex 32"
            raise ConfigError(f"the token of the page has less than {_LEAST_TOKEN} bytes", hint=hint)
        return token

    def refusal(self, environ: Mapping[str, Any]) -> EntryRefusal | None:
        """Return why a request is not answered; None where it is."""
        if not self._is_asked_by_own_name(str(environ.get("HTTP_HOST", ""))):
            message = "This page is not served by that name."
            return EntryRefusal(status=HTTPStatus.MISDIRECTED_REQUEST, message=message)
        is_open = self.is_local and not self.token_file and not self.header
        if is_open or self._is_vouched_for(environ) or self._has_token(environ):
            return None
        challenge = (("WWW-Authenticate", 'Basic realm="argosy", charset="UTF-8"'),) if self.token_file else ()
        return EntryRefusal(status=HTTPStatus.UNAUTHORIZED, message="Say who you are.", headers=challenge)

    def _is_asked_by_own_name(self, host: str) -> bool:
        name = name_of_host(host)
        if name in self.hosts or name in NAMES_OF_THIS_MACHINE:
            return True
        return not self.is_local and _is_address(name)

    def _is_vouched_for(self, environ: Mapping[str, Any]) -> bool:
        """Say whether a proxy that is named says who asks."""
        if not self.header or not str(environ.get("HTTP_" + self.header.upper().replace("-", "_"), "")).strip():
            return False
        try:
            source = ip_address(str(environ.get("REMOTE_ADDR", "")).partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(source, "ipv4_mapped", None) or source
        return any(mapped in network for network in self.proxies)

    def _has_token(self, environ: Mapping[str, Any]) -> bool:
        """Say whether a request has the token: as a bearer's, or as the password that a browser asks for."""
        if not self.token_file:
            return False
        scheme, _, given = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
        sent = given.strip().encode("latin-1", "replace")
        if scheme.lower() == "basic":
            try:
                sent = b64decode(sent, validate=True).partition(b":")[2]
            except (Error, ValueError):
                return False
        elif scheme.lower() != "bearer":
            return False
        try:
            return hmac.compare_digest(sent, self.read_token())
        except ConfigError:
            return False


def name_of_host(host: str) -> str:
    """Return the name of a Host header without its port, in lower case.

    >>> name_of_host("LocalHost:8400"), name_of_host("[::1]:8400"), name_of_host("::1")
    ('localhost', '::1', '::1')
    """
    text = host.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text if text.count(":") > 1 else text.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
