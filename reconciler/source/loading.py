"""A source loaded: from the files of a snapshot to its value, or to every problem of it with file and line.

1. ``fleet_file`` reads the fleet's settings, and ``files`` selects the files they leave in.
2. ``reading`` has other tools make objects of files; ``manifests`` parses all of it and expands lists; ``roles`` sorts
   the manifests by what they are.
3. ``karmada_objects`` admits Karmada's kinds, ``templates`` checks templates, ``policy_tests`` loads tests.
4. ``checks`` finds the problems that only show when the objects are compared with each other.
5. ``lines`` finds the line of each problem.

Nothing here reads anything but blobs, through the function it is given.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.locked.reading import LockedFiles, RepositoryFiles
from reconciler.source.schemas.checks import CheckedTemplates, SchemaChecks, WrongTemplate
from reconciler.source.scopes.definitions import scopes_in_unselected_files
from reconciler.source.scopes.kind_scopes import Scopes
from render.admission.prices import PRICE_KIND
from render.boundary import result_or_substitute, unexpected_problem
from render.cluster import Cluster
from render.errors import Problem
from render.kinds import BUILT_IN, GroupKind
from render.model import Manifest, Template
from render.settings.switches import Permission, TemplateValidation
from render.values import SelectiveStruct
from render.words import first_few

from .broken import Broken, LostObject, broken_by_problem, merged_by_what_they_lack
from .checked_before import CheckedManifests
from .checks import (
    kinds_of_equal_letters,
    problems_of_admitted_objects,
    problems_of_duplicates,
    problems_of_former_names_in_use,
    problems_of_readable_secrets,
    problems_of_unknown_scopes,
    warnings_of_absent_clusters,
    warnings_of_settings,
)
from .culprits import items_causing_unexpected_error
from .desired import Desired, desired_without_objects
from .digests import SourceDigests, source_digests_of
from .duplicates import VariantChoice, choices_of_variants, templates_left_out_as_duplicates
from .external import ExternalLock, ExternalSources, load_external_sources, lock_warnings, read_lock_of_sources
from .facts import FactsOf, clusters_corrected_by_facts, no_facts
from .files import MAX_FILE_SIZE, WARNED, FileSelection, Reason, SourceFile
from .fleet_file import FleetSource, load_fleet
from .folder_uses import uses_of_folders
from .gate_warnings import warnings_not_lifted_by_gates, warnings_of_idle_gates
from .idle_kinds import warnings_of_idle_kinds
from .included import read_everything
from .karmada_objects import AdmittedObjects, load_karmada_objects
from .lines import Lines, PlacedLines
from .manifests import (
    IGNORE_HINT,
    Contents,
    FieldProblem,
    LocatedManifest,
    ReadBlobs,
    RightManifests,
    may_decide_on_others,
)
from .policy_tests import PolicyTest, PolicyTests, load_tests
from .provenance import builds_of
from .reading import BuiltSource, ReadFiles, SourceReading, warnings_of_unlisted_files
from .roles import Roles, problems_of_misnamed_kinds, roles_of_manifests
from .templates import Templates, keep_encrypted_texts, load_templates, load_webhooks

_POLICIES = ("PropagationPolicy", "OverridePolicy")
"""The ends of the kinds of policies that name clusters."""


class Loaded(SelectiveStruct, frozen=True, kw_only=True):
    """A source as far as it could be loaded: the values of all that is right, and every problem of the rest, sorted.

    ``broken`` has those problems that can be left out: ``desired`` is what the source says without them. ``lines``
    finds the lines of fields; None when there was nothing to load. ``files`` are all of the snapshot, ``ignore`` leaves
    some out. ``locked`` answers for its Sources. ``karmada`` are the documents of Karmada's kinds, also converted ones.
    ``choices`` leave out all variants but one. ``read_paths`` are read, or built; for ``unbuilt_paths`` that failed.
    """

    UNSHOWN = UNCOMPARED = ("lines", "files", "locked", "karmada", "read_paths", "unbuilt_paths")
    desired: Desired
    problems: tuple[Problem, ...] = ()
    broken: tuple[Broken, ...] = ()
    tests: tuple[PolicyTest, ...] = ()
    lines: PlacedLines | None = None
    files: tuple[SourceFile, ...] = ()
    ignore: tuple[str, ...] = ()
    locked: LockedFiles | None = None
    karmada: tuple[Manifest, ...] = ()
    choices: tuple[VariantChoice, ...] = ()
    read_paths: frozenset[str] = frozenset()
    unbuilt_paths: frozenset[str] = frozenset()

    @property
    def problems_that_block(self) -> tuple[Problem, ...]:
        """The problems that nothing can be left out for."""
        left_out = {each.problem for each in self.broken}
        return tuple(problem for problem in self.problems if problem not in left_out)

    @property
    def lost(self) -> tuple[LostObject, ...]:
        """The objects of which nothing is used though they can be read, each with the reason."""
        return tuple(sorted(lost for each in self.broken for lost in each.lost))

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings, also of what is left out."""
        return tuple(sorted((*self.desired.warnings, *{each.warning for each in self.broken})))


class _Lookup(NamedTuple):
    """The places that are only looked at for kinds whose scope the files do not tell."""

    facts: FactsOf
    elsewhere: Callable[[], Mapping[GroupKind, bool]]


class _Parts(Struct, frozen=True, kw_only=True):
    """A source on its way from files to values."""

    home: FleetSource
    selection: FileSelection
    contents: Contents
    built: BuiltSource
    roles: Roles
    scopes: Scopes
    karmada: AdmittedObjects
    templates: Templates
    webhooks: Templates
    tests: PolicyTests
    external: ExternalSources
    lock: ExternalLock = field(default_factory=ExternalLock)
    checked: CheckedTemplates = field(default_factory=CheckedTemplates)

    @property
    def places(self) -> dict[tuple[str, int], LocatedManifest]:
        """The manifests by their files, and their numbers in these."""
        return {(place.file.path, place.number): place for place in self.contents.all_manifests}

    @property
    def is_delivering(self) -> bool:
        """Say whether anything of the source is meant to be delivered; without policies nothing is."""
        return bool(self.karmada.objects.policies)

    @property
    def refused_problems(self) -> Iterator[WrongTemplate]:
        """The findings of schemas that are certain; a source that delivers nothing has none."""
        is_strict = self.home.fleet.validation is TemplateValidation.STRICT and self.is_delivering
        return (each for each in self.checked.wrong if is_strict and each.is_certain)

    @property
    def findings_that_only_warn(self) -> Iterator[FieldProblem]:
        """The findings of schemas that are only warnings."""
        refused = set(map(id, self.refused_problems))
        return (each.found for each in self.checked.wrong if id(each) not in refused)


def load_source(files: Sequence[SourceFile], reading: SourceReading, *, folder: str | FleetSource = "") -> Loaded:
    """Load what can be loaded of the files of a snapshot, beside the problems of what cannot.

    ``folder`` is where the user stands: the fleet is the one whose argosy.yaml is there or above, or else the only one
    below; with none at all the whole repository, and every default. It may be the fleet that was found there.
    """
    load = partial(_load_source, folder=folder)
    anew = partial(load, reading=reading.without_values())
    # What an earlier run remembers may have another shape than it should: then nothing of it is used.
    again = partial(
        result_or_substitute,
        partial(anew, files),
        lambda error: _load_without_culprits(files, error, anew, reading.read),
    )
    return result_or_substitute(partial(load, files, reading=reading), lambda _: again())


def _load_without_culprits(
    files: Sequence[SourceFile], error: Exception, load: Callable[[Sequence[SourceFile]], Loaded], read: ReadBlobs
) -> Loaded:
    """Load a source without the files that lead to an error nobody thought of, which are its problem."""
    found = items_causing_unexpected_error(files, load)
    beside = f" together with {first_few([each.path for each in found[1:]])}" if found[1:] else ""
    if not found:
        raise error
    problem = unexpected_problem(found[0].path, error, what=f"is not read{beside}")
    others = [each for each in files if each not in found]
    rest: Loaded | None = result_or_substitute(partial(load, others), lambda _error: None)
    if rest is None:
        return Loaded(desired=Desired(), problems=(problem,))
    is_template = len(found) == 1 and not may_decide_on_others(found[0].path, read([found[0].id])[found[0].id])
    broken = (broken_by_problem(problem, found),) if is_template and not rest.desired.fleet.source.is_strict else ()
    problems = tuple(sorted((*rest.problems, problem)))
    return replace(rest, problems=problems, broken=(*rest.broken, *broken), files=tuple(files))


def _load_source(files: Sequence[SourceFile], *, reading: SourceReading, folder: str | FleetSource) -> Loaded:
    read, caches, facts = reading.read, reading.caches, reading.facts
    home = load_fleet(files, folder=folder, read=read) if isinstance(folder, str) else folder
    if home.problems:
        return Loaded(desired=Desired(), problems=home.problems)
    found = read_everything(files, home, reading)
    read = found.built.reader_of_source_and_built(read)
    elsewhere = partial(scopes_in_unselected_files, files, found.selection.files, read=read, cache=caches.parsed)
    lookup = _Lookup(facts or no_facts, elsewhere)
    parts, lines = _read_parts(home, found, lookup, caches.checked), Lines(read)
    repository = RepositoryFiles(files, folder=home.folder, read=read)
    parts = replace(
        parts, lock=read_lock_of_sources((*parts.external.sources, *found.built.implied), repository, caches.contents)
    )
    keep_encrypted_texts(parts.templates, read)
    uses = partial(uses_of_folders, files, home.folder, read, parts.karmada.places)
    choices = choices_of_variants(parts.templates, parts.karmada.places, uses, home.folder)
    left_out = templates_left_out_as_duplicates(parts.templates, choices, lines)
    broken = merged_by_what_they_lack([*_broken_files(parts, lines), *left_out])
    parts = replace(parts, checked=_check_templates_by_schemas(parts, lookup.facts, caches.right))
    unscoped = tuple(_templates_of_unknown_scope(parts) if facts else ())
    broken += (*_broken_by_schemas(parts, lines), *_broken_by_scopes(unscoped, lines))
    hard = (*_file_problems(parts), *lines.located_problems(_manifest_problems(parts, lines)))
    problems = tuple(sorted((*hard, *{each.problem for each in broken})))
    warnings = tuple(sorted((*_file_warnings(parts, problems), *lines.located_problems(_manifest_warnings(parts)))))
    return Loaded(
        desired=desired_without_objects(_desired_in_order(parts, warnings), (each.ref for each, _ in unscoped)),
        problems=problems,
        broken=() if home.fleet.source.is_strict else broken,
        tests=tuple(sorted(parts.tests.tests, key=lambda test: test.name)),
        lines=PlacedLines(Lines(read), parts.places),
        files=tuple(files),
        ignore=home.ignore,
        locked=parts.lock.locked,
        karmada=tuple(place.manifest for _, place in parts.karmada.places),
        choices=choices,
        read_paths=found.built.claimed.union(file.path for file in found.selection.files) - found.built.unbuilt_paths,
        unbuilt_paths=found.built.unbuilt_paths,
    )


def _read_parts(home: FleetSource, found: ReadFiles, lookup: "_Lookup", checked: CheckedManifests) -> _Parts:
    contents = found.contents
    left_out = _unreadable_files(contents)
    roles = roles_of_manifests([place for place in contents.all_manifests if place.file.path not in left_out], home)
    manifests = (place.manifest for place in roles.templates)
    scopes = Scopes.of(manifests, lambda: lookup.facts(home.fleet), home.fleet, lookup.elsewhere)
    roles.remove_misnamed_templates(tuple(problems_of_misnamed_kinds(roles.templates, scopes.is_known)))
    templates = load_templates(roles.templates, is_namespaced=scopes.is_namespaced, fleet=home.fleet, checked=checked)
    karmada = load_karmada_objects(roles.admitted, default_namespace=home.fleet.default_namespace, checked=checked)
    templates.join_variants()
    templates.join_destinations({cluster.name for cluster in karmada.objects.clusters})
    templates.leave_out_repetitions()
    return _Parts(
        home=home,
        selection=found.selection,
        contents=contents,
        built=found.built,
        roles=roles,
        scopes=scopes,
        karmada=karmada,
        templates=templates,
        webhooks=load_webhooks(roles.webhooks),
        tests=load_tests(roles.tests, is_namespaced=scopes.is_namespaced, fleet=home.fleet),
        external=load_external_sources(roles.sources),
    )


def _unreadable_files(contents: Contents) -> frozenset[str]:
    """Return the paths of the files that can be left out: they cannot be read, and mention no API that decides."""
    unreadable = {each.file.path for each in contents.unreadable}
    return frozenset(unreadable - {each.file.path for each in contents.unreadable if each.is_ours})


def _broken_files(parts: _Parts, lines: Lines) -> Iterator[Broken]:
    """Yield the builds, files and manifests that can be left out."""
    yield from parts.built.broken
    left_out = _unreadable_files(parts.contents)
    for each in parts.contents.unreadable:
        if each.file.path in left_out:
            yield replace(broken_by_problem(each.problem, [each.file]), is_unreadable=parts.is_delivering)
    for file in parts.selection.too_big:
        message = f"{file.size} bytes, but at most {MAX_FILE_SIZE} are read"
        yield broken_by_problem(Problem(file.path, 0, "", message, IGNORE_HINT), [file])
    for found in (*parts.contents.problems, *parts.templates.problems):
        broken = broken_by_problem(lines.located_problem(found), [found.place.file])
        yield replace(broken, loses_object=parts.is_delivering)


def _broken_by_schemas(parts: _Parts, lines: Lines) -> Iterator[Broken]:
    """Yield what is wrong with templates by the schemas of their kinds."""
    for each in parts.refused_problems:
        broken = broken_by_problem(lines.located_problem(each.found), [each.found.place.file])
        yield replace(broken, is_kept=True, refs=(each.template.ref,), loses_object=True)


def _templates_of_unknown_scope(parts: _Parts) -> Iterator[tuple[Template, FieldProblem]]:
    return problems_of_unknown_scopes(parts.templates.unscoped, parts.karmada.objects.policies)


def _broken_by_scopes(unscoped: Iterable[tuple[Template, FieldProblem]], lines: Lines) -> Iterator[Broken]:
    """Yield the templates of which nothing says whether they live in namespaces."""
    for template, found in unscoped:
        broken = broken_by_problem(lines.located_problem(found), [found.place.file])
        yield replace(broken, refs=(template.ref,), loses_object=True)


def _check_templates_by_schemas(parts: _Parts, facts: FactsOf, known: RightManifests | None) -> CheckedTemplates:
    """Return what the schemas of their kinds do not allow in templates."""
    if parts.home.fleet.validation is TemplateValidation.OFF:
        return CheckedTemplates()
    templates = [template for template, _ in parts.templates.placed]
    clusters = partial(clusters_corrected_by_facts, parts.karmada.objects.clusters)
    checks = SchemaChecks(lambda: clusters(facts(parts.home.fleet)), templates, known=known)
    checked = checks.check_templates((*parts.templates.placed, *parts.templates.variants))
    karmada = parts.karmada.objects
    return checked.with_overrides(karmada.override_policies) if karmada.policies else checked


def _manifest_problems(parts: _Parts, lines: Lines) -> Iterator[FieldProblem]:
    """Yield the problems of manifests, one by one and compared with each other."""
    karmada, webhooks = parts.karmada, parts.webhooks
    for found in (parts.built, parts.roles, karmada, webhooks, parts.tests, parts.external):
        yield from found.problems
    placed = ((str(template.ref), place) for template, place in webhooks.placed)
    yield from problems_of_duplicates(
        [*placed, *karmada.places, *parts.tests.admitted, *parts.external.admitted], lines
    )
    yield from kinds_of_equal_letters(parts.templates.placed, lines)
    yield from problems_of_former_names_in_use(_clusters_with_places(karmada))
    yield from problems_of_admitted_objects(karmada, parts.home.fleet)
    if parts.home.fleet.secrets is Permission.REFUSE:
        yield from problems_of_readable_secrets(parts.templates.placed, is_refused=True)


def _clusters_with_places(karmada: AdmittedObjects) -> Iterator[tuple[Cluster, LocatedManifest]]:
    places = {(place.file.path, place.number): place for _, place in karmada.places}
    return ((each, places[each.path, each.document]) for each in karmada.objects.clusters)


def _manifest_warnings(parts: _Parts) -> Iterator[FieldProblem]:
    """Yield the warnings: those of manifests, absent clusters, Secrets in clear text."""
    yield from parts.built.warnings
    gates = parts.home.fleet.feature_gates
    yield from warnings_not_lifted_by_gates((*parts.karmada.warnings, *parts.webhooks.warnings), gates)
    yield from warnings_of_idle_gates(parts.roles.fleets, parts.home.fleet)
    yield from parts.templates.warnings
    yield from warnings_of_idle_kinds(parts.templates.placed)
    yield from parts.findings_that_only_warn
    yield from parts.tests.warnings
    yield from parts.external.warnings
    yield from lock_warnings(parts.external, parts.lock.locked)
    known = {cluster.name for cluster in parts.karmada.objects.clusters}
    kinds = (*_POLICIES, PRICE_KIND) if known else _POLICIES
    places = (place for _, place in parts.karmada.places if place.manifest["kind"].endswith(kinds))
    yield from warnings_of_absent_clusters(places, known)
    yield from warnings_of_settings(parts.roles.fleets, parts.home.fleet, parts.karmada.objects)
    if parts.home.fleet.secrets is Permission.ALLOW:
        yield from problems_of_readable_secrets(parts.templates.placed, is_refused=False)


def _file_problems(parts: _Parts) -> tuple[Problem, ...]:
    left_out = _unreadable_files(parts.contents)
    unreadable = (each.problem for each in parts.contents.unreadable if each.file.path not in left_out)
    return (*parts.lock.problems, *unreadable, *_problems_of_clear_text_credentials(parts))


def _problems_of_clear_text_credentials(parts: _Parts) -> Iterator[Problem]:
    """Yield a problem for each file of credentials in clear text, where argosy.yaml refuses what can be read."""
    if parts.home.fleet.secrets is Permission.REFUSE:
        for each in parts.contents.skipped:
            if each.reason is Reason.CREDENTIALS:
                message = "holds credentials in clear text, and argosy.yaml says secrets: Refuse"
                yield Problem(each.path, 0, "", message, "take it out of Git, and have the credentials changed")


def _file_warnings(parts: _Parts, problems: Sequence[Problem]) -> Iterator[Problem]:
    if not parts.contents.all_manifests and not problems:
        yield Problem(parts.home.folder or ".", 0, "", "no file here holds a Kubernetes manifest")
    yield from warnings_of_unlisted_files(parts.selection.skipped)
    refused = parts.home.fleet.secrets is Permission.REFUSE
    for each in (*parts.selection.skipped, *parts.contents.skipped):
        if each.reason in WARNED and not (refused and each.reason is Reason.CREDENTIALS):
            yield Problem(each.path, 0, "", f"not read: {each.reason}")


def _desired_in_order(parts: _Parts, warnings: tuple[Problem, ...]) -> Desired:
    """Return the values in order."""
    kinds = {(template.ref.group, template.ref.kind) for template, _ in parts.templates.placed}
    return Desired(
        **parts.karmada.fields_in_order(),
        fleet=parts.home.fleet,
        templates=tuple(sorted((template for template, _ in parts.templates.placed), key=lambda each: each.ref)),
        webhooks=tuple(sorted((template for template, _ in parts.webhooks.placed), key=lambda each: each.ref)),
        warnings=warnings,
        skipped=tuple(sorted((*parts.selection.skipped, *parts.contents.skipped))),
        fact_scoped_kinds=frozenset(kind for kind in kinds if parts.scopes.is_fact_scoped(*kind)),
        right_minors=parts.checked.right_minors,
        judged_by_clusters=parts.checked.overridden,
        files=len({place.file.path for place in parts.contents.all_manifests}),
        tools=parts.built.tools,
        is_built_by_facts=parts.built.is_by_facts,
        charts=parts.built.charts,
        taken=parts.built.taken,
        builds=builds_of((*parts.templates.placed, *parts.templates.variants)),
        source_digests=_digests_of_source(parts, kinds),
    )


def _digests_of_source(parts: _Parts, kinds: Iterable[tuple[str, str]]) -> SourceDigests:
    """Return the digests of a source, and of the scopes that its kinds have for a reason beside its files."""
    files = (*parts.selection.files, *([parts.lock.file] if parts.lock.file else []))
    placed = (*parts.templates.placed, *parts.templates.variants)
    digests = source_digests_of(files, parts.contents, placed, parts.home.path)
    custom_kinds = sorted(kind for kind in kinds if kind not in BUILT_IN)
    if not custom_kinds:
        return digests
    scopes = (f"{group}\0{kind}\0{parts.scopes.is_namespaced(group, kind)}\n" for group, kind in custom_kinds)
    return digests.with_rest("".join(scopes))
