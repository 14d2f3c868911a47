"""Released objects in words: who keeps what, those first that should have changed, and not a page of them."""

from typing import NamedTuple

from reconciler.pipeline.released import Released, released_lines
from render.model import ObjectRef

from .tables import each_row


def released(name: str, *clusters: str, is_outdated: bool = False) -> Released:
    return Released(ref=ObjectRef("", "ConfigMap", "shop", name), clusters=clusters, is_outdated=is_outdated)


class Words(NamedTuple):
    why: str
    found: list[Released]
    want: tuple[str, ...]


SELECTED = "is released: no policy selects it, so"
WORDS = [
    Words("nothing is nothing", [], ()),
    Words("one cluster keeps it", [released("a", "m1")], (f"ConfigMap shop/a {SELECTED} m1 keeps it as it is",)),
    Words(
        "of many clusters the first are named",
        [released("a", *(f"m{number}" for number in range(9)))],
        (f"ConfigMap shop/a {SELECTED} m0, m1, m2, m3, m4, m5 and 3 more keep it as it is",),
    ),
    Words(
        "what should have changed comes first",
        [released("a", "m1"), released("b", "m1", is_outdated=True)],
        (
            f"ConfigMap shop/b {SELECTED} m1 keeps it as it is, though its template or its overrides have changed",
            f"ConfigMap shop/a {SELECTED} m1 keeps it as it is",
        ),
    ),
    Words(
        "of many objects the first are named",
        [released(f"c{number:02}", "m1") for number in range(12)],
        (
            *(f"ConfigMap shop/c{number:02} {SELECTED} m1 keeps it as it is" for number in range(10)),
            "and 2 more released",
        ),
    ),
]


@each_row("words", WORDS, ids=lambda words: words.why)
def test_what_is_said_of_released_objects(words: Words) -> None:
    assert released_lines(words.found) == words.want
