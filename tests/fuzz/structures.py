"""Random YAML text in every style, then often broken by a random edit."""

from collections.abc import Callable
from random import Random
from typing import Any

from .scalars import FOREIGN, hazard_text

EDITS = "  \t\n\n#:?!&*|>'\"%@`,[]{}-~\\/0aä\r\x85\u2028\ufeff"
ESCAPES = (
    "n",
    "t",
    "\\",
    '"',
    "'",
    "/",
    "0",
    "x41",
    "u00e4",
    "U0001f600",
    "ud800",
    "N",
    "_",
    "L",
    "P",
    "e",
    "q",
    " ",
    "\n",
)
TAGS = ("!!str ",) * 9 + ("!foo ", "! ", "!!set ", "!!map ", "!!seq ", "!!merge ") * 3 + (
    "!!int ", "!!float ", "!!bool ", "!!null ", "!!binary ", "!!timestamp ", "!<tag:yaml.org,2002:str> ", "!<x> ",
    "!a!b ", "!!str,a ")  # fmt: skip


class Writer:
    """Writes one random document; anchors are named so that some aliases find one."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.anchors: list[str] = []
        self.keys = 0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def document(self) -> str:
        text = f"v:{self.block(0, 3)}"
        if self.chance(0.3):
            text += f"w:{self.block(0, 2)}"
        return text

    def properties(self) -> str:
        """A tag, an anchor, both or (mostly) none."""
        tag = self.rng.choice(TAGS) if self.chance(0.06) else ""
        anchor = f"{self.anchor()} " if self.chance(0.12) else ""
        return tag + anchor if self.chance(0.5) else anchor + tag

    def anchor(self) -> str:
        """An anchor; a name may be used again."""
        self.anchors.append(self.rng.choice("abc"))
        return f"&{self.anchors[-1]}"

    def alias(self) -> str:
        """An alias of an anchor that exists, if one does."""
        return f"*{self.rng.choice(self.anchors)}" if self.anchors and self.chance(0.97) else self.word()

    def word(self) -> str:
        """Harmless text, or one time in three hazardous."""
        return (
            hazard_text(self.rng)
            if self.chance(0.3)
            else self.rng.choice(("a", "word", "1", "x-y", "on", "0.5", "z.y/x"))
        )

    def fresh_key(self) -> str:
        """A key that no other mapping has; one time in thirty one that another may have."""
        self.keys += 1
        return f"k{self.keys if self.chance(0.97) else 1}"

    def block(self, indent: int, depth: int) -> str:
        """Return some text after ``key:``, up to and with the line end."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.3:
            return f" {self.properties()}{self.scalar(indent)}{self.comment()}\n"
        if kind < 0.45:
            return f" {self.properties()}{self.flow(depth - 1)}{self.comment()}\n"
        if kind < 0.55:
            return f" {self.properties()}{self.block_scalar(indent)}"
        if kind < 0.6:
            return f" {self.alias()}\n"
        start = f" {self.properties()}".rstrip(" ") + self.comment() + "\n"
        return start + (self.mapping(indent, depth) if kind < 0.85 else self.sequence(indent, depth))

    def mapping(self, indent: int, depth: int) -> str:
        pad = " " * (indent + self.rng.choice((1, 2, 2, 2, 4)))
        lines = [
            f"{pad}{self.key(len(pad))}:{self.block(len(pad), depth - 1)}" for _ in range(self.rng.randrange(1, 4))
        ]
        if self.chance(0.15):
            lines.insert(self.rng.randrange(len(lines) + 1), f"{pad}<<: {self.merge_source()}\n")
        if self.chance(0.1):
            lines.insert(0, self.rng.choice(("\n", "# comment\n", f"{pad}# comment\n", " \n", "\n\n", "\t\n")))
        return "".join(lines)

    def merge_source(self) -> str:
        name = self.alias()
        return self.rng.choice((name, f"[{name}, {{k: 1}}]", "{k: 1, l: 2}", f"[{name}]", "{k2: x}", "[]", "~"))

    def sequence(self, indent: int, depth: int) -> str:
        pad = " " * (indent + self.rng.choice((0, 0, 2, 2, 4)))
        return "".join(self.item(pad, depth) for _ in range(self.rng.randrange(1, 4)))

    def item(self, pad: str, depth: int) -> str:
        if self.chance(0.3):
            deeper = pad + "  "
            lines = [f"{self.key(len(deeper))}:{self.block(len(deeper), depth - 1)}" for _ in range(2)]
            return f"{pad}- {lines[0]}{deeper}{lines[1]}"
        if self.chance(0.1):
            return f"{pad}- -{self.block(len(pad) + 2, depth - 1)}"
        return f"{pad}-{self.block(len(pad), depth - 1)}"

    def key(self, indent: int) -> str:
        kind = self.rng.random()
        if kind < 0.8:
            return self.fresh_key()
        if kind < 0.85:
            return f"? {self.word()}\n{self.rng.choice(('', ' ' * indent, ' ' * indent))}"
        return self.rng.choice((self.word(), self.quoted(), f"{self.anchor()} {self.fresh_key()}", f"{self.alias()} "))

    def scalar(self, indent: int) -> str:
        kind = self.rng.random()
        if kind < 0.45:
            return self.word()
        if kind < 0.65:
            return self.quoted()
        pad = "\n" + " " * (indent + self.rng.choice((0, 1, 1, 2, 2, 4))) + self.rng.choice(("",) * 9 + ("\t",))
        words = [self.word() for _ in range(self.rng.randrange(1, 5))]
        return self.rng.choice((" ", pad, "\n" + pad, "\t")).join(words)

    def quoted(self) -> str:
        pieces = [self.piece() for _ in range(self.rng.randrange(4))]
        if self.chance(0.5):
            return "'" + "".join(pieces).replace("'", "''") + "'"
        return '"' + "".join(self.escaped(piece) for piece in pieces) + '"'

    def piece(self) -> str:
        return self.rng.choice((" ", "  ", "\n", "\n\n", "\n   ", "\t", "a", "b c", hazard_text(self.rng), FOREIGN[:3]))

    def escaped(self, piece: str) -> str:
        if self.chance(0.3):
            return "\\" + self.rng.choice(ESCAPES)
        return piece.replace("\\", "\\\\").replace('"', '\\"')

    def block_scalar(self, indent: int) -> str:
        header = self.rng.choice("|>") + self.rng.choice(
            ("", "", "", "-", "+", "-", "+", "2", "1", "2-", "+1", "0", "4")
        )
        header += self.rng.choice(("",) * 20 + (" # c", "#c", " ", "\t", " x"))
        pad = " " * (indent + self.rng.choice((0, 1, 2, 2, 2, 2, 2, 4)))
        lines = [self.block_line(pad) for _ in range(self.rng.randrange(5))]
        return header + "\n" + "".join(f"{line}\n" for line in lines)

    def block_line(self, pad: str) -> str:
        kind = self.rng.random()
        if kind < 0.2:
            return self.rng.choice(("", "", " ", pad, pad + " ", "\t"))
        return pad + self.rng.choice(("", "", "", "", " ", "  ", "\t")) + self.word()

    def flow(self, depth: int) -> str:
        gap = self.rng.choice(("", " ", " ", "\n  ", "\t", " # c\n "))
        members = [self.flow_member(depth) for _ in range(self.rng.randrange(4))]
        ending = self.rng.choice(("", "", "", ",", " "))
        if self.chance(0.5):
            return "[" + f",{gap}".join(members) + ending + "]"
        pairs = [f"{self.flow_key()}{self.rng.choice((': ', ': ', ':', ' : '))}{member}" for member in members]
        return "{" + f",{gap}".join(pairs) + ending + "}"

    def flow_key(self) -> str:
        if self.chance(0.6):
            return self.fresh_key()
        return self.rng.choice((self.quoted(), self.word(), f"? {self.fresh_key()}", "", self.fresh_key() + " x"))

    def flow_member(self, depth: int) -> str:
        kind = self.rng.random()
        if depth > 0 and kind < 0.25:
            return self.properties() + self.flow(depth - 1)
        if kind < 0.32:
            return f"{self.alias()} "
        if kind < 0.5:
            return self.properties() + self.quoted()
        return self.properties() + self.rng.choice((self.word(), "a", "1", "", "x: y", "a b", "a\n  b", "x?y"))

    def comment(self) -> str:
        return self.rng.choice(("",) * 30 + (" # comment", " # c", "# not", "\t# tab", "  ", " #"))


def structure(rng: Random) -> str:
    """A document, edited at random in four of ten cases, sometimes with other line ends."""
    text = Writer(rng).document()
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(EDITS) * rng.randrange(2) + text[place + rng.randrange(2) :]
    ending = rng.random()
    if ending < 0.1:
        return text.replace("\n", "\r\n")
    return text.replace("\n", "\r") if ending < 0.13 else text


def ordinary(rng: Random) -> str:
    """An ordinary document as people and programs write them, its lines then edited at random."""
    lines = _block(rng, {"v": _plain_value(rng, 4)}, 0).splitlines(keepends=True)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        place = rng.randrange(len(lines))
        lines[place : place + 1] = rng.choice(LINE_EDITS)(rng, lines[place])
        lines = lines or ["v: 1\n"]
    return "".join(lines)


LINE_EDITS: tuple[Callable[[Random, str], list[str]], ...] = (
    lambda rng, line: [" " * rng.randrange(1, 5) + line],
    lambda rng, line: [line[rng.randrange(1, 5) :] or "\n"],
    lambda _, line: [line, line],
    lambda _, _line: [],
    lambda rng, line: [
        line,
        rng.choice(("\n", "# c\n", "  # c\n", "        # c\n", "   \n", "          \n", "...\n", "\t\n")),
    ],
    lambda rng, line: [
        line.rstrip("\n") + rng.choice(("  \n", " # c\n", "# c\n", ":\n", " |\n", " |-\n", " >\n", "\t\n", " :\n"))
    ],
    lambda _, line: [line.lstrip(" ")],
    lambda rng, line: [line.replace("- ", rng.choice(("-", "-  ", "- - ", "  ")), 1)],
    lambda rng, line: [line.replace(": ", rng.choice((":", ":  ", " : ", ": - ", ": |\n")), 1)],
    lambda rng, line: [line.replace(" ", rng.choice(("", "  ", "\t", "\xa0")), 1)],
    lambda rng, line: [_edited(rng, line)],
)


def _edited(rng: Random, line: str) -> str:
    place = rng.randrange(len(line))
    return line[:place] + rng.choice(EDITS) + line[place + rng.randrange(2) :]


def _plain_value(rng: Random, depth: int) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(("a", "b c", hazard_text(rng), "1", "on", "", "x\ny", "x\n\n y\n", "  x\n", "\n\tx\n\n"))
    keys = ("a", "b", "name", "app.kubernetes.io/name", "1", "on", "a b", "-x", hazard_text(rng), "x" * 30)
    if kind < 0.7:
        return {rng.choice(keys): _plain_value(rng, depth - 1) for _ in range(rng.randrange(5))}
    return [_plain_value(rng, depth - 1) for _ in range(rng.randrange(4))]


def _block(rng: Random, value: dict[str, Any] | list[Any], column: int) -> str:
    """Write a container in block style, lists now and then indented."""
    pad = " " * column
    if isinstance(value, dict):
        return "".join(f"{pad}{_inline(rng, key)}:{_after(rng, child, column)}" for key, child in value.items())
    return "".join(f"{pad}-{_after_dash(rng, child, column)}" for child in value)


def _after(rng: Random, value: Any, column: int) -> str:
    if isinstance(value, (dict, list)) and value:
        step = rng.choice((0, 0, 2, 4)) if isinstance(value, list) else rng.choice((1, 2, 2, 2, 4))
        return rng.choice(("\n", "\n", "\n", " # c\n", "  \n")) + _block(rng, value, column + step)
    return _scalar(rng, value, column)


def _after_dash(rng: Random, value: Any, column: int) -> str:
    if isinstance(value, (dict, list)) and value:
        gap = rng.choice((1, 1, 1, 3))
        text = _block(rng, value, column + 1 + gap)
        return " " * gap + text.lstrip(" ") if rng.random() < 0.9 else "\n" + text
    return _scalar(rng, value, column)


def _scalar(rng: Random, value: Any, column: int) -> str:
    if isinstance(value, str) and "\n" in value:
        header = rng.choice(("|", "|", "|-", "|+", "|2", "|4-", ">"))
        pad = " " * (column + rng.choice((1, 2, 2, 4)))
        return f" {header}\n" + "".join(f"{pad}{line}\n" for line in value.split("\n"))
    return f" {_inline(rng, value) if isinstance(value, str) else '{}' if value == {} else '[]'}\n"


def _inline(rng: Random, text: str) -> str:
    kind = rng.random()
    if kind < 0.75:
        return text
    return (
        "'" + text.replace("'", "''") + "'"
        if kind < 0.87
        else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )
