"""A drawing of how rendering grows: CPU seconds over clusters and over templates, both axes logarithmic.

A line that rises by one decade over one decade grows like the fleet; a flat one does not depend on it. Lines differ by
their marks as well as by colour, and each is named at its end.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from .bars import CLONE, COLD, LABEL, NOTHING, TEMPLATE
from .figures import Figure, amount

_SCENARIO = re.compile(r"render shared, (\d+) clusters x (\d+) templates")
_FIXED = 1000
_MEASURES = (COLD, CLONE, LABEL, TEMPLATE, NOTHING)
_WIDTH, _HEIGHT = 1040, 470
_LEFT, _TOP, _PANEL, _TALL, _APART = 60, 84, 330, 320, 190
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title about">
  <title id="title">How rendering grows</title>
  <desc id="about">{about}</desc>
  <style>
    svg {{ --ink: #1f2328; --quiet: #59636e; --ground: #ffffff; --line: #d1d9e0; --c0: #0550ae; --c1: #8250df; \
--c2: #bc4c00; --c3: #116329; --c4: #6e7781; }}
    @media (prefers-color-scheme: dark) {{
      svg {{ --ink: #f0f6fc; --quiet: #9198a1; --ground: #0d1117; --line: #3d444d; --c0: #79c0ff; --c1: #d2a8ff; \
--c2: #ffa657; --c3: #56d364; --c4: #8b949e; }}
    }}
    text {{ font: 13px system-ui, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }}
    .ground {{ fill: var(--ground); }} .head {{ font-weight: 600; font-size: 15px; }} .quiet {{ fill: var(--quiet); }}
    .grid {{ stroke: var(--line); }} .end {{ text-anchor: end; }} .middle {{ text-anchor: middle; }}
    polyline {{ fill: none; stroke-width: 2; }} .l0 {{ stroke: var(--c0); }} .l1 {{ stroke: var(--c1); }}
    .l2 {{ stroke: var(--c2); }} .l3 {{ stroke: var(--c3); }} .l4 {{ stroke: var(--c4); }}
    .m0 {{ fill: var(--c0); }} .m1 {{ fill: var(--c1); }} .m2 {{ fill: var(--c2); }} .m3 {{ fill: var(--c3); }} \
.m4 {{ fill: var(--c4); }}
  </style>
  <rect class="ground" width="{width}" height="{height}"/>
"""


class Point(NamedTuple):
    """A size of the fleet, and the CPU seconds of a pass over it."""

    size: int
    seconds: float


class Panel(NamedTuple):
    """A part of the drawing: the lines over one of the two sizes."""

    title: str
    lines: Mapping[str, Sequence[Point]]


def drawing_of_growth(figures: Iterable[Figure]) -> str:
    """Return the drawing of the figures of rendering that are in a report."""
    panels = panels_of(figures)
    points = [each for panel in panels for line in panel.lines.values() for each in line]
    low = min((each.seconds for each in points), default=0.1)
    high = max((each.seconds for each in points), default=1.0)
    decades = math.floor(math.log10(low)), max(math.ceil(math.log10(high)), math.floor(math.log10(low)) + 1)
    about = "; ".join(_in_words(panel) for panel in panels)
    drawn = [_HEAD.format(width=_WIDTH, height=_HEIGHT, about=escape(about))]
    drawn.append(_text(_LEFT, 28, "CPU seconds of a pass, from start to exit; both axes logarithmic", "head"))
    for number, panel in enumerate(panels):
        drawn += _drawn_panel(panel, _LEFT + number * (_PANEL + _APART), decades)
    return "".join(drawn) + "</svg>\n"


def panels_of(figures: Iterable[Figure]) -> tuple[Panel, Panel]:
    """Return the lines over clusters, with a thousand templates, and over templates, with a thousand clusters."""
    lines: tuple[dict[str, list[Point]], dict[str, list[Point]]] = ({}, {})
    for each in figures:
        found = _SCENARIO.fullmatch(each.scenario)
        if found is None or each.measure not in _MEASURES:
            continue
        clusters, templates = map(int, found.groups())
        if templates == _FIXED:
            lines[0].setdefault(each.measure, []).append(Point(clusters, each.value))
        if clusters == _FIXED:
            lines[1].setdefault(each.measure, []).append(Point(templates, each.value))
    titles = f"over clusters, with {_FIXED:,} templates", f"over templates, with {_FIXED:,} clusters"
    return Panel(titles[0], _in_order(lines[0])), Panel(titles[1], _in_order(lines[1]))


def _in_order(lines: Mapping[str, list[Point]]) -> dict[str, list[Point]]:
    return {name: sorted(lines[name]) for name in _MEASURES if name in lines}


def _in_words(panel: Panel) -> str:
    ends = (f"{name} {amount(line[0].seconds)} to {amount(line[-1].seconds)} s" for name, line in panel.lines.items())
    return f"{panel.title}: {', '.join(ends)}"


def _drawn_panel(panel: Panel, left: int, decades: tuple[int, int]) -> Iterator[str]:
    sizes = [point.size for line in panel.lines.values() for point in line] or [1, 10]
    wide = math.floor(math.log10(min(sizes))), max(math.ceil(math.log10(max(sizes))), 1)
    right, bottom = left + _PANEL, _TOP + _TALL

    def across(size: float) -> float:
        return round(left + (math.log10(size) - wide[0]) / (wide[1] - wide[0] or 1) * _PANEL, 1)

    def down(seconds: float) -> float:
        return round(bottom - (math.log10(seconds) - decades[0]) / (decades[1] - decades[0]) * _TALL, 1)

    yield _text(left, _TOP - 20, panel.title, "head")
    for exponent in range(decades[0], decades[1] + 1):
        at = down(10.0**exponent)
        yield f'  <line class="grid" x1="{left}" y1="{at}" x2="{right}" y2="{at}"/>\n'
        yield _text(left - 8, at + 4, f"{10.0**exponent:g}", "quiet end")
    for exponent in range(wide[0], wide[1] + 1):
        at = across(10.0**exponent)
        yield f'  <line class="grid" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>\n'
        yield _text(at, bottom + 20, f"{10**exponent:,}", "quiet middle")
    ends = _apart({name: down(line[-1].seconds) for name, line in panel.lines.items()})
    for name, line in panel.lines.items():
        number, places = _MEASURES.index(name), [(across(each.size), down(each.seconds)) for each in line]
        drawn = " ".join(f"{x},{y}" for x, y in places)
        yield f'  <polyline class="l{number}" points="{drawn}"/>\n'
        for (x, y), each in zip(places, line, strict=True):
            said = escape(f"{name}: {each.size:,}, {amount(each.seconds)} s")
            yield f"  <g><title>{said}</title>{_mark(number, x, y)}</g>\n"
        yield _text(right + 12, ends[name] + 4, f"{name}, {amount(line[-1].seconds)} s", f"m{number}")


def _apart(ends: Mapping[str, float]) -> dict[str, float]:
    """Return where names stand at the ends of their lines, one below the other where they would meet."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name, at in sorted(ends.items(), key=lambda each: each[1]):
        lowest = placed[name] = max(at, lowest + 17)
    return placed


def _mark(number: int, x: float, y: float) -> str:
    """Return the mark of a line's point: a disc, a square, a triangle, a diamond or a bar."""
    shapes = (
        f'<circle class="m0" cx="{x}" cy="{y}" r="4"/>',
        f'<rect class="m1" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>',
        f'<path class="m2" d="M{x} {y - 5:.1f} l5 9 h-10 z"/>',
        f'<path class="m3" d="M{x} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z"/>',
        f'<rect class="m4" x="{x - 5:.1f}" y="{y - 2:.1f}" width="10" height="4"/>',
    )
    return shapes[number]


def _text(x: float, y: float, said: str, style: str) -> str:
    return f'  <text class="{style}" x="{x}" y="{y}">{escape(said)}</text>\n'
