"""The way to one API server: TLS, proxy, identity and the connection pool of a kubeconfig context.

``kubernetes.config`` reads what is peculiar to providers, its client brings the urllib3 pool. Certificates and keys go
straight into one TLS context: key material that TLS insists on reading from a file stands in a private folder for the
moment it takes.
"""

import base64
import binascii
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .credentials import Credential, CredentialSource, ExecPlugins
from .exchange import Failure, FailureKind
from .kubeconfig import Context

_TLS_KEYS = frozenset(
    {"certificate-authority", "certificate-authority-data", "client-certificate", "client-certificate-data"}
    | {"client-key", "client-key-data", "exec", "token", "tokenFile"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """Whom to act as; empty fields fall back on the context's own ``as`` settings."""

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""

    @classmethod
    def of(cls, user: Mapping[str, Any]) -> "Impersonation":
        """Return what a kubeconfig user says."""
        groups = tuple(map(str, user.get("as-groups") or ()))
        return cls(user=str(user.get("as") or ""), groups=groups, uid=str(user.get("as-uid") or ""))


class Connection:
    """An open way to one API server: its pool, and the headers that say who is asking.

    ``is_absolute``: a plain HTTP proxy is in between, which wants whole addresses.
    """

    def __init__(self, configuration: Any, source: "_Source", identity: Impersonation) -> None:
        self._configuration = configuration
        self._source = source
        self._identity = identity
        self._certificate = ""
        parts = urlsplit(configuration.host)
        self.host: str = configuration.host
        self.base_path = parts.path.rstrip("/")
        self.is_absolute = parts.scheme == "http" and bool(configuration.proxy)
        self.pool: Any = None

    def open(self, credential: Credential) -> None:
        """Open the pool (again, when a certificate was renewed)."""
        from kubernetes.client import ApiClient

        manager = ApiClient(self._configuration).rest_client.pool_manager
        if self.host.startswith("https"):
            manager.connection_pool_kw["ssl_context"] = self._source.tls(credential)
        self.pool = manager if self.is_absolute else manager.connection_from_url(self.host)
        self._certificate = credential.certificate

    def headers(self, *, renew: bool = False) -> list[tuple[str, str]] | Failure:
        """Return the headers that identify us; ``renew`` after the last ones were refused."""
        credential = self._source.credentials.current(renew=renew)
        if isinstance(credential, Failure):
            return credential
        if credential.certificate != self._certificate:
            self.open(credential)
        token = f"Bearer {credential.token}" if credential.token else self._provider_token()
        headers = [("Authorization", token)] if token else []
        if self._identity.user:
            headers.append(("Impersonate-User", self._identity.user))
            headers += [("Impersonate-Group", group) for group in self._identity.groups]
        if self._identity.uid:
            headers.append(("Impersonate-Uid", self._identity.uid))
        return headers

    def _provider_token(self) -> str:
        """Return what ``kubernetes.config`` found: a provider's token (renewed by it), or a user and password."""
        setting = self._configuration.auth_settings().get("BearerToken")
        return str(setting["value"]) if setting and setting.get("value") else ""


class _Source(NamedTuple):
    """Where a connection's credential and its TLS settings come from."""

    credentials: CredentialSource
    tls: Callable[[Credential], ssl.SSLContext]


def open_connection(
    context: Context, plugins: ExecPlugins, *, identity: Impersonation | None = None, connections: int = 8
) -> Connection | Failure:
    """Return the way to a context's API server, or why there is none."""
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_kube_config_from_dict

    credentials = CredentialSource(context, plugins)
    credential = credentials.current()
    if isinstance(credential, Failure):
        return credential
    configuration = Configuration()
    configuration.connection_pool_maxsize, configuration.retries = connections, False
    source = _Source(credentials, lambda fresh: _tls_context(context, fresh))
    try:
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]  # the library annotates little
            _provider_part(context), client_configuration=configuration, persist_config=False
        )
        connection = Connection(configuration, source, identity or Impersonation.of(context.user))
        connection.open(credential)
    except (ConfigException, OSError, ValueError, KeyError, TypeError) as error:
        # The messages quote the file; the kind of error is all that is safe to tell.
        return _unusable(f"the context {context.name!r} cannot be used ({type(error).__name__})")
    return connection


def in_cluster_context() -> Context | Failure:
    """Return the way to the API server of the cluster this process runs in, as its service account."""
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, incluster_config

    configuration = Configuration()
    try:
        incluster_config.load_incluster_config(  # type: ignore[no-untyped-call]  # the library annotates little
            client_configuration=configuration
        )
    except (ConfigException, OSError) as error:
        return _unusable(f"this process runs in no cluster it could use ({type(error).__name__})")
    cluster = {"server": configuration.host, "certificate-authority": configuration.ssl_ca_cert}
    user = {"tokenFile": incluster_config.SERVICE_TOKEN_FILENAME}
    return Context(name="in-cluster", cluster=cluster, user=user)


def _provider_part(context: Context) -> dict[str, Any]:
    """Return a kubeconfig of this context alone, without what we see to ourselves: certificates, tokens, plugins."""
    cluster = {key: value for key, value in context.cluster.items() if key not in _TLS_KEYS}
    user = {key: value for key, value in context.user.items() if key not in _TLS_KEYS}
    return {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": user}],
    }


def _tls_context(context: Context, credential: Credential) -> ssl.SSLContext:
    authority = _material(context.cluster, "certificate-authority", context.cluster_folder)
    tls = ssl.create_default_context(cadata=authority or None)
    if context.cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate = credential.certificate or _material(context.user, "client-certificate", context.user_folder)
    key = credential.key or _material(context.user, "client-key", context.user_folder)
    if certificate and key:
        with tempfile.TemporaryDirectory(prefix="argosy-") as folder:
            pair = Path(folder) / "pair.pem"
            pair.touch(mode=0o600)
            pair.write_text(f"{certificate}\n{key}\n", encoding="utf-8")
            tls.load_cert_chain(pair)
    return tls


def _material(entry: Mapping[str, Any], name: str, folder: Path) -> str:
    """Return PEM text that stands in the entry itself, in a file it names, or nowhere."""
    if entry.get(f"{name}-data"):
        try:
            return base64.b64decode(str(entry[f"{name}-data"])).decode()
        except binascii.Error as error:
            raise ValueError(name) from error
    return (folder / str(entry[name])).read_text(encoding="utf-8") if entry.get(name) else ""


def _unusable(message: str) -> Failure:
    return Failure(
        kind=FailureKind.CREDENTIALS, message=message, hint="see whether kubectl reaches the cluster with this context"
    )
