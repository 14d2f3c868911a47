"""Label selectors, cluster affinities and resource selectors, as values."""

from msgspec import Struct


class Requirement(Struct, frozen=True, kw_only=True):
    """One expression of a selector: ``key operator values``; the operator has the API's spelling."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, kw_only=True):
    """A ``metav1.LabelSelector``; the empty one matches everything (a missing one is ``None``)."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[Requirement, ...] = ()


class ClusterAffinity(Struct, frozen=True, kw_only=True):
    """Karmada's ClusterAffinity; every part that is present must hold, an empty one matches every cluster.

    ``field_selector`` is None or its requirements over ``provider``, ``region`` and ``zone``.
    """

    label_selector: LabelSelector | None = None
    field_selector: tuple[Requirement, ...] | None = None
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class ResourceSelector(Struct, frozen=True, kw_only=True):
    """A selector of templates by a policy; ``name`` makes ``label_selector`` irrelevant."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    label_selector: LabelSelector | None = None
