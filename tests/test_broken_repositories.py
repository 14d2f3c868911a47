"""Broken repositories through the command line: refused with the whole message, and nothing is written."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.broken_repositories import BROKEN, CONFIG, Broken
from tests.build import AUTHOR, Repository, argosy
from tests.sources import FILE, SUBMODULE, source_of
from tests.waiting import SECONDS

REFUSED = [case for case in BROKEN if case.problems]
TOLERATED = [case for case in BROKEN if not case.problems]
NOWHERE = "1" * 40
STRICT = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec:\n  source:\n    strict: true\n"
"""At a first run, what nothing was delivered from would be left out with a warning otherwise."""


def branch_of(case: Broken) -> str:
    return f"case-{BROKEN.index(case)}"


def import_stream() -> Iterator[bytes]:
    """Yield what ``git fast-import`` reads: each repository as a branch with a history of its own."""
    who = f"{AUTHOR['GIT_AUTHOR_NAME']} <{AUTHOR['GIT_AUTHOR_EMAIL']}> 1700000000 +0000"
    for case in BROKEN:
        yield f"commit refs/heads/{branch_of(case)}\ncommitter {who}\ndata 0\n\n".encode()
        has_fleet = any(path.endswith("argosy.yaml") for path in case.files)
        source = source_of(case.files if has_fleet or not case.problems else {**case.files, "argosy.yaml": STRICT})
        for file in source.files:
            if file.mode == SUBMODULE:
                yield f"M 160000 {NOWHERE} {quoted(file.path)}\n".encode()
                continue
            content = source.read([file.id])[file.id].ljust(file.size, b"#")
            mode = "100644" if file.mode == FILE else f"{file.mode:o}"
            yield f"M {mode} inline {quoted(file.path)}\ndata {len(content)}\n".encode() + content + b"\n"


def quoted(path: str) -> str:
    """A path as fast-import reads it, whatever is in it."""
    return '"' + "".join(f"\\{byte:03o}" for byte in path.encode()) + '"'


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(Path(tmp_path_factory.mktemp("broken")) / "fleet")
    stream = b"".join(import_stream())
    subprocess.run(["git", "fast-import", "--quiet"], cwd=made.path, input=stream, check=True, timeout=SECONDS)
    return made


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_pass_refuses_it_and_writes_nothing(
    case: Broken, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = repository.git("for-each-ref")
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--rev", branch_of(case))
    count = sum(not line.startswith("  ") for line in case.problems.splitlines())
    summary = f"{count} problem{'' if count == 1 else 's'}; nothing was changed"
    assert ended == (3, "", f"{case.problems}\n{summary}\n")
    assert repository.git("for-each-ref") == refs


@pytest.mark.parametrize("case", TOLERATED, ids=lambda case: case.why)
def test_what_is_only_worth_a_word_stops_nothing(
    case: Broken, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = repository.git("for-each-ref")
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--dry-run", "--rev", branch_of(case))
    words = [line if line.startswith("  hint: ") else f"warning: {line}" for line in case.warnings.splitlines()]
    source = repository.git("rev-parse", branch_of(case))[:12]
    said = f"would commit source {source} for no cluster to argosy/rendered\n"
    # Of those that have a template nothing is rendered, which is another word and a no.
    err, nothing, _ = ended.err.partition("warning: nothing is rendered of ")
    assert (ended.code, err) == (1 if nothing else 0, "".join(f"{line}\n" for line in words))
    assert re.sub(r" \([^)]*\)", "", ended.out) == said
    assert repository.git("for-each-ref") == refs


class Place(NamedTuple):
    """Something wrong with a repository itself, done by a function, and how a pass in it ends."""

    why: str
    spoil: Callable[[Repository], object]
    arguments: tuple[str, ...]
    code: int
    err: str


def loose(repository: Repository, revision: str) -> Path:
    """The file of a loose object."""
    name = repository.git("rev-parse", revision)
    path = repository.path / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o600)
    return path


def on_nothing(repository: Repository) -> None:
    repository.git("checkout", "-q", "--orphan", "new")
    repository.git("rm", "-rfq", ".")


def locked(repository: Repository) -> None:
    (repository.path / ".git/refs/heads/argosy").mkdir()
    (repository.path / ".git/refs/heads/argosy/rendered.lock").touch()


SPELLING = "  hint: check the spelling: git branch --all\n"
LOCKED = (
    "git update-ref: prepare: cannot lock ref 'refs/heads/argosy/rendered': Unable to create"
    " '{path}/.git/refs/heads/argosy/rendered.lock': File exists."
)

PLACES = [
    Place(
        "a branch without a commit",
        on_nothing,
        (),
        3,
        "argosy: there is no fleet here: no argosy.yaml, and no file holds a Kubernetes manifest\n"
        "  hint: argosy init writes the first files of one; -C names the folder of another\n",
    ),
    Place("a missing branch", str, ("--rev", "feature"), 4, f"argosy: there is no commit 'feature'\n{SPELLING}"),
    Place("a revision too far back", str, ("--rev", "HEAD~9"), 4, f"argosy: there is no commit 'HEAD~9'\n{SPELLING}"),
    Place(
        "a revision that is an option",
        str,
        ("--rev", "--exec=x"),
        4,
        f"argosy: there is no commit '--exec=x'\n{SPELLING}",
    ),
    Place(
        "a revision that leads out",
        str,
        ("--rev", "refs/heads/../../HEAD"),
        4,
        f"argosy: there is no commit 'refs/heads/../../HEAD'\n{SPELLING}",
    ),
    Place(
        "a revision without end", str, ("--rev", "x" * 300), 4, f"argosy: there is no commit '{'x' * 300}'\n{SPELLING}"
    ),
    Place(
        "a tag of a file",
        lambda repository: repository.git("tag", "file", "HEAD:a.yaml"),
        ("--rev", "file"),
        4,
        f"argosy: there is no commit 'refs/tags/file'\n{SPELLING}",
    ),
    Place(
        "a file that Git lost",
        lambda repository: loose(repository, "HEAD:a.yaml").unlink(),
        (),
        4,
        "argosy: 1 object is missing from the repository: {blob}\n  hint: run git fsck\n",
    ),
    Place(
        "a file that is damaged in Git",
        lambda repository: loose(repository, "HEAD:a.yaml").write_bytes(b"garbage"),
        (),
        4,
        "argosy: 1 object is missing from the repository: {blob}\n  hint: run git fsck\n",
    ),
    Place(
        "a folder that Git lost",
        lambda repository: loose(repository, "HEAD^{tree}").unlink(),
        (),
        4,
        "argosy: 1 object is missing from the repository: {tree}\n  hint: run git fsck\n",
    ),
    Place(
        "a HEAD that is none",
        lambda repository: (repository.path / ".git/HEAD").write_text("garbage\n"),
        (),
        4,
        "argosy: git rev-parse: not a git repository (or any of the parent directories): .git\n"
        "  hint: the repository is damaged: look at HEAD in its .git folder\n",
    ),
    Place(
        "a branch in the way",
        lambda repository: repository.git("branch", "argosy"),
        (),
        4,
        "argosy: git update-ref: prepare: cannot lock ref 'refs/heads/argosy/rendered': 'refs/heads/argosy' exists;"
        " cannot create 'refs/heads/argosy/rendered'\n"
        "  hint: a branch whose name is a folder of this one is in the way: git branch -m\n",
    ),
    Place(
        "a branch that somebody is writing, or was when the power failed",
        locked,
        (),
        4,
        f'somebody else was faster; rendering again reason="{LOCKED}"\n' * 4
        + f"argosy: {LOCKED}\n"
        + "  hint: another git is writing this branch; if none runs, remove the .lock file it left behind\n",
    ),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.why)
def test_a_repository_that_is_broken_itself_is_left_as_it_is(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"a.yaml": CONFIG})
    names = {
        "blob": repository.git("rev-parse", "HEAD:a.yaml")[:12],
        "tree": repository.git("rev-parse", "HEAD^{tree}")[:12],
        "path": str(repository.path),
    }
    place.spoil(repository)
    refs = repository.git("for-each-ref", check=False)
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", *place.arguments)
    assert ended == (place.code, "", place.err.format(**names))
    assert repository.git("for-each-ref", check=False) == refs


class Nowhere(NamedTuple):
    """A value of ``-C``, below a folder that is no repository, and the message."""

    why: str
    path: str
    err: str


NAME_ONE = "  hint: name a Git repository or a folder in one: -C FOLDER\n"
NOWHERES = [
    Nowhere("nothing", "nowhere", f"argosy: {{}} does not exist\n{NAME_ONE}"),
    Nowhere("a file", "file", f"argosy: {{}} is no folder\n{NAME_ONE}"),
    Nowhere(
        "a folder outside every repository",
        "folder",
        "argosy: {} is not in a Git repository\n  hint: git init and argosy init begin one there; -C names another\n",
    ),
    Nowhere(
        "a linked work tree whose repository is gone",
        "linked",
        "argosy: {}/.git leads to no repository\n  hint: repair it: git worktree repair, git submodule update\n",
    ),
]


@pytest.mark.parametrize("command", ["reconcile", "render", "validate", "diff"])
@pytest.mark.parametrize("nowhere", NOWHERES, ids=lambda nowhere: nowhere.why)
def test_what_is_no_repository_is_said_to_be_none(
    nowhere: Nowhere, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".git").write_text("gitdir: /nowhere\n")
    path = tmp_path / nowhere.path
    assert argosy(Repository(path), capsys, command) == (4, "", nowhere.err.format(path))
