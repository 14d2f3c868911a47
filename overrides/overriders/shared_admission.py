"""Parts of the admission of several types of overriders: operators, operations at a pointer, the pointer itself."""

from render.admission.findings import Findings
from render.admission.schema import Anything, Record, Text
from render.admission.shared_schema import TEXT
from render.syntax import fault_of_json_pointer

OPERATOR = Text(choices=("add", "remove", "replace"))


def schema_of_patch_operation(pointer: str) -> Record:
    """Return the schema of an RFC 6902 operation; ``pointer`` is the name of its path."""
    return Record({f"{pointer}!": TEXT, "operator!": OPERATOR, "value": Anything()})


def check_json_pointer(pointer: str, path: str, findings: Findings) -> None:
    """Report a text that is no JSON pointer, where Karmada refuses it."""
    if fault := fault_of_json_pointer(pointer):
        findings.problem(path, fault)


def warn_of_unusable_pointer(pointer: str, path: str, findings: Findings) -> None:
    """Warn of a text that is no JSON pointer, where Karmada does not look."""
    if fault := fault_of_json_pointer(pointer):
        findings.warning(path, fault)
