"""The programs that build: where they are, which version each is, and as much of their complaints as may be shown.

A version is asked once for each file of a program, and remembered with the builds: to ask costs as much as a build.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from reconciler.source.manifests import ParseCache
from render.expressions import lazy_expression

from .confinement import Confinement
from .sandbox import RunLimits, run_in_copy

_VERSION = lazy_expression(r"v\d+\.\d+\.\d+[\w.+-]*")
_LIMITS = RunLimits(seconds=20, output=1 << 20)
_LONGEST = 400
_SPACE = lazy_expression(r"\s+")
_WARNINGS = ("#", "WARNING:", "level=")
_PREFIXES = ("error: ", "Error: ")
_LOGGED = lazy_expression(r"([IWEF])\d{4} [\d:.]+ +\d+ [^ ]+\] (?:\"command failed\" err=)?")
"""The head of a line as kubectl logs it, with a date, a time and the number of a process."""
_QUOTED = lazy_expression(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = lazy_expression(r"\\(.)")
_ESCAPED = {"n": "\n", "t": " "}
_CONTENT = (
    (lazy_expression(r"literal sources \[.*|invalid literal source .*"), "a literal is not of the form key=value"),
    (lazy_expression(r"(?<=has invalid utf8 bytes) : .*"), ""),
)
"""The parts of complaints that repeat what was read, such as literals of a Secret, and what is said instead."""


class Tool(Struct, frozen=True, kw_only=True):
    """A program: the words that its command lines begin with, its name and version, and the files it may open.

    Commits record name and version.
    """

    command: tuple[str, ...]
    version: str
    confinement: Confinement = Confinement()


class _Program(NamedTuple):
    """A program that may be there: its name, the words that its command lines begin with, and those for its version."""

    name: str
    command: tuple[str, ...]
    asked: tuple[str, ...]


_KUSTOMIZE = (
    _Program("kustomize", ("build",), ("version",)),
    _Program("kubectl", ("kustomize",), ("version", "--client", "-o", "json")),
)


_HELM = (_Program("helm", ("template",), ("version", "--template", "{{.Version}}")),)


def find_kustomize(path: str, cache: ParseCache | None = None) -> Tool | None:
    """Return the kustomize on a search path, by itself or in kubectl; None where there is neither."""
    return _first_usable_tool("kustomize", _KUSTOMIZE, path, cache)


def find_helm(path: str, cache: ParseCache | None = None) -> Tool | None:
    """Return the helm on a search path; None where there is none."""
    return _first_usable_tool("helm", _HELM, path, cache)


def _first_usable_tool(name: str, programs: Iterable[_Program], path: str, cache: ParseCache | None) -> Tool | None:
    """Return the first of some programs that is there and says its version."""
    for program in programs:
        found = shutil.which(program.name, path=path)
        real = os.path.realpath(found) if found else ""
        version = _version_of_program(real, program.asked, cache) if found else ""
        if found and version:
            command = (real, *program.command)
            return Tool(command=command, version=f"{name} {version}", confinement=Confinement.of(real))
    return None


def unconfined_tools(path: str) -> list[str]:
    """Return the names of the programs on a search path whose files cannot be bounded."""
    names = [program.name for program in (*_KUSTOMIZE, *_HELM)]
    found = {name: shutil.which(name, path=path) for name in names}
    return [name for name, at in found.items() if at and Confinement.of(os.path.realpath(at)).reads is None]


def _version_of_program(program: str, asked: tuple[str, ...], cache: ParseCache | None) -> str:
    """Return the version that a program says it is, "" where it says none."""
    status = Path(program).stat()
    facts = (program, status.st_ino, status.st_size, status.st_mtime_ns, *asked)
    key = hashlib.sha256("\0".join(map(str, facts)).encode("utf-8", "surrogateescape")).digest()
    known = cache.get_many([key]) if cache is not None else {}
    if key in known:
        return str(known[key][0][1])
    run = run_in_copy((program, *asked), {}, limits=_LIMITS, confinement=Confinement.of(program))
    version = _version_in(run.output)
    if cache is not None and version:
        cache.put_many({key: ((0, version),)})
    return version


def _version_in(output: bytes) -> str:
    """Return the version in an answer; kubectl's has that of the kustomize inside it.

    >>> _version_in(b"v5.8.1"), _version_in(b'{"clientVersion": {"gitVersion": "v1.32"}, "kustomizeVersion": "v5.5.0"}')
    ('v5.8.1', 'v5.5.0')
    """
    text = output.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        try:
            text = str(json.loads(text).get("kustomizeVersion", ""))
        except ValueError:
            return ""
    found = _VERSION.search(text)
    return found[0] if found else ""


def shortened_complaint(complaint: str) -> str:
    r"""Return the first line of a complaint that is no warning: further ones quote what was read, which may be secret.

    >>> shortened_complaint("# Warning: 'bases' is deprecated.\nError: no such file\nx: y")
    'no such file'
    """
    lines = [line for line in _complaint_lines(complaint) if line.strip() and not line.startswith(_WARNINGS)]
    first = lines[0] if lines else complaint.partition("\n")[0]
    for prefix in _PREFIXES:
        first = first.removeprefix(prefix)
    for content, instead in _CONTENT:
        first = content.sub(instead, first)
    text = _SPACE.sub(" ", first).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _complaint_lines(complaint: str) -> Iterator[str]:
    r"""Yield the lines of a complaint, those that kubectl logs as kustomize alone would say them.

    >>> list(
    ...     _complaint_lines(
    ...         'I0102 03:04:05.6 7 a.go:8] x\nE0102 03:04:05.6 7 run.go:72] "command failed" err="no \\"a\\"\\nb"'
    ...     )
    ... )
    ['no "a"', 'b']
    >>> list(_complaint_lines('E0102 03:04:05.6 7 run.go:72] "command failed" err=<\n\tno file\n >'))
    ['no file', ' >']
    """
    for line in complaint.splitlines():
        head = _LOGGED.match(line)
        if head is None:
            yield line.removeprefix("\t")
        elif head[1] in "EF" and (rest := line[head.end() :]) != "<":
            quoted = _QUOTED.fullmatch(rest)
            said = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), quoted[1]) if quoted else rest
            yield from said.splitlines()
