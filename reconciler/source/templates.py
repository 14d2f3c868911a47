"""Resource templates: manifests with a harmless name, whose namespace and API defaults are written out.

An API server would fill these in before Karmada saw the object; a repository has the object as its author wrote it.
Only defaults that decide replicas are applied here; all others are left to the members' API servers. Those would refuse
most of the names that are refused here, too, but only after the commit is made.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.admission.findings import Findings
from render.admission.template_annotations import check_template_annotations
from render.admission.webhooks import check_webhooks
from render.documents import document_texts
from render.matching.exclusions import CLAIMED_BY, Exclusions, exclusions_of
from render.model import Manifest, ObjectRef, Template, group_of, is_encrypted_by_sops
from render.revisions import json_in_signed_order
from render.settings.fleet import Fleet

from .built_files import BuiltFile
from .checked_before import NOTHING_CHECKED, CheckedManifests, memory_key_of_manifest
from .identity import check_counts, check_identity, count_fields_of_kind
from .idle_kinds import warning_of_object_left_out, warning_of_skipped_namespace
from .manifests import FieldProblem, LocatedManifest, ReadBlobs
from .variants import (
    clusters_built_for,
    template_with_destinations,
    template_with_variants,
    templates_for_further_clusters,
    variant_number_of,
)

_NAMESPACE_LEFT_OUT = "the kind is cluster-scoped, so its namespace is left out"
IsNamespaced = Callable[[str, str], bool | None]
"""Say whether objects of a group and kind live in namespaces; None where nothing tells."""


class Templates(Struct):
    """Templates with their places, those whose scope nothing tells, and the problems and warnings of others.

    ``variants`` are what some clusters have instead of templates, each with its own place. ``given_way`` are those that
    were built and give way to a file that has the object otherwise.
    """

    placed: list[tuple[Template, LocatedManifest]] = field(default_factory=list)
    unscoped: list[tuple[Template, LocatedManifest]] = field(default_factory=list)
    variants: list[tuple[Template, LocatedManifest]] = field(default_factory=list)
    given_way: list[tuple[Template, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)

    def join_variants(self) -> None:
        """Make one template of what a build makes of an object for several classes of clusters."""
        groups: dict[tuple[str, int, ObjectRef], list[tuple[Template, LocatedManifest]]] = {}
        for template, place in self.placed:
            if isinstance(place.file, BuiltFile) and place.file.variants:
                groups.setdefault((place.file.path, place.file.build, template.ref), []).append((template, place))
        joined: dict[int, Template] = {}
        for group in groups.values():
            by_number = {variant_number_of(place): template for template, place in reversed(group)}
            number = min(by_number)
            joined[id(by_number[number])] = template_with_variants(by_number, group[0][1].file)
            self.variants += [each for each in group if variant_number_of(each[1]) != number]
        left_out = {id(template) for template, _ in self.variants}
        self.leave_out(left_out)
        self.placed = [(joined.get(id(template), template), place) for template, place in self.placed]
        self.unscoped = [(joined.get(id(template), template), place) for template, place in self.unscoped]

    def join_destinations(self, clusters: Collection[str]) -> None:
        """Make one template of what builds for some of the clusters each make of an object; others do not get it.

        Builds that are for the same cluster stay apart, as two places of one object.
        """
        groups: dict[ObjectRef, list[tuple[Template, LocatedManifest]]] = {}
        for template, place in self.placed:
            if clusters_built_for(place) is not None:
                groups.setdefault(template.ref, []).append((template, place))
        joined: dict[int, Template] = {}
        for group in groups.values():
            apart = templates_for_further_clusters(group)
            joined[id(group[0][0])] = template_with_destinations(apart, frozenset(clusters))
            self.variants += apart[1:]
        self.leave_out({id(template) for template, _ in self.variants})
        self.placed = [(joined.get(id(template), template), place) for template, place in self.placed]
        self.unscoped = [(joined.get(id(template), template), place) for template, place in self.unscoped]

    def leave_out_repetitions(self) -> None:
        """Leave out what was built of objects that stand in a file as well: the file is what was read before.

        Files that contradict each other are not used, so that nothing gives way to them.
        """
        self._leave_out_equal_builds()
        written, contradicted = _templates_in_files(self.placed)
        written = {ref: each for ref, each in written.items() if ref not in contradicted}
        path_by_ref = {ref: each.path for ref, each in written.items()}
        repeated: dict[str, list[tuple[Template, LocatedManifest]]] = {}
        for template, place in self.placed:
            if isinstance(place.file, BuiltFile) and template.ref in path_by_ref:
                repeated.setdefault(place.file.path, []).append((template, place))
        for each in repeated.values():
            others = [pair for pair in each if pair[0].manifest != written[pair[0].ref].manifest or pair[0].variants]
            names = ", ".join(f"{template.ref} ({path_by_ref[template.ref]})" for template, _ in others)
            self.given_way += others
            if names:
                message = f"not taken from what is built, as files have it: {names}"
                self.warnings.append(others[0][1].problem("", message))
            self.leave_out({id(template) for template, _ in each})

    def _leave_out_equal_builds(self) -> None:
        """Leave out what further builds make of a manifest that one of them makes as well, if it is the same object.

        It is written once: many kustomizations may list the file that all of them need.
        """
        first: dict[tuple[ObjectRef, str], Template] = {}
        repeated: set[int] = set()
        for template, place in self.placed:
            if isinstance(place.file, BuiltFile) and not template.variants:
                other = first.setdefault((template.ref, template.origin), template)
                if other is not template and other.manifest == template.manifest:
                    repeated.add(id(template))
        if repeated:
            self.leave_out(repeated)

    def leave_out(self, ids: Collection[int]) -> None:
        """Forget templates, known by identity."""
        self.placed = [each for each in self.placed if id(each[0]) not in ids]
        self.unscoped = [each for each in self.unscoped if id(each[0]) not in ids]


def _templates_in_files(
    placed: Iterable[tuple[Template, LocatedManifest]],
) -> tuple[dict[ObjectRef, Template], set[ObjectRef]]:
    """Return the templates that stand in files, by object, and the objects that files have differently."""
    found: dict[ObjectRef, Template] = {}
    contradicted = set()
    for template, place in placed:
        if isinstance(place.file, BuiltFile):
            continue
        if not is_same_template(found.setdefault(template.ref, template), template):
            contradicted.add(template.ref)
    return found, contradicted


def is_same_template(one: Template, other: Template) -> bool:
    """Say whether templates of one object are equal in all that is rendered of them."""
    return one is other or (
        one.manifest == other.manifest
        and one.variants == other.variants
        and one.has_default_replicas == other.has_default_replicas
    )


def load_templates(
    places: Iterable[LocatedManifest],
    *,
    is_namespaced: IsNamespaced,
    fleet: Fleet,
    checked: CheckedManifests = NOTHING_CHECKED,
) -> Templates:
    """Check each manifest, write out its namespace and leave out what is never propagated."""
    key_by_place = [(place, memory_key_of_manifest(place)) for place in places]
    known = checked.get_many(filter(None, (key for _, key in key_by_place)))
    loaded, loading = Templates(), _Loading(is_namespaced, fleet, exclusions_of(fleet), known)
    for place, key in key_by_place:
        loaded.problems += place.problems_found_by_call(partial(_load_template, place, key, loaded, loading))
    checked.put_many(loading.fresh)
    return loaded


class _Loading(Struct):
    """Everything that the manifests of a fleet are loaded with; ``fresh`` are found to be right, as the known ones."""

    is_namespaced: IsNamespaced
    fleet: Fleet
    exclusions: Exclusions
    known: Mapping[bytes, Any]
    fresh: dict[bytes, Any] = field(default_factory=dict)


def _load_template(place: LocatedManifest, key: bytes, loaded: Templates, loading: _Loading) -> list[FieldProblem]:
    """Add a manifest to the templates, or return what is wrong with it."""
    problems = [] if key in loading.known else _problems_of_identity_and_counts(place, key, loaded, loading)
    if problems:
        return problems
    fleet = loading.fleet
    is_inside = loading.is_namespaced(group_of(place.manifest["apiVersion"]), place.manifest["kind"])
    default = (isinstance(place.file, BuiltFile) and place.file.namespace) or fleet.default_namespace
    manifest = manifest_with_namespace(place.manifest, is_namespaced=is_inside, default=default)
    if manifest is not place.manifest and is_encrypted_by_sops(manifest):
        return [_problem_of_encrypted_namespace(place, is_missing=bool(is_inside))]
    template = _template_saying_default_replicas(template_of(place, manifest), manifest, fleet)
    # Tools that build give a namespace to all they know no scope of, and nobody could take it out again.
    if is_inside is False and manifest is not place.manifest and not isinstance(place.file, BuiltFile):
        loaded.warnings.append(place.problem("metadata.namespace", _NAMESPACE_LEFT_OUT))
    reason = loading.exclusions.reason_for_exclusion(template)
    if reason:
        is_in_skipped = loading.exclusions.is_by_skipped_namespaces(template)
        warning_of = warning_of_skipped_namespace if is_in_skipped else warning_of_object_left_out
        loaded.warnings.append(warning_of(place, template.ref, reason))
    # What something else distributes may still have to follow a workload of ours.
    if not reason or template.labels.get(CLAIMED_BY):
        loaded.placed.append((template, place))
        if is_inside is None:
            loaded.unscoped.append((template, place))
    return []


def _problems_of_identity_and_counts(
    place: LocatedManifest, key: bytes, loaded: Templates, loading: _Loading
) -> list[FieldProblem]:
    """Return what is wrong with a manifest; annotations count where all else may be trusted and is no ciphertext."""
    findings = Findings()
    check_identity(place.manifest, findings)
    check_counts(place.manifest, findings)
    if not findings.problems and not is_encrypted_by_sops(place.manifest):
        check_template_annotations(place.manifest, findings)
    if not findings.problems:
        loaded.warnings += (FieldProblem(place, warning) for warning in findings.warnings)
    if key and not findings.problems and not findings.warnings:
        loading.fresh[key] = True
    return [FieldProblem(place, problem) for problem in findings.problems]


def _problem_of_encrypted_namespace(place: LocatedManifest, *, is_missing: bool) -> FieldProblem:
    """Return the problem of an encrypted document's namespace, which cannot be changed in it."""
    if is_missing:
        hint = "encrypt it with its namespace: nothing is written into what SOPS encrypted"
        return place.problem("metadata.namespace", "required, but missing", hint=hint, kind="Required")
    hint = "encrypt it without: nothing is taken out of what SOPS encrypted"
    return place.problem("metadata.namespace", "the kind is cluster-scoped", hint=hint)


def keep_encrypted_texts(templates: Templates, read: ReadBlobs) -> None:
    """Give the documents that SOPS encrypted their text, which is delivered byte for byte.

    SOPS signs the whole document, so emitting it anew could break the signature. An item of a list has no text of its
    own: it is written as JSON, in which its fields keep their order.
    """
    opaque = [place for template, place in templates.placed if is_encrypted_by_sops(template.manifest)]
    if not opaque:
        return
    contents = read({place.file.id for place in opaque})
    texts = {id_: document_texts(content) for id_, content in contents.items()}
    text_by_place = {
        id(place): json_in_signed_order(place.manifest) if place.prefix else texts[place.file.id][place.position]
        for place in opaque
    }
    templates.placed = [
        (replace(template, text=text_by_place.get(id(place), b"")), place) for template, place in templates.placed
    ]


def load_webhooks(places: Iterable[LocatedManifest]) -> Templates:
    """Check each configuration of interpreter webhooks, which is cluster-scoped."""
    loaded = Templates()
    for place in places:
        loaded.problems += place.problems_found_by_call(partial(_load_webhook, place, loaded))
    return loaded


def _load_webhook(place: LocatedManifest, loaded: Templates) -> list[FieldProblem]:
    """Add a configuration, or return what is wrong with it."""
    findings = Findings()
    check_identity(place.manifest, findings)
    check_webhooks(place.manifest, findings)
    loaded.warnings += (FieldProblem(place, warning) for warning in findings.warnings)
    if not findings.problems:
        manifest = manifest_with_namespace(place.manifest, is_namespaced=False, default="")
        loaded.placed.append((template_of(place, manifest), place))
    return [FieldProblem(place, problem) for problem in findings.problems]


def template_of(place: LocatedManifest, manifest: Manifest) -> Template:
    """Return the template of a manifest whose identity is checked and whose namespace is written out."""
    return Template(
        ref=ObjectRef.of(manifest),
        manifest=manifest_with_api_defaults(manifest),
        path=place.file.path,
        document=place.number,
        digest=place.digest,
        origin=_origin_in_words(place),
    )


def _origin_in_words(place: LocatedManifest) -> str:
    """Return the file and line that an object was built from; "" for one that stands in a file."""
    if not isinstance(place.file, BuiltFile):
        return ""
    if subject := place.file.subject_of(place.position):
        return subject
    path, line = place.file.origin_of(place.position)
    return f"{path}:{line}" if line else path


def manifest_with_namespace(manifest: Manifest, *, is_namespaced: bool | None, default: str) -> Manifest:
    """Return the manifest with the namespace its scope asks for: the default where it has none, none where it may not.

    A kind of unknown scope keeps what it has.
    """
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    if is_namespaced and not namespace:
        return {**manifest, "metadata": {**metadata, "namespace": default}}
    if is_namespaced is False and "namespace" in metadata:
        return {**manifest, "metadata": {key: value for key, value in metadata.items() if key != "namespace"}}
    return manifest


def manifest_with_api_defaults(manifest: Manifest) -> Manifest:
    """Return the manifest with the counts that an API server would have set to 1."""
    counts = count_fields_of_kind(manifest)
    if not counts:
        return manifest
    spec = manifest.get("spec") or {}
    defaults = _missing_count_defaults(counts, spec)
    return {**manifest, "spec": {**spec, **defaults}} if defaults else manifest


def _template_saying_default_replicas(template: Template, written: Manifest, fleet: Fleet) -> Template:
    """Return a template that says whether its replicas are a default, which Karmada writes out and we do not."""
    is_scaled = count_fields_of_kind(written) == ("replicas",)
    if template.manifest is written or not is_scaled or fleet.is_karmada_compatible:
        return template
    return replace(template, has_default_replicas=True)


def _missing_count_defaults(counts: tuple[str, ...], spec: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts to add: a Job without either runs once, one with completions alone runs one pod at a time."""
    missing = [name for name in counts if spec.get(name) is None]
    return {} if missing == ["completions"] else dict.fromkeys(missing, 1)
