"""``spec.clusters``: the members to which passes apply, and how each is reached."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from msgspec import Struct

from .setting import NOT_DECIDED_BY_IT, OUTSIDE, FleetSetting, SettingFault, faults_of_duplicates

OTHERS = "*"
"""The name that stands for every member that is not listed by its own."""


class ClusterAccess(Struct, frozen=True, kw_only=True):
    """The way to a member: a kubeconfig context ("": named like the cluster) of a file ("": the usual one).

    The name ``*`` stands for every member that is not listed by its own.
    """

    name: Annotated[
        str, FleetSetting("name", "The name of the member; `*` stands for every member that is not listed.")
    ]
    context: Annotated[
        str,
        FleetSetting(
            "context",
            "The kubeconfig context; left out means the one named like the member.",
            reach=OUTSIDE,
            compared=lambda access: access.context or access.name,
        ),
    ] = ""
    kubeconfig: Annotated[
        str, FleetSetting("kubeconfig", "The kubeconfig file; left out means the usual one.", reach=OUTSIDE)
    ] = ""


_unique_names = faults_of_duplicates("name")


def _faults_of_members(listed: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    entries = tuple(listed)
    yield from _unique_names(entries)
    for index, access in enumerate(entries):
        if access["name"] == OTHERS and access.get("context"):
            message = "'*' stands for many clusters, each reached by the context named like it"
            yield SettingFault(f"[{index}].context", message)


CLUSTERS = FleetSetting(
    "clusters",
    "The members to which passes apply, and how each is reached.",
    in_karmada=NOT_DECIDED_BY_IT,
    key=lambda each: str(each.name),
    faults=_faults_of_members,
)
