"""The cache: what was put is got, and nothing that happens to its file ever matters."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.repository import cache as cache_module
from reconciler.repository.cache import Cache

A, B, C = (bytes([number]) * 20 for number in range(3))
VALUE = {"kind": "Deployment", "spec": {"replicas": 3, "ratio": 0.5, "on": True, "none": None}, "at": (1, (2, 3))}


def filled(folder: Path, values: dict[bytes, Any], version: str = "1") -> Path:
    with Cache(folder, "parses", version=version) as cache:
        cache.put_many(values)
    return next(folder.glob(f"parses-{version}-*.cache"))


def got(folder: Path, *ids: bytes, version: str = "1") -> dict[bytes, Any]:
    return Cache(folder, "parses", version=version).get_many(ids)


def test_a_value_put_is_got_by_the_next_run(tmp_path: Path) -> None:
    filled(tmp_path / "argosy", {A: VALUE, B: []})
    assert got(tmp_path / "argosy", A, B, C) == {A: VALUE, B: []}


def test_a_value_put_is_got_in_the_same_run(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "parses", version="1")
    cache.put_many({A: VALUE})
    assert cache.get_many([A, B]) == {A: VALUE}


def test_a_caller_owns_what_it_gets(tmp_path: Path) -> None:
    cache = Cache(tmp_path, "parses", version="1")
    cache.put_many({A: {"list": [1]}})
    cache.get_many([A])[A]["list"].append(2)
    assert cache.get_many([A]) == {A: {"list": [1]}}


def test_files_are_private(tmp_path: Path) -> None:
    path = filled(tmp_path / "argosy", {A: 1})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_another_engine_starts_afresh_and_clears_up(tmp_path: Path) -> None:
    filled(tmp_path, {A: 1}, version="1")
    assert got(tmp_path, A, version="2") == {}
    filled(tmp_path, {A: 2}, version="2")
    assert [path.name.split("-")[1] for path in tmp_path.iterdir()] == ["2"]


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def replaced(content: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(content)

    return damage


def readable_by_others(path: Path) -> None:
    path.chmod(0o644)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


class Damage(NamedTuple):
    why: str
    damage: Callable[[Path], None]


DAMAGES = [
    Damage("cut off", truncated),
    Damage("a bit flipped", flipped),
    Damage("empty", replaced(b"")),
    Damage("something else", replaced(b"not a cache at all, but long enough to hold a checksum")),
    Damage("others may write it", readable_by_others),
    Damage("a folder", a_folder),
]


@pytest.mark.parametrize("case", DAMAGES, ids=lambda case: case.why)
def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, case: Damage) -> None:
    case.damage(filled(tmp_path, {A: VALUE}))
    assert got(tmp_path, A) == {}


def test_a_damaged_cache_is_replaced(tmp_path: Path) -> None:
    flipped(filled(tmp_path, {A: VALUE}))
    filled(tmp_path, {B: 2})
    assert got(tmp_path, A, B) == {B: 2}


def test_a_cache_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "argosy").write_text("a file where the folder should be", encoding="utf-8")
    with Cache(tmp_path / "argosy", "parses", version="1") as cache:
        cache.put_many({A: 1})
        assert cache.get_many([A]) == {A: 1}
    assert got(tmp_path / "argosy", A) == {}


def test_what_was_not_asked_for_longest_is_forgotten_first(tmp_path: Path) -> None:
    filled(tmp_path, {A: "a" * 400, B: "b" * 400})
    with Cache(tmp_path, "parses", version="1", largest=1000) as cache:
        cache.get_many([B])
        cache.put_many({C: "c" * 400})
    assert got(tmp_path, A, B, C).keys() == {B, C}


def ids(numbers: range) -> list[bytes]:
    return [number.to_bytes(20, "big") for number in numbers]


def test_a_cache_that_is_asked_whole_keeps_former_values_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Versions of files that a source had long ago would be read in every run, more of them from day to day."""
    monkeypatch.setattr(cache_module, "_LEAST_FORMER", 10_000)
    for first in range(0, 1000, 10):
        with Cache(tmp_path, "parses", version="1", is_asked_whole=True) as cache:
            asked = ids(range(first, first + 50))
            known = cache.get_many(asked)
            assert first == 0 or known.keys() >= set(asked[:40])
            cache.put_many({id_: "a" * 200 for id_ in asked if id_ not in known})
    assert got(tmp_path, *ids(range(1000, 1040))).keys() == set(ids(range(1000, 1040)))
    size = next(tmp_path.glob("parses-*")).stat().st_size
    assert 5 * 50 * 200 < size < 6 * 50 * 240


def test_a_cache_that_is_asked_whole_is_written_where_some_of_what_was_asked_for_is_new(tmp_path: Path) -> None:
    """However much there is of what was not asked for: else a run would find as many new values as the last one."""
    filled(tmp_path, dict.fromkeys(ids(range(1000)), "a"))
    for is_asked_whole, known in ((False, 0), (True, 2)):
        with Cache(tmp_path, "parses", version="1", is_asked_whole=is_asked_whole) as cache:
            cache.get_many(ids(range(40)))
            cache.put_many({A * 2: "b", B * 2: "b"})
        assert len(got(tmp_path, A * 2, B * 2)) == known
    with Cache(tmp_path, "parses", version="1", is_asked_whole=True) as cache:
        cache.get_many(ids(range(40)))
        cache.put_many({C * 2: "b"})
    assert got(tmp_path, C * 2) == {}


def test_a_run_that_learned_nothing_writes_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path, {A: 1})
    before = path.stat()
    with Cache(tmp_path, "parses", version="1") as cache:
        cache.get_many([A])
    assert path.stat() == before


def test_two_writers_leave_a_whole_cache(tmp_path: Path) -> None:
    first, second = (Cache(tmp_path, "parses", version="1") for _ in range(2))
    first.put_many({A: 1})
    second.put_many({B: 2})
    first.save()
    second.save()
    assert got(tmp_path, A, B) == {B: 2}
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_not_plain_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        Cache(tmp_path, "parses", version="1").put_many({A: object()})


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values=st.dictionaries(st.binary(min_size=20, max_size=20), PLAIN, max_size=5))
def test_any_plain_value_comes_back(values: dict[bytes, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cache")
    with Cache(folder, "parses", version="1") as cache:
        cache.put_many(values)
    assert got(folder, *values) == values
