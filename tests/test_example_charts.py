"""The example of charts: what its guide shows is what the real helm and Argosy print."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from reconciler.cli import run
from tests.build import Repository, argosy

EXAMPLE = Path(__file__).parent.parent / "examples" / "charts"
BLOCK = re.compile(r"```text\n(?P<text>\$ .*?)```\n", re.DOTALL)


def shown() -> list[tuple[str, str]]:
    """The commands of the guide, each with the output below it."""
    text = "".join(block["text"] for block in BLOCK.finditer((EXAMPLE / "README.md").read_text(encoding="utf-8")))
    parts = [part.partition("\n") for part in text.split("$ ")[1:]]
    return [(command, output) for command, _, output in parts]


@pytest.mark.cluster
def test_the_guide_shows_what_is_printed(
    helm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{helm}:{Path(shutil.which('git') or '').parent}")
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(EXAMPLE, tmp_path / "fleet", ignore=shutil.ignore_patterns("README.md"))
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({}, "Begin the fleet")
    commands = shown()
    assert len(commands) == 3
    for command, output in commands:
        ended = argosy(repository, capsys, *shlex.split(command)[1:])
        printed = "\n".join(line.rstrip() for line in ended.out.splitlines()) + "\n"
        assert (ended.code, ended.err, printed) == (0, "", output), command


def test_the_example_has_nothing_to_say_without_helm_but_that_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(Path(shutil.which("git") or "").parent))
    if shutil.which("helm"):
        monkeypatch.setenv("PATH", str(tmp_path))
        (tmp_path / "git").symlink_to(shutil.which("git") or "")
    shutil.copytree(EXAMPLE, tmp_path / "fleet", ignore=shutil.ignore_patterns("README.md"))
    Repository.create(tmp_path / "fleet").commit({}, "Begin the fleet")
    capsys.readouterr()
    assert run(["-C", str(tmp_path / "fleet"), "validate"]) == 0
    warned = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert warned[-1:] == ["warning: shop.yaml: left out: helm is not installed, so 1 chart cannot be rendered: shop"]
