"""Addresses at which somebody outside is asked: what is wrong with one, and whether one is below another."""

import re

from .expressions import lazy_expression

_ADDRESS = lazy_expression(r"(?P<scheme>https?)://(?P<host>[^/?#\s]++)(?P<rest>[!-~]*+)", re.ASCII)
_HOST = lazy_expression(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK = lazy_expression(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?", re.ASCII)


def fault_of_address(address: str) -> str:
    """Return why nobody can be asked at an address, or should not; "" where that is possible.

    >>> fault_of_address("https://me:secret@example.com/"), fault_of_address("ftp://example.com")
    ('must not have a password in it', 'is no address that begins with https:// or http://')
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return "is no address that begins with https:// or http://"
    if "@" in found["host"]:
        return "must not have a password in it"
    if not _HOST.fullmatch(found["host"]):
        return "names no host that there can be"
    return "has a part after '#', which nobody is sent" if "#" in found["rest"] else ""


def is_asked_in_secret(address: str) -> bool:
    """Say whether nobody between reads what is sent to an address: it goes through TLS, or stays on this machine.

    >>> is_asked_in_secret("https://example.com"), is_asked_in_secret("http://localhost.example.com")
    (True, False)
    """
    found = _ADDRESS.fullmatch(address)
    return found is not None and (found["scheme"] == "https" or _LOOPBACK.fullmatch(found["host"]) is not None)


def is_below(address: str, other: str) -> bool:
    """Say whether an address is another one, or below it: of the same host, and of its folder.

    >>> is_below("https://a.example/api/v1?x", "https://a.example/api"), is_below("https://a.example", "https://a.ex")
    (True, False)
    >>> is_below("https://a.example/api/../admin", "https://a.example/api")
    False
    """
    one, two = _ADDRESS.fullmatch(address), _ADDRESS.fullmatch(other)
    if one is None or two is None or (one["scheme"], one["host"].lower()) != (two["scheme"], two["host"].lower()):
        return False
    path, folder = one["rest"].partition("?")[0], two["rest"].partition("?")[0].rstrip("/")
    # What stands for something else in a path could lead out of the folder.
    if folder and (".." in path or "%" in path or "\\" in path):
        return False
    return path == folder or path.startswith(f"{folder}/") or not folder


def is_ip_address_or_network(text: str) -> bool:
    """Say whether a text is an address of IP, or a network of such.

    >>> is_ip_address_or_network("10.0.0.0/8"), is_ip_address_or_network("::1"), is_ip_address_or_network("10.0.0.1/8")
    (True, True, False)
    """
    from ipaddress import ip_network

    try:
        ip_network(text)
    except ValueError:
        return False
    return True
