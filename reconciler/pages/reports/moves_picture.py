"""A picture of what moves between two revisions: the replicas of clusters and workloads, before and after, as SVG.

It is made of the document of ``argosy diff`` and counts nothing itself. Before is an outline, after a filled bar; more
and less differ by shape as well as by colour. Of many, those that change most are drawn, and the others are counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from reconciler.console.cleaning import on_one_line, with_visible_control_characters, without_passwords
from reconciler.pages.templating import object_words
from render.words import counted_noun

MOST_ROWS = 40
_WIDTH, _NAME, _BAR, _ROW, _EDGE = 900, 330, 360, 26, 20
_MOST_NAME, _MOST_SHARES = 44, 6
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title about">
  <title id="title">{title}</title>
  <desc id="about">{about}</desc>
  <style>
    svg {{ --ink: #1f2328; --quiet: #59636e; --ground: #ffffff; --more: #1a7f37; --less: #cf222e; --same: #6e7781; }}
    @media (prefers-color-scheme: dark) {{
      svg {{ --ink: #f0f6fc; --quiet: #9198a1; --ground: #0d1117; --more: #3fb950; --less: #f85149; --same: #8b949e; }}
    }}
    text {{ font: 14px system-ui, sans-serif; fill: var(--ink); }}
    .ground {{ fill: var(--ground); }} .head {{ font-weight: 600; font-size: 16px; }}
    .quiet {{ fill: var(--quiet); font-size: 12px; }} .number {{ font-variant-numeric: tabular-nums; }}
    .before {{ fill: none; stroke: var(--quiet); }}
    .more {{ fill: var(--more); }} .less {{ fill: var(--less); }} .same {{ fill: var(--same); }}
  </style>
  <rect class="ground" width="{width}" height="{height}"/>
"""
Document = Mapping[str, Any]


class ReplicaRow(NamedTuple):
    """A row of the picture: the replicas of a cluster or a workload, and what is said beside them."""

    name: str
    before: int
    after: int
    words: str = ""

    @property
    def style(self) -> str:
        """The style of the bar and the sign."""
        return "more" if self.after > self.before else "less" if self.after < self.before else "same"

    @property
    def sign(self) -> str:
        """The change, with a shape of its own."""
        change = self.after - self.before
        return f"\u25b2 +{change}" if change > 0 else f"\u25bc \u2212{-change}" if change else "\u25a0 \u00b10"


def picture_of_moves(difference: Document) -> str:
    """Return the picture of a document of ``argosy diff``."""
    lines = [
        _PictureLine(difference["summary"]["text"], "head"),
        _PictureLine(f"{_revision(difference['base'])} to {_revision(difference['head'])}", "quiet"),
        *_section("Clusters", _rows_of_clusters(difference), "cluster"),
        *_section("Workloads whose replicas change", _rows_of_workloads(difference), "workload"),
    ]
    height = len(lines) * _ROW + 2 * _EDGE
    titles = {"title": _shown(f"What moves, {lines[1].text}"), "about": _shown(lines[0].text)}
    drawn = [_drawn_line(line, _EDGE + number * _ROW) for number, line in enumerate(lines)]
    return _HEAD.format(width=_WIDTH, height=height, **titles) + "".join(drawn) + "</svg>\n"


class _PictureLine(NamedTuple):
    """A line of the picture: a text, or a row with its bar, which is so long where it is ``most``."""

    text: str = ""
    style: str = ""
    row: ReplicaRow | None = None
    most: int = 1


def _rows_of_clusters(difference: Document) -> list[ReplicaRow]:
    rows = [
        ReplicaRow(each["name"], each["replicas"]["before"], each["replicas"]["after"], _words_of_objects(each))
        for each in difference["clusters"]
    ]
    return sorted(rows, key=lambda row: (-abs(row.after - row.before), row.name))


def _rows_of_workloads(difference: Document) -> list[ReplicaRow]:
    movements = sorted(difference["movements"], key=lambda each: (-each["moved"], object_words(each["object"])))
    return [
        ReplicaRow(object_words(each["object"]), each["before"], each["after"], _words_of_shares(each["clusters"]))
        for each in movements
    ]


def _section(title: str, rows: Sequence[ReplicaRow], noun: str) -> Iterator[_PictureLine]:
    yield _PictureLine()
    yield _PictureLine(f"{title}: {len(rows)}" if rows else f"{title}: none", "head")
    most = max((max(row.before, row.after) for row in rows), default=1) or 1
    yield from (_PictureLine(row=row, most=most) for row in rows[:MOST_ROWS])
    if more := len(rows) - MOST_ROWS:
        yield from (_PictureLine(f"and {counted_noun(more, f'more {noun}')}", "quiet"),) if more > 0 else ()


def _drawn_line(line: _PictureLine, top: int) -> str:
    if line.row is None:
        return (
            f'  <text class="{line.style}" x="{_EDGE}" y="{top + 17}">{_shown(line.text)}</text>\n' if line.text else ""
        )
    row, start = line.row, _EDGE + _NAME
    before, after = (round(_BAR * number / line.most, 1) for number in (row.before, row.after))
    words = f"{row.before} \u2192 {row.after}" + (f"; {row.words}" if row.words else "")
    name = row.name if len(row.name) <= _MOST_NAME else f"{row.name[: _MOST_NAME - 1]}\u2026"
    return (
        f"  <g><title>{_shown(f'{row.name}: {words}')}</title>"
        f'<text x="{_EDGE}" y="{top + 17}">{_shown(name)}</text>'
        f'<rect class="{row.style}" x="{start}" y="{top + 6}" width="{after}" height="14" rx="2"/>'
        f'<rect class="before" x="{start}" y="{top + 3}" width="{before}" height="20" rx="2"/>'
        f'<text class="{row.style} number" x="{start + _BAR + 12}" y="{top + 17}">{row.sign}</text>'
        f'<text class="quiet number" x="{start + _BAR + 76}" y="{top + 17}">{row.before} \u2192 {row.after}</text>'
        "</g>\n"
    )


def _words_of_objects(total: Document) -> str:
    words = (("added", "+"), ("changed", "~"), ("removed", "-"))
    return f"objects {' '.join(f'{sign}{total[name]}' for name, sign in words)}"


def _words_of_shares(shares: Sequence[Document]) -> str:
    words = [f"{each['name']} {each['before']} \u2192 {each['after']}" for each in shares]
    more = len(words) - _MOST_SHARES
    return ", ".join(words[:_MOST_SHARES]) + (f" and {more} more" if more > 0 else "")


def _revision(commit: str) -> str:
    return commit[:12] or "the work tree"


def _shown(text: str) -> str:
    """Return text for SVG: names and messages of others are text there, and show what they would hide."""
    return escape(on_one_line(without_passwords(with_visible_control_characters(text))))
