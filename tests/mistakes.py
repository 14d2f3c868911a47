"""Common mistakes in a source, and what a command says of each: ``python -m tests.mistakes`` prints them as a list.

They stand in ``vectors/fleet_mistakes.yaml``, behind the fleet in which they are made.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from render.documents import parse_documents

VECTORS = Path(__file__).parent / "vectors" / "fleet_mistakes.yaml"
FINE, ROWS = (document.value for document in parse_documents(VECTORS.read_bytes()))


class Mistake(NamedTuple):
    """A mistake and what a command says of it.

    ``changed`` are lines of a file and those in their place, ``added`` new files (None: one that is taken away).
    """

    why: str
    says: str
    code: int = 0
    run: str = "validate"
    file: str = ""
    changed: tuple[tuple[str, str], ...] = ()
    added: Mapping[str, str | None] = {}


def mistake(row: Mapping[str, Any]) -> Mistake:
    """Read a row of the table."""
    changes = row.get("changes") or ([{"from": row["from"], "to": row["to"]}] if "from" in row else [])
    return Mistake(
        why=row["why"],
        says=row.get("says", ""),
        code=row.get("code", 0),
        run=row.get("run", "validate"),
        file=row.get("file", ""),
        changed=tuple((each["from"], each["to"]) for each in changes),
        added=row.get("add", {}),
    )


MISTAKES = [mistake(row) for row in ROWS]


def files_of(case: Mistake) -> dict[str, str | None]:
    """Return the files that a mistake changes or adds."""
    files: dict[str, str | None] = dict(case.added)
    if case.changed:
        text = str(FINE[case.file])
        for before, after in case.changed:
            assert text.count(before) == 1, f"{before!r} stands {text.count(before)} times in {case.file}"
            text = files[case.file] = text.replace(before, after)
    return files


def listing() -> str:
    """Return what ``argosy validate`` says of each mistake that it finds."""
    found = (case for case in MISTAKES if case.run == "validate")
    return "\n".join(f"# {case.why}\n{case.says}" for case in found)


if __name__ == "__main__":
    print(listing(), end="")
