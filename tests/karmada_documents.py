"""Objects in the documents of Karmada, admitted: ``python -m tests.karmada_documents FOLDER`` names what is refused.

FOLDER is a checkout of Karmada's website, whose guides are Markdown. Some blocks hold a part of an object alone.
So each refusal has to be looked at: would a server with Karmada's definitions, or a webhook of it, refuse it as well?
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from render.documents import DocumentErrors, parse_documents

from .test_printed_objects import KINDS, WEBHOOK_CONFIGURATION, said_of

_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_BLOCK = re.compile(r"^(?P<indent>[ \t]*)```ya?ml[^\n]*\n(?P<text>.*?)^[ \t]*```", _FLAGS)


class Block(NamedTuple):
    """A block of YAML in a document: the line it begins in, and its text."""

    line: int
    text: str

    def objects(self) -> Iterator[Any]:
        """Yield the objects in it; nothing where it is no YAML."""
        try:
            documents = parse_documents(self.text.encode())
        except DocumentErrors:
            return
        for each in documents:
            if isinstance(each.value, dict) and each.value.get("apiVersion") and each.value.get("kind"):
                yield each.value


def blocks_of(markdown: str) -> Iterator[Block]:
    """Yield the blocks of YAML in a document."""
    for found in _BLOCK.finditer(markdown):
        yield Block(markdown.count("\n", 0, found.start()) + 1, textwrap.dedent(found["text"]))


def refusals_of(markdown: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the line and the kind of each object of Karmada in a document, with what is wrong with it."""
    for block in blocks_of(markdown):
        for each in block.objects():
            if each["kind"] in KINDS or each["kind"] == WEBHOOK_CONFIGURATION:
                yield block.line, each["kind"], [problem.splitlines()[0] for problem in said_of(each).problems]


def main(folder: Path) -> None:
    """Print what is refused, and the number of objects."""
    count = 0
    for path in sorted({*folder.rglob("*.md"), *folder.rglob("*.mdx")}):
        for line, kind, problems in refusals_of(path.read_text(encoding="utf-8")):
            count += 1
            for problem in problems:
                print(f"{path.relative_to(folder)}:{line}: {kind}: {problem}")
    print(f"{count} objects")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
