"""A report for CI of a run that ended by an error: whoever asked for a form that CI reads gets that, and can read it.

It is written for every way in which a run can end but a kill, so the words of the command line are looked at as they
are: they may be what is wrong.
"""

from collections.abc import Sequence

from reconciler import VERSION

from .cleaning import safe_for_terminal
from .json_values import as_json
from .junit import JUnitCase, JUnitSuite, junit_xml
from .printing import print_data

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
IN_ANNOTATIONS = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
"""The characters that an annotation of a workflow has in another form."""
_COMMANDS = ("validate", "test")
_OPTIONS = ("-o", "--output")


def print_error_report(arguments: Sequence[str], message: str, code: int) -> None:
    """Print the report of a run that ended by an error, if the command line asks for one."""
    command = next((word for word in arguments if word in _COMMANDS), "")
    form = _requested_output_format(arguments) if command else ""
    if form == "junit":
        first = message.splitlines()[0] if message else f"exit code {code}"
        case = JUnitCase(name="the run", failure=f"exit code {code}: {first}", detail=message)
        print_data(junit_xml([JUnitSuite(name=f"argosy {command}", cases=(case,))]))
    elif form == "sarif":
        print_data(_sarif_log_of_failure(message, code))
    elif form == "tap":
        first, *rest = safe_for_terminal(f"exit code {code}: {message}").splitlines()
        print_data(
            "".join(f"{line}\n" for line in ("TAP version 14", f"Bail out! {first}", *(f"# {one}" for one in rest)))
        )
    elif form == "github":
        print_data(f"::error title=exit code {code}::{safe_for_terminal(message).translate(IN_ANNOTATIONS)}\n")


def _requested_output_format(arguments: Sequence[str]) -> str:
    """Return the output format that a command line asks for, however it is written; empty where it asks for none.

    >>> [
    ...     _requested_output_format(words.split())
    ...     for words in ("-o junit", "-osarif", "--output=junit", "validate", "-o")
    ... ]
    ['junit', 'sarif', 'junit', '', '']
    """
    words = list(arguments)
    form = ""
    for number, word in enumerate(words):
        if word in _OPTIONS and number + 1 < len(words):
            form = words[number + 1]
        elif word.startswith("--output="):
            form = word.partition("=")[2]
        elif word.startswith("-o") and word != "-o":
            form = word.removeprefix("-o").removeprefix("=")
    return form


def _sarif_log_of_failure(message: str, code: int) -> str:
    """Return a SARIF log without results, of a run that did not succeed."""
    notification = {"level": "error", "message": {"text": safe_for_terminal(message or f"exit code {code}")}}
    invocation = {"executionSuccessful": False, "exitCode": code, "toolExecutionNotifications": [notification]}
    driver = {"name": "argosy", "version": VERSION, "rules": []}
    run = {"tool": {"driver": driver}, "results": [], "invocations": [invocation]}
    return as_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})
