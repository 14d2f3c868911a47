"""Tables on a terminal: marks and colours of states, ages, widths, and none of that in a pipe."""

import importlib
import io
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import pyte
import pytest

from reconciler.console.marks import MARKS, STATE_BY_WORD, HealthState, state_of_row
from reconciler.console.painting import painted
from reconciler.console.styled_text import Span, StyledText
from reconciler.console.table_looks import dressed_table
from reconciler.console.terminal import Screen, screen_of
from reconciler.deliver.report_rows import ReportRows
from reconciler.passes.remembered_members import RememberedFleet
from tests.build import a_deployment, a_policy, on_clusters
from tests.memory_fleet import MemoryFleet
from tests.prepared import prepared
from tests.tables import each_row
from tests.terminals import environment_of_terminal, shown_lines, written_to_terminal

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}


class Stream(io.StringIO):
    """A stream that is a terminal or not, with an encoding."""

    def __init__(self, *, is_terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._is_terminal, self._encoding = is_terminal, encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a stream of text has one that can be set
        return self._encoding

    def isatty(self) -> bool:
        return self._is_terminal

    def fileno(self) -> int:
        raise OSError


class Place(NamedTuple):
    why: str
    is_terminal: bool
    environment: dict[str, str]
    want: tuple[bool, bool, bool]
    """It has colours, it has marks, and it can be written over."""


PLACES = [
    Place("a pipe is plain", False, {"TERM": "xterm"}, (False, False, False)),
    Place("COLUMNS means nothing in a pipe", False, {"COLUMNS": "40"}, (False, False, False)),
    Place("a terminal has all", True, {"TERM": "xterm"}, (True, True, True)),
    Place("a terminal need not say which it is", True, {}, (True, True, True)),
    Place("NO_COLOR leaves the shapes", True, {"NO_COLOR": "1"}, (False, True, True)),
    Place("an empty NO_COLOR says nothing", True, {"NO_COLOR": ""}, (True, True, True)),
    Place("CLICOLOR=0 leaves the shapes", True, {"CLICOLOR": "0"}, (False, True, True)),
    Place("a dumb terminal has nothing", True, {"TERM": "dumb"}, (False, False, False)),
    Place("colours can be forced in a pipe", False, {"CLICOLOR_FORCE": "1"}, (True, True, False)),
    Place("CLICOLOR_FORCE=0 forces nothing", False, {"CLICOLOR_FORCE": "0"}, (False, False, False)),
    Place("NO_COLOR counts more", False, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, (False, False, False)),
    Place("forced on a dumb terminal", True, {"CLICOLOR_FORCE": "1", "TERM": "dumb"}, (True, True, False)),
]


@each_row("place", PLACES, ids=lambda place: place.why)
def test_colours_and_marks_by_the_environment(place: Place) -> None:
    screen = screen_of(Stream(is_terminal=place.is_terminal), environment=place.environment)
    assert (screen.is_colored, screen.has_marks, screen.can_redraw) == place.want


def test_columns_count_where_colours_are_forced_in_a_pipe() -> None:
    given = {"COLUMNS": "60", "CLICOLOR_FORCE": "1"}
    assert screen_of(Stream(is_terminal=False), environment=given).width == 60
    assert screen_of(Stream(is_terminal=False), environment={**given, "COLUMNS": "many"}).width == 0


def test_a_terminal_without_unicode_has_ascii_marks() -> None:
    screen = screen_of(Stream(is_terminal=True, encoding="ascii"), environment={})
    assert not screen.has_unicode
    assert dressed_table(("NAME", "HEALTH"), [("web", "Healthy")], screen, limit=0, indent="") == (
        "  NAME   HEALTH\n+ web    Healthy\n"
    )


def test_the_five_states_differ_by_shape_and_by_colour() -> None:
    assert set(MARKS) == set(HealthState)
    for part in ("shape", "plain_shape", "style"):
        assert len({getattr(mark, part) for mark in MARKS.values()}) == len(MARKS)


ENUMS = [
    "reconciler.record.work_status.Health",
    "reconciler.ledger.inventory.ApplyOutcome",
    "reconciler.members.exchange.FailureKind",
    "render.scheduling.decisions.ScheduledReason",
    "render.rollouts.state.RolloutPhase",
    "render.rollouts.state.RolloutReason",
    "render.interpretation.progress.Progress",
]


def test_every_word_for_how_a_thing_is_has_a_state() -> None:
    kinds: list[type[StrEnum]] = [
        getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in ENUMS
    ]
    assert [word for kind in kinds for word in kind if word not in STATE_BY_WORD] == []


class Row(NamedTuple):
    why: str
    cells: dict[str, str]
    want: HealthState | None


ROWS = [
    Row("ready", {"CLUSTER": "eu", "READY": "True", "NOTE": ""}, HealthState.WELL),
    Row("not ready", {"CLUSTER": "eu", "READY": "False"}, HealthState.UNWELL),
    Row("ready, with objects that are not", {"CLUSTER": "eu", "READY": "True", "UNHEALTHY": "2"}, HealthState.UNWELL),
    Row("nobody knows", {"CLUSTER": "eu", "READY": "True", "UNHEALTHY": "<unknown>"}, HealthState.UNKNOWN),
    Row("cordoned", {"CLUSTER": "eu", "READY": "True", "NOTE": "cordoned"}, HealthState.WAITING),
    Row("a note that is not understood", {"CLUSTER": "eu", "READY": "True", "NOTE": "taint a"}, None),
    Row("objects not built", {"CLUSTER": "eu", "READY": "True", "NOTE": "2 not built: X"}, HealthState.UNWELL),
    Row("suspended is not broken", {"APPLIED": "False", "REASON": "SuspendDispatching"}, HealthState.WAITING),
    Row("a reason that is well hides nothing", {"HEALTH": "Unhealthy", "REASON": "Success"}, HealthState.UNWELL),
    Row("a reason of others in a table of what is not well", {"NOT WELL": "a", "REASON": "Odd"}, HealthState.UNWELL),
    Row("converged and held", {"CLUSTER": "eu", "FAILED": "0", "STATE": "Converged, held"}, HealthState.WAITING),
    Row("a policy that is called Failed", {"POLICY": "Failed", "FILE": "Unhealthy"}, None),
    Row("an empty row", {"CLUSTER": "", "HEALTH": ""}, None),
]


@each_row("row", ROWS, ids=lambda row: row.why)
def test_the_state_of_a_row(row: Row) -> None:
    assert state_of_row(tuple(row.cells), tuple(row.cells.values())) is row.want


COLORS = Screen(width=40, is_terminal=True, can_redraw=True, is_colored=True, has_marks=True)


def test_a_row_has_its_mark_and_a_state_its_colour() -> None:
    table = dressed_table(("NAME", "HEALTH"), [("a", "Healthy"), ("b", "Unhealthy")], COLORS, limit=40, indent=" ")
    assert table == "   NAME   HEALTH\n \u25cf a      Healthy\n \u25b2 b      Unhealthy\n"
    assert [(table[start:end], style) for start, end, style in table.spans] == [
        ("NAME", "bold"),
        ("HEALTH", "bold"),
        ("\u25cf", "green"),
        ("Healthy", "green"),
        ("\u25b2", "bold red"),
        ("Unhealthy", "bold red"),
    ]


def test_a_cell_of_somebody_else_neither_moves_the_cursor_nor_takes_a_style() -> None:
    hostile = "a\x1b[2Kb\u202ec\nd::e"
    table = dressed_table(("NAME", "HEALTH"), [(hostile, "Healthy")], COLORS, limit=0, indent="")
    assert table == "  NAME                    HEALTH\n\u25cf a\\x1b[2Kb\\u202ec d::e   Healthy\n"
    text = painted(("\x1b[2K", table, StyledText("\x1b[31mx", (Span(0, 3, "bold"),))))
    assert text.count("\x1b[") == 2 * len(table.spans)
    assert (text[:7], text[-9:]) == ("\\x1b[2K", "\\x1b[31mx")


def test_a_time_is_told_by_its_age_unless_the_table_tells_ages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    rows = [("a", "2027-01-15T05:00:00Z"), ("b", "2027-01-15T08:00:30Z"), ("c", "2027-13-99T00:00:00Z")]
    assert dressed_table(("NAME", "SINCE"), rows, COLORS, limit=0, indent="") == (
        "NAME   SINCE\na      3h ago\nb      in 30s\nc      2027-13-99T00:00:00Z\n"
    )
    exact = [("a", "2027-01-15T05:00:00Z", "3h")]
    assert "05:00:00Z" in dressed_table(("NAME", "SINCE", "AGE"), exact, COLORS, limit=0, indent="")


def test_characters_of_two_columns_keep_the_columns_in_line() -> None:
    table = dressed_table(("AUTHOR", "NOTE"), [("\u5c71\u7530", "x"), ("Ada", "y")], COLORS, limit=0, indent="")
    assert table == "AUTHOR   NOTE\n\u5c71\u7530     x\nAda      y\n"


@pytest.mark.parametrize("width", [5, 10, 20, 30, 50])
def test_no_line_is_wider_than_the_terminal_however_narrow_that_is(width: int) -> None:
    header = ("CLUSTER", "READY", "OBJECTS", "NOTE")
    row = ("frankfurt-one", "True", "1234567", "cordoned, and a long remark on that " * 30)
    table = dressed_table(header, [row], COLORS, limit=width, indent="")
    assert max(map(len, table.splitlines())) <= width
    assert len(table.splitlines()) < 30
    assert "\u2026" in table


@pytest.fixture
def fleet(tmp_path: Path) -> MemoryFleet:
    """Two members with a workload that no controller makes pods of, and one that does not answer."""
    files: dict[str, Any] = {"web.yaml": a_deployment("web", replicas=2)}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    files["policy.yaml"] = a_policy(selectors=selectors, placement=on_clusters("eu", "us"))
    made = MemoryFleet.create(tmp_path / "fleet", dict.fromkeys(("eu", "us"), (1, ROOMY)), files)
    made.run()
    return made


def status(fleet: MemoryFleet, **options: Any) -> str:
    words = ("-C", str(fleet.repository.path), "status")
    return written_to_terminal(words, PREPARED_CLOCK=str(fleet.now), **options)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_status_fits_the_terminal_and_says_how_each_cluster_is(fleet: MemoryFleet, width: int) -> None:
    shown = shown_lines(status(fleet, width=width), width)
    assert max(map(len, shown)) <= width
    marked = [line[:5].rstrip() for line in shown if line[:1] in {mark.shape for mark in MARKS.values()}]
    assert marked[:2] == ["\u25b2 eu", "\u25b2 us"]
    plain = shown_lines(status(fleet, width=width, NO_COLOR="1"), width)
    assert plain == shown
    assert "\x1b" not in status(fleet, width=width, NO_COLOR="1")


def test_a_pipe_and_a_dumb_terminal_get_no_mark(fleet: MemoryFleet) -> None:
    words = ("-C", str(fleet.repository.path), "status")
    plain = [
        prepared().ended(words, environment=environment_of_terminal(PREPARED_CLOCK=str(fleet.now), **variables))[1]
        for variables in ({}, {"COLUMNS": "40"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LC_ALL": "C"})
    ]
    assert len(set(plain)) == 1
    assert plain[0].isascii()
    assert status(fleet, width=200, TERM="dumb").isascii()


def test_forced_colours_are_those_of_a_terminal(fleet: MemoryFleet) -> None:
    words = ("-C", str(fleet.repository.path), "status")
    environment = environment_of_terminal(PREPARED_CLOCK=str(fleet.now), CLICOLOR_FORCE="1", COLUMNS="80")
    forced = prepared().ended(words, environment=environment)[1]
    assert forced == status(fleet, width=80)


def test_what_a_pass_remembers_is_rows_and_no_text_of_its_terminal() -> None:
    rows = ReportRows(clusters=(("eu", "2", "0", "0", "0", "0", "Converged"),), hints=("  hint: look",))
    again = RememberedFleet.parse(RememberedFleet(rows=rows).plain()).rows
    assert again == rows
    assert "".join(again.text()) == (
        "CLUSTER   UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE\n"
        "eu        2           0         0         0      0        Converged\n"
        "\n  hint: look\n"
    )


def test_no_color_as_an_option(fleet: MemoryFleet) -> None:
    words = ("--no-color", "-C", str(fleet.repository.path), "status")
    written = written_to_terminal(words, width=80, PREPARED_CLOCK=str(fleet.now))
    assert "\x1b" not in written
    assert "\u25b2 eu" in written


def test_an_emulator_shows_the_colours(fleet: MemoryFleet) -> None:
    screen = pyte.Screen(80, 60)
    pyte.Stream(screen).feed(status(fleet, width=80).replace("\n", "\r\n"))
    row = next(number for number, line in enumerate(screen.display) if line.startswith("\u25b2 eu"))
    assert (screen.buffer[row][0].fg, screen.buffer[row][0].bold) == ("red", True)
    assert screen.buffer[row][2].fg == "default"
