"""The documents that ``-o json`` prints, as data: a shape for each kind, with a sentence for each field."""

from collections.abc import Mapping
from typing import NamedTuple

from reconciler.reference.shapes import Fields, Shape, record
from render.model import ARGOSY_API_VERSION

from .checks import DIAGNOSIS, IMPORT, RESULTS, VALIDATION, VERIFICATION
from .explanations import CLUSTER_EXPLANATION, OBJECT_EXPLANATION, POLICY_EXPLANATION
from .parts import RENDERED
from .passes import DIFFERENCE, IMPORT_OF_CLUSTERS, LIVE_DIFFERENCE, RECONCILIATION, RENDERING, REPORTS
from .statuses import CLUSTER_STATUS, FLEET_STATUS, OBJECT_STATUS, WAITING


class Output(NamedTuple):
    """A kind of document: the commands that print it, one sentence, and its fields beside apiVersion and kind."""

    printed_by: tuple[str, ...]
    about: str
    fields: Fields


OUTPUTS: Mapping[str, Output] = {
    "Rendering": Output(("render",), "What every cluster must hold.", RENDERING),
    "Difference": Output(("diff",), "What a change does to every cluster.", DIFFERENCE),
    "LiveDifference": Output(
        ("diff --live", "apply --dry-run server"), "What applying a commit would change in clusters.", LIVE_DIFFERENCE
    ),
    "ObjectExplanation": Output(("explain KIND/NAME",), "Why an object is where it is.", OBJECT_EXPLANATION),
    "ClusterExplanation": Output(("explain cluster/NAME",), "What a cluster holds, and why.", CLUSTER_EXPLANATION),
    "PolicyExplanation": Output(("explain policy/NAME",), "What a policy selects and does.", POLICY_EXPLANATION),
    "Validation": Output(("validate",), "The problems and warnings of a source.", VALIDATION),
    "PolicyTestResults": Output(("test",), "The results of the tests of policies.", RESULTS),
    "Reconciliation": Output(("reconcile",), "What one reconcile pass did.", RECONCILIATION),
    "Application": Output(("apply",), "What applying a commit did.", {"rendered": RENDERED, "clusters": REPORTS}),
    "FleetStatus": Output(("status",), "The state of the fleet.", FLEET_STATUS),
    "ClusterStatus": Output(("status cluster/NAME",), "The state of a cluster.", CLUSTER_STATUS),
    "ObjectStatus": Output(("status KIND/NAME",), "The state of an object.", OBJECT_STATUS),
    "Waiting": Output(("wait",), "Whether what was waited for came true, and why not yet.", WAITING),
    "Verification": Output(("verify",), "Whether rendered commits can be made again.", VERIFICATION),
    "Diagnosis": Output(("doctor",), "What was checked, and what to do.", DIAGNOSIS),
    "ImportReport": Output(
        ("import",),
        "What became of the documents of another federation, or of what runs in clusters.",
        {**IMPORT, **IMPORT_OF_CLUSTERS},
    ),
}
"""Every kind that ``-o json`` prints."""


def output_schema(kind: str) -> Shape:
    """Return the JSON Schema of a document that ``-o json`` prints."""
    found = OUTPUTS[kind]
    head = {"apiVersion": {"const": ARGOSY_API_VERSION}, "kind": {"const": kind}}
    return record({**head, **found.fields}, found.about)
