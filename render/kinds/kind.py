"""A built-in kind as one value: every rule that goes by the kind alone is a field of it.

A kind that is no more than a name with a scope is made by ``built_in_kinds_without_rules``. Each other one says of
every field what it is, or names the field in ``has_no``, so that nothing about a new kind is forgotten (a test asks).
"""

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import Any

from msgspec import Struct, field

from render.interpretation.operations import Interpretation
from render.interpretation.progress import ProgressRule
from render.interpretation.removal import Path
from render.interpretation.retention import Retained
from render.model import Manifest

GroupKind = tuple[str, str]
"""A group and a kind; every version of a kind has the same scope."""


Default = Any
"""The value of a default, or a function that returns it for the object that the field stands in."""


class ApplyStage(IntEnum):
    """The stages in which objects are applied, the first first: what others need comes before them."""

    NAMESPACES = 0
    DEFINITIONS = 1
    RIGHTS = 2
    CONFIGURATION = 3
    WORKLOADS = 4
    INTERCEPTORS = 5


_TEXTS = ("labels", "annotations", "matchLabels", "nodeSelector", "deprecatedTopology", "volumeAttributes")
_AMOUNTS = ("limits", "requests", "capacity", "hard", "podFixed")
COMMON_MAPS: Mapping[str, str] = {**dict.fromkeys(_TEXTS, ""), **dict.fromkeys(_AMOUNTS, "0")}
"""The maps of most kinds whose keys are anybody's to choose, by field, each with what a server makes of null in it."""


class PrunedField(Struct, frozen=True, kw_only=True):
    """A field that people write on purpose, though no cluster gets it: why it is pruned, and what to write instead."""

    path: str
    why: str
    hint: str = ""


NO_PODS = "pod_spec has_edited_containers is_scaled counts"
NO_LIVE_RULES = "interpretation retained progress"
NO_TEMPLATE_RULES = "defaults filled_in clean prune pruned_fields"
NO_DELIVERY_RULES = "stage takes_others_along is_recreatable is_transient maps"
NO_RULES = f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES}"
"""The fields of a kind that is no more than a name with a scope."""


class BuiltInKind(Struct, frozen=True, kw_only=True):
    """The rules about a kind of Kubernetes, Karmada or Argosy that need no cluster to be known.

    ``version`` is the one that Kubernetes serves today, and the only one that ``interpretation`` is about: to Karmada's
    native interpreter another version is another kind. Its Retain is made of ``retained``, as is what is applied.
    ``progress`` says of a live object whether it is done.

    ``pod_spec`` is the path of the spec of its pods; ``has_edited_containers``: Karmada's overriders of images,
    commands and arguments find theirs. ``is_scaled``: autoscalers can set spec.replicas. ``counts`` are the fields of
    its spec that an API server sets to 1 where they are missing, and that scheduling reads.

    Of a live object that becomes a template, the ``defaults`` that a server fills in are left out, and the fields that
    are ``filled_in`` by clusters; ``clean`` takes out of the copy what goes by more than a path.

    ``prune`` takes out of a template what only a cluster may set, beyond the fields that every object loses;
    people are warned of the ``pruned_fields``. ``stage``
    is when an object is applied, where its group does not tell. ``takes_others_along``: with an object of the kind much
    more may be gone. ``is_recreatable``: an object may be deleted and created again, for it holds no data of its own.
    ``is_transient``: controllers write objects of the kind by themselves, and nobody misses one.
    ``maps`` are ``COMMON_MAPS``, or what the kind has in their place. ``short_names`` are those that kubectl knows.
    ``not_written`` is the reason for which no person writes objects of the kind.

    ``has_no`` names the fields that were thought of and left out: a test asks that each is given or named.
    """

    group: str
    kind: str
    is_namespaced: bool
    version: str = ""
    short_names: tuple[str, ...] = ()
    not_written: str = ""
    interpretation: Interpretation = Interpretation()
    retained: tuple[Retained, ...] = ()
    progress: ProgressRule | None = None
    pod_spec: tuple[str, ...] = ()
    has_edited_containers: bool = False
    is_scaled: bool = False
    counts: tuple[str, ...] = ()
    defaults: Mapping[Path, Default] = field(default_factory=dict)
    filled_in: tuple[Path, ...] = ()
    clean: Callable[[dict[str, Any]], None] | None = None
    prune: Callable[[Manifest], Manifest] | None = None
    pruned_fields: tuple[PrunedField, ...] = ()
    stage: ApplyStage | None = None
    takes_others_along: bool = False
    is_recreatable: bool = False
    is_transient: bool = False
    maps: Mapping[str, str] = field(default_factory=lambda: COMMON_MAPS)
    has_no: str = ""

    def __post_init__(self) -> None:
        if self.interpretation.retain is not None:
            raise TypeError(f"{self.group_kind}: state in 'retained' what stays, or what is applied would not obey it")

    @property
    def is_run(self) -> bool:
        """Say whether objects of the kind may run to completion."""
        return self.interpretation.finish is not None

    @property
    def api_version(self) -> str:
        """The group and version, as manifests have them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> str:
        """The kind with its group, as in messages: ``Deployment.apps``."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


def built_in_kinds_without_rules(
    group: str, kinds: str, *, is_namespaced: bool, short_names: tuple[str, ...] = (), not_written: str = ""
) -> Iterator[BuiltInKind]:
    """Yield kinds of a group that no rule is about; what holds for every kind holds for them."""
    return (
        BuiltInKind(
            group=group,
            kind=kind,
            is_namespaced=is_namespaced,
            short_names=short_names,
            not_written=not_written,
            has_no=NO_RULES,
        )
        for kind in kinds.split()
    )
