"""The page on security names tests and workflows that exist, and every attack."""

import re

from tests.workflows import ROOT

PAGE = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")


def test_every_test_the_page_names_exists() -> None:
    named = set(re.findall(r"`((?:attack/)?test_\w+\.py)`", PAGE))
    assert sorted(name for name in named if not (ROOT / "tests" / name).is_file()) == []
    assert len(named) > 20


def test_every_attack_is_on_the_page() -> None:
    attacks = {path.name for path in (ROOT / "tests" / "attack").glob("test_*.py")} - {"test_security_page.py"}
    assert {name for name in attacks if f"`attack/{name}`" not in PAGE} == set()


def test_each_of_the_thirty_usual_threats_is_answered() -> None:
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 31))
    for _, answer in rows:
        assert "test_" in answer or "not applicable because" in answer.lower() or "the table above" in answer
