"""``spec.decryption``: the keys to what SOPS encrypted."""

from typing import Annotated

from msgspec import Struct

from .setting import WAY, WAYS, FleetSetting


class SecretName(Struct, frozen=True, kw_only=True):
    """A Secret in members, by namespace and name."""

    namespace: Annotated[
        str,
        FleetSetting("namespace", "Its namespace; left out means `argosy-system`.", reach=WAY, absent="", shown=None),
    ] = "argosy-system"
    name: Annotated[str, FleetSetting("name", "Its name.", reach=WAY, absent="", min_length=1)]


class DecryptionSettings(Struct, frozen=True, kw_only=True):
    """The keys to what SOPS encrypted, beside those of the machine that applies.

    ``key_services``: the addresses of services that may be asked for keys. ``secret``: a Secret in each member whose
    age keys decrypt what the member gets.
    """

    key_services: Annotated[
        tuple[str, ...],
        FleetSetting(
            "keyServices",
            "The services that may be asked for keys, beside age and PGP, each by what a document of SOPS calls it: the"
            " `arn` of a key of AWS, the `resource_id` of one of Google, the `vault_url` of Azure, the `vault_address`"
            " of HashiCorp Vault.",
            reach=WAYS,
            min_length=1,
            shown=None,
        ),
    ] = ()
    secret: Annotated[
        SecretName | None,
        FleetSetting("secret", "A Secret in each member, whose age keys decrypt what the member gets."),
    ] = None


DECRYPTION = FleetSetting(
    "decryption",
    "The keys to what SOPS encrypted, beside those of the machine that applies.",
    in_karmada="Karmada decrypts nothing",
)
