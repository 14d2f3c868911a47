"""Every message of admission whole, by tables of documents that are wrong or will be regretted."""

from pathlib import Path
from typing import Any, NamedTuple

from overrides.admission import admit
from render.documents import parse_documents

from .tables import each_row

VECTORS = Path(__file__).parent / "vectors"
POLICY_VERSION = "policy.karmada.io/v1alpha1"

FINE: dict[str, dict[str, Any]] = {
    "policies": {
        "apiVersion": POLICY_VERSION,
        "kind": "PropagationPolicy",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]},
    },
    "overrides": {
        "apiVersion": POLICY_VERSION,
        "kind": "OverridePolicy",
        "metadata": {"name": "eu", "namespace": "shop"},
        "spec": {
            "overrideRules": [
                {"overriders": {"imageOverrider": [{"component": "Registry", "operator": "add", "value": "eu."}]}}
            ]
        },
    },
    "clusters": {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "eu-1"},
        "spec": {"syncMode": "Push"},
    },
    "fleets": {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "edge"}, "spec": {}},
    "customizations": {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "widgets"},
        "spec": {"target": {"apiVersion": "example.io/v1", "kind": "Widget"}, "customizations": {}},
    },
}


class Case(NamedTuple):
    why: str
    manifest: dict[str, Any]
    problems: str
    warnings: str


def tables() -> list[Case]:
    return [case for name in FINE for case in table(name)]


def table(name: str) -> list[Case]:
    rows = parse_documents((VECTORS / f"admission_{name}.yaml").read_bytes())[0].value
    return [
        Case(
            why=f"{name}: {row['why']}",
            manifest=changed(FINE[name], {key: row[key] for key in row.keys() - Case._fields}),
            problems=row.get("problems", ""),
            warnings=row.get("warnings", ""),
        )
        for row in rows
    ]


def changed(fine: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return a document changed as a row says: metadata and spec are merged where both are objects."""
    merged = {key: {**fine[key], **value} for key, value in row.items() if key in fine and isinstance(value, dict)}
    return {**fine, **row, **merged}


@each_row("name", FINE)
def test_the_document_that_cases_change_is_fine(name: str) -> None:
    admitted = admit(FINE[name])
    assert (admitted.problems, admitted.warnings) == ((), ())


@each_row("case", tables(), ids=lambda case: case.why)
def test_a_document_is_answered_in_so_many_words(case: Case) -> None:
    admitted = admit(case.manifest)
    assert "\n".join(map(str, admitted.problems)) == case.problems.rstrip("\n")
    assert "\n".join(map(str, admitted.warnings)) == case.warnings.rstrip("\n")
    assert admitted.problems or admitted.warnings or case.why.endswith("where mutation removes it")
