"""The way to one API server: its endpoint, our credential, and the pool of connections made of both.

Certificates and keys go straight into one TLS context: key material that TLS insists on reading from a file stands in a
private folder for the moment it takes.
"""

import ssl
import tempfile
from pathlib import Path

from .credentials import AuthPlugins, CredentialSource, unusable
from .endpoint import Endpoint, endpoint_of
from .exchange import Failure
from .identity import Credential, Impersonation
from .kube_pool import IDENTITY_PATH, NoWay, Pin, open_pool
from .kubeconfig import Context


class Connection:
    """An open way to one API server: its pool, and the headers that say who is asking."""

    def __init__(
        self, endpoint: Endpoint, credentials: CredentialSource, identity: Impersonation, connections: int
    ) -> None:
        self.host = endpoint.server
        self._endpoint = endpoint
        self._credentials = credentials
        self._identity = identity
        self._connections = connections
        self._certificate = ""
        self._pin = Pin(target=self.target(IDENTITY_PATH))

    def target(self, path: str) -> str:
        """Return a path as it is asked for: behind the server's prefix, and whole where a plain proxy wants it so."""
        return f"{self.host if self._endpoint.is_forwarded else self._endpoint.base_path}{path}"

    def open(self, credential: Credential) -> None:
        """Open the pool (again, when a certificate was renewed)."""
        tls = _tls_context(self._endpoint, credential) if self._endpoint.is_tls else None
        self.pool = open_pool(self._endpoint, tls, self._pin, self._connections)
        self._certificate = credential.certificate

    def pin(self, uid: str) -> None:
        """Make every new connection find this cluster before it writes."""
        self._pin.uid = uid

    def headers(self, *, renew: bool = False) -> list[tuple[str, str]] | Failure:
        """Return the headers that identify us; ``renew`` after the last ones were refused."""
        credential = self._credentials.current(renew=renew)
        if isinstance(credential, Failure):
            return credential
        if credential.certificate != self._certificate:
            self.open(credential)
        shown = [("Authorization", credential.authorization)] if credential.authorization else []
        return [*shown, *self._identity.headers]


def open_connection(
    context: Context, plugins: AuthPlugins, *, identity: Impersonation | None = None, connections: int = 8
) -> Connection | Failure:
    """Return the way to a context's API server, or why there is none."""
    credentials = CredentialSource(context, plugins)
    credential = credentials.current()
    if isinstance(credential, Failure):
        return credential
    try:
        endpoint = endpoint_of(context, plugins.environment)
        connection = Connection(endpoint, credentials, identity or Impersonation.of(context.user), connections)
        connection.open(credential)
    except NoWay as error:
        return error.failure
    except (OSError, ValueError, KeyError, TypeError) as error:
        # The messages quote the file; the kind of error is all that is safe to tell.
        return unusable(f"the context {context.name!r} cannot be used ({type(error).__name__})")
    return connection


def _tls_context(endpoint: Endpoint, credential: Credential) -> ssl.SSLContext:
    tls = ssl.create_default_context(cadata=endpoint.authority or None)
    if not endpoint.is_verified:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if credential.certificate and credential.key:
        with tempfile.TemporaryDirectory(prefix="argosy-") as folder:
            pair = Path(folder) / "pair.pem"
            pair.touch(mode=0o600)
            pair.write_text(f"{credential.certificate}\n{credential.key}\n", encoding="utf-8")
            tls.load_cert_chain(pair)
    return tls
