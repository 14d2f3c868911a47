"""The keys that a document of SOPS names, looked at before sops reads it: none is asked that argosy.yaml does not name.

A document says itself where the key is that decrypts it. A key of age or of PGP is one that somebody put on this
machine; any other is a service at an address that the document's author chose, asked with the identity of this machine.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from render.documents import read_documents
from render.expressions import lazy_expression
from render.model import list_or_empty

LOCAL = frozenset({"age", "pgp"})
"""The kinds of keys that are on this machine or in the member."""


class KeyService(NamedTuple):
    """A kind of service for keys: the field that has its address, and the variables with what it is logged in with."""

    address: str
    credentials: tuple[str, ...]
    may_have: frozenset[str]


_ENCRYPTED = frozenset({"created_at", "enc"})
SERVICES: Mapping[str, KeyService] = {
    "kms": KeyService(
        "arn",
        (
            *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"),
            *("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"),
        ),
        frozenset({"arn", "context"}) | _ENCRYPTED,
    ),
    "gcp_kms": KeyService("resource_id", ("GOOGLE_APPLICATION_CREDENTIALS",), frozenset({"resource_id"}) | _ENCRYPTED),
    "azure_kv": KeyService(
        "vault_url",
        ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"),
        frozenset({"vault_url", "name", "version"}) | _ENCRYPTED,
    ),
    "hc_vault": KeyService(
        "vault_address", ("VAULT_TOKEN",), frozenset({"vault_address", "engine_path", "key_name"}) | _ENCRYPTED
    ),
}
"""The services that sops asks for keys, as its documents call them."""

METADATA_OFF = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "GCE_METADATA_HOST": "127.0.0.1:9",
    "NO_GCE_CHECK": "true",
    "MSI_ENDPOINT": "",
    "IDENTITY_ENDPOINT": "",
}
"""The environment in which no library asks the cloud that a machine is in for the identity of the machine."""

_FIELDS = frozenset(
    {
        *("lastmodified", "mac", "version", "shamir_threshold", "mac_only_encrypted"),
        *("unencrypted_suffix", "encrypted_suffix", "unencrypted_regex", "encrypted_regex"),
        *("unencrypted_comment_regex", "encrypted_comment_regex"),
    }
)
_PART = lazy_expression(r"[0-9A-Za-z_-][0-9A-Za-z_.-]*")
_IN_PATHS = ("engine_path", "key_name", "name", "version")
"""Fields that become parts of the path that is asked for at an address."""
_SHOWN = 40
_GROUPS = "key_groups"
_HINT = "encrypt it for age or PGP alone, or name the service in argosy.yaml: spec.decryption.keyServices"
_READING_HINT = "encrypt it anew: sops edit FILE"


class NamedKeys(NamedTuple):
    """The services that a document of SOPS names; ``fault`` and ``hint`` are why it is not given to sops."""

    services: frozenset[str] = frozenset()
    fault: str = ""
    hint: str = ""


class _UnaskedError(Exception):
    """A document names what is not asked."""


def key_services_named_in(text: bytes, allowed: frozenset[str]) -> NamedKeys:
    """Return the services that a document of SOPS names; ``allowed`` are addresses of those that may be asked."""
    documents, errors = read_documents(text)
    value = documents[0].value if len(documents) == 1 and not errors else None
    metadata = value.get("sops") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return NamedKeys(fault="what SOPS says of it cannot be read", hint=_READING_HINT)
    try:
        return NamedKeys(services=frozenset(_services_of_metadata(metadata, allowed)))
    except _UnaskedError as error:
        return NamedKeys(fault=str(error), hint=_HINT)


def _services_of_metadata(metadata: Mapping[str, Any], allowed: frozenset[str]) -> Iterator[str]:
    """Yield the services that are asked, for a document and for each of its groups of keys."""
    yield from _services_of_group(
        {key: keys for key, keys in metadata.items() if key not in _FIELDS | {_GROUPS}}, allowed
    )
    groups = metadata.get(_GROUPS) or []
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise _UnaskedError(f"its {_GROUPS} are no list of groups of keys")
    for group in groups:
        yield from _services_of_group(group, allowed)


def _services_of_group(group: Mapping[str, Any], allowed: frozenset[str]) -> Iterator[str]:
    for kind, keys in group.items():
        if not keys or kind in LOCAL:
            continue
        if kind not in SERVICES:
            raise _UnaskedError(f"it names keys of a kind that is not known here: {kind[:_SHOWN]}")
        service = SERVICES[kind]
        if not isinstance(keys, list):
            raise _UnaskedError(f"its {kind} is no list of keys")
        for key in list_or_empty(keys):
            _check_key(key, kind, service, allowed)
        yield kind


def _check_key(key: Any, kind: str, service: KeyService, allowed: frozenset[str]) -> None:
    """Check that a key is one at an address that may be asked, and that it says nothing of how that is asked."""
    if not isinstance(key, dict) or str(key.get(service.address)) not in allowed:
        raise _UnaskedError(f"it names a key of {kind} at an address that argosy.yaml does not name")
    fields = {name for name, found in key.items() if found}
    if fields - service.may_have:
        other = min(map(str, fields - service.may_have))
        raise _UnaskedError(f"its key of {kind} chooses the identity to ask with: {other[:_SHOWN]}")
    if field := next((each for each in _IN_PATHS if not _is_plain_path(key.get(each))), ""):
        raise _UnaskedError(f"its key of {kind} leads to another place of that address: {field}")


def _is_plain_path(value: Any) -> bool:
    """Say whether a field is a plain path, which leads to no folder above and asks for nothing else; "" is one."""
    parts = str(value or "").strip("/").split("/")
    return parts == [""] or all(map(_PART.fullmatch, parts))
