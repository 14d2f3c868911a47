"""A policy that neither places nor overrides, as surveys have it, and the families that such policies are of."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from reconciler.survey.objects import SurveyedObject
from reconciler.survey.policies import LostClaim
from reconciler.survey.surveying import Survey
from render.model import Template
from render.selectors import ClusterAffinity, Requirement
from render.words import first_few


class WaitsByPolicy(Struct, frozen=True, kw_only=True):
    """Something that waits by a policy: its name, its reason in a sentence, and the command about it ("": none)."""

    subject: str
    message: str
    command: str = ""


class OtherPolicy(Struct, frozen=True, kw_only=True):
    """A policy of another kind than those that place and override, with its effect on the fleet.

    ``selectors`` say in words what it is about, and ``does`` what it does, a sentence each. ``decides`` are the objects
    that it decides about, ``loses`` those that it selects and another of its kind decides about. ``clusters`` are those
    that it is about where it selects clusters, and not objects. ``waits`` waits by it. ``priority`` is None where none
    counts.
    """

    kind: str
    name: str
    namespace: str = ""
    path: str = ""
    priority: int | None = None
    selectors: tuple[str, ...] = ()
    does: tuple[str, ...] = ()
    decides: tuple[SurveyedObject, ...] = ()
    loses: tuple[LostClaim, ...] = ()
    clusters: tuple[str, ...] = ()
    waits: tuple[WaitsByPolicy, ...] = ()

    @property
    def policy(self) -> "OtherPolicy":
        """It itself, as those that place and override have their policy."""
        return self

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class PolicyFamily(Struct, frozen=True, kw_only=True):
    """The policies of some kinds: ``found`` are those of a fleet."""

    kinds: tuple[str, ...]
    found: Callable[[Survey], Iterable[OtherPolicy]]


def surveyed_templates(survey: Survey, templates: Iterable[Template]) -> tuple[SurveyedObject, ...]:
    """Return templates as the objects that the fleet has of them, by kind and name."""
    objects = survey.objects_by_ref
    return tuple(objects[ref] for ref in sorted(each.ref for each in templates) if ref in objects)


def affinity_in_words(affinity: ClusterAffinity | None) -> str:
    """Return the clusters that an affinity selects, in words.

    >>> affinity_in_words(None), affinity_in_words(ClusterAffinity(cluster_names=("oslo", "paris")))
    ('every cluster', 'oslo, paris')
    >>> affinity_in_words(ClusterAffinity(field_selector=(Requirement(key="region", operator="In", values=("eu",)),)))
    'region in eu'
    """
    if affinity is None:
        return "every cluster"
    labels, parts = affinity.label_selector, []
    if affinity.cluster_names:
        parts.append(first_few(list(affinity.cluster_names), 8))
    if labels is not None:
        parts.append(", ".join(f"{key}={value}" for key, value in labels.match_labels))
        parts += map(_requirement_in_words, labels.match_expressions)
    parts += map(_requirement_in_words, affinity.field_selector or ())
    if affinity.exclude:
        parts.append(f"not {first_few(list(affinity.exclude), 8)}")
    return ", ".join(filter(None, parts)) or "every cluster"


_OPERATORS = {"In": "in", "NotIn": "not in", "Exists": "is there", "DoesNotExist": "is not there"}


def _requirement_in_words(each: Requirement) -> str:
    return f"{each.key} {_OPERATORS.get(each.operator, each.operator)} {' or '.join(each.values)}".rstrip()
