"""Objects of other federations that stand in a source: what they become takes their place among its manifests.

Each makes templates, policies, overrides and Clusters as ``argosy import`` would write them, in memory and anew in each
pass; what is sent nowhere is left out. What has no counterpart is a problem of the object, and what is only nearly the
same a warning.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from render.documents import emit
from render.federations import FEDERATIONS, federations_found_in
from render.federations.federation import Federation
from render.federations.units import Conversion, Grade, Placed
from render.model import Manifest, group_of
from render.settings.source import OtherFederation

from .built_files import NUMBERS_LEFT_FREE, BuiltFile, source_files_behind
from .fleet_file import FleetSource
from .manifests import FieldProblem, LocatedManifest
from .reading import BuiltSource, ReadFiles, SourceReading, files_with_built_ones


class _Remarked(NamedTuple):
    """The remarks about one manifest, by grade."""

    problems: list[FieldProblem]
    warnings: list[FieldProblem]
    notes: dict[str, list[str]]


def files_with_federations_converted(found: ReadFiles, home: FleetSource, reading: SourceReading) -> ReadFiles:
    """Return manifests with what becomes of those of other federations; what SOPS encrypted is not converted."""
    for federation in _present_federations(found.contents.all_manifests, home.fleet.source.federations):
        found = _convert_federation(_refuse_sealed_to_be_converted(found, federation), federation, reading)
    return found


def _refuse_sealed_to_be_converted(found: ReadFiles, federation: Federation) -> ReadFiles:
    """Return manifests with a problem instead of each that would be converted, had SOPS not encrypted it."""
    contents = found.contents
    if not contents.sealed:
        return found
    places = {_key_of_manifest(each): each for each in contents.all_manifests}
    documents = [Placed(manifest=each.manifest, origin=key) for key, each in places.items()]
    taken = _keys_of_converted_manifests(federation.convert(documents, _labels_of_karmada_clusters(contents.manifests)))
    return replace(found, contents=contents.refuse_encrypted_where_read(lambda place: _key_of_manifest(place) in taken))


def _key_of_manifest(place: LocatedManifest) -> str:
    return f"{place.file.path}#{place.number}"


def _present_federations(manifests: Sequence[LocatedManifest], chosen: Sequence[OtherFederation]) -> list[Federation]:
    """Return the chosen federations that documents are of; one that marks plain objects may have any of them."""
    by_setting = {each.setting: each for each in FEDERATIONS}
    foreign = _possibly_foreign(manifests)
    found = [each.name for each in federations_found_in(foreign)] if foreign else []
    federations = [by_setting[each] for each in chosen]
    return [each for each in federations if each.marks_any_kind or each.name in found]


def _possibly_foreign(manifests: Sequence[LocatedManifest]) -> list[Manifest]:
    """Return the documents of types that other federations may have; a fleet has few types and many documents."""
    types = {(each.manifest["apiVersion"], each.manifest["kind"]) for each in manifests}
    foreign = {each for each in types if _may_be_type_of_federation(*each)}
    if not foreign:
        return []
    return [each.manifest for each in manifests if (each.manifest["apiVersion"], each.manifest["kind"]) in foreign]


def _may_be_type_of_federation(api_version: str, kind: str) -> bool:
    group = group_of(api_version)
    return any(each.setting and each.may_have(group, kind) for each in FEDERATIONS)


def _convert_federation(found: ReadFiles, federation: Federation, reading: SourceReading) -> ReadFiles:
    manifests = found.contents.manifests
    places = {_key_of_manifest(each): each for each in manifests}
    documents = [Placed(manifest=each.manifest, origin=key) for key, each in places.items()]
    known = _labels_of_karmada_clusters(manifests)
    conversion = federation.convert(documents, known)
    taken = _keys_of_converted_manifests(conversion)
    if not taken:
        return found
    remarked = _remarks_with_places(conversion, places)
    delivered = replace(
        conversion,
        units=tuple(each for each in conversion.units if not each.reach.is_nowhere),
        members=tuple(each for each in conversion.members if each[1]["metadata"]["name"] not in known),
    )
    files = list(_built_files_of_conversion(delivered, federation, places, remarked, taken))
    built = BuiltSource(
        files=tuple(file for file, _ in files),
        contents={file.id: content for file, content in files},
        problems=tuple(remarked.problems),
        warnings=tuple(remarked.warnings),
    )
    others = tuple(each for key, each in places.items() if key not in taken)
    return files_with_built_ones(replace(found, contents=found.contents._replace(manifests=others)), built, reading)


def _labels_of_karmada_clusters(manifests: Sequence[LocatedManifest]) -> dict[str, Mapping[str, str]]:
    """Return the labels of Karmada's Clusters by name."""
    found: dict[str, Mapping[str, str]] = {}
    for manifest in (each.manifest for each in manifests):
        if manifest["kind"] == "Cluster" and group_of(manifest["apiVersion"]) == "cluster.karmada.io":
            metadata = manifest.get("metadata")
            labels = (metadata.get("labels") or {}) if isinstance(metadata, dict) else None
            if isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and isinstance(labels, dict):
                found[metadata["name"]] = labels
    return found


def _keys_of_converted_manifests(conversion: Conversion) -> frozenset[str]:
    """Return the keys of the manifests that something becomes of, or that are left out."""
    lines = {each.origin for each in conversion.units} | {each.origin for each in conversion.left}
    return frozenset(lines | {origin for origin, _ in conversion.members})


def _remarks_with_places(conversion: Conversion, places: Mapping[str, LocatedManifest]) -> _Remarked:
    remarked = _Remarked([], [], {})
    lines = [(each.origin, each.remark) for each in conversion.left]
    lines += [(each.origin, remark) for each in conversion.units for remark in each.remarks]
    for key, remark in dict.fromkeys(lines):
        if remark.grade is Grade.REFUSED:
            hint = "argosy import tells what has no counterpart; source.federations leaves the federation out"
            remarked.problems.append(places[key].problem("", remark.message, hint=hint))
        elif remark.grade is Grade.APPROXIMATE:
            remarked.warnings.append(places[key].problem("", remark.message))
        remarked.notes.setdefault(key, []).append(remark.message)
    return remarked


def _built_files_of_conversion(
    conversion: Conversion,
    federation: Federation,
    places: Mapping[str, LocatedManifest],
    remarked: _Remarked,
    taken: frozenset[str],
) -> Iterator[tuple[BuiltFile, bytes]]:
    """Yield one file for each manifest, with what is made of it first; all of them decide on each."""
    from render.federations.policies import objects_written_for

    made: dict[str, list[tuple[Manifest, str]]] = {}
    for each in objects_written_for(conversion, prefix=f"{federation.name}-"):
        key, subject = each.sources[0]
        notes = "; ".join(remarked.notes.get(key, ()))
        words = f"{subject or places[key].manifest['kind']} of {federation.title}" + (f": {notes}" if notes else "")
        made.setdefault(key, []).append((each.manifest, words))
    inputs = tuple(dict.fromkeys(one for key in sorted(taken) for one in source_files_behind(places[key].file)))
    for key, documents in made.items():
        place, content = places[key], b"---\n".join(emit(manifest) for manifest, _ in documents)
        file = BuiltFile(
            path=place.file.path,
            id=hashlib.sha1(f"{federation.name} {key}\n".encode() + content, usedforsecurity=False).digest(),
            size=len(content),
            inputs=inputs,
            first=(place.number + 1) * NUMBERS_LEFT_FREE,
            subjects=tuple(words for _, words in documents),
        )
        yield file, content
