"""Everything a commit of the source says, as values - or every problem it has, each with its file and line."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from overrides.policy import OverridePolicy
from render.cluster import Cluster
from render.errors import InputError, Problem
from render.fleet import Fleet
from render.model import Manifest, Template, group_of
from render.policy import PropagationPolicy

from .desired_documents import ParseCache, Placed, ReadBlobs, load_manifests
from .desired_fleet import GROUP, load_fleet
from .desired_karmada import IS_NAMESPACED, karmada_objects
from .desired_lines import located
from .desired_templates import templates_of
from .source import Skipped, SourceFile, select_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """The source of one commit, checked and defaulted; every tuple is sorted by name.

    ``templates`` are all objects that may be propagated; ``crds``, ``namespaces`` and ``priority_classes`` are those
    of them that mean something to Argosy itself. ``customizations`` and ``webhooks`` teach the interpreter.
    ``skipped`` are files that are not read, ``files`` how many are.
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


class Role(Enum):
    """What a manifest is to Argosy."""

    TEMPLATE = 0
    KARMADA = 1
    ARGOSY = 2


def role_of(manifest: Manifest) -> Role:
    """Return what a manifest is to Argosy, by its group and kind."""
    group = group_of(manifest["apiVersion"])
    if group == GROUP:
        return Role.ARGOSY
    return Role.KARMADA if (group, manifest["kind"]) in IS_NAMESPACED else Role.TEMPLATE


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
    source = load_fleet(files, folder=folder, read=read)
    if source.problems:
        return Loaded(desired=Desired(), problems=tuple(sorted(source.problems)))
    selection = select_files(files, folder=source.folder, paths=source.fleet.source.paths, ignore=source.ignore)
    contents = load_manifests(selection.files, read=read, cache=cache)
    by_role: dict[Role, list[Placed]] = {role: [] for role in Role}
    for place in contents.manifests:
        by_role[role_of(place.manifest)].append(place)
    karmada = karmada_objects(by_role[Role.KARMADA], default_namespace=source.fleet.default_namespace)
    templates = templates_of(
        by_role[Role.TEMPLATE], is_namespaced=_is_namespaced, default_namespace=source.fleet.default_namespace
    )
    warnings = located([*karmada.warnings, *templates.warnings], read)
    found = [*contents.found, *karmada.problems, *templates.problems]
    desired = Desired(
        fleet=source.fleet,
        templates=tuple(sorted(templates.templates, key=lambda template: template.ref)),
        policies=tuple(sorted(karmada.policies, key=lambda policy: (policy.namespace, policy.name))),
        override_policies=tuple(sorted(karmada.override_policies, key=lambda policy: (policy.namespace, policy.name))),
        clusters=tuple(sorted(karmada.clusters, key=lambda cluster: cluster.name)),
        customizations=tuple(sorted(karmada.customizations, key=lambda template: template.ref)),
        webhooks=tuple(sorted(karmada.webhooks, key=lambda template: template.ref)),
        warnings=tuple(sorted(warnings)),
        skipped=(*selection.skipped, *contents.skipped),
        files=len(selection.files),
    )
    return Loaded(desired=desired, problems=tuple(sorted((*contents.problems, *located(found, read)))))


_CLUSTER_SCOPED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PriorityClass"}


def _is_namespaced(_group: str, kind: str) -> bool | None:
    return kind not in _CLUSTER_SCOPED
