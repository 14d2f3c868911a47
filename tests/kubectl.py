"""The oracle of the YAML layer: a real kubectl that turns files into JSON, many files in one process, no cluster.

Every document of a file needs apiVersion, kind and a name of the form ``f<number>-<anything>``; ``head`` writes them.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.waiting import SECONDS

BATCH = 1500


class Refused:
    """The result for a file that kubectl does not read."""

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED: Final = Refused()


def kubectl_path() -> Path:
    """The kubectl of the test extra, beside the Python that runs the tests."""
    path = Path(sys.executable).parent / "kubectl"
    if not path.exists():
        raise FileNotFoundError(f"no {path}; install the test extra: pip install -e '.[test]'")
    return path


def head(number: int, document: int = 0) -> str:
    """The lines every document starts with."""
    return f"apiVersion: v1\nkind: Test\nmetadata: {{name: f{number}-{document}}}\n"


def objects_read(files: Sequence[bytes]) -> list[list[dict[str, Any]] | Refused]:
    """Return the objects kubectl reads from each file, or ``REFUSED`` where it refuses any of it."""
    found: list[list[dict[str, Any]] | Refused] = []
    for start in range(0, len(files), BATCH):
        found += _batch(files[start : start + BATCH], start)
    return found


def _batch(files: Sequence[bytes], start: int) -> list[list[dict[str, Any]] | Refused]:
    with TemporaryDirectory() as folder:
        for number, data in enumerate(files, start):
            (Path(folder) / f"{number}.yaml").write_bytes(data)
        command = [str(kubectl_path()), "label", "--local", "-f", ".", "-o", "json", "argosy.dev/oracle=yes"]
        environment = {"HOME": folder, "PATH": os.defpath, "KUBECONFIG": os.devnull}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=SECONDS)
    objects: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for value in _json_stream(done.stdout.decode()):
        objects[int(value["metadata"]["name"].partition("-")[0][1:])].append(_unlabelled(value))
    refused = {int(part.partition(".yaml")[0]) for part in _mentions(done.stderr.decode())}
    return [REFUSED if number in refused else objects.get(number, []) for number in range(start, start + len(files))]


def _mentions(errors: str) -> list[str]:
    """Return what follows each mention of a file in kubectl's errors."""
    return [part for line in errors.splitlines() for part in _after_marks(line)]


def _after_marks(line: str) -> list[str]:
    for mark in ("error parsing ", 'unable to decode "', 'error validating "'):
        _, found, after = line.partition(mark)
        if found:
            return [after]
    return []


def _json_stream(text: str) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(parse_int=_integer, parse_float=_number)
    values, offset = [], 0
    while offset < len(text):
        value, offset = decoder.raw_decode(text, offset)
        values.append(value)
        offset += len(text[offset:]) - len(text[offset:].lstrip()) if text[offset : offset + 1].isspace() else 0
    return values


def _integer(digits: str) -> int | float:
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else float(digits)


def _number(digits: str) -> float:
    return float(digits)


def _unlabelled(value: dict[str, Any]) -> dict[str, Any]:
    labels = value["metadata"]["labels"]
    del labels["argosy.dev/oracle"]
    if not labels:
        del value["metadata"]["labels"]
    return value
