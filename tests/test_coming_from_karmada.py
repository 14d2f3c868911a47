"""The guide for those who come from Karmada has a state for each of its commands, features and gates."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import COMMANDS
from render.documents import parse_documents
from render.settings.feature_gates import IDLE_GATES, FeatureGates
from render.settings.fields import setting_fields

HERE = Path(__file__).parent
GUIDE = HERE.parent / "examples" / "coming-from-karmada" / "README.md"
LISTED: Any = parse_documents((HERE / "vectors" / "karmada_features.yaml").read_bytes())[0].value
STATES = {"the same", "otherwise", "not here"}
COMMANDS_TITLE, PAGES_TITLE, GATES_TITLE = (
    "### Every command of karmadactl",
    "### Every page of Karmada's user guide",
    "### Every feature gate of Karmada",
)


def rows_below(title: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table below a heading of the guide."""
    section = GUIDE.read_text().split(f"{title}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    yield from (tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in lines[2:])


def test_every_command_of_karmadactl_has_a_state() -> None:
    assert [name.strip("`") for name, *_ in rows_below(COMMANDS_TITLE)] == LISTED["commands"]
    assert len(LISTED["commands"]) == 32


def test_every_feature_of_the_user_guide_has_a_state() -> None:
    listed = [(page, feature) for page, features in LISTED["pages"].items() for feature in features]
    assert [(page, feature) for page, feature, *_ in rows_below(PAGES_TITLE)] == listed
    assert (len(LISTED["pages"]), len(listed) >= 72) == (38, True)


def test_every_gate_has_the_state_that_it_has_in_argosy_yaml() -> None:
    states = {name: state for name, state, _ in rows_below(GATES_TITLE)}
    assert list(states) == LISTED["gates"]
    known = {field.setting.name for field in setting_fields(FeatureGates)}
    assert (set(states), {name for name, state in states.items() if state == "not here"}) == (known, set(IDLE_GATES))


@pytest.mark.parametrize("title", [COMMANDS_TITLE, PAGES_TITLE, GATES_TITLE])
def test_states_are_words_of_a_closed_list_and_say_what_there_is_instead(title: str) -> None:
    for *_, state, words in rows_below(title):
        assert state in STATES
        assert state == "the same" or len(words) > 3, (state, words)


def test_every_command_that_the_tables_name_exists() -> None:
    tables = [cell for title in (COMMANDS_TITLE, PAGES_TITLE, GATES_TITLE) for row in rows_below(title) for cell in row]
    named = {word for cell in tables for word in re.findall(r"`argosy ([a-z][a-z-]*)", cell)}
    assert (named <= set(COMMANDS), len(named) > 8) == (True, True)
