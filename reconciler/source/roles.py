"""The role of each manifest of a source: a resource template, one of Karmada's own kinds, or one of ours.

Group and kind decide. A manifest that all but names a kind of Karmada or Argosy - the right kind in a wrong group, or a
slip in the kind - is a problem: taken for one more template, a policy would have no effect.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from msgspec import Struct, field

from render.admission import AdmittedKind
from render.admission.prices import PRICE_KIND
from render.admission.resilience import RESILIENCE_KINDS
from render.admission.rollbacks import ROLLBACK_KIND
from render.admission.rollouts import CONTROL_KIND, ROLLOUT_KINDS
from render.kinds import BUILT_IN
from render.model import ARGOSY_GROUP, CONFIG_API_VERSION, Manifest, group_of, mapping_or_empty
from render.words import most_similar_word

from .fleet_file import FleetSource
from .karmada_objects import admitted_kind, source_kinds
from .manifests import FieldProblem, LocatedManifest

_PROJECTS = ("karmada.io", ARGOSY_GROUP)
_SLIP = 0.9
_COMMON = frozenset({"Cluster", "Fleet"})
"""Kinds that other projects have as well: theirs, unless the group is all but ours."""

_FORMER_BINDINGS = "work.karmada.io/v1alpha1"
"""The API version in which early versions of Karmada kept bindings, which no version reads from people."""

_WORK_GROUP, _BINDING = "work.karmada.io", "ResourceBinding"
_WEBHOOKS = "ResourceInterpreterWebhookConfiguration"
_TEST = "PolicyTest"
_SOURCE = "Source"
HELM_CHART = "HelmChart"
_ABOUT_OTHERS = (*RESILIENCE_KINDS, *ROLLOUT_KINDS, CONTROL_KIND, ROLLBACK_KIND, PRICE_KIND)
_OURS = ("Fleet", HELM_CHART, _TEST, _SOURCE, *_ABOUT_OTHERS)
_ADMITTED = frozenset(_ABOUT_OTHERS)
"""Kinds of ours that are about other objects or clusters, as Karmada's kinds are."""


def problems_of_misnamed_kinds(
    places: Iterable[LocatedManifest], is_known: Callable[[str, str], bool]
) -> Iterator[FieldProblem]:
    """Yield a problem for each manifest that must have meant another kind; what is defined or declared means itself."""
    for place in places:
        group, kind = group_of(place.manifest["apiVersion"]), place.manifest["kind"]
        problem = _problem_of_misnamed_kind(place, group, kind)
        if problem is not None and not is_known(group, kind):
            yield problem


def _problem_of_misnamed_kind(place: LocatedManifest, group: str, kind: str) -> FieldProblem | None:
    if (group, kind) in BUILT_IN:
        return None
    api_version = _api_version_by_kind().get(kind)
    if api_version is not None and (kind not in _COMMON or _is_misspelled_group(group)):
        message = f"there is no {kind} in {place.manifest['apiVersion']!r}"
        return place.problem("apiVersion", message, hint=f"write {api_version!r}", kind="NotSupported")
    known = _kinds_by_group().get(group)
    if known is None:
        near = most_similar_word(kind, _builtin_kinds_of_group(group), cutoff=_SLIP)
        message = f"there is no {kind!r} in {place.manifest['apiVersion']}"
        return place.problem("kind", message, hint=f"did you mean {near!r}?", kind="NotSupported") if near else None
    near = most_similar_word(kind, known)
    hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
    return place.problem("kind", f"there is no {kind!r} in {group}", hint=hint, kind="NotSupported")


def _is_misspelled_group(group: str) -> bool:
    """Say whether a group must have meant one of Karmada's or ours."""
    return bool(most_similar_word(group, _kinds_by_group(), cutoff=_SLIP)) or any(
        name in group for name in ("karmada", "argosy")
    )


@cache
def _api_version_by_kind() -> dict[str, str]:
    """Return the apiVersion of each kind that means something to us."""
    versions = {name: kind.api_version for name, kind in source_kinds().items()}
    return {**versions, "ResourceInterpreterWebhookConfiguration": CONFIG_API_VERSION}


@cache
def _kinds_by_group() -> dict[str, list[str]]:
    """Return the kinds of Karmada's groups and of ours."""
    kinds: dict[str, list[str]] = {}
    for group, kind in BUILT_IN:
        if group.endswith(_PROJECTS):
            kinds.setdefault(group, []).append(kind)
    return {group: sorted(names) for group, names in kinds.items()}


@cache
def _builtin_kinds_of_group(group: str) -> tuple[str, ...]:
    """Return the kinds of one of Kubernetes' own groups."""
    return tuple(kind for known, kind in BUILT_IN if known == group)


class Roles(Struct):
    """Manifests by what they are to Argosy; ``tests`` of policies are for ``argosy test`` and never propagated.

    ``fleets`` has the one of argosy.yaml, if that is among the files that are read. ``sources`` name
    other repositories.
    """

    templates: list[LocatedManifest] = field(default_factory=list)
    webhooks: list[LocatedManifest] = field(default_factory=list)
    admitted: list[tuple[LocatedManifest, AdmittedKind]] = field(default_factory=list)
    tests: list[LocatedManifest] = field(default_factory=list)
    fleets: list[LocatedManifest] = field(default_factory=list)
    sources: list[LocatedManifest] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)

    def remove_misnamed_templates(self, misnamed: Iterable[FieldProblem]) -> None:
        """Take templates that are none for problems."""
        self.problems += misnamed
        places = {id(problem.place) for problem in misnamed}
        self.templates = [place for place in self.templates if id(place) not in places]

    def add_kind_of_ours(self, place: LocatedManifest, home: FleetSource) -> None:
        """Sort a manifest of our group."""
        if place.manifest["kind"] == _TEST:
            self.tests.append(place)
        if place.manifest["kind"] == _SOURCE:
            self.sources.append(place)
        if place.manifest["kind"] in _ADMITTED and (ours := admitted_kind(place.manifest)):
            self.admitted.append((place, ours))
        if place.file.path == home.path:
            self.fleets.append(place)
        self.problems += _problems_of_misplaced_fleet(place, home)


def roles_of_manifests(places: Iterable[LocatedManifest], home: FleetSource) -> Roles:
    """Sort manifests by group and kind; where they stand does not matter, but for the Fleet."""
    roles = Roles()
    for place in places:
        if group_of(place.manifest["apiVersion"]) == ARGOSY_GROUP:
            roles.add_kind_of_ours(place, home)
            continue
        kind = None if _is_idle_binding(place.manifest) else admitted_kind(place.manifest)
        if kind is not None:
            roles.admitted.append((place, kind))
        elif place.manifest["kind"] == _WEBHOOKS and group_of(place.manifest["apiVersion"]) == "config.karmada.io":
            roles.webhooks.append(place)
        else:
            roles.templates.append(place)
    return roles


def _is_idle_binding(manifest: Manifest) -> bool:
    """Say whether a manifest is a binding that nothing can begin with: an early one, or one that binds no object."""
    if manifest["apiVersion"] == _FORMER_BINDINGS:
        return True
    is_binding = group_of(manifest["apiVersion"]) == _WORK_GROUP and manifest["kind"].endswith(_BINDING)
    return is_binding and mapping_or_empty(manifest.get("spec")).get("resource") is None


def _problems_of_misplaced_fleet(place: LocatedManifest, home: FleetSource) -> Iterable[FieldProblem]:
    kind = place.manifest["kind"]
    if kind == "Fleet":
        if place.file.path != home.path:
            yield place.problem("", "a Fleet is read from argosy.yaml alone", hint=f"move it to {home.expected_path}")
    elif kind not in _OURS:
        near = most_similar_word(kind, _OURS)
        hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(_OURS)}"
        yield place.problem("kind", f"there is no {kind!r} in {ARGOSY_GROUP}", hint=hint, kind="NotSupported")
