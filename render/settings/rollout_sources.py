"""``spec.rollouts.sources``: the sources that checks of rollouts may ask."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Struct

from render.addresses import fault_of_address, is_asked_in_secret

from .setting import OUTSIDE, FleetSetting, SettingFault, faults_of_duplicates


class RolloutSource(Struct, frozen=True, kw_only=True):
    """An address at which checks of rollouts may ask: all that begins with it.

    ``token_file`` has the token that is sent there ("": none), ``authority_file`` the certificates that are trusted
    there ("": those of the machine).
    """

    address: Annotated[
        str,
        FleetSetting(
            "address",
            "Checks may ask at this address, and at all that are below it, such as `https://prometheus.example.com`.",
            reach=OUTSIDE,
            min_length=1,
        ),
    ]
    token_file: Annotated[
        str,
        FleetSetting(
            "tokenFile",
            "A file of the machine that runs passes, by its whole path: the token in it is sent to this address alone.",
            reach=OUTSIDE,
        ),
    ] = ""
    authority_file: Annotated[
        str,
        FleetSetting(
            "caFile",
            "A file of that machine with the certificates that vouch for this address; left out, those of the machine"
            " do.",
            reach=OUTSIDE,
        ),
    ] = ""


_unique_addresses = faults_of_duplicates("address")


def _faults_of_sources(listed: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    entries = tuple(listed)
    yield from _unique_addresses(entries)
    for index, entry in enumerate(entries):
        here, address = f"[{index}]", entry["address"]
        if address and (fault := fault_of_address(address)):
            yield SettingFault(f"{here}.address", fault, "write it as 'https://prometheus.example.com'")
        elif entry.get("tokenFile") and not is_asked_in_secret(address):
            yield SettingFault(
                f"{here}.tokenFile", "a token is sent through TLS alone", "begin the address with https://"
            )
        for name in ("tokenFile", "caFile"):
            if entry.get(name) and not entry[name].startswith("/"):
                yield SettingFault(f"{here}.{name}", "must be a whole path", "begin it with '/'")


SOURCES = FleetSetting(
    "sources",
    "The addresses at which checks of RolloutPolicies may ask; a check of another one is a problem.",
    key=lambda each: str(each.address),
    faults=_faults_of_sources,
)
