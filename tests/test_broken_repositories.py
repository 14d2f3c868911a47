"""Broken repositories through the command line: refused with the whole message, and nothing is written."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broken_repositories import BROKEN, Broken
from tests.build import AUTHOR, Repository, argosy
from tests.sources import FILE, SUBMODULE, source_of

REFUSED = [case for case in BROKEN if case.problems]
TOLERATED = [case for case in BROKEN if not case.problems]
NOWHERE = "1" * 40


def branch_of(case: Broken) -> str:
    return f"case-{BROKEN.index(case)}"


def import_stream() -> Iterator[bytes]:
    """Yield what ``git fast-import`` reads: each repository as a branch with a history of its own."""
    who = f"{AUTHOR['GIT_AUTHOR_NAME']} <{AUTHOR['GIT_AUTHOR_EMAIL']}> 1700000000 +0000"
    for case in BROKEN:
        yield f"commit refs/heads/{branch_of(case)}\ncommitter {who}\ndata 0\n\n".encode()
        source = source_of(case.files)
        for file in source.files:
            if file.mode == SUBMODULE:
                yield f"M 160000 {NOWHERE} {file.path}\n".encode()
                continue
            content = source.read([file.id])[file.id].ljust(file.size, b"#")
            mode = "100644" if file.mode == FILE else f"{file.mode:o}"
            yield f"M {mode} inline {file.path}\ndata {len(content)}\n".encode() + content + b"\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(Path(tmp_path_factory.mktemp("broken")) / "fleet")
    stream = b"".join(import_stream())
    subprocess.run(["git", "fast-import", "--quiet"], cwd=made.path, input=stream, check=True)
    return made


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_pass_refuses_it_and_writes_nothing(
    case: Broken, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = repository.git("for-each-ref")
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--rev", branch_of(case))
    count = sum(not line.startswith("  hint: ") for line in case.problems.splitlines())
    summary = f"{count} problem{'' if count == 1 else 's'}; nothing was changed"
    assert ended == (3, "", f"{case.problems}\n{summary}\n")
    assert repository.git("for-each-ref") == refs


@pytest.mark.parametrize("case", TOLERATED, ids=lambda case: case.why)
def test_what_is_only_worth_a_word_stops_nothing(
    case: Broken, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "validate", "--rev", branch_of(case), "-o", "json")
    said = json.loads(ended.out)
    assert (ended.code, ended.err, said["problems"]) == (0, "", [])
    messages = [line.rpartition(": ")[2] for line in case.warnings.splitlines() if not line.startswith("  hint: ")]
    loaded = [warning for warning in said["warnings"] if not warning["type"]]
    assert [warning["message"].rpartition(": ")[2] for warning in loaded] == messages
