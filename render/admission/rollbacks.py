"""RollbackRequest of argosy.dev/v1alpha1: its schema, and the rules for it."""

from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION

from .findings import Findings
from .schema import ListOf, Record, Text
from .shared_schema import TEXT
from .stages import AdmittedKind, Object
from .walking import Reading, walk_for_node

ROLLBACK_KIND = "RollbackRequest"

_OBJECT = Record({"apiVersion!": TEXT, "kind!": TEXT, "name!": Text(min_length=1), "namespace": TEXT})
ROLLBACK_SPEC = Record(
    {"to!": Text(min_length=1), "objects": ListOf(_OBJECT, min_items=1), "namespace": TEXT, "cluster": TEXT}
)
_COMMIT = lazy_expression("[0-9a-f]{40}|[0-9a-f]{64}")
_PARTS = ("objects", "namespace", "cluster")


def rollback_kind() -> AdmittedKind:
    """Return the kind; closures are made when they are first asked for."""
    return AdmittedKind(
        api_version=ARGOSY_API_VERSION,
        kind=ROLLBACK_KIND,
        is_namespaced=False,
        schema=ROLLBACK_SPEC,
        spec=walk_for_node(ROLLBACK_SPEC, Reading(is_typed=False)),
        check=check_rollback_request,
    )


def check_rollback_request(request: Object, findings: Findings) -> None:
    """Report a commit that is not given by its whole id, and parts of a fleet that are named together."""
    spec = request["spec"]
    if _COMMIT.fullmatch(spec["to"]) is None:
        hint = "argosy rollback writes it; git log argosy/rendered lists rendered commits"
        findings.problem("spec.to", "is not the whole id of a commit", hint=hint)
    given = [part for part in _PARTS if spec.get(part)]
    for part in given[1:]:
        message = f"does not go together with spec.{given[0]}"
        findings.problem(f"spec.{part}", message, hint="write a request for each")
