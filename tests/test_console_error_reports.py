"""Whoever asks for JUnit, SARIF, TAP or annotations gets what can be read, however the run ends."""

import json
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import fromstring

import pytest

from reconciler.commands import test as test_command
from reconciler.commands import validate as validate_command
from render.errors import ClusterError, GuardRefused

from .build import Ended, Repository, a_config_map, argosy

FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"nothing": 1}}


class End(NamedTuple):
    why: str
    words: tuple[str, ...]
    code: int
    files: dict[str, Any] = {"a.yaml": a_config_map("a")}  # noqa: RUF012 - nobody changes it
    fault: BaseException | None = None


ENDS = [
    End("nothing is wrong", (), 0),
    End("a warning that counts", ("--strict",), 1, {"policy.yaml": FLEET | {"kind": "Fleets"}}),
    End("an option that there is not", ("--nope",), 2),
    End("a revision that there is not", ("--rev", "\x1b[2J]]>&<nope"), 4),
    End("a source that is refused", (), 3, {"argosy.yaml": FLEET}),
    End("no cluster", (), 5, fault=ClusterError("no ]]> cluster")),
    End("a guard", (), 6, fault=GuardRefused("too much\nof it")),
    End("a folder that may not be written", (), 4, fault=PermissionError(13, "x", "/nope")),
    End("a machine that fails", (), 70, fault=OSError(22, "hunter2")),
    End("a bug", (), 70, fault=ZeroDivisionError("hunter2")),
    End("an interruption", (), 130, fault=KeyboardInterrupt()),
]


FORMS = ["validate -o junit", "validate --output=sarif", "validate -o github", "test -ojunit", "test --output tap"]


def check_readable(asked: str, ended: Ended) -> None:
    """Check that what was printed is of the form that was asked for, and says whether it went well."""
    is_well = ended.code == 0
    if asked.endswith("github"):
        assert ("::error " in ended.out) == (not is_well)
        assert all(line.startswith("::") for line in ended.out.splitlines())
    elif asked.endswith("tap"):
        version, *lines = ended.out.splitlines()
        bailed = [line for line in lines if line.startswith("Bail out! exit code ")]
        assert (version, len(bailed)) == ("TAP version 14", 0 if is_well else 1)
        assert all(line.startswith(("1..", "# ", "Bail out! ")) for line in lines)
    elif asked.endswith("junit"):
        suites = fromstring(ended.out)
        assert (suites.tag, len(suites.findall(".//failure")) > 0) == ("testsuites", not is_well)
    else:
        (run,) = json.loads(ended.out)["runs"]
        invocations = run.get("invocations", [])
        is_silent = not run["results"] and not is_well
        assert [each["exitCode"] for each in invocations] == ([ended.code] if is_silent else [])


@pytest.mark.parametrize("asked", FORMS)
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.why)
def test_a_file_can_be_read_at_every_exit_code(
    end: End, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = asked.split(maxsplit=1)[0]
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"README": "", **end.files})
    words = [word for word in end.words if command == "validate" or word != "--strict"]

    def failing(*_: Any, **__: Any) -> int:
        assert end.fault is not None
        raise end.fault

    if end.fault is not None:
        monkeypatch.setattr(validate_command, "validate_and_show", failing)
        monkeypatch.setattr(test_command, "run_tests_and_show", failing)
    ended = argosy(repository, capsys, *asked.split(), *words)
    if command == "validate" and end.why != "a warning that counts":
        assert ended.code == end.code
    check_readable(asked, ended)
    assert "hunter2" not in ended.out
    assert "\x1b" not in ended.out
