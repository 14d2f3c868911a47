"""Everything a commit of the source says, as values - or every problem it has, each with its file and line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from overrides.policy import OverridePolicy
from render.cluster import Cluster
from render.errors import InputError, Problem
from render.fleet import Fleet, Permission
from render.model import Template
from render.policy import PropagationPolicy

from .desired_checks import absent_clusters, doubles, secrets, unknown_scopes
from .desired_documents import IGNORE_HINT, Contents, Found, ParseCache, ReadBlobs, load_manifests
from .desired_fleet import FleetSource, load_fleet
from .desired_karmada import KarmadaObjects, karmada_objects
from .desired_lines import Lines
from .desired_roles import sorted_by_role
from .desired_templates import Templates, load_templates
from .source import MAX_FILE_SIZE, WARNED, Selection, Skipped, SourceFile, select_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """The source of one commit, checked and defaulted; every tuple is sorted by name.

    ``templates`` are all objects that may be propagated. ``customizations`` and ``webhooks`` teach the interpreter.
    ``files`` counts the files with manifests, ``skipped`` names those that are not read.
    """

    fleet: Fleet = field(default_factory=Fleet)
    templates: tuple[Template, ...] = ()
    policies: tuple[PropagationPolicy, ...] = ()
    override_policies: tuple[OverridePolicy, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    customizations: tuple[Template, ...] = ()
    webhooks: tuple[Template, ...] = ()
    warnings: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: int = 0

    @property
    def crds(self) -> tuple[Template, ...]:
        """The CustomResourceDefinitions of the source."""
        return self._of("apiextensions.k8s.io", "CustomResourceDefinition")

    @property
    def namespaces(self) -> tuple[Template, ...]:
        """The Namespaces of the source."""
        return self._of("", "Namespace")

    @property
    def priority_classes(self) -> tuple[Template, ...]:
        """The PriorityClasses of the source, which policies may name."""
        return self._of("scheduling.k8s.io", "PriorityClass")

    def _of(self, group: str, kind: str) -> tuple[Template, ...]:
        return tuple(each for each in self.templates if each.ref.kind == kind and each.ref.group == group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What could be made of a source: the values of all that is right, and every problem of the rest, sorted."""

    desired: Desired
    problems: tuple[Problem, ...] = ()


def load_desired(
    files: Sequence[SourceFile], *, read: ReadBlobs, folder: str = "", cache: ParseCache | None = None
) -> Desired:
    """Load a fleet's source from the files of a snapshot; InputError lists every problem.

    ``folder`` is where the user stands: the fleet is the one whose argosy.yaml is there or above, or else the only one
    below; with none at all the folder itself, and every default.
    """
    loaded = load_source(files, read=read, folder=folder, cache=cache)
    if loaded.problems:
        raise InputError(loaded.problems)
    return loaded.desired


def load_source(
    files: Sequence[SourceFile], *, read: ReadBlobs, folder: str = "", cache: ParseCache | None = None
) -> Loaded:
    """Load what can be loaded, beside the problems of what cannot; warnings are in the value."""
    home = load_fleet(files, folder=folder, read=read)
    if home.problems:
        return Loaded(desired=Desired(), problems=home.problems)
    selection = select_files(files, folder=home.folder, paths=home.fleet.source.paths, ignore=home.ignore)
    contents = load_manifests(selection.files, read=read, cache=cache)
    roles = sorted_by_role(contents.manifests, home)
    karmada = karmada_objects(roles.admitted, default_namespace=home.fleet.default_namespace)
    templates = load_templates(
        roles.templates,
        is_namespaced=_is_namespaced,
        default_namespace=home.fleet.default_namespace,
    )
    lines = Lines(read)
    desired = _desired(home.fleet, karmada, templates)
    found = [*contents.found, *roles.problems, *karmada.problems, *templates.problems]
    found += _mutual_problems(karmada, templates, home.fleet, lines)
    warnings = [*karmada.warnings, *templates.warnings, *_mutual_warnings(karmada, templates, home.fleet)]
    skipped = tuple(sorted((*selection.skipped, *contents.skipped)))
    desired = replace(
        desired,
        warnings=tuple(sorted((*_file_warnings(home, contents, skipped), *lines.located(warnings)))),
        skipped=skipped,
        files=len(selection.files) - len(contents.skipped),
    )
    problems = (*_size_problems(selection), *contents.problems, *lines.located(found))
    return Loaded(desired=desired, problems=tuple(sorted(problems)))


def _desired(fleet: Fleet, karmada: KarmadaObjects, templates: Templates) -> Desired:
    """Return the values in order, without a word about them."""
    return Desired(
        fleet=fleet,
        templates=tuple(sorted((template for template, _ in templates.placed), key=lambda each: each.ref)),
        policies=tuple(sorted(karmada.policies, key=lambda policy: (policy.namespace, policy.name))),
        override_policies=tuple(sorted(karmada.override_policies, key=lambda policy: (policy.namespace, policy.name))),
        clusters=tuple(sorted(karmada.clusters, key=lambda cluster: cluster.name)),
        customizations=tuple(sorted(karmada.customizations, key=lambda each: each.ref)),
        webhooks=tuple(sorted(karmada.webhooks, key=lambda each: each.ref)),
    )


def _mutual_problems(karmada: KarmadaObjects, templates: Templates, fleet: Fleet, lines: Lines) -> Iterable[Found]:
    named = [*((str(template.ref), place) for template, place in templates.placed), *karmada.admitted]
    yield from doubles(named, lines)
    yield from unknown_scopes(templates.unscoped, karmada.policies)
    if fleet.secrets is Permission.REFUSE:
        yield from secrets(templates.placed, is_refused=True)


def _mutual_warnings(karmada: KarmadaObjects, templates: Templates, fleet: Fleet) -> Iterable[Found]:
    policies = (place for _, place in karmada.admitted if place.manifest["kind"].endswith("Policy"))
    yield from absent_clusters(policies, {cluster.name for cluster in karmada.clusters})
    if fleet.secrets is Permission.ALLOW:
        yield from secrets(templates.placed, is_refused=False)


def _file_warnings(home: FleetSource, contents: Contents, skipped: Iterable[Skipped]) -> Iterator[Problem]:
    if not contents.manifests and not contents.problems:
        yield Problem(home.folder or ".", 0, "", "no file here holds a Kubernetes manifest")
    for each in skipped:
        if each.reason in WARNED:
            yield Problem(each.path, 0, "", f"not read: {each.reason}")


def _size_problems(selection: Selection) -> Iterable[Problem]:
    return (
        Problem(file.path, 0, "", f"{file.size} bytes, but at most {MAX_FILE_SIZE} are read", IGNORE_HINT)
        for file in selection.too_big
    )


_CLUSTER_SCOPED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PriorityClass"}


def _is_namespaced(_group: str, kind: str) -> bool | None:
    return kind not in _CLUSTER_SCOPED
