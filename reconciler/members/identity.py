"""Our identity to an API server: the credential that proves it, and the user to act as."""

import base64
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from render.values import DiscreetStruct

FOREVER = float("inf")


class Credential(DiscreetStruct, frozen=True, kw_only=True):
    """A user's proof of identity: a bearer token, ``user:password``, a client certificate with its key (PEM).

    An empty one is an anonymous user's. ``expires`` is a time of the wall clock, in seconds.
    """

    UNSHOWN = ("token", "password", "certificate", "key")

    token: str = ""
    password: str = ""
    certificate: str = ""
    key: str = ""
    expires: float = FOREVER

    @property
    def authorization(self) -> str:
        """The value of the Authorization header; a certificate needs none."""
        if self.token:
            return f"Bearer {self.token}"
        return f"Basic {base64.b64encode(self.password.encode()).decode()}" if self.password else ""


class Impersonation(Struct, frozen=True, kw_only=True):
    """The user to act as; empty fields fall back on the context's own ``as`` settings."""

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""

    @classmethod
    def of(cls, user: Mapping[str, Any]) -> "Impersonation":
        """Return the impersonation that a kubeconfig user asks for."""
        groups = tuple(map(str, user.get("as-groups") or ()))
        return cls(user=str(user.get("as") or ""), groups=groups, uid=str(user.get("as-uid") or ""))

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers that ask to act as somebody else."""
        headers = []
        if self.user:
            headers.append(("Impersonate-User", self.user))
            headers += [("Impersonate-Group", group) for group in self.groups]
        if self.uid:
            headers.append(("Impersonate-Uid", self.uid))
        return headers
