"""What each manifest of a source is to Argosy: a resource template, one of Karmada's own kinds, or one of ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from render.admission import AdmittedKind
from render.model import group_of
from render.suggestions import nearest

from .desired_documents import Found, Placed
from .desired_fleet import GROUP, FleetSource
from .desired_karmada import admitted_kind

_WEBHOOKS = "ResourceInterpreterWebhookConfiguration"
_TEST = "PolicyTest"


@dataclass(slots=True)
class Roles:
    """Manifests by what they are to Argosy; ``tests`` of policies are for ``argosy test`` and never propagated.

    ``fleets`` has the one of argosy.yaml, if that is among the files that are read.
    """

    templates: list[Placed] = field(default_factory=list)
    webhooks: list[Placed] = field(default_factory=list)
    admitted: list[tuple[Placed, AdmittedKind]] = field(default_factory=list)
    tests: list[Placed] = field(default_factory=list)
    fleets: list[Placed] = field(default_factory=list)
    problems: list[Found] = field(default_factory=list)

    def set_aside(self, misnamed: Iterable[Found]) -> None:
        """Take templates that are none for problems."""
        self.problems += misnamed
        places = {id(found.place) for found in misnamed}
        self.templates = [place for place in self.templates if id(place) not in places]


def sorted_by_role(places: Iterable[Placed], home: FleetSource) -> Roles:
    """Sort manifests by group and kind; where they stand does not matter, but for the Fleet."""
    roles = Roles()
    for place in places:
        if group_of(place.manifest["apiVersion"]) == GROUP:
            if place.manifest["kind"] == _TEST:
                roles.tests.append(place)
            if place.file.path == home.path:
                roles.fleets.append(place)
            roles.problems += _faults_of_ours(place, home)
            continue
        kind = admitted_kind(place.manifest)
        if kind is not None:
            roles.admitted.append((place, kind))
        elif place.manifest["kind"] == _WEBHOOKS and group_of(place.manifest["apiVersion"]) == "config.karmada.io":
            roles.webhooks.append(place)
        else:
            roles.templates.append(place)
    return roles


def _faults_of_ours(place: Placed, home: FleetSource) -> Iterable[Found]:
    kind = place.manifest["kind"]
    if kind == "Fleet":
        if place.file.path != home.path:
            yield place.found("", "a Fleet is read from argosy.yaml alone", hint=f"move it to {home.expected_path}")
    elif kind != _TEST:
        near = nearest(kind, ("Fleet", _TEST))
        hint = f"did you mean {near!r}?" if near else f"known here: Fleet, {_TEST}"
        yield place.found("kind", f"there is no {kind!r} in {GROUP}", hint=hint, kind="NotSupported")
