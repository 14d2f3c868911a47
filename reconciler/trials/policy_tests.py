"""PolicyTests as values: what a test adds to the source, and what it expects of objects then."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from render.cluster import Cluster
from render.model import Manifest, ObjectRef, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldExpectation:
    """A field (a JSON pointer) as one cluster must hold it; ``is_absent``: it must not be there."""

    cluster: str
    path: str
    value: Any = None
    is_absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What is expected of one object; None is no expectation.

    ``replicas`` are by cluster, as are the filters that must refuse it (``refused``). ``message`` is part of the
    Scheduled condition's.
    """

    ref: ObjectRef
    policy: str | None = None
    clusters: tuple[str, ...] | None = None
    replicas: Mapping[str, int] | None = None
    refused: Mapping[str, str] | None = None
    reason: str | None = None
    message: str | None = None
    fields: tuple[FieldExpectation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTest:
    """A test: clusters and templates added to the source's (or put in their place), clusters lost, expectations."""

    name: str
    path: str
    document: int
    clusters: tuple[Cluster, ...] = ()
    templates: tuple[Template, ...] = ()
    without_clusters: tuple[str, ...] = ()
    expectations: tuple[Expectation, ...] = ()


def parsed_expectation(spec: Manifest, *, namespace: str) -> Expectation:
    """Read an admitted expectation; ``namespace`` is the object's where it does not say."""
    clusters = spec.get("clusters")
    return Expectation(
        ref=ObjectRef(spec.get("group", ""), spec["kind"], spec.get("namespace") or namespace, spec["name"]),
        policy=spec.get("policy"),
        clusters=None if clusters is None else tuple(sorted(clusters)),
        replicas=spec.get("replicas"),
        refused=spec.get("refused"),
        reason=spec.get("reason"),
        message=spec.get("message"),
        fields=tuple(
            FieldExpectation(
                cluster=each["cluster"],
                path=each["path"],
                value=each.get("value"),
                is_absent=bool(each.get("absent")),
            )
            for each in spec.get("fields") or ()
        ),
    )
