"""Content of a repository and of caches that is made to cost time or memory, to end a run, or to tell a secret."""

import marshal
import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reconciler.branches.checkpoint import FILE_NAME
from reconciler.repository.cache import Cache, read_privately, write_privately
from reconciler.repository.commits import parse_commit, parse_trailers
from render.documents import DocumentErrors, parse_documents
from render.errors import GitError
from render.interpreter import Interpreter, InterpreterError
from render.quantity import parse_quantity
from tests.build import Repository, a_config_map, a_policy, argosy, on_clusters

TREE = "tree " + "0" * 40
WHO = "A <a@b> 1 +0000"
SECONDS = 3.0


def a_commit(author: str = WHO, committer: str = WHO, message: str = "x") -> bytes:
    return f"{TREE}\nauthor {author}\ncommitter {committer}\n\n{message}\n".encode()


def in_time(call: Callable[[], Any]) -> Any:
    """Return what a call returns or raises, which takes no longer than an instant."""
    begun = time.process_time()
    try:
        return call()
    except (GitError, DocumentErrors, ValueError) as error:
        return error
    finally:
        assert time.process_time() - begun < SECONDS


DAMAGED = {
    "an author of 60,000 digits": a_commit(author="1" * 60_000),
    "an author of spaces and digits": a_commit(author=" 1" * 60_000),
    "an author of 60,000 signs": a_commit(author="-" * 60_000),
    "a committer time of 5,000 digits": a_commit(committer=f"A <a@b> {'1' * 5_000} +0000"),
    "a committer time beyond all calendars": a_commit(committer=f"A <a@b> {'9' * 12} +0000"),
    "a million trailers": a_commit(message="x\n\n" + "A: b\n" * 1_000_000),
    "a trailer continued a million times": a_commit(message="x\n\nA: b\n" + " c\n" * 1_000_000),
    "no committer": f"{TREE}\nauthor {WHO}\n\nx\n".encode(),
}


@pytest.mark.parametrize("why", DAMAGED)
def test_a_commit_nobody_wrote_is_refused_at_once(why: str) -> None:
    assert isinstance(in_time(lambda: parse_commit("0" * 40, DAMAGED[why])), GitError)


def test_a_commit_of_a_usual_form_is_read() -> None:
    data = a_commit(author="Ada 42 <a@b> 1700000000 +0100", committer="<a@b> -1 -0930", message="x\n\ny\n\nA: b\n c")
    commit = parse_commit("0" * 40, data)
    assert (commit.author, commit.time, commit.trailers) == ("Ada 42 <a@b>", -1, (("A", "b c"),))


@pytest.mark.parametrize("line", ["A: b\n", " c\n", "A\n", ":\n", "\n", " \n", "A" * 100 + "\n"])
def test_trailers_take_time_in_proportion(line: str) -> None:
    in_time(lambda: list(parse_trailers("x\n\nA: b\n" + line * 100_000)))


NUMBERS = [309, 350, 400, 401, 4_300, 4_301, 5_000, 100_000]


@pytest.mark.parametrize("digits", NUMBERS)
def test_a_number_of_many_digits_is_a_text_or_a_problem(digits: int) -> None:
    number = "1" * digits
    (document,) = parse_documents(f"a: {number}\n".encode())
    assert document.value == {"a": number if digits > 309 else float(number)}
    found = in_time(lambda: parse_documents(f'{{"a": {number}}}'.encode()))
    assert digits == 309 or str(found) == "1:1: a number beyond all floats"
    assert isinstance(in_time(lambda: parse_quantity(number)), ValueError)


COSTLY = {
    "directives": "".join(f"%TAG !a{number}! tag:x,2000:\n" for number in range(80_000)) + "---\na: 1\n",
    "brackets": "a: " + "[" * 100_000,
    "anchors": "".join(f"a{number}: &a{number} x\n" for number in range(50_000)),
    "documents": "---\na: 1\n" * 50_000,
    "a line of commas": "a: [" + "," * 100_000 + "]\n",
}


@pytest.mark.parametrize("why", COSTLY)
def test_costly_yaml_costs_little(why: str) -> None:
    in_time(lambda: parse_documents(COSTLY[why].encode()))


@pytest.mark.parametrize("value", ["*hunter2", "*hunter2!", "&hunter2 *hunter2", "{a: *hunter2}", "!hunter2 *hunter2"])
@pytest.mark.parametrize("form", ["text", "sarif", "junit", "github", "json"])
def test_a_secret_value_is_in_no_problem(
    value: str, form: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\nstringData:\n  password: {value}\n"
    repository.write({"a.yaml": text})
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "Secret")
    code, out, err = argosy(repository, capsys, "validate", "-o", form)
    assert code != 70
    assert "hunter2" not in out + err


def a_customization(script: str) -> dict[str, Any]:
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "widgets"},
        "spec": {
            "target": {"apiVersion": "example.com/v1", "kind": "Widget"},
            "customizations": {"healthInterpretation": {"luaScript": script}},
        },
    }


def test_a_script_without_end_costs_its_limit_once_a_run() -> None:
    interpreter = Interpreter.of([a_customization("function InterpretHealth(o) while true do end end")])
    begun = time.process_time()
    messages = set()
    for number in range(200):
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": f"w{number}"}}
        with pytest.raises(InterpreterError, match="the script ran too long") as caught:
            interpreter.is_healthy(widget)
        messages.add(caught.value.what)
    assert time.process_time() - begun < 10
    assert messages == {"the script ran too long"}


def test_a_script_that_fails_otherwise_is_asked_for_every_object() -> None:
    script = "function InterpretHealth(o) if o.metadata.name == 'a' then error('no') end return true end"
    interpreter = Interpreter.of([a_customization(script)])
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    with pytest.raises(InterpreterError):
        interpreter.is_healthy(widget)
    assert interpreter.is_healthy({**widget, "metadata": {"name": "b"}})


CACHES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link": lambda path: path.symlink_to("/dev/zero"),
    "deep JSON": lambda path: path.write_bytes(b"[" * 1_000_000),
    "JSON of another shape": lambda path: path.write_text('{"names": [], "tips": 1}'),
    "a number of 5,000 digits": lambda path: path.write_text("1" * 5_000),
    "nothing": lambda path: path.touch(),
    "null": lambda path: path.write_text("null"),
}


@pytest.mark.parametrize("why", CACHES)
def test_a_checkpoint_that_is_none_is_made_again(
    why: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement=on_clusters("member1"))
    repository.commit({"a.yaml": a_config_map("a"), "policy.yaml": policy})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code in {0, 1}
    path = repository.path / ".git" / "argosy" / FILE_NAME
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    CACHES[why](path)
    if path.is_file() and not path.is_symlink():
        path.chmod(0o600)
    assert argosy(repository, capsys, "reconcile").code in {0, 1}


TABLES: dict[str, Any] = {
    "values that are no bytes": {b"a": 1},
    "ids that are no bytes": {1: b"a"},
    "a list": [b"a"],
    "values that are no marshal": {b"a": b"\xff"},
    "a value cut off": {b"a": marshal.dumps(list(range(100)))[:-1]},
}


@pytest.mark.parametrize("why", TABLES)
def test_a_cache_with_the_right_checksum_and_a_wrong_shape_is_empty(why: str, tmp_path: Path) -> None:
    with Cache(tmp_path, "x", version="1") as cache:
        cache.put_many({b"a": 1})
    (path,) = tmp_path.iterdir()
    table = marshal.dumps(TABLES[why])
    path.write_bytes(sha256(table).digest() + table)
    with Cache(tmp_path, "x", version="1") as cache:
        assert cache.get_many([b"a"]) == {}
        cache.put_many({b"a": 2})
    with Cache(tmp_path, "x", version="1") as cache:
        assert cache.get_many([b"a"]) == {b"a": 2}


def test_a_cache_folder_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write_privately(tmp_path / "elsewhere" / "x", b"theirs")
    (tmp_path / "argosy").symlink_to("elsewhere")
    assert read_privately(tmp_path / "argosy" / "x", 100) is None
    with pytest.raises(NotADirectoryError):
        write_privately(tmp_path / "argosy" / "y", b"ours")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["x"]
