"""The proof that a webhook comes from who knows its secret: what each provider sends, checked in constant time.

GitHub, Gitea, Forgejo, Bitbucket and the generic form sign the body with HMAC-SHA256. GitLab sends the secret itself,
or, as Standard Webhooks does, signs its id, its time and the body with a key that begins with ``whsec_``.
"""

import binascii
import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from enum import StrEnum

TOLERANCE_SECONDS = 300.0
"""The age after which a webhook that names its time is refused, and how far ahead its clock may be."""
_WHSEC = "whsec_"


class Provider(StrEnum):
    """A sender of webhooks."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"
    FORGEJO = "forgejo"
    BITBUCKET = "bitbucket"
    GENERIC = "generic"


_SIGNATURES: Mapping[Provider, tuple[str, str]] = {
    Provider.GITHUB: ("x-hub-signature-256", "sha256="),
    Provider.GITEA: ("x-gitea-signature", ""),
    Provider.FORGEJO: ("x-forgejo-signature", ""),
    Provider.BITBUCKET: ("x-hub-signature", "sha256="),
    Provider.GENERIC: ("x-argosy-signature", "sha256="),
}
"""The header of each provider's signature, and what stands before the hexadecimal digits."""

_DELIVERIES: Mapping[Provider, tuple[str, ...]] = {
    Provider.GITHUB: ("x-github-delivery",),
    Provider.GITLAB: ("webhook-id", "idempotency-key", "x-gitlab-event-uuid"),
    Provider.GITEA: ("x-gitea-delivery",),
    Provider.FORGEJO: ("x-forgejo-delivery", "x-gitea-delivery"),
    Provider.BITBUCKET: ("x-request-uuid",),
    Provider.GENERIC: ("x-argosy-delivery",),
}


def is_webhook_signed(
    provider: Provider, headers: Mapping[str, str], body: bytes, secrets: Iterable[bytes], *, now: float
) -> bool:
    """Return whether a webhook was made by somebody who knows one of the secrets; header names are in lower case."""
    # All are compared, so that the time taken tells nothing about which one it was.
    return sum(_is_signed_with_secret(provider, headers, body, secret, now) for secret in secrets) > 0


def delivery_id(provider: Provider, headers: Mapping[str, str]) -> str:
    """Return the id by which a provider names one delivery, however often it is sent; empty where there is none."""
    return next((headers[name] for name in _DELIVERIES[provider] if headers.get(name)), "")


def hmac_sha256(secret: bytes, content: bytes) -> bytes:
    """Return the signature of some content."""
    return hmac.new(secret, content, hashlib.sha256).digest()


def _is_signed_with_secret(
    provider: Provider, headers: Mapping[str, str], body: bytes, secret: bytes, now: float
) -> bool:
    if provider is Provider.GITLAB:
        return _is_from_gitlab(headers, body, secret, now)
    header, prefix = _SIGNATURES[provider]
    return _is_equal_in_constant_time(headers.get(header, ""), prefix + hmac_sha256(secret, body).hex())


def _is_from_gitlab(headers: Mapping[str, str], body: bytes, secret: bytes, now: float) -> bool:
    text = secret.decode("latin-1")
    if not text.startswith(_WHSEC):
        return _is_equal_in_constant_time(headers.get("x-gitlab-token", ""), text)
    id_, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (id_ and at.isascii() and at.isdigit() and len(at) < 16 and abs(now - int(at)) <= TOLERANCE_SECONDS):
        return False
    signed = hmac_sha256(_decoded_base64(text.removeprefix(_WHSEC)), f"{id_}.{at}.".encode("latin-1", "replace") + body)
    wanted = f"v1,{b64encode(signed).decode()}"
    return (
        sum(_is_equal_in_constant_time(each, wanted) for each in headers.get("webhook-signature", "").split(" ")[:8])
        > 0
    )


def is_secret_usable(provider: Provider, secret: bytes) -> bool:
    """Return whether a secret can be one: long enough not to be guessed, and a key where it says that it is one."""
    text = secret.decode("latin-1")
    if provider is Provider.GITLAB and text.startswith(_WHSEC):
        return len(_decoded_base64(text.removeprefix(_WHSEC))) >= 16
    return len(secret) >= 16


def _decoded_base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _is_equal_in_constant_time(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode("latin-1"))
