"""The options of commands that print objects of other tools, and how these are printed or written."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconciler.console.log import Log
from reconciler.console.printing import print_output

if TYPE_CHECKING:
    from reconciler.emission.model import Emission

Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A decorator that adds an option to a command."""


def decorator_adding_options(options: Iterable[Option]) -> Option:
    """Return a decorator that adds options to a command, in their order."""
    listed = tuple(options)

    def add_options(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(listed):
            function = option(function)
        return function

    return add_options


def show_emission(log: Log, emission: "Emission", *, folder: Path | None, output: str) -> None:
    """Write objects to files below a folder, or print them; what has no counterpart is a warning each."""
    log.warn_of(emission.notes)
    if folder is None:
        print_output(_manifests_text(emission, output), output)
        return
    from reconciler.emission.model import file_contents
    from reconciler.repository import write_directory

    done = write_directory(folder, file_contents(emission))
    log.info("written", folder=folder, files=done.written, unchanged=done.unchanged, removed=done.removed)


def _manifests_text(emission: "Emission", output: str) -> str:
    from reconciler.console.json_values import as_json
    from render.documents import emit

    if output == "json":
        return as_json({"apiVersion": "v1", "kind": "List", "items": list(emission.manifests)})
    return "---\n".join(emit(each).decode() for each in emission.manifests)
