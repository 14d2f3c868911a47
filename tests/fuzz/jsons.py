"""Random JSON, in streams and between YAML separators, sometimes broken."""

import json
from random import Random

from .scalars import FOREIGN, hazard_string

NUMBERS = ("0", "-0", "1.0", "1e3", "1E400", "-1e-400", "9223372036854775808", "-9223372036854775809", "0.1", "1e18",
           "12345678901234567890123", "01", "+1", ".5", "NaN", "Infinity", "0x1", "1e", "-")  # fmt: skip
ESCAPES = ("\\/", "\\ud83d\\ude00", "\\ud800", "\\udc00x", "\\u0000", "\\n", "\\x41", "\\'", "\\u00e9", "\\", "\t")
EDITS = ",:[]{}\"' \t\n#-0tn\\"
BETWEEN = ("\n", "", " ", "\n---\n", "---\n", "\n\n", " \n# c\n---\n", "\n--- x\n", "\n\t")


def json_text(rng: Random, heads: list[str]) -> str:
    """One JSON object for each head, written after one another."""
    return rng.choice(BETWEEN).join(_object(rng, head) for head in heads) + rng.choice(("\n", "", "  \n", "\n---\n"))


def _object(rng: Random, head: str) -> str:
    gap = rng.choice(("", " ", "\n", "\n\t", "\n  "))
    rest = f",{gap}{_string(rng)}:{gap}{_value(rng, 3)}{gap}}}"
    if rng.random() < 0.15:
        place = rng.randrange(len(rest))
        rest = rest[:place] + rng.choice(EDITS) + rest[place + rng.randrange(2) :]
    return f"{{{gap}{head}{rest}"


def _value(rng: Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return _string(rng)
    if kind < 0.6:
        return rng.choice((*NUMBERS[:11], "true", "false", "null") if rng.random() < 0.9 else NUMBERS)
    if kind < 0.8:
        return "[" + ", ".join(_value(rng, depth - 1) for _ in range(rng.randrange(4))) + "]"
    return "{" + ",\n".join(f"{_string(rng)}: {_value(rng, depth - 1)}" for _ in range(rng.randrange(4))) + "}"


def _string(rng: Random) -> str:
    text = json.dumps(
        hazard_string(rng) if rng.random() < 0.5 else f"k{rng.randrange(1000)}", ensure_ascii=rng.random() < 0.5
    )
    return f'"{rng.choice(ESCAPES)}{FOREIGN[0]}{text[1:]}' if rng.random() < 0.07 else text
