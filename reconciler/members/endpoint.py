"""The address of an API server and the way there, from a kubeconfig's cluster and the proxies of the environment.

Both are read as ``kubernetes.config`` reads them, without loading that library. Where that library and kubectl differ,
kubectl's way is taken: a proxy of the environment is never asked for this very machine, and ``proxy-url`` counts
whatever ``NO_PROXY`` says.
"""

import base64
import binascii
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from render.values import DiscreetStruct

from .exchange import Failure
from .kubeconfig import Context


class UnsupportedEndpoint(Exception):
    """The endpoint asks for something that is not installed; ``failure`` names it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class NotReached(OSError):
    """Nobody takes connections where an endpoint says."""


class ProxyError(OSError):
    """A proxy on the way to an endpoint is not there, or does not let us through; its text is the end of a sentence."""


class Endpoint(DiscreetStruct, frozen=True, kw_only=True):
    """An API server and the way there.

    ``proxy`` is the URL of one to go through. ``server_name`` is the name its certificate has to show instead of the
    host of its address. ``authority`` has the certificates (PEM) that are trusted instead of those of this machine.
    """

    UNSHOWN = ("proxy", "authority")

    server: str
    proxy: str = ""
    server_name: str = ""
    is_verified: bool = True
    authority: str = ""

    @property
    def is_tls(self) -> bool:
        """Say whether the server is spoken to through TLS."""
        return is_tls_address(self.server)

    @property
    def is_forwarded(self) -> bool:
        """Say whether requests go to a plain proxy that sends them on, and therefore wants whole addresses."""
        return bool(self.proxy) and not self.is_tls and not self.proxy.startswith("socks")

    @property
    def base_path(self) -> str:
        """The prefix of all paths, for a server that is one of many behind one host."""
        return urlsplit(self.server).path


def is_tls_address(server: str) -> bool:
    """Say whether a server's address asks for TLS; only then do certificates matter."""
    return server.startswith("https:")


def api_endpoint_of_context(context: Context, environment: Mapping[str, str]) -> Endpoint:
    """Return the API server of a context; OSError and ValueError tell of certificates that cannot be read."""
    cluster, folder = context.cluster, context.cluster_folder
    server = str(cluster["server"]).rstrip("/")
    if urlsplit(server).scheme not in {"http", "https"}:
        raise ValueError("it is no address of an API server")
    return Endpoint(
        server=server,
        proxy=str(cluster.get("proxy-url") or "") or _proxy_for_server(environment, urlsplit(server)),
        server_name=str(cluster.get("tls-server-name") or ""),
        is_verified=not cluster.get("insecure-skip-tls-verify"),
        authority=pem_of_kubeconfig_entry(cluster, "certificate-authority", folder) if is_tls_address(server) else "",
    )


def pem_of_kubeconfig_entry(entry: Mapping[str, Any], name: str, folder: Path) -> str:
    """Return PEM text that stands in the entry itself, in a file it names, or nowhere."""
    if entry.get(f"{name}-data"):
        try:
            return base64.b64decode(str(entry[f"{name}-data"])).decode()
        except binascii.Error as error:
            raise ValueError(name) from error
    return (folder / str(entry[name])).read_text(encoding="utf-8") if entry.get(name) else ""


def _proxy_for_server(environment: Mapping[str, str], server: SplitResult) -> str:
    """Return the proxy the environment names for a server."""
    named = (_variable_in_either_case(environment, f"{scheme}_proxy") for scheme in (server.scheme, "all"))
    proxy = next(filter(None, named), "")
    if not proxy or _is_exempt_from_proxy(server, _variable_in_either_case(environment, "no_proxy")):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable_in_either_case(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _is_exempt_from_proxy(server: SplitResult, exceptions: str) -> bool:
    """Say whether no proxy is for this server: it is this machine, or ``NO_PROXY`` names it.

    An entry is ``*``, a domain (which stands for all in it, too) with or without a port, an address, or a network.
    """
    host = (server.hostname or "").lower()
    entries = [entry.strip().lower() for entry in exceptions.split(",") if entry.strip()]
    try:
        address = ip_address(host)
    except ValueError:
        names = [host, f"{host}:{server.port or {'https': 443}.get(server.scheme, 80)}"]
        domains = [entry.lstrip(".") for entry in entries]
        return (
            host == "localhost"
            or "*" in entries
            or any(_is_in_domain(name, each) for name in names for each in domains)
        )
    networks = []
    for entry in entries:
        try:
            networks.append(ip_network(entry, strict=False))
        except ValueError:
            continue
    plain = {f"{host}:{server.port}", "*"} & set(entries)
    return address.is_loopback or bool(plain) or any(address in network for network in networks)


def _is_in_domain(name: str, domain: str) -> bool:
    return name == domain or name.endswith(f".{domain}")
