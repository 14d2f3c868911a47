"""Answers of tools: what a command printed, bounded, with the command that prints it again and how it ended.

The first part of an answer is ours, and the second is what the command printed: names and messages of repositories and
clusters, which are data. Nothing in the second can be taken for the first.
"""

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from reconciler.console.cleaning import json_safe_for_terminal, safe_for_terminal

from .runs import MOST_OUTPUT, CommandRun

DEFAULT_CHARACTERS = 20_000
MOST_SAID = 4_000
_LONGEST_TEXT = 2_000
_MOST_FIELDS = 40


class ShownPart(Struct, frozen=True, kw_only=True):
    """The part of an answer that is wanted."""

    characters: int = DEFAULT_CHARACTERS
    from_line: int = 1


class CallEnding(Struct, frozen=True, kw_only=True):
    """The command of a call as people type it, the meaning of its exit code, and whether that is an answer."""

    line: str
    meaning: str
    is_answer: bool


class CutOutput(Struct, frozen=True, kw_only=True):
    """The part of an output that is shown, and a sentence about the rest ("": there is none)."""

    text: str
    cut: str = ""


def answer_of_run(run: CommandRun, ending: CallEnding, bounds: ShownPart, *, is_json: bool = False) -> dict[str, Any]:
    """Return the answer of a tool: what was printed and said, the command, and the meaning of how it ended."""
    is_error = bool(run.bound) or not ending.is_answer
    document = _document_in_output(run.output) if is_json and not is_error else None
    if document is not None:
        return _answer_with_document(run, ending, bounds, document)
    shown = cut_output(run.output, bounds)
    head = [f"command: {ending.line}", _words_on_ending(run, ending)]
    head += [shown.cut] if shown.cut else []
    parts = ["\n".join(head), shown.text, _said(run)]
    return {"content": [_text(part) for part in parts if part], "isError": is_error}


def answer_of_complaints(complaints: tuple[str, ...]) -> dict[str, Any]:
    """Return the answer to arguments that cannot be used: whoever called can put them right."""
    text = safe_for_terminal("\n".join(complaints))[:MOST_SAID]
    return {"content": [_text(f"nothing was run: the arguments are not right\n{text}")], "isError": True}


def cut_output(text: str, bounds: ShownPart) -> CutOutput:
    r"""Return as many whole lines as may be shown, from the one that is wanted, and how to get the others.

    >>> shown = cut_output("a\nb\nc\n", ShownPart(characters=4, from_line=1))
    >>> shown.text, shown.cut
    ('a\nb\n', 'cut: lines 1 to 2 of 3 are shown; from_line 3 goes on, a name or namespace asks for less')
    """
    lines = text.splitlines(keepends=True)
    wanted = lines[bounds.from_line - 1 :]
    shown: list[str] = []
    size = 0
    for line in wanted:
        size += len(line)
        if size > bounds.characters:
            break
        shown.append(line)
    if wanted and not shown:
        shown = [f"{wanted[0][: bounds.characters]}...\n"]
    first, last = bounds.from_line, bounds.from_line - 1 + len(shown)
    if len(shown) == len(lines):
        return CutOutput(text="".join(shown))
    if not wanted:
        return CutOutput(text="", cut=f"cut: line {first} was asked for, and there are {len(lines)}")
    rest = f"; from_line {last + 1} goes on" if last < len(lines) else ""
    less = f"{rest}, a name or namespace asks for less" if rest else ""
    return CutOutput(text="".join(shown), cut=f"cut: lines {first} to {last} of {len(lines)} are shown{less}")


def _document_in_output(output: str) -> Any:
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return None


def _answer_with_document(run: CommandRun, ending: CallEnding, bounds: ShownPart, document: Any) -> dict[str, Any]:
    cuts: dict[str, str] = {}
    shown = cut_document(document, bounds.characters, cuts)
    whole = {"command": ending.line, "exitCode": run.code, "meaning": ending.meaning, "document": shown}
    if cuts:
        whole["cut"] = cuts
        whole["hint"] = "max_characters shows more, a name or namespace asks for less"
    if said := _said(run):
        whole["said"] = said
    text = json_safe_for_terminal(json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
    return {"content": [_text(text)], "structuredContent": json.loads(text), "isError": False}


def cut_document(document: Any, characters: int, cuts: dict[str, str]) -> Any:
    """Return a document with as many items of its lists as may be shown; ``cuts`` gets what is left out, by path.

    Lists that are in no other are made shorter first, so that what is shown of an item is all of it.

    >>> cuts = {}
    >>> cut_document({"items": list(range(2000))}, 100, cuts)["items"][:3], cuts
    ([0, 1, 2], {'items': '33 of 2000 are shown'})
    """
    if _size(document) <= characters:
        return document
    for are_inner_cut in (False, True):
        low, high = 0, max((len(each) for each in _collections(document)), default=0)
        while low < high:
            middle = (low + high + 1) // 2
            if _size(_Cutting(most=middle, are_inner_cut=are_inner_cut).cut_part(document)) <= characters:
                low = middle
            else:
                high = middle - 1
        cutting = _Cutting(most=low, are_inner_cut=are_inner_cut)
        shown = cutting.cut_part(document)
        if _size(shown) <= characters and (low or are_inner_cut):
            cuts.update(cutting.cuts)
            return shown
    cuts["document"] = f"{_size(document)} characters are more than {characters}, even with its lists left out"
    return None


def _size(document: Any) -> int:
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def _collections(document: Any) -> Iterator[Any]:
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            yield each
            waiting += each.values() if isinstance(each, dict) else each


class _Cutting(Struct, kw_only=True):
    """One way to make a document shorter: so many items of each list, or of each that is in no other.

    A mapping of more names than any part of a document has fields is one of names, and counts as a list.
    """

    most: int
    are_inner_cut: bool
    cuts: dict[str, str] = field(default_factory=dict)

    def cut_part(self, part: Any, path: str = "", *, is_inner: bool = False) -> Any:
        """Return a part of the document with what is shown of it."""
        if isinstance(part, str) and len(part) > _LONGEST_TEXT:
            self.cuts[path] = f"{_LONGEST_TEXT} of {len(part)} characters are shown"
            return part[:_LONGEST_TEXT]
        if not isinstance(part, list | dict):
            return part
        is_list = isinstance(part, list) or len(part) > _MOST_FIELDS
        is_cut = is_list and len(part) > self.most and (self.are_inner_cut or not is_inner)
        if is_cut:
            self.cuts[path] = f"{self.most} of {len(part)} are shown"
        is_inner = is_inner or is_list
        if isinstance(part, list):
            shown = part[: self.most] if is_cut else part
            return [self.cut_part(each, f"{path}[]", is_inner=is_inner) for each in shown]
        names = list(part)[: self.most] if is_cut else part
        below = f"{path}." if path else ""
        return {name: self.cut_part(part[name], f"{below}{name}", is_inner=is_inner) for name in names}


def _words_on_ending(run: CommandRun, ending: CallEnding) -> str:
    if not run.bound:
        return f"exit code: {run.code} ({ending.meaning})"
    return f"stopped: {run.bound}; ask for less" if "cancelled" not in run.bound else f"stopped: {run.bound}"


def _said(run: CommandRun) -> str:
    """Return what the command said beside its output: warnings, and what is wrong."""
    said = run.said.rstrip()
    if len(run.output.encode("utf-8", "replace")) >= MOST_OUTPUT:
        said = f"{said}\nonly the first {MOST_OUTPUT} bytes of the output were kept"
    return (
        said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}...\n{len(said) - MOST_SAID} more characters were said"
    )


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
