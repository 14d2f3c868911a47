"""Templates of one object that is built several times, each time for some clusters, as one template with variants."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from render.model import Template, TemplateVariant

from .built_files import BuiltFile, BuiltVariant
from .files import SourceFile
from .manifests import LocatedManifest


def variant_number_of(place: LocatedManifest) -> int:
    """Return the number of the variant that an object is of, among those of its build."""
    return place.file.variant if isinstance(place.file, BuiltFile) else 0


def template_with_variants(by_number: Mapping[int, Template], file: SourceFile) -> Template:
    """Return the first of some templates with the others as its variants, as far as they differ from it."""
    assert isinstance(file, BuiltFile)
    first = by_number[min(by_number)]
    variants = []
    for number, (clusters, rule, error) in enumerate(file.variants):
        found = by_number.get(number)
        manifest = found.manifest if found else None
        is_default = found is not None and found.has_default_replicas
        if manifest != first.manifest or is_default != first.has_default_replicas:
            variants.append(
                TemplateVariant(
                    clusters=clusters, manifest=manifest, rule=rule, has_default_replicas=is_default, error=error
                )
            )
    if not variants:
        return first
    lines = [each.digest for _, each in sorted(by_number.items())]
    return _join_template_and_variants(first, variants, lines)


def _join_template_and_variants(first: Template, variants: Sequence[TemplateVariant], lines: Sequence[str]) -> Template:
    texts = [*lines, *(f"{sorted(each.clusters)} {each.manifest is None} {each.error}" for each in variants)]
    return replace(first, variants=tuple(variants), digest=hashlib.sha256("\n".join(texts).encode()).hexdigest())


def clusters_built_for(place: LocatedManifest) -> BuiltVariant | None:
    """Return the clusters that an object was built for; None: any."""
    return place.file.destination if isinstance(place.file, BuiltFile) else None


def templates_for_further_clusters(
    group: Sequence[tuple[Template, LocatedManifest]],
) -> list[tuple[Template, LocatedManifest]]:
    """Return the templates of one object that are for other clusters than those before them."""
    found, taken = [], frozenset[str]()
    for template, place in group:
        destination = clusters_built_for(place)
        if destination is not None and not destination.clusters & taken:
            found.append((template, place))
            taken |= destination.clusters
    return found


def template_with_destinations(group: Sequence[tuple[Template, LocatedManifest]], clusters: frozenset[str]) -> Template:
    """Return the first of some templates, with what the others are for their clusters, and nothing for the rest."""
    first, variants, rest = group[0][0], list(group[0][0].variants), clusters
    for template, place in group:
        destination = clusters_built_for(place)
        assert destination is not None
        rest -= destination.clusters
        if template is first:
            continue
        variants += (each for each in template.variants if each.manifest != first.manifest)
        own = destination.clusters.difference(*(each.clusters for each in template.variants))
        is_default = template.has_default_replicas
        if own and (template.manifest != first.manifest or is_default != first.has_default_replicas):
            variants.append(
                TemplateVariant(
                    clusters=own, manifest=template.manifest, rule=destination.rule, has_default_replicas=is_default
                )
            )
    if rest:
        variants.append(TemplateVariant(clusters=rest, manifest=None))
    return _join_template_and_variants(first, variants, [template.digest for template, _ in group])
