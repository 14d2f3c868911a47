"""``spec.kinds``: the scope of kinds that nothing else tells."""

from typing import Annotated

from msgspec import Struct

from .setting import NOT_DECIDED_BY_IT, FleetSetting, faults_of_duplicates


class KindScope(Struct, frozen=True, kw_only=True):
    """A kind of any version, and whether its objects live in namespaces."""

    group: Annotated[str, FleetSetting("group", "The API group; empty means the core group.")] = ""
    kind: Annotated[str, FleetSetting("kind", "The kind.")]
    is_namespaced: Annotated[
        bool, FleetSetting("scope", "The scope of its objects.", choices={"Namespaced": True, "Cluster": False})
    ]


KINDS = FleetSetting(
    "kinds",
    "Kinds whose scope neither Kubernetes, nor the source, nor the members, nor a table of well-known kinds tell.",
    in_karmada=NOT_DECIDED_BY_IT,
    key=lambda each: f"{each.kind}.{each.group}".rstrip("."),
    faults=faults_of_duplicates("group", "kind"),
)
