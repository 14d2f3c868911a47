"""Charts rendered by ``helm template``, each remembered by exactly what it depends on, and rendered twice at first.

helm gets no plugins and an empty home, a version of Kubernetes and API versions that are declared, and no cluster. What
differs between two renders would move objects in every pass, so it is refused, with the function that is to blame.
"""

import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from overrides.secrecy import holds_secrets
from reconciler.locked.model import UnavailableSource
from reconciler.source.built_files import BuiltFile, Origin
from reconciler.source.manifests import ParseCache
from render.documents import Document, document_texts, read_documents
from render.expressions import lazy_expression
from render.gitobjects import git_object_id
from render.model import is_encrypted_by_sops

from .budget import BuildBudget, KnownFailure, failure_to_store, is_stored_failure
from .chart_schemas import checkable_chart
from .post_rendering import PostRendering
from .requests import ChartRequest
from .sandbox import Run, RunLimits, run_in_copy
from .stored_output import output_of_stored, output_to_store
from .tools import Tool, shortened_complaint

_FORM = b"helm 5"
_LEAST = 0.01
"""The seconds that a second render has at least; none is a limit that nothing keeps."""
_HOOK = "helm.sh/hook"
_TEST_HOOKS = frozenset({"test", "test-success", "test-failure"})
_FIRST, _VARIANT, _CHART = 100_000, 1 << 40, 1 << 80
"""Numbers that the manifests of one chart, of one of its variants, and of another chart have for themselves."""
_SOURCE = lazy_expression(r"# Source: [^/\n]+/(.+)")
_CHANCE = (
    "randAlphaNum|randAlpha|randNumeric|randAscii|randBytes|randInt|shuffle|uuidv4|genPrivateKey|genCAWithKey|genCA"
    "|genSelfSignedCertWithKey|genSelfSignedCert|genSignedCertWithKey|genSignedCert|htpasswd|bcrypt|encryptAES"
)
_OUTSIDE = "now|lookup|getHostByName"
_SAID = {
    "now": "asks the clock, so that a later render may differ",
    "lookup": "asks a cluster, and a render has none: it finds nothing",
    "getHostByName": "asks the network, and a render has none: it finds nothing",
}
_DIFFERENT = "two renders differ: "
_NOTES = "/NOTES.txt"
_AGGREGATED = "apiregistration.k8s.io/v1"
"""The API of all servers that helm does not count among its own, so that charts would take an older version of it."""

_WITHOUT_DEPENDENCIES = "missing in charts/ directory"
_VENDOR = "commit what 'helm dependency build' puts into its folder charts/, as nothing is fetched"
_ELSEWHERE = "refers to another file or address, which no render reads, so that no values are compared with it"
_ACTION = lazy_expression(r"\{\{.*?(?:\}\}|\Z)", re.DOTALL)
_COMMENT = lazy_expression(r"\{\{-?\s*/\*")


class Rendering(Struct, frozen=True, kw_only=True):
    """The output of one chart, with warnings and the hooks that were left out; or the complaint of one that failed."""

    request: ChartRequest
    output: bytes = b""
    origins: tuple[Origin, ...] = ()
    hooks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    complaint: str = ""
    hint: str = ""
    is_bounded: bool = False
    is_over_limit: bool = False
    is_secret: bool = False

    @property
    def is_variant(self) -> bool:
        """Return whether it is for clusters that a rule targets or facts tell apart, and not for all others."""
        return self.request.variant > 0

    @property
    def file(self) -> BuiltFile:
        """The output as a file of the source, beside the HelmChart in the file that it stands in."""
        return BuiltFile(
            path=self.request.place.file.path,
            id=git_object_id("blob", self.output),
            size=len(self.output),
            namespace=self.request.namespace,
            first=(self.request.place.number + 1) * _FIRST
            + self.request.variant * _VARIANT
            + self.request.number * _CHART,
            build=self.request.place.number + self.request.number * _CHART,
            destination=self.request.destination,
            variant=self.request.variant,
            variants=self.request.variants,
            maker=self.request.maker,
            parts=self.request.parts,
            inputs=self.request.inputs,
            origins=self.origins,
        )


class Renderings(Struct, frozen=True, kw_only=True):
    """Charts rendered by one helm; ``cache`` remembers them."""

    tool: Tool
    post_rendering: PostRendering
    cache: ParseCache | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    budget: BuildBudget = field(default_factory=BuildBudget)

    def of(self, requests: Iterable[ChartRequest]) -> Iterator[Rendering]:
        """Yield the rendering of each request; what was rendered before comes first, while there is time for all."""
        by_key = {self._key_of_rendering(request): request for request in requests}
        found = self.cache.get_many(by_key) if self.cache is not None else {}
        known = {
            key: stored for key, stored in found.items() if not is_stored_failure(stored) or KnownFailure.of(stored)
        }

        def rendered(key: bytes) -> Rendering:
            stored = known.get(key)
            if stored is None:
                return self._fresh_rendering(by_key[key])
            return _rendering_of_stored(by_key[key], stored)

        fresh = {}
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as workers:
            started = {key: workers.submit(rendered, key) for key in sorted(by_key, key=lambda each: each not in known)}
            for key, request in by_key.items():
                rendering = started[key].result()
                yield rendering
                stored = None if key in known else _plain_rendering(request, rendering)
                if stored is not None:
                    fresh[key] = stored
        if self.cache is not None and fresh:
            self.cache.put_many(fresh)

    def _key_of_rendering(self, request: ChartRequest) -> bytes:
        """Return the key of a rendering: the digest of all it depends on; the place only tells two of them apart."""
        place = f"{request.place.file.path}:{request.place.number}:{request.number}"
        facts = (
            self.tool.version,
            place,
            request.digest,
            *self._helm_options(request),
            f"{request.has_hooks} {request.has_schemas}",
        )
        text = "\0".join(facts).encode("utf-8", "surrogateescape")
        digests = b"".join(hashlib.sha256(values).digest() for values in request.values)
        return hashlib.sha256(b"\0".join((_FORM, text, digests, self.post_rendering.key_of(request)))).digest()

    def _helm_options(self, request: ChartRequest) -> list[str]:
        options = [request.release, "chart", "--namespace", request.namespace, "--kube-version", request.kube_version]
        for text in dict.fromkeys((_AGGREGATED, *request.api_versions)):
            options += ["--api-versions", text]
        for number in range(len(request.values)):
            options += ["--values", f"values-{number}.yaml"]
        return [*options, "--include-crds" if request.has_crds else "--skip-crds"]

    def _fresh_rendering(self, request: ChartRequest) -> Rendering:
        """Render a chart twice and compare. Both renders share the time of one."""
        try:
            chart, unasked = checkable_chart(request.contents(), has_schemas=request.has_schemas)
        except UnavailableSource as error:
            return Rendering(request=request, complaint=error.message, hint=error.hint)
        contents = {f"chart/{path}": data for path, data in chart.items()}
        contents |= {f"values-{number}.yaml": values for number, values in enumerate(request.values)}
        command = (*self.tool.command, *self._helm_options(request))
        outputs, left = [], self.limits.seconds
        for _ in range(2):
            begun = time.monotonic()
            run = self.budget.run(
                replace(self.limits, seconds=left),
                lambda limits: run_in_copy(command, contents, limits=limits, confinement=self.tool.confinement),
            )
            if run.complaint:
                return _failed_rendering(request, run)
            left = max(_LEAST, left - (time.monotonic() - begun))
            outputs.append(_rendering_of_output(request, run.output))
        rendering, again = outputs[0], outputs[-1]
        if rendering.output != again.output:
            return _rendering_refused_as_random(rendering, again, chart)
        calls = calls_with_volatile_results(
            chart, {origin.path for origin in rendering.origins}, request.home, is_random=False
        )
        schemas = (f"{request.home}/{path} {_ELSEWHERE}" for path in unasked)
        return self._with_post_rendering(replace(rendering, warnings=(*schemas, *calls)))

    def _with_post_rendering(self, rendering: Rendering) -> Rendering:
        """Return a rendering after what Flux does to it."""
        request = rendering.request
        if rendering.complaint or not (request.post_renderers or request.common_metadata):
            return rendering
        after = self.post_rendering.outcome(request, rendering.output, rendering.origins)
        return replace(
            rendering,
            output=after.output,
            origins=after.origins,
            complaint=after.complaint,
            hint=after.hint,
            is_bounded=after.is_bounded,
            is_over_limit=after.is_over_limit,
            is_secret=_holds_any_secret(each.value for each in read_documents(after.output)[0]),
        )


def _failed_rendering(request: ChartRequest, run: Run) -> Rendering:
    """Return a rendering that failed."""
    said = shortened_complaint(run.complaint)
    return Rendering(
        request=request,
        complaint=said,
        hint=_VENDOR if _WITHOUT_DEPENDENCIES in said else "",
        is_bounded=run.is_bounded,
        is_over_limit=run.is_over_limit,
    )


def _rendering_of_output(request: ChartRequest, output: bytes) -> Rendering:
    """Return output without the hooks that are left out, with the template that each document came from."""
    documents, errors = read_documents(output)
    if errors:
        return Rendering(request=request, complaint=f"its output is no YAML: {errors[0]}")
    left_out = [each for each in documents if _is_hook_left_out(request, _hooks_of(each))]
    kept = [each for each in documents if not _is_hook_left_out(request, _hooks_of(each))]
    sources = _template_of_each_line(output)
    if left_out:
        every = document_texts(output)
        texts = [every[each.index].strip(b"\n") for each in kept]
        output = b"".join(b"---\n" + text.removeprefix(b"---\n") + b"\n" for text in texts)
    return Rendering(
        request=request,
        output=output,
        origins=tuple(_origin_of_document(request, sources, each) for each in kept),
        hooks=tuple(_name_of_document(each) for each in left_out if not _hooks_of(each) <= _TEST_HOOKS),
        is_secret=_holds_any_secret(each.value for each in kept),
    )


def _holds_any_secret(values: Iterable[Any]) -> bool:
    return any(holds_secrets(value) and not is_encrypted_by_sops(value) for value in values)


def _is_hook_left_out(request: ChartRequest, hooks: set[str]) -> bool:
    """Say whether a hook is left out: tests always are, others unless they are asked for."""
    return bool(hooks) and (not request.has_hooks or hooks <= _TEST_HOOKS)


def _hooks_of(document: Document) -> set[str]:
    metadata = document.value.get("metadata") if isinstance(document.value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(_HOOK) if isinstance(annotations, dict) else None
    return {each.strip() for each in text.split(",")} - {"crd-install"} if isinstance(text, str) else set()


def _name_of_document(document: Document) -> str:
    metadata = document.value["metadata"]
    return f"{document.value.get('kind')} {metadata.get('name')} ({', '.join(sorted(_hooks_of(document)))})"


def _template_of_each_line(output: bytes) -> list[str]:
    """Return the template that helm names last, up to each line of its output."""
    found, current = [], ""
    for line in output.decode("utf-8", "replace").split("\n"):
        match = _SOURCE.match(line)
        current = match[1] if match else current
        found.append(current)
    return found


def _origin_of_document(request: ChartRequest, sources: list[str], document: Document) -> Origin:
    path = sources[min(document.line, len(sources)) - 1]
    return Origin(f"{request.home}/{path}" if path else request.home)


def _rendering_refused_as_random(first: Rendering, second: Rendering, chart: Mapping[str, bytes]) -> Rendering:
    """Return why a chart may not be used whose output is another one each time."""
    one, other = ([each.value for each in read_documents(side.output)[0]] for side in (first, second))
    pairs = zip(one, other, first.origins, strict=False)
    paths = {origin.path for value, again, origin in pairs if value != again} or {each.path for each in first.origins}
    calls = list(calls_with_volatile_results(chart, paths, first.request.home, is_random=True))
    blame = calls[0] if calls else f"{min(paths, default=first.request.home)} differs"
    hint = "give the value that it makes up among the values, so that each render is the same"
    return Rendering(request=first.request, complaint=f"{_DIFFERENT}{blame}", hint=hint)


def _plain_rendering(request: ChartRequest, rendering: Rendering) -> Any:
    """Return a rendering as it is remembered; None for a failure that is not."""
    if rendering.complaint:
        failure = KnownFailure(complaint=rendering.complaint, hint=rendering.hint, is_bounded=rendering.is_bounded)
        is_ours = rendering.complaint.startswith(_DIFFERENT)
        try:
            inputs = {} if is_ours else _inputs_of_rendering(request)
        except UnavailableSource:
            return None
        return failure_to_store(failure, inputs, is_over_limit=rendering.is_over_limit)
    output = output_to_store(rendering.output, _inputs_of_rendering(request) if rendering.is_secret else None)
    origins = tuple(map(tuple, rendering.origins))
    return ((0, (output, origins, rendering.hooks, rendering.warnings)),)


def _inputs_of_rendering(request: ChartRequest) -> dict[str, bytes]:
    """Return the contents that a chart is rendered from: its files, its values, and what changes its output."""
    values = {f"values {number}": each for number, each in enumerate(request.values)}
    changes = {f"post-renderer {number}": each for number, each in enumerate(request.post_renderers)}
    return values | changes | dict(request.contents())


def _rendering_of_stored(request: ChartRequest, stored: Any) -> Rendering:
    failure = KnownFailure.of(stored)
    if failure is not None:
        return Rendering(request=request, complaint=failure.complaint, hint=failure.hint, is_bounded=failure.is_bounded)
    kept, origins, hooks, warnings = stored[0][1]
    try:
        output = output_of_stored(kept, partial(_inputs_of_rendering, request))
    except UnavailableSource as error:
        return Rendering(request=request, complaint=error.message, hint=error.hint)
    return Rendering(
        request=request,
        output=output,
        origins=tuple(Origin(path, line) for path, line in origins),
        hooks=tuple(hooks),
        warnings=tuple(warnings),
    )


def calls_with_volatile_results(
    chart: Mapping[str, bytes], paths: Collection[str], home: str, *, is_random: bool
) -> Iterator[str]:
    """Yield the calls in templates of a chart, each with file and line, first those of the templates at these paths.

    ``is_random``: calls of chance and of the clock, which make two renders differ; else those that depend on what is
    outside.
    """
    names = re.compile(rf"(?<![\w.$\"])({f'{_CHANCE}|now' if is_random else _OUTSIDE})(?![\w\"])")
    templates = [path for path in chart if "templates/" in path and not path.endswith(_NOTES)]
    for path in sorted(templates, key=lambda each: (f"{home}/{each}" not in paths, each)):
        text = chart[path].decode("utf-8", "replace")
        line, counted = 1, 0
        for action in _ACTION.finditer(text):
            if _COMMENT.match(action[0]):
                continue
            for call in names.finditer(action[0]):
                here = action.start() + call.start()
                line, counted = line + text.count("\n", counted, here), here
                said = _SAID.get(call[1], "makes up a value")
                yield f"{home}/{path}:{line}: {call[1]} {said}"
