"""Changes that Flux makes to what a chart rendered: each post-renderer is a kustomization of it, then comes metadata.

Definitions among the ``crds`` of a chart stay as they are, as helm hands a post-renderer what templates made alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.source.built_files import Origin
from reconciler.source.files import KUSTOMIZATIONS
from reconciler.source.manifests import ParseCache
from render.documents import document_texts, emit, read_documents
from render.model import mapping_or_empty

from .budget import BuildBudget
from .builds import MISSING
from .common_metadata import object_with_common_metadata
from .folders import INSTALL
from .requests import ChartRequest
from .sandbox import Run, RunLimits, run_in_copy
from .tools import Tool, find_kustomize, shortened_complaint

_OBJECTS = "objects.yaml"
_HEAD = f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{_OBJECTS}]\n".encode()
_TEMPLATES = "/templates/"


class PostRendered(Struct, frozen=True, kw_only=True):
    """The output of a chart after its post-renderers, or the complaint of one that failed."""

    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    complaint: str = ""
    hint: str = ""
    is_bounded: bool = False
    is_over_limit: bool = False


class _ChartObject(NamedTuple):
    """An object that a chart made: its text, its value, and the template that it came from."""

    text: bytes
    value: Any
    origin: Origin


class PostRendering(Struct, frozen=True, kw_only=True):
    """The post-renderers of charts; ``tool`` is looked for where some chart has one (None: it is not there)."""

    limits: RunLimits
    tool: Tool | None = None
    budget: BuildBudget = field(default_factory=BuildBudget)

    @classmethod
    def of(
        cls, requests: Iterable[ChartRequest], path: str, *, limits: RunLimits, cache: ParseCache | None
    ) -> "PostRendering":
        """Return what runs the post-renderers of charts; ``path`` is where the tool is looked for."""
        is_asked = any(request.post_renderers for request in requests)
        return cls(limits=limits, tool=find_kustomize(path, cache) if is_asked else None)

    def key_of(self, request: ChartRequest) -> bytes:
        """Return all that the outcome depends on, beside what helm makes."""
        version = self.tool.version if self.tool and request.post_renderers else ""
        return b"\0".join((version.encode(), emit(request.common_metadata), *request.post_renderers))

    def outcome(self, request: ChartRequest, output: bytes, origins: Sequence[Origin]) -> PostRendered:
        """Return what becomes of the output of a chart."""
        made = list(map(_ChartObject, document_texts(output), _objects_of_output(output), origins))
        kept = [each for each in made if _TEMPLATES not in each.origin.path]
        changed = [each for each in made if _TEMPLATES in each.origin.path]
        for changes in request.post_renderers:
            if self.tool is None:
                return PostRendered(complaint=f"{MISSING}, so that its post-renderers cannot be run", hint=INSTALL)
            contents = {KUSTOMIZATIONS[0]: _HEAD + changes, _OBJECTS: _yaml_stream_of_objects(changed)}
            run = self._run_kustomize(self.tool, contents)
            if run.complaint:
                complaint = f"{self.tool.version} cannot run its post-renderers: {shortened_complaint(run.complaint)}"
                return PostRendered(complaint=complaint, is_bounded=run.is_bounded, is_over_limit=run.is_over_limit)
            changed = _objects_recognized(run.output, changed, Origin(request.home))
        if request.common_metadata:
            values = [object_with_common_metadata(each.value, request.common_metadata) for each in changed]
            changed = [
                _ChartObject(emit(value), value, each.origin) for value, each in zip(values, changed, strict=True)
            ]
        every = [*kept, *changed]
        return PostRendered(output=_yaml_stream_of_objects(every), origins=tuple(each.origin for each in every))

    def _run_kustomize(self, tool: Tool, contents: Mapping[str, bytes]) -> Run:
        command = (*tool.command, ".")
        return self.budget.run(
            self.limits, lambda limits: run_in_copy(command, contents, limits=limits, confinement=tool.confinement)
        )


def _objects_of_output(output: bytes) -> list[Any]:
    return [document.value for document in read_documents(output)[0]]


def _yaml_stream_of_objects(objects: Iterable[_ChartObject]) -> bytes:
    return b"".join(b"---\n" + each.text.strip(b"\n").removeprefix(b"---\n") + b"\n" for each in objects)


def _objects_recognized(output: bytes, before: Iterable[_ChartObject], other: Origin) -> list[_ChartObject]:
    """Return objects as kustomize left them, with the origins that they had; ``other`` is that of one with a new name.

    An object that a template made twice, as helm would refuse later, has the last origin of both.
    """
    origins = {_identity_of_object(each.value): each.origin for each in before}
    values = _objects_of_output(output)
    return [
        _ChartObject(text, value, origins.get(_identity_of_object(value), other))
        for text, value in zip(document_texts(output), values, strict=True)
    ]


def _identity_of_object(value: Any) -> tuple[object, ...]:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    named = mapping_or_empty(metadata)
    return (value.get("kind"), named.get("namespace"), named.get("name")) if isinstance(value, dict) else ()
