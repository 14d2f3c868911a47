"""Parts of the admission of several types of overriders: operators, operations at a pointer, the pointer itself."""

from render.admission.findings import Findings
from render.admission.schema import Anything, Record, Text
from render.admission.shared_schema import TEXT
from render.syntax import pointer_fault

OPERATOR = Text(choices=("add", "remove", "replace"))


def operation_schema(pointer: str) -> Record:
    """Return the schema of an RFC 6902 operation; ``pointer`` is the name of its path."""
    return Record({f"{pointer}!": TEXT, "operator!": OPERATOR, "value": Anything()})


def check_pointer(pointer: str, path: str, findings: Findings) -> None:
    """Report a text that is no JSON pointer, where Karmada refuses it."""
    if fault := pointer_fault(pointer):
        findings.problem(path, fault)


def warn_of_pointer(pointer: str, path: str, findings: Findings) -> None:
    """Warn of a text that is no JSON pointer, where Karmada does not look."""
    if fault := pointer_fault(pointer):
        findings.warning(path, fault)
