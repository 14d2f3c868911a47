"""Reports of benchmarks: what became slower is told by ratios, and the page of a report says what the report says."""

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from msgspec import structs

from .bench.bars import BARS
from .bench.bench_all import DRAWING, PAGE, REPORT, main
from .bench.figures import BYTES, CPU, Figure, figures_in, told
from .bench.growth_drawing import drawing_of_growth, panels_of
from .bench.machine import LOOP_OF_BARS, Machine
from .bench.page import GROUPS, page_of
from .bench.report import Report, Run, compared, lower_of_both
from .docs import EXAMPLES
from .tables import each_row

WRITTEN = EXAMPLES / "what-it-costs"
COLD, EDIT, HELP, NOTHING = "cold", "edit", "help", "nothing"
MACHINE = Machine(
    processor="Made-up", cores=2, memory=4096, system="Linux 6", python="3.11", git="2.39", loop=LOOP_OF_BARS, help=0.05
)


def a_report(loop: float = 0.05, sent: float = 1000.0, **seconds: float) -> Report:
    """A report of one scenario: seconds of a cold pass, of an edit beside it, of help, of a no-op beside it, and bytes.

    Figures of which nothing is given are those of the first report.
    """
    given = {COLD: 2.0, EDIT: 0.4, HELP: 0.1, NOTHING: 0.12} | seconds
    beside = {EDIT: COLD, NOTHING: HELP}
    figures = [
        Figure(scenario="render", measure=name, value=value, unit=CPU, beside=beside.get(name, ""))
        for name, value in given.items()
    ]
    figures.append(Figure(scenario="render", measure="sent", value=sent, unit=BYTES))
    return reported(*figures, loop=loop)


def reported(*figures: Figure, loop: float = LOOP_OF_BARS, **failed: str) -> Report:
    """A report of a run with these figures, and of what failed for a reason."""
    run = Run(words="run", commit="c" * 40, begun="2026-01-02T03:04:05Z", seconds=60, loop=loop, figures=figures)
    return Report(
        machine=MACHINE,
        runs=(run, *(structs.replace(run, words=words, figures=(), failed=reason) for words, reason in failed.items())),
    )


FIRST = a_report()


class Change(NamedTuple):
    why: str
    now: Report
    steps: list[str]


CHANGES = [
    Change("nothing changed", a_report(), []),
    Change("a machine half as fast", a_report(loop=0.1, cold=4, edit=0.8, help=0.2, nothing=0.24), []),
    Change("an edit takes 1.6 times as long", a_report(edit=0.64), [EDIT]),
    Change("an edit takes 1.4 times as long", a_report(edit=0.56), []),
    Change("the same on a machine half as fast", a_report(0.1, cold=4, edit=1.28, help=0.2, nothing=0.24), [EDIT]),
    Change("a cold pass is twice as fast, an edit as it was", a_report(cold=1), []),
    Change("everything but the loop takes twice as long", a_report(cold=4, edit=0.8), [COLD]),
    Change("a no-op takes twice as long, help as before", a_report(nothing=0.24), [NOTHING]),
    Change("help takes twice as long, and a no-op with it", a_report(help=0.2, nothing=0.24), [HELP]),
    Change("bytes are the same on every machine", a_report(sent=1500), ["sent"]),
    Change("fewer bytes", a_report(sent=10), []),
    Change("a measure that is new has nothing beside it", a_report(more=9), []),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_a_step_is_one_by_every_ratio(case: Change) -> None:
    assert [each.figure.measure for each in compared(case.now, FIRST) if each.is_step] == case.steps


@each_row(
    ("before", "now", "is_step"),
    [(0.0, 0.0, False), (0.0, 1.0, True), (0.001, 0.019, False), (0.001, 0.021, True)],
)
def test_what_is_next_to_nothing_is_compared_once_it_is_something(before: float, now: float, *, is_step: bool) -> None:
    """A hundredth of a second is noise; one commit where there was none is none."""
    unit = "" if now in {0, 1} else CPU
    reports = [reported(Figure(scenario="s", measure="m", value=value, unit=unit)) for value in (now, before)]
    assert any(each.is_step for each in compared(*reports)) is is_step


def test_a_figure_is_told_beside_the_same_measure_of_an_older_report() -> None:
    """A figure may have got something to be told beside since the older report was written."""
    now, before = a_report(edit=0.8, cold=4), a_report()
    figures = tuple(structs.replace(each, beside="") for each in before.figures)
    older = structs.replace(before, runs=(structs.replace(before.runs[0], figures=figures),))
    assert [each.figure.measure for each in compared(now, older) if each.is_step] == [COLD]


def test_reports_that_share_nothing_fail_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that was given another name would otherwise never be compared again."""
    paths = [tmp_path / name for name in ("now", "before")]
    paths[0].write_text(a_report().text())
    paths[1].write_text(a_report().text().replace('"render"', '"other"'))
    assert main(["--given", str(paths[0]), "--compare", str(paths[1])]) == 1
    assert capsys.readouterr().out == "0 figures compared, 0 of them are a step\n"


def test_the_command_names_what_became_slower(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / name for name in ("now", "before")]
    for path, report in zip(paths, (a_report(edit=0.8), FIRST), strict=True):
        path.write_text(report.text())
    assert Report.read(paths[1]) == FIRST
    assert main(["--given", str(paths[0]), "--compare", str(paths[1])]) == 1
    out = capsys.readouterr().out.splitlines()
    assert (out[0], out[-1]) == (
        "SLOWER  2.00 times  render: edit: 0.4 CPU s, now 0.8",
        "5 figures compared, 1 of them are a step",
    )
    assert main(["--given", str(paths[1]), "--compare", str(paths[1])]) == 0


def test_a_figure_above_its_bar_is_printed_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = Figure(scenario="s", measure="commits", value=0, unit="", must=0)
    bad = Figure(scenario="s", measure="bytes", value=2000, unit=BYTES, must=1000, aim=500, remark="of one agent")
    assert told([good], tmp_path / "figures") == 0
    assert told([bad], tmp_path / "figures") == 1
    assert capsys.readouterr().out.splitlines() == [
        "s",
        f"  {'commits':36} {'0':>9} {'':6} ok: must 0",
        "s",
        f"  {'bytes':36} {'2,000':>9} {'B':6} MORE: must 1,000, aim 500; of one agent",
    ]
    assert list(figures_in(tmp_path / "figures")) == [good, bad]


def test_a_page_has_each_figure_at_the_speed_of_its_bar() -> None:
    """Seconds of a machine that is half as fast are halved before they are held to a bar, and bytes are not."""
    report = reported(
        Figure(
            scenario="s", measure="time", value=2, unit=CPU, must=1, aim=0.5, peer="Karmada: 9 s", remark="of one | two"
        ),
        Figure(scenario="s", measure="sent", value=2, unit=BYTES, must=1),
        loop=2 * LOOP_OF_BARS,
        push="needs servers",
    )
    page = page_of(report).partition("\n## Bars: ")[2].partition("\n* render")[0]
    assert page.splitlines() == [
        "1 of 2 kept",
        "",
        "These are not:",
        "",
        "| scenario | measure | there | must | times |",
        "|---|---|---|---|---|",
        "| s | sent | 2 B | 1 | 2 |",
        "",
        "## Others",
        "",
        "### S",
        "",
        f"`run`, commit `{'c' * 12}`, 2026-01-02 03:04 UTC, 60 s; load not noted, 2 times as slow",
        "",
        "| measure | here | there | must | aim | kept | remark |",
        "|---|---|---|---|---|---|---|",
        "| time | 2 CPU s | 1 | 1 | 0.500 | there | of one / two |",
        "| sent | 2 B | 2 | 1 |  | **no** |  |",
        "",
        "* time: Karmada: 9 s",
        "",
        "## What is not here",
        "",
        "* `push`: needs servers",
    ]


def test_a_page_says_which_of_the_bars_were_not_measured() -> None:
    """A scenario that nobody ran would otherwise look like one without bars."""
    name = next(iter(BARS))
    lines = [f"* {each}: has bars, and was not measured" for each in BARS]
    assert page_of(reported()).splitlines()[-len(lines) :] == lines
    assert lines[0] not in page_of(reported(Figure(scenario=name, measure="m", value=1, unit=CPU)))


def test_every_scenario_with_a_bar_has_its_place_on_the_page() -> None:
    words = [word for group in GROUPS for word in group.words]
    assert len(words) == len(set(words))
    assert {name.split(maxsplit=1)[0].rstrip(",") for name in BARS} <= {*words}


def test_newer_figures_take_the_places_of_older_ones() -> None:
    """Of two figures of one measure the newer one stays, whatever the words were by which it was measured."""
    old, new, other = (
        Figure(scenario=name, measure="m", value=value, unit="") for name, value in (("s", 1), ("s", 2), ("t", 3))
    )
    gone = Figure(scenario="s", measure="gone", value=9, unit="")
    before = reported(old, gone, other, push="needs servers", storm="took longer")
    newer = Run(words="push", commit="d" * 40, begun="2026-01-03T03:04:05Z", seconds=1, loop=0.1, figures=(new,))
    joined = before.with_runs_of(Report(machine=structs.replace(MACHINE, loop=1.0), runs=(newer,)))
    assert joined.machine == MACHINE
    assert [(run.words, run.figures, run.failed) for run in joined.runs] == [
        ("run", (gone, other), ""),
        ("storm", (), "took longer"),
        ("push", (new,), ""),
    ]


def test_figures_of_another_machine_are_not_put_into_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / name for name in ("one", "two")]
    for path, machine in zip(paths, (MACHINE, structs.replace(MACHINE, cores=4)), strict=True):
        path.write_text(structs.replace(FIRST, machine=machine).text())
    with pytest.raises(SystemExit, match="2"):
        main(["--given", str(paths[0]), "--add", str(paths[1]), "--json", str(paths[0])])
    assert "one report is of 2 cores of Made-up" in capsys.readouterr().err
    assert Report.read(paths[0]) == FIRST
    paths[1].write_text(a_report(edit=0.3).text())
    main(["--given", str(paths[0]), "--add", str(paths[1]), "--json", str(paths[0])])
    assert Report.read(paths[0]) == a_report(edit=0.3)


def test_a_step_has_to_be_in_every_look() -> None:
    """A machine that others use is slow at times; what has become slower is so at all times."""
    looks = [
        {each.key: each for each in compared(a_report(edit=seconds, nothing=0.24), FIRST)} for seconds in (0.8, 0.5)
    ]
    assert [each.figure.measure for each in lower_of_both(*looks).values() if each.is_step] == [NOTHING]


def test_the_drawing_has_a_line_for_each_measure_over_both_sizes() -> None:
    figures = [
        Figure(
            scenario=f"render shared, {clusters} clusters x {templates} templates", measure=name, value=value, unit=CPU
        )
        for clusters, templates, value in ((10, 1000, 0.5), (1000, 1000, 2.0), (1000, 10, 0.3), (50, 50, 9.0))
        for name in ("cold, into a commit", "nothing changed", "bare python")
    ]
    found = [{name: [*map(tuple, line)] for name, line in panel.lines.items()} for panel in panels_of(figures)]
    over_clusters, over_templates = [(10, 0.5), (1000, 2.0)], [(10, 0.3), (1000, 2.0)]
    names = ("cold, into a commit", "nothing changed")
    assert found == [dict.fromkeys(names, over_clusters), dict.fromkeys(names, over_templates)]
    drawn = ET.fromstring(drawing_of_growth(figures))
    assert len(drawn.findall("{http://www.w3.org/2000/svg}polyline")) == 4


def test_the_page_of_the_examples_is_that_of_its_report() -> None:
    """``python -m tests.bench all --given REPORT --write FOLDER`` writes it again without measuring anything."""
    report = Report.read(WRITTEN / REPORT)
    assert (WRITTEN / PAGE).read_text(encoding="utf-8") == page_of(report)
    assert (WRITTEN / DRAWING).read_text(encoding="utf-8") == drawing_of_growth(report.figures_there)
    ET.fromstring(drawing_of_growth(report.figures_there))


def test_every_bar_is_one_of_a_figure() -> None:
    """A measure that was given another name would have no bar any more."""
    measured: dict[str, set[str]] = {}
    for each in Report.read(WRITTEN / REPORT).figures:
        measured.setdefault(each.scenario, set()).add(each.measure)
    assert {name: bars.keys() - measured[name] for name, bars in BARS.items() if name in measured} == {
        name: set() for name in BARS if name in measured
    }
    assert not re.search(r"\bnan\b|\binf\b", (WRITTEN / PAGE).read_text(encoding="utf-8"))
