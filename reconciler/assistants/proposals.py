"""The tool that proposes a change, and the process that makes the branch of one.

That process may change what Git keeps of objects and branches, and nothing else: no file of the work tree, no
configuration, no hook, and nothing outside of the repository. It looks at the proposal first, as a process that only
reads, and writes when nothing is left to find fault with.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.json import decode, encode

from reconciler.repository.read_only import READ_ONLY
from render.errors import ReconcileError

from .answers import MOST_SAID
from .arguments import (
    MOST_CONTENT,
    Argument,
    ArgumentError,
    FileText,
    Word,
    YesOrNo,
    checked_arguments,
    schema_of_arguments,
)
from .runs import CommandRun, CommandToRun

MOST_FILES = 200
_TITLE = "Propose a change of the source as a new branch"
_ABOUT = (
    "Make a new branch of the source with one commit, for a person to look at and to merge. Nothing is pushed, no"
    " branch that is there already moves, and the work tree stays as it is. The change is loaded first: new problems"
    " refuse it, and are listed. The answer names the branch and its commit, and the commands that show what it does,"
    " push it and ask for a pull request. Ask for a diff of base and branch next. Paths are relative to the root of the"
    " repository; nothing whose name begins with a dot can be changed. A message with a trailer that allows something"
    " is refused."
)


class ProposedFile(Struct, frozen=True, kw_only=True):
    """A file with its whole content, or one that is to go."""

    path: str
    content: str | None = None


class HandedProposal(Struct, frozen=True, kw_only=True):
    """A proposal as the process gets it."""

    place: str
    branch: str
    message: str
    files: tuple[ProposedFile, ...]
    base: str = ""


class ProposedAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """The branch that was made, as programs read it."""

    branch: str
    commit: str
    base: str
    written: tuple[str, ...]
    removed: tuple[str, ...]
    look: tuple[str, ...]
    go_on: tuple[str, ...]


class ListOfFiles(Argument, frozen=True, kw_only=True):
    """The files of a proposal."""

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """A list of files, each with its path and its whole content, or to be removed."""
        return {"type": "array", "items": schema_of_arguments(_OF_FILE), "minItems": 1, "maxItems": MOST_FILES}

    def complaint_about(self, value: object) -> str:
        """Return why a value is no list of files."""
        if not isinstance(value, list) or not value:
            return "is not a list of files"
        if len(value) > MOST_FILES:
            return f"has {len(value)} files, and at most {MOST_FILES} are taken"
        for number, each in enumerate(value):
            if complaint := _complaint_about_file(each):
                return f"[{number}]: {complaint}"
        paths = [each["path"] for each in value]
        if len({*paths}) < len(paths):
            return "names a path twice"
        size = sum(len(each.get("content") or "") for each in value)
        return f"has {size} characters, and at most {MOST_CONTENT} are taken" if size > MOST_CONTENT else ""


_OF_FILE: Mapping[str, Argument] = {
    "path": Word(about="The path of the file from the root of the repository.", is_required=True),
    "content": FileText(about="The whole new content of the file."),
    "remove": YesOrNo(about="Remove the file instead.", words=()),
}
_ARGUMENTS: Mapping[str, Argument] = {
    "branch": Word(about="The name of the new branch, such as more-web.", is_required=True),
    "message": FileText(
        about="The message of the commit: in its first line what the change is, and below it why.", is_required=True
    ),
    "files": ListOfFiles(about="The files that change.", is_required=True),
    "base": Word(about="The commit or branch that it is made on top of  [default: HEAD]"),
}


def _complaint_about_file(value: object) -> str:
    if not isinstance(value, dict):
        return "is not an object with path and content"
    try:
        found = checked_arguments(_OF_FILE, value)
    except ArgumentError as error:
        return error.complaints[0]
    if found.get("remove"):
        return "content: goes without remove" if "content" in found else ""
    return "" if "content" in found else "content: is required, or remove"


class ProposingTool(Struct, frozen=True, kw_only=True):
    """The tool that makes a branch in the repository at a place; ``writes`` are the folders that this changes."""

    place: str
    writes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name it is called by."""
        return "propose"

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments it takes, by name."""
        return _ARGUMENTS

    @property
    def description(self) -> Mapping[str, Any]:
        """The description of the tool."""
        return {
            "name": self.name,
            "title": _TITLE,
            "description": _ABOUT,
            "inputSchema": schema_of_arguments(_ARGUMENTS),
            "annotations": {
                "title": _TITLE,
                "readOnlyHint": False,
                "destructiveHint": False,
                "idempotentHint": False,
                "openWorldHint": False,
            },
        }

    def command_of_call(self, given: Mapping[str, Any]) -> CommandToRun:
        """Return the process that makes what is proposed; ArgumentError where that cannot be handed to it."""
        values = checked_arguments(_ARGUMENTS, given)
        files = tuple(ProposedFile(path=each["path"], content=each.get("content")) for each in values["files"])
        handed = HandedProposal(
            place=self.place,
            branch=values["branch"],
            message=values["message"],
            files=files,
            base=values.get("base", ""),
        )
        return CommandToRun(words=(), module=__name__, handed=encode(handed), writes=self.writes)


def answer_of_proposal(run: CommandRun) -> dict[str, Any]:
    """Return the answer about a branch that was made, or about why none was."""
    if run.bound or run.code:
        why = run.bound or run.said.strip()[:MOST_SAID] or f"the process ended with exit code {run.code}"
        parts = ["no branch was made", why]
        return {"content": [{"type": "text", "text": part} for part in parts], "isError": True}
    made = decode(run.output, type=ProposedAnswer)
    lines = [
        f"branch: {made.branch}",
        f"commit: {made.commit}",
        f"base: {made.base}",
        *(f"wrote: {path}" for path in made.written),
        *(f"removed: {path}" for path in made.removed),
        "what it does:",
        *(f"  {line}" for line in made.look),
        "nothing was pushed; a person goes on with:",
        *(f"  {line}" for line in made.go_on),
    ]
    content = [{"type": "text", "text": "\n".join(lines)}]
    return {"content": content, "structuredContent": decode(run.output), "isError": False}


def folders_of_branches(place: str) -> tuple[str, ...]:
    """Return the folders in which Git keeps objects and branches, those that are there."""
    from reconciler.repository import open_repository

    with open_repository(place) as repository:
        objects, common = repository.folder.objects, repository.folder.common_dir
    folders = (objects, *(common / name for name in ("refs", "logs", "reftable")))
    return tuple(str(folder.resolve()) for folder in folders if folder.is_dir())


def main() -> int:
    """Make the branch that is handed over, and print what was made; return the exit code."""
    from reconciler.console.bugs import lines_naming_bug
    from reconciler.console.cleaning import safe_for_terminal

    handed = decode(sys.stdin.buffer.read(), type=HandedProposal)
    try:
        sys.stdout.write(_text_of_made_proposal(handed))
    except ReconcileError as error:
        sys.stderr.write(f"{safe_for_terminal(str(error))}\n")
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the boundary of this process
        sys.stderr.write("\n".join(lines_naming_bug(error)))
        return 70
    return 0


def _text_of_made_proposal(handed: HandedProposal) -> str:
    from reconciler.edit.proposing import SourceProposal, made_proposal, planned_proposal
    from reconciler.repository import open_repository

    contents = {each.path: None if each.content is None else each.content.encode() for each in handed.files}
    proposal = SourceProposal(branch=handed.branch, message=handed.message, contents=contents, base=handed.base)
    with open_repository(handed.place) as repository:
        planned = planned_proposal(repository, proposal)
        del os.environ[READ_ONLY]
        made = made_proposal(repository, planned)
    return encode(
        ProposedAnswer(
            branch=made.branch,
            commit=made.commit,
            base=made.base,
            written=made.written,
            removed=made.removed,
            look=made.look,
            go_on=made.go_on,
        )
    ).decode()


if __name__ == "__main__":
    sys.exit(main())
