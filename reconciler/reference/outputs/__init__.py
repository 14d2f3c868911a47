"""The documents that ``-o json`` prints, as data: a shape for each kind, with a sentence for each field."""

from collections.abc import Mapping
from typing import NamedTuple

from reconciler.outputs.application import ApplicationDocument
from reconciler.outputs.cluster_status import ClusterStatusDocument
from reconciler.outputs.diagnosis import DiagnosisDocument
from reconciler.outputs.difference import DifferenceDocument
from reconciler.outputs.document import OutputDocument, document_schema
from reconciler.outputs.fleet_status import FleetStatusDocument
from reconciler.outputs.import_report import ImportReportDocument
from reconciler.outputs.live_difference import LiveDifferenceDocument
from reconciler.outputs.object_status import ObjectStatusDocument
from reconciler.outputs.policy_test_results import PolicyTestResultsDocument
from reconciler.outputs.reconciliation import ReconciliationDocument
from reconciler.outputs.rendering import RenderingDocument
from reconciler.outputs.validation import ValidationDocument
from reconciler.outputs.verification import VerificationDocument
from reconciler.outputs.waiting import WaitingDocument
from reconciler.reference.shapes import Fields, Shape, record
from render.model import ARGOSY_API_VERSION

from .explanations import CLUSTER_EXPLANATION, OBJECT_EXPLANATION, POLICY_EXPLANATION


class Output(NamedTuple):
    """A kind of document: the commands that print it, one sentence, and its fields beside apiVersion and kind."""

    printed_by: tuple[str, ...]
    about: str
    fields: Fields | type[OutputDocument]


def _of(document: type[OutputDocument]) -> Output:
    return Output(document.printed_by, document.about, document)


OUTPUTS: Mapping[str, Output] = {
    "Rendering": _of(RenderingDocument),
    "Difference": _of(DifferenceDocument),
    "LiveDifference": _of(LiveDifferenceDocument),
    "ObjectExplanation": Output(("explain KIND/NAME",), "Why an object is where it is.", OBJECT_EXPLANATION),
    "ClusterExplanation": Output(("explain cluster/NAME",), "What a cluster holds, and why.", CLUSTER_EXPLANATION),
    "PolicyExplanation": Output(("explain policy/NAME",), "What a policy selects and does.", POLICY_EXPLANATION),
    "Validation": _of(ValidationDocument),
    "PolicyTestResults": _of(PolicyTestResultsDocument),
    "Reconciliation": _of(ReconciliationDocument),
    "Application": _of(ApplicationDocument),
    "FleetStatus": _of(FleetStatusDocument),
    "ClusterStatus": _of(ClusterStatusDocument),
    "ObjectStatus": _of(ObjectStatusDocument),
    "Waiting": _of(WaitingDocument),
    "Verification": _of(VerificationDocument),
    "Diagnosis": _of(DiagnosisDocument),
    "ImportReport": _of(ImportReportDocument),
}
"""Every kind that ``-o json`` prints."""


def output_schema(kind: str) -> Shape:
    """Return the JSON Schema of a document that ``-o json`` prints."""
    found = OUTPUTS[kind]
    if not isinstance(found.fields, Mapping):
        return document_schema(found.fields)
    head = {"apiVersion": {"const": ARGOSY_API_VERSION}, "kind": {"const": kind}}
    return record({**head, **found.fields}, found.about)
