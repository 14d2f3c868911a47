"""A report for CI of a run that ended by an error: whoever asked for JUnit or SARIF gets a file that can be read.

It is written for every way in which a run can end but a kill, so the words of the command line are looked at as they
are: they may be what is wrong.
"""

from collections.abc import Sequence

from reconciler import VERSION

from .cleaning import cleaned
from .json_values import as_json
from .junit import JUnitCase, JUnitSuite, junit_xml
from .printing import print_data

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_COMMANDS = ("validate", "test")
_OPTIONS = ("-o", "--output")


def report_error(arguments: Sequence[str], message: str, code: int) -> None:
    """Print the report of a run that ended by an error, if the command line asks for one."""
    command = next((word for word in arguments if word in _COMMANDS), "")
    form = _form(arguments) if command else ""
    if form == "junit":
        first = message.splitlines()[0] if message else f"exit code {code}"
        case = JUnitCase(name="the run", failure=f"exit code {code}: {first}", detail=message)
        print_data(junit_xml([JUnitSuite(name=f"argosy {command}", cases=(case,))]))
    elif form == "sarif":
        print_data(_sarif(message, code))


def _form(arguments: Sequence[str]) -> str:
    """Return the output format that a command line asks for, however it is written; empty where it asks for none.

    >>> [_form(words.split()) for words in ("-o junit", "-osarif", "--output=junit", "validate", "-o")]
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


def _sarif(message: str, code: int) -> str:
    """Return a SARIF log without results, of a run that did not succeed."""
    told = {"level": "error", "message": {"text": cleaned(message or f"exit code {code}")}}
    invocation = {"executionSuccessful": False, "exitCode": code, "toolExecutionNotifications": [told]}
    driver = {"name": "argosy", "version": VERSION, "rules": []}
    run = {"tool": {"driver": driver}, "results": [], "invocations": [invocation]}
    return as_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})
