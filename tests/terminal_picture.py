"""The picture of a terminal in the README: ``python -m tests.terminal_picture`` draws it anew.

It shows commands of the README with what they print there, which the tests of documents compare with what they print
today. So the picture is made of the text alone, and a test says when it is another one.
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from tests.docs import README, ROOT

PICTURE = ROOT / ".github" / "terminal.svg"
SHOWN = ("argosy explain", "sed ", "argosy diff", "git commit -q -a", "argosy verify")
"""The beginnings of the commands that are shown; the first command of the README that begins so is meant."""
_LINE, _COLUMN, _EDGE, _BAR = 19, 7.85, 20, 36
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title about">
  <title id="title">Argosy in a terminal</title>
  <desc id="about">The commands {commands}, with what they print.</desc>
  <style>
    .window {{ fill: #0d1117; stroke: #30363d; }}
    text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre; }}
    .typed {{ font-weight: 600; fill: #7ee787; }}
  </style>
  <rect class="window" x="0.5" y="0.5" width="{inner_width}" height="{inner_height}" rx="8"/>
  <circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/>\
<circle cx="60" cy="18" r="6" fill="#28c840"/>
"""


def shown_lines() -> Iterator[str]:
    """Yield the lines of the README that the picture shows: each command, and what it prints."""
    lines = README.read_text(encoding="utf-8").splitlines()
    for beginning in SHOWN:
        place = next(number for number, line in enumerate(lines) if line.startswith(f"$ {beginning}"))
        yield lines[place]
        for line in lines[place + 1 :]:
            if line.startswith(("$ ", "```")):
                break
            yield line


def picture() -> str:
    """Return the picture."""
    lines = list(shown_lines())
    width = round(max(map(len, lines)) * _COLUMN + 2 * _EDGE)
    height = _BAR + len(lines) * _LINE + _EDGE
    commands = ", ".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    sizes = {"width": width, "height": height, "inner_width": width - 1, "inner_height": height - 1}
    drawn = [
        f'  <text{" class=" + chr(34) + "typed" + chr(34) if line.startswith("$ ") else ""} x="{_EDGE}"'
        f' y="{_BAR + number * _LINE}" xml:space="preserve">{escape(line)}</text>\n'
        for number, line in enumerate(lines, start=1)
        if line
    ]
    return _HEAD.format(commands=escape(commands), **sizes) + "".join(drawn) + "</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
