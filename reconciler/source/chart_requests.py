"""Requests for ``helm``: what is rendered of a chart, and the distinct requests of all classes of clusters."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.bits import Mask
from render.documents import emit
from render.model import Manifest, Template
from render.values import SelectiveStruct
from render.words import listed

from .broken import Broken
from .built_files import BuildPart, BuiltVariant
from .chart_classes import ChartMembers, rule_of
from .manifests import FieldProblem, LocatedManifest
from .provenance import digest_of, file_parts

_NAMED = 6
NEWEST_KUBERNETES = "1.37.0"
"""The version of Kubernetes that charts are rendered for where nothing else is declared."""


class ChartRequest(SelectiveStruct, frozen=True, kw_only=True):
    """One release to render: its name and namespace, the chart, its values in order, and what it may assume.

    ``home`` is the place of the chart for people: a folder, or a Source. ``contents`` reads its files, by path below
    the chart; ``digest`` names them. ``inputs`` are the files of the repository that all of it depends on. A chart that
    some clusters ask for in another way has several requests; ``variants`` are all of them, ``variant`` is the number
    of this one. ``number`` tells it from other charts of the same object, and ``destination`` are the clusters that it
    is for (None: any). Without ``has_schemas`` no schema of the chart is asked about its values. ``post_renderers`` are
    the changes of kustomizations that are made to what it renders, and ``common_metadata`` is what each object gets.
    """

    UNSHOWN = ("contents", "values", "chart_files")
    UNCOMPARED = ("contents",)

    place: LocatedManifest
    release: str
    namespace: str
    home: str
    digest: str
    contents: Callable[[], Mapping[str, bytes]]
    inputs: tuple[tuple[str, bytes], ...] = ()
    values: tuple[bytes, ...] = ()
    kube_version: str = NEWEST_KUBERNETES
    api_versions: tuple[str, ...] = ()
    has_hooks: bool = False
    has_crds: bool = True
    has_schemas: bool = True
    post_renderers: tuple[bytes, ...] = ()
    common_metadata: Mapping[str, Any] = field(default_factory=dict)
    variant: int = 0
    variants: tuple[BuiltVariant, ...] = ()
    number: int = 0
    destination: BuiltVariant | None = None
    maker: str = ""
    version: str = ""
    chart_files: tuple[tuple[str, bytes], ...] = ()
    value_names: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[BuildPart, ...]:
        """Everything it is made of, for people; values that stand nowhere else are those of their clusters."""
        where = f" for {listed(sorted(self.clusters), _NAMED)}" if self.variant else ""
        settings = repr((self.release, self.namespace, self.has_hooks, self.has_crds)).encode()
        changes = (*self.post_renderers, *([emit(self.common_metadata)] if self.common_metadata else []))
        return (
            BuildPart("chart", self.home, self.version, self.digest),
            *file_parts("chart file", dict(self.chart_files)),
            *(
                BuildPart("values", name if name in dict(self.inputs) else f"{name}{where}", "", digest_of(values))
                for name, values in zip(self.value_names, self.values, strict=True)
            ),
            BuildPart("Kubernetes", where.strip(), self.kube_version),
            BuildPart("APIs", where.strip(), "", digest_of(*(each.encode() for each in self.api_versions))),
            BuildPart("release", "", "", digest_of(settings)),
            *(
                BuildPart("post-renderers", where.strip(), "", digest_of(each))
                for each in [b"".join(changes)]
                if changes
            ),
        )

    @property
    def asked(self) -> tuple[object, ...]:
        """Everything that decides what is rendered; requests that are equal in it are one."""
        names = (self.release, self.namespace, self.digest, self.kube_version, self.api_versions)
        after = (self.post_renderers, emit(self.common_metadata))
        return (*names, self.values, self.has_hooks, self.has_crds, self.has_schemas, *after)

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters it is for; none where there is no other request for the chart."""
        return self.variants[self.variant].clusters if self.variants else frozenset()


class ChartRequests(Struct, frozen=True, kw_only=True):
    """The requests of a source, the problems of others, and the folders of charts that are rendered.

    ``problems`` are those of HelmCharts, ``broken`` are releases of other tools that cannot be read.

    ``taken`` are the places of all of these by identity: none is an object of its own. ``charts`` are what asks, as
    override policies select it. ``is_by_facts``: some request depends on what members are observed to be.
    """

    requests: tuple[ChartRequest, ...] = ()
    problems: tuple[FieldProblem, ...] = ()
    broken: tuple[Broken, ...] = ()
    warnings: tuple[FieldProblem, ...] = ()
    folders: frozenset[str] = frozenset()
    taken: frozenset[int] = frozenset()
    charts: tuple[Template, ...] = ()
    is_by_facts: bool = False


class ChartClasses(Struct):
    """The distinct requests for one chart, in the order they were found: clusters, rules and request by what is asked.

    ``is_by_facts``: the chart asks what members are, and does not say it itself.
    """

    found: dict[tuple[object, ...], tuple[Mask, tuple[str, ...], ChartRequest]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    is_by_facts: bool = False

    def add(self, clusters: Mask, rules: tuple[str, ...], request: ChartRequest) -> None:
        """Add a request for some clusters; equal ones are one, named by the fewest rules that lead to it."""
        known = self.found.get(request.asked)
        if known is not None:
            clusters, rules, request = clusters | known[0], min(rules, known[1], key=len), known[2]
        self.found[request.asked] = (clusters, rules, request)

    def requests(self, chart: Manifest, place: LocatedManifest, fleet: ChartMembers) -> list[ChartRequest]:
        """Return the requests: first that with the fewest rules, of several the one for most clusters."""
        ordered = sorted(self.found.values(), key=lambda each: (len(each[1]), -each[0].bit_count(), each[0] & -each[0]))
        if len(ordered) <= 1:
            return [request for _, _, request in ordered]
        variants = tuple(
            BuiltVariant(fleet.names(clusters), rule_of(chart, place, rules)) for clusters, rules, _ in ordered
        )
        return [replace(request, variant=number, variants=variants) for number, (_, _, request) in enumerate(ordered)]
