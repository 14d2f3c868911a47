"""Addresses as Go's ``net/url`` reads them, as far as the rules for a Cluster ask."""

import re

from msgspec import Struct

from render.expressions import lazy_expression

_ESCAPE = lazy_expression(r"%[0-9A-Fa-f]{2}")
_HOST_ESCAPE = lazy_expression(r"%(25|[89A-Fa-f][0-9A-Fa-f])")
_HOST = lazy_expression(r"[^\x00-\x20#%/?@\\^`{|}\x7f]*")
_SCHEME = lazy_expression(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_PORT = lazy_expression(r"(:[0-9]*)?", re.ASCII)
_USER = lazy_expression(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)


class UrlAddress(Struct, frozen=True, kw_only=True):
    """The parts of an address; ``fault`` is the reason why a text is none (then the rest is empty)."""

    scheme: str = ""
    has_user: bool = False
    host: str = ""
    query: str = ""
    fragment: str = ""
    fault: str = ""


def parse_url_address(text: str) -> UrlAddress:
    """Return the parts of an address, or its fault."""
    text, _, fragment = text.partition("#")
    if any(character < " " or character == "\x7f" for character in text):
        return UrlAddress(fault="it has a control character")
    if text.startswith(":"):
        return UrlAddress(fault="the scheme before ':' is missing")
    scheme = match[0] if (match := _SCHEME.match(text)) else ""
    rest, _, query = text[len(scheme) :].partition("?")
    scheme = scheme[:-1].lower()
    if scheme and not rest.startswith("/"):
        return UrlAddress(scheme=scheme, query=query, fragment=fragment)
    if not scheme and ":" in rest.split("/")[0]:
        return UrlAddress(fault="a scheme such as https:// is missing")
    authority, path = _authority_and_path(rest, scheme)
    fault = _fault_of_authority(authority) or _fault_of_percent_escapes(path) or _fault_of_percent_escapes(fragment)
    if fault:
        return UrlAddress(fault=fault)
    _, at, host = authority.rpartition("@")
    return UrlAddress(scheme=scheme, has_user=bool(at), host=host, query=query, fragment=fragment)


def _authority_and_path(rest: str, scheme: str) -> tuple[str, str]:
    if not rest.startswith("//") or (not scheme and rest.startswith("///")):
        return "", rest
    authority, slash, path = rest[2:].partition("/")
    return authority, slash + path


def _fault_of_authority(authority: str) -> str:
    user, _, host = authority.rpartition("@")
    if not _USER.fullmatch(user) or _fault_of_percent_escapes(user):
        return "the part before '@' has characters that must be escaped"
    if "[" in host:
        _, bracket, port = host.rpartition("]")
        if not bracket:
            return "a ']' is missing in the host"
    else:
        _, colon, number = host.rpartition(":")
        port = colon + number if colon else ""
    if not _PORT.fullmatch(port):
        return f"{port!r} is no port"
    if not _HOST.fullmatch(_HOST_ESCAPE.sub("", host)):
        return "the host has characters no host may have"
    return ""


def _fault_of_percent_escapes(text: str) -> str:
    return "a '%' is followed by no two hexadecimal digits" if "%" in _ESCAPE.sub("", text) else ""
