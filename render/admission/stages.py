"""Admission: the stages by which an API server with Karmada's webhooks turns a document into the one it stores.

1. Decode: apiVersion, the types of metadata (for a Cluster, all types: it has no CRD).
2. Schema: the rules of metadata; types, required fields, choices, ranges; defaults are set, empty values vanish.
3. Webhook: Karmada's mutation, then its semantic rules (for a Cluster, the rules of its registry).

A stage that finds problems is the last, except that semantic rules also run on a document whose types are right.
Beyond Karmada, an unknown field is a problem of kind ``Unknown``, and a setting that Karmada accepts but that does not
do what its author expects is a warning. All problems of a document are reported at once.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.errors import Problem
from render.model import Manifest, group_of
from render.syntax import fault_of_dns_subdomain

from .findings import Findings
from .metadata import NameFault, check_metadata, decoded_metadata, set_namespace
from .schema import ListOf, Node, Record
from .walking import Walk

Object = dict[str, Any]
Rules = Callable[[Object, Findings], None]

_ROOT = ("apiVersion", "kind", "metadata", "spec", "status")


class Admitted(Struct, frozen=True, kw_only=True):
    """A document after admission.

    ``object`` is the object as it would be stored, defaults and all; None when anything but an unknown field is wrong
    with it. Problems and warnings have field paths; the caller, who knows the file, adds it and the line.
    """

    object: Object | None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


class AdmittedKind(Struct, frozen=True, kw_only=True):
    """The admission of one kind: walks by top-level field, then the functions that prepare, mutate, check and warn.

    ``schema`` is what ``spec`` walks. ``is_decoded``: the kind has no CRD, all its types are read in the first stage.
    ``prepare`` runs before all rules. A ``status`` is what a server says of an object: it is taken, and left out unless
    there is a walk for it.
    """

    api_version: str
    kind: str
    is_namespaced: bool
    spec: Walk
    schema: Node
    status: Walk | None = None
    is_spec_required: bool = True
    is_decoded: bool = False
    name_fault: NameFault = fault_of_dns_subdomain
    prepare: Rules = lambda _object, _findings: None
    mutate: Rules = lambda _object, _findings: None
    check: Rules = lambda _object, _findings: None
    warn: Rules = lambda _object, _findings: None


Kinds = Mapping[str, AdmittedKind]
"""Admitted kinds by their names, which are unique."""


def admitted_kind_of(api_version: str, kind: str, kinds: Kinds) -> AdmittedKind | None:
    """Return the admitted kind an apiVersion and kind mean, also with another version or a shortened group."""
    known = kinds.get(kind)
    if known is None:
        return None
    group, meant = group_of(api_version), group_of(known.api_version)
    return known if group == meant or (group and meant.startswith(f"{group}.")) else None


def admit_as_kind(manifest: Manifest, kind: AdmittedKind, *, default_namespace: str = "default") -> Admitted:
    """Admit a document of a kind; the manifest itself is not changed."""
    findings = Findings("Decode")
    decoded = _decoded_document(manifest, kind, default_namespace, findings)
    if _has_problems_that_stop(findings):
        return _admitted_with_findings(None, kind, findings)
    findings.type_kind = "TypeInvalid"
    check_metadata(decoded["metadata"], findings, kind.name_fault)
    if not kind.is_decoded:
        _check_fields_by_schema(decoded, kind, findings)
    if findings.is_sound:
        _run_webhook_rules(decoded, kind, findings)
    return _admitted_with_findings(decoded, kind, findings)


def _decoded_document(manifest: Manifest, kind: AdmittedKind, default_namespace: str, findings: Findings) -> Object:
    if manifest["apiVersion"] != kind.api_version:
        findings.problem(
            "apiVersion",
            f"there is no {kind.kind} in {manifest['apiVersion']!r}",
            hint=f"write {kind.api_version!r}",
        )
    decoded: Object = {"apiVersion": kind.api_version, "kind": kind.kind}
    decoded["metadata"] = decoded_metadata(manifest.get("metadata"), findings)
    for name in manifest:
        if name not in _ROOT:
            findings.unknown(name, name, _ROOT[:4] if kind.status is None else _ROOT)
    decoded |= {name: manifest[name] for name in ("spec", "status") if manifest.get(name) is not None}
    if kind.is_decoded:
        _check_fields_by_schema(decoded, kind, findings)
    if not _has_problems_that_stop(findings):
        set_namespace(decoded["metadata"], default_namespace if kind.is_namespaced else None, findings)
        kind.prepare(decoded, findings)
    return decoded


def _check_fields_by_schema(decoded: Object, kind: AdmittedKind, findings: Findings) -> None:
    if "spec" in decoded:
        decoded["spec"] = kind.spec(decoded["spec"], "spec", findings)
    elif kind.is_spec_required and not kind.is_decoded:
        findings.required("spec")
        findings.is_sound = False
    else:
        decoded["spec"] = {}
    if kind.status is None:
        decoded.pop("status", None)
    elif "status" in decoded:
        count = len(findings.problems)
        decoded["status"] = kind.status(decoded["status"], "status", findings)
        _make_unknown_fields_warnings(findings, count)


def _make_unknown_fields_warnings(findings: Findings, count: int) -> None:
    """Turn what a status, whose problems begin at a count, has of unknown fields into warnings: servers write it."""
    for problem in [each for each in findings.problems[count:] if each.kind == "Unknown"]:
        findings.problems.remove(problem)
        findings.warning(problem.field, "is not known here, so it is left out", hint=problem.hint)


def _run_webhook_rules(decoded: Object, kind: AdmittedKind, findings: Findings) -> None:
    """Run the webhook's rules; problems of a field the schema already refused are left out."""
    refused = [problem.field for problem in findings.problems if problem.kind != "Unknown"]
    count = len(findings.problems)
    kind.mutate(decoded, findings)
    kind.check(decoded, findings)
    findings.problems[count:] = [
        problem
        for problem in findings.problems[count:]
        if not any(_is_same_field_or_inside(problem.field, each) for each in refused)
    ]
    if not _has_problems_that_stop(findings):
        kind.warn(decoded, findings)


def _is_same_field_or_inside(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return longer.startswith(shorter) and longer[len(shorter) : len(shorter) + 1] in {"", ".", "["}


def _has_problems_that_stop(findings: Findings) -> bool:
    return any(problem.kind != "Unknown" for problem in findings.problems)


def _admitted_with_findings(decoded: Object | None, kind: AdmittedKind, findings: Findings) -> Admitted:
    return Admitted(
        object=None if decoded is None or _has_problems_that_stop(findings) else decoded,
        problems=tuple(sorted(problems_with_right_levels(findings.problems, kind.schema))),
        warnings=tuple(sorted(findings.warnings)),
    )


_METADATA = ("annotations", "labels", "name", "namespace")
_INDEX = "[]"


class Level(NamedTuple):
    """A level of a document at which a field is known: the steps to it, lists as ``[]``."""

    field: str
    steps: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.steps).replace(f".{_INDEX}", _INDEX)


def problems_with_right_levels(problems: list[Problem], spec: Node) -> list[Problem]:
    """Return problems of which those about a field that belongs elsewhere say where; ``spec`` is the kind's schema."""
    if not any(problem.kind == "Unknown" for problem in problems):
        return problems
    levels = (
        *(Level(name, ("metadata",)) for name in _METADATA),
        *_levels_of_fields_below(spec, ("spec",)),
    )
    return [
        _problem_with_nearest_level(problem, levels) if problem.kind == "Unknown" else problem for problem in problems
    ]


def _problem_with_nearest_level(problem: Problem, levels: tuple[Level, ...]) -> Problem:
    """Return a problem with the level that is nearest to where its field stands, if there is one."""
    steps = tuple(problem.field.replace("[", f".{_INDEX[0]}").split("."))
    here, name = tuple(_INDEX if step.startswith(_INDEX[0]) else step for step in steps[:-1]), steps[-1]
    found = [level for level in levels if level.field == name]
    if not found:
        return problem
    best = max(found, key=lambda level: (_length_of_shared_start(level.steps, here), -len(level.steps)))
    return replace(problem, hint=f"it belongs under {best}")


def _length_of_shared_start(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Count the steps that two levels begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _levels_of_fields_below(node: Node, steps: tuple[str, ...]) -> Iterator[Level]:
    """Yield the fields below a node, each with the level it belongs to, in the schema's order."""
    if isinstance(node, ListOf):
        yield from _levels_of_fields_below(node.items, (*steps, _INDEX))
    elif isinstance(node, Record):
        for marked, child in node.fields.items():
            name = marked.rstrip("!")
            yield Level(name, steps)
            yield from _levels_of_fields_below(child, (*steps, name))
