"""A malformed allowance is refused before anything is read: there is not even a repository here."""

from pathlib import Path
from shlex import quote, split
from typing import NamedTuple

import pytest

from tests.build import Repository, argosy

CLUSTER, OBJECT = "write <cluster>=<count>, or *=<count>", "write <object>=<count>, or *=<count>"


class Malformed(NamedTuple):
    line: str
    said: str


MALFORMED = (
    [
        Malformed(f"{command} --allow-removal member1=1 --allow-removal {text}", f"--allow-removal '{text}': {CLUSTER}")
        for command in ("reconcile", "diff --check", "render --commit", "apply")
        for text in ("x", "*=all")
    ]
    + [
        Malformed(f"{command} --allow-movement {text}", f"--allow-movement '{text}': {OBJECT}")
        for command in ("reconcile", "diff --check", "render --commit")
        for text in ("3", "Deployment.apps=many")
    ]
    + [
        Malformed(f"{command} --allow-cost {quote(text)}", f"--allow-cost '{text}': write an amount such as 120.50")
        for command in ("reconcile", "diff --check", "render --commit")
        for text in ("much", "1e3", "*=3", "EUR", "24EUR", "24 eur", "24 EUR USD")
    ]
)


@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case.line)
def test_it_is_refused(case: Malformed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = case.line.partition(" ")[0]
    arguments = {"reconcile": "", "diff": " [BASE] [HEAD]", "render": "", "apply": " [REV]"}[command]
    usage = f"Usage: argosy {command} [OPTIONS]{arguments}\nTry 'argosy {command} --help' for help.\n\n"
    ended = argosy(Repository(tmp_path), capsys, *split(case.line))
    assert ended == (2, "", f"{usage}Error: {case.said}\n")
