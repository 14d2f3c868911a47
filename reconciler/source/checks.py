"""Problems and warnings that only show when the objects of a source are compared with each other."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from reconciler.source.scopes.likely_scopes import hint_declaring_scopes
from render.addresses import is_below
from render.admission.customizations import customization_conflicts
from render.admission.prices import PRICE_KIND
from render.admission.rollouts import ROLLOUT_KINDS
from render.cluster import Cluster
from render.layout import kind_folder
from render.matching.selector_index import SelectorIndex
from render.model import ObjectRef, Template
from render.parsing import RENAMED_FROM
from render.policy import PropagationPolicy
from render.scheduling.unmet_placements import message_and_hint_of_absent_names
from render.settings.clusters import OTHERS
from render.settings.cost_guard import CostGuard
from render.settings.fleet import Fleet
from render.words import most_similar_word, words_in_sentence

from .broken import UNKNOWN_SCOPE
from .desired import KarmadaObjects
from .karmada_objects import AdmittedObjects
from .lines import Lines
from .manifests import FieldProblem, LocatedManifest

_CLUSTER_LISTS = ("clusterNames", "exclude")
_MOST_LISTED = 5
_MOST_HINTS = 20


def problems_of_duplicates(named: Iterable[tuple[str, LocatedManifest]], lines: Lines) -> Iterator[FieldProblem]:
    """Yield every object that an earlier place defines already."""
    first: dict[str, LocatedManifest] = {}
    for name, place in named:
        other = first.setdefault(name, place)
        if other is not place:
            yield place.problem(
                "", f"{name} is defined twice, also at {lines.shown_place(other)}", hint="keep one", kind="Duplicate"
            )


def kinds_of_equal_letters(placed: Iterable[tuple[Template, LocatedManifest]], lines: Lines) -> Iterator[FieldProblem]:
    """Yield a kind of which another one has the letters, so that their files would meet where case is ignored."""
    first: dict[str, tuple[ObjectRef, LocatedManifest]] = {}
    seen: set[tuple[str, str]] = set()
    for template, place in placed:
        ref = template.ref
        if (ref.group, ref.kind) in seen:
            continue
        seen.add((ref.group, ref.kind))
        other, where = first.setdefault(kind_folder(ref).lower(), (ref, place))
        if other.group_kind != ref.group_kind:
            message = (
                f"{ref.group_kind} and {other.group_kind} (at {lines.shown_place(where)}) differ in capitals alone"
            )
            hint = "their files could not stand side by side everywhere: keep one of the kinds"
            yield place.problem("kind", message, hint=hint, kind="NotSupported")


def warnings_of_absent_clusters(places: Iterable[LocatedManifest], known: Collection[str]) -> Iterator[FieldProblem]:
    """Yield a warning for each list of clusters in a policy that names some the source does not have.

    A source without any clusters gets one warning, at its first policy.
    """
    found = 0
    for place in places:
        if not known:
            hint = "declare members as cluster.karmada.io/v1alpha1 Cluster, with labels and region"
            yield place.problem("", "the source has policies but no clusters, so nothing is scheduled", hint=hint)
            return
        for path, names in lists_of_clusters(place.manifest["spec"], "spec"):
            # To compare each of thousands with each of thousands takes minutes, and nobody reads as many hints.
            if (absent := message_and_hint_of_absent_names(names, known, has_hint=found < _MOST_HINTS)) is not None:
                found += 1
                yield place.problem(path, absent[0], hint=absent[1])


def problems_of_former_names_in_use(clusters: Iterable[tuple[Cluster, LocatedManifest]]) -> Iterator[FieldProblem]:
    """Yield a problem for each Cluster whose former name is another cluster's, for then it tells nothing."""
    placed = tuple(clusters)
    known, owners = {cluster.name for cluster, _ in placed}, dict[str, str]()
    for cluster, place in placed:
        for name in cluster.former_names:
            owner = owners.setdefault(name, cluster.name)
            if name in known:
                said = f"{name!r} is a cluster of the source"
            elif owner != cluster.name:
                said = f"{name!r} is a former name of {owner!r}, too"
            else:
                continue
            hint = "take the name out of the annotation: once a commit is rendered it is not needed any more"
            yield place.problem(f"metadata.annotations.{RENAMED_FROM}", said, hint=hint)


def warnings_of_absent_fleet_clusters(
    places: Iterable[LocatedManifest], fleet: Fleet, known: Collection[str]
) -> Iterator[FieldProblem]:
    """Yield a warning for each cluster that argosy.yaml says how to reach and the source does not have."""
    there = {OTHERS, *known}
    for place in places:
        absent = [(index, each.name) for index, each in enumerate(fleet.clusters) if each.name not in there]
        for number, (index, name) in enumerate(absent):
            near = most_similar_word(name, known) if number < _MOST_HINTS else ""
            hint = f"did you mean {near!r}?" if near else ""
            message = f"the source has no cluster called {name!r}"
            yield place.problem(f"spec.clusters[{index}].name", message, hint=hint)


def warnings_of_settings(
    places: Iterable[LocatedManifest], fleet: Fleet, objects: KarmadaObjects
) -> Iterator[FieldProblem]:
    """Yield the warnings of what argosy.yaml says about clusters, and prices, that the source does not have."""
    placed = tuple(places)
    yield from warnings_of_absent_fleet_clusters(placed, fleet, {cluster.name for cluster in objects.clusters})
    if fleet.cost_guard != CostGuard() and not objects.price_lists:
        for place in placed:
            message = "judges nothing: the source has no PriceList"
            yield place.problem("spec.maxCostIncrease", message, hint="argosy help prices says what one looks like")


def problems_of_addresses_nobody_named(places: Iterable[LocatedManifest], fleet: Fleet) -> Iterator[FieldProblem]:
    """Yield a problem for each check of a rollout policy that asks at an address which argosy.yaml does not name."""
    known = [each.address for each in fleet.rollouts.sources]
    for place in (each for each in places if each.manifest["kind"] in ROLLOUT_KINDS):
        for path, address in _addresses_of_checks(place.manifest["spec"]):
            if not any(is_below(address, each) for each in known):
                hint = "name it there, under spec.rollouts.sources: a person accepts whom passes may ask"
                yield place.problem(path, "argosy.yaml does not name this address", hint=hint)


def _addresses_of_checks(spec: Any) -> Iterator[tuple[str, str]]:
    """Yield the addresses that the gates of an admitted rollout policy ask at, each with its field."""
    waves = enumerate(spec.get("waves") or ())
    gates = [("spec.gate", spec.get("gate")), *((f"spec.waves[{at}].gate", wave.get("gate")) for at, wave in waves)]
    for path, gate in gates:
        for number, check in enumerate((gate or {}).get("checks") or ()):
            for source, name in (("prometheus", "address"), ("http", "url")):
                if check.get(source):
                    yield f"{path}.checks[{number}].{source}.{name}", check[source][name]


def lists_of_clusters(value: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every list of cluster names, wherever in a policy it stands."""
    if isinstance(value, dict):
        for key, child in value.items():
            if key in _CLUSTER_LISTS and isinstance(child, list):
                yield f"{path}.{key}", [each for each in child if isinstance(each, str)]
            elif key != "overriders":
                yield from lists_of_clusters(child, f"{path}.{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from lists_of_clusters(child, f"{path}[{index}]")


def _words_in_sentence(words: Sequence[str], conjunction: str) -> str:
    """Return words as a sentence has them; of many, the first few and the number of the others.

    >>> _words_in_sentence(["a", "b", "c"], "and"), _words_in_sentence(list("abcdefg"), "or")
    ('a, b and c', 'a, b, c, d, e or 2 more')
    """
    listed = list(words[:_MOST_LISTED])
    if len(words) > _MOST_LISTED:
        listed.append(f"{len(words) - _MOST_LISTED} more")
    return words_in_sentence(listed, conjunction)


def problems_of_unknown_scopes(
    unknown: Iterable[tuple[Template, LocatedManifest]], policies: Sequence[PropagationPolicy]
) -> Iterator[tuple[Template, FieldProblem]]:
    """Yield the objects that a policy selects while nothing tells whether they live in a namespace.

    The first of them has the lines for argosy.yaml that would tell, of all their kinds.
    """
    selectors = (replace(selector, namespace="") for policy in policies for selector in policy.resource_selectors)
    index = SelectorIndex(("", selector, None) for selector in selectors)
    chosen = [(template, place) for template, place in unknown if index.selecting_entries_by_bucket(template)]
    chosen.sort(key=lambda each: (each[1].file.path, each[1].number))
    hint = hint_declaring_scopes((template.ref.group, template.ref.kind) for template, _ in chosen)
    for template, place in chosen:
        message = f"nothing says whether {template.ref.group_kind} lives in namespaces"
        yield template, place.problem("kind", message, hint=hint, kind=UNKNOWN_SCOPE)
        hint = ""


def problems_of_admitted_objects(karmada: AdmittedObjects, fleet: Fleet) -> Iterator[FieldProblem]:
    """Yield the problems of objects of Karmada's kinds, and of our own, that are right by themselves."""
    places = [place for _, place in karmada.places]
    yield from problems_of_conflicting_customizations(karmada.objects.customizations, places)
    yield from problems_of_addresses_nobody_named(places, fleet)
    yield from problems_of_currencies(places)


def problems_of_currencies(places: Iterable[LocatedManifest]) -> Iterator[FieldProblem]:
    """Yield a problem for each PriceList in another currency than the first: nobody could add up what they say."""
    lists = sorted(
        (each for each in places if each.manifest["kind"] == PRICE_KIND),
        key=lambda each: str(each.manifest["metadata"]["name"]),
    )
    for place in lists[1:]:
        first, its = (each.manifest["spec"]["currency"] for each in (lists[0], place))
        if its != first:
            name = lists[0].manifest["metadata"]["name"]
            message = f"{its} cannot be added to {first}, the currency of PriceList {name}"
            yield place.problem("spec.currency", message, hint="state all prices in one currency")


def problems_of_conflicting_customizations(
    customizations: Sequence[Template], places: Iterable[LocatedManifest]
) -> Iterator[FieldProblem]:
    """Yield the interpreter customizations that customize what another one already does."""
    place_by_origin = {(place.file.path, place.number): place for place in places}
    origins = {id(each.manifest): (each.path, each.document) for each in customizations}
    for manifest, problem in customization_conflicts([each.manifest for each in customizations]):
        yield FieldProblem(place_by_origin[origins[id(manifest)]], problem)


def problems_of_readable_secrets(
    templates: Iterable[tuple[Template, LocatedManifest]], *, is_refused: bool
) -> Iterator[FieldProblem]:
    """Yield a problem for each Secret in clear text if they are refused, else one warning about all of them."""
    readable = [(template, place) for template, place in templates if _is_readable_secret(template)]
    if is_refused:
        for template, place in readable:
            hint = "encrypt it with SOPS, or keep it out of Git"
            yield place.problem("", f"{template.ref} is in clear text, and argosy.yaml says secrets: Refuse", hint=hint)
    elif readable:
        names = _words_in_sentence([str(template.ref) for template, _ in readable], "and")
        yield readable[0][1].problem("", f"in clear text for everyone who can read the repository: {names}")


def _is_readable_secret(template: Template) -> bool:
    manifest = template.manifest
    is_secret = template.ref.kind == "Secret" and not template.ref.group
    return is_secret and "sops" not in manifest and bool(manifest.get("data") or manifest.get("stringData"))
