"""Sources of the source: other repositories and charts that it names, admitted, and those that it implies.

An implied Source has no document. Its place is the one that a HelmRelease, an Application or a Kustomization names,
with the version asked for; its name follows from both, so that no object has a say in how that of another is locked.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.locked.lock_file import parse_lock
from reconciler.locked.model import ExternalSource, Lock, SourceType, UnavailableSource
from reconciler.locked.reading import LockedFiles, RepositoryFiles, StoredFile
from reconciler.locked.store import ContentStore
from render.admission import admit_as_kind
from render.admission.kinds import render_kinds
from render.boundary import result_or_substitute, unexpected_problem
from render.errors import InputError, Problem
from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION, mapping_or_empty

from .manifests import FieldProblem, LocatedManifest

KIND = "Source"
_EXACT = lazy_expression(r"v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?")
_NO_NAME = lazy_expression(r"[^a-z0-9.-]+")
_COMMIT = lazy_expression(r"[0-9a-f]{40}|[0-9a-f]{64}")


class UnusablePlace(Exception):
    """The place that an object of another tool names is none that a Source may have."""


class ExternalSources(Struct):
    """The Sources of a fleet, each with its place, and the problems and warnings of others."""

    sources: list[ExternalSource] = field(default_factory=list)
    admitted: list[tuple[str, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)


def load_external_sources(places: Iterable[LocatedManifest]) -> ExternalSources:
    """Admit each Source and return the values of those that are admitted."""
    loaded = ExternalSources()
    for place in places:
        loaded.problems += place.problems_found_by_call(partial(_load_source, place, loaded))
    return loaded


def _load_source(place: LocatedManifest, loaded: ExternalSources) -> list[FieldProblem]:
    """Add a Source that is admitted, and return what is wrong with it."""
    outcome = admit_as_kind(place.manifest, render_kinds()[KIND])
    loaded.warnings += (FieldProblem(place, warning) for warning in outcome.warnings)
    if outcome.object is not None:
        source = ExternalSource.of(outcome.object, path=place.file.path, document=place.number)
        loaded.sources.append(source)
        loaded.admitted.append((f"{KIND} {source.name}", place))
    return [FieldProblem(place, problem) for problem in outcome.problems]


def source_implied_by_place(type_: SourceType, place: Mapping[str, Any], secret: str = "") -> ExternalSource:
    """Return the Source of a place that nobody wrote a Source of; UnusablePlace where it would not be admitted.

    ``secret`` is the one that the object which names the place refers to.
    """
    chart, url = str(place.get("chart", "")), str(place["url"])
    digest = hashlib.sha256(json.dumps([type_, place], sort_keys=True).encode()).hexdigest()[:8]
    last = url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    name = f"{_NO_NAME.sub('-', (chart or last).lower()).strip('-.') or 'source'}-{digest}"
    spec = {type_.value: dict(place)}
    manifest = {"apiVersion": ARGOSY_API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
    outcome = admit_as_kind(manifest, render_kinds()[KIND])
    if outcome.object is None:
        raise UnusablePlace(
            "; ".join(f"{each.field.removeprefix('spec.')} {each.message}" for each in outcome.problems)
        )
    return replace(ExternalSource.of(outcome.object), is_implied=True, secret=secret)


def chart_place(url: str, chart: str, version: str) -> tuple[SourceType, dict[str, str]]:
    """Return the place of a chart in a Helm repository or an OCI registry; Helm's ranges and exact versions are ours.

    >>> chart_place("https://charts.example.com/", "web", "1.x")[1]
    {'url': 'https://charts.example.com', 'chart': 'web', 'version': '1.x'}
    >>> chart_place("oci://registry.example.com/charts", "web", "1.2.3+4")[1]
    {'url': 'oci://registry.example.com/charts/web', 'tag': '1.2.3_4'}
    """
    base, wanted = url.rstrip("/"), "" if version == "*" else version
    if not base.startswith("oci://"):
        return SourceType.HELM, {"url": base, "chart": chart, **({"version": wanted} if wanted else {})}
    asked = {"tag": wanted.replace("+", "_")} if _EXACT.fullmatch(wanted) else {"semver": wanted or "*"}
    return SourceType.OCI, {"url": f"{base}/{chart}" if chart else base, **asked}


def artifact_place(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the place that an OCIRepository of Flux names; of several versions the one that Flux takes."""
    return {"url": str(spec.get("url")), **_first_given_field(spec.get("ref"), ("digest", "semver", "tag"))}


def repository_place(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the place that a GitRepository of Flux names; of several versions the one that Flux takes."""
    found = _first_given_field(spec.get("ref"), ("commit", "name", "semver", "tag", "branch"))
    version = {"revision" if key == "commit" else key: text for key, text in found.items()}
    if name := version.pop("name", ""):
        head, _, rest = name.removeprefix("refs/").partition("/")
        version = {"branch": rest} if head == "heads" else {"tag": rest} if head == "tags" else {"ref": name}
    return {"url": str(spec.get("url")), **version}


def revision_place(url: str, revision: str) -> dict[str, str]:
    """Return the place that Argo CD means by an address and a target revision: a commit, a version, or a tag or branch.

    >>> [revision_place("u", each) for each in ("HEAD", "1.*", "v1.2.3", "main")]
    [{'url': 'u'}, {'url': 'u', 'semver': '1.*'}, {'url': 'u', 'tag': 'v1.2.3'}, {'url': 'u', 'ref': 'main'}]
    """
    if revision in {"", "HEAD"}:
        return {"url": url}
    if _EXACT.fullmatch(revision):
        return {"url": url, "tag": revision}
    is_range = any(sign in revision for sign in "*^~<>=") or re.fullmatch(r"v?\d+(\.(\d+|x))*", revision)
    return {"url": url, "semver": revision} if is_range else named_place(url, revision)


def named_place(url: str, version: str) -> dict[str, str]:
    """Return the place of a commit, or else of a tag or branch, in a repository; "": of the branch that HEAD names."""
    if not version:
        return {"url": url}
    return {"url": url, ("revision" if _COMMIT.fullmatch(version) else "ref"): version}


def login_secret_name(spec: Mapping[str, Any], namespace: str) -> str:
    """Return the Secret that Flux would log in to a repository with; "" for none."""
    name = next(iter(_first_given_field(spec.get("secretRef"), ("name",)).values()), "")
    return f"{namespace}/{name}" if name else ""


def _first_given_field(reference: Any, fields: Iterable[str]) -> dict[str, str]:
    """Return the first of some fields that a reference has."""
    given = mapping_or_empty(reference)
    return next(({field: str(given[field])} for field in fields if given.get(field)), {})


class ExternalLock(Struct, frozen=True, kw_only=True):
    """The argosy.lock of a fleet (None: there is none), its problems, and what answers for the Sources by it."""

    file: StoredFile | None = None
    problems: tuple[Problem, ...] = ()
    locked: LockedFiles | None = None


def read_lock_of_sources(
    sources: Iterable[ExternalSource], repository: RepositoryFiles, store: ContentStore | None
) -> ExternalLock:
    """Read the lock of a fleet; one that is damaged is a problem, and locks nothing."""
    file = repository.lock_file
    nothing, problems = Lock(path=repository.lock_path), tuple[Problem, ...]()
    lock = nothing
    if file is not None:
        parse = partial(_parse_lock_file, repository.read([file.id])[file.id], file.path)
        lock, problems = result_or_substitute(parse, lambda error: (nothing, (unexpected_problem(file.path, error),)))
    return ExternalLock(
        file=file, problems=problems, locked=LockedFiles(sources, lock, repository=repository, store=store)
    )


def _parse_lock_file(content: bytes, path: str) -> tuple[Lock, tuple[Problem, ...]]:
    try:
        return parse_lock(content, path), ()
    except InputError as error:
        return Lock(path=path), error.problems


def lock_warnings(external: ExternalSources, locked: LockedFiles | None) -> Iterator[FieldProblem]:
    """Yield a warning for each Source that is not locked as it is written; only what needs its files is a problem."""
    for source, (_, place) in zip(external.sources, external.admitted, strict=True):
        try:
            if locked is not None:
                locked.locked(source.name)
        except UnavailableSource as error:
            yield place.problem("", error.message, hint=error.hint)
