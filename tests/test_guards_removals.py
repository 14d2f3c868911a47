"""The removal guard: what counts as too much, and what lets it pass."""

from typing import NamedTuple

import pytest

from reconciler.guards.allowances import Allowed, RemovalAllowance
from reconciler.guards.removal_guard import check_removals
from reconciler.pipeline.cluster_removals import Removal, removals_by_cluster
from render.errors import GuardRefused
from render.gitobjects import git_object_id, parse_tree
from render.settings.removal_guard import RemovalGuard
from render.tree import TreeStore, build_nested_tree

from .stories import removal_hint
from .tables import each_row

STORE = TreeStore()


def a_folder(*paths: str) -> bytes:
    tree = build_nested_tree({tuple(path.split("/")): git_object_id("blob", path.encode()) for path in paths}, STORE)
    assert tree is not None
    return tree


def objects(kind: str, count: int, namespace: str = "shop") -> list[str]:
    return [f"{namespace}/{kind}/o{number:02}.yaml" for number in range(count)]


class Loss(NamedTuple):
    why: str
    before: list[str]
    after: list[str]
    reasons: tuple[str, ...]


MANY = [*objects("A", 60), *objects("B", 40), *objects("C", 3, "other")]

LOSSES = [
    Loss("a few of many are fine", MANY, MANY[10:], ()),
    Loss("a fifth is the bound of a big cluster", MANY, [*MANY[:30], *MANY[50:]], ()),
    Loss("more than a fifth is too much", MANY, [*MANY[:29], *MANY[50:]], ("more than 20",)),
    Loss("ten may leave a small cluster", objects("A", 12), objects("A", 12)[10:], ()),
    Loss("eleven are too many for a small one", objects("A", 12), objects("A", 12)[11:], ("more than 10",)),
    Loss(
        "a whole kind of six is guarded though it is few",
        [*objects("A", 60), *objects("B", 6)],
        objects("A", 60),
        ("all 6 of kind B",),
    ),
    Loss("a whole kind of five is not", [*objects("A", 60), *objects("B", 5)], objects("A", 60), ()),
    Loss(
        "a whole namespace of six",
        [*objects("A", 60), *objects("A", 3, "x"), *objects("B", 3, "x")],
        [*objects("A", 60), *objects("C", 0)],
        ("all 6 of namespace x",),
    ),
    Loss("everything, however little", objects("A", 1), ["_cluster/Namespace/shop.yaml"], ("everything it holds",)),
    Loss("a namespace that goes is no loss", [*objects("A", 2), "_cluster/Namespace/x.yaml"], objects("A", 2), ()),
]


@each_row("case", LOSSES, ids=lambda case: case.why)
def test_limits(case: Loss) -> None:
    before, after = a_folder(*case.before), a_folder(*case.after)
    found = removals_by_cluster(
        {"m1": before}, {"m1": after}, lambda tree: parse_tree(STORE.trees[tree]), RemovalGuard()
    )
    lost = sorted(path for path in set(case.before) - set(case.after) if not path.startswith("_cluster/Namespace/"))
    count_before = sum(1 for path in case.before if not path.startswith("_cluster/Namespace/"))
    want = Removal(cluster="m1", paths=tuple(lost), count_before=count_before, reasons=case.reasons)
    assert found == ((want,) if lost else ())


def test_a_cluster_whose_folder_vanishes_loses_everything() -> None:
    found = removals_by_cluster(
        {"m1": a_folder(*objects("A", 2))}, {}, lambda tree: parse_tree(STORE.trees[tree]), RemovalGuard()
    )
    assert [removal.reasons for removal in found] == [("everything it holds",)]


EVERYTHING = Removal(
    cluster="m1", paths=("shop/A/a.yaml", "shop/A/b.yaml"), count_before=2, reasons=("everything it holds",)
)


def test_a_refusal_says_what_goes_and_how_to_allow_it() -> None:
    with pytest.raises(GuardRefused) as refused:
        check_removals([EVERYTHING], {})
    assert str(refused.value) == (
        "this change removes too much at once; nothing was committed\n"
        "  m1: 2 of 2 objects (everything it holds): shop/A/a.yaml, shop/A/b.yaml\n" + removal_hint("m1 2").rstrip("\n")
    )
    assert refused.value.exit_code == 6


class Statement(NamedTuple):
    why: str
    allowance: str
    passes: bool


ALLOWANCES = [
    Statement("the very number", "m1 2", True),
    Statement("a larger number", "m1=5", True),
    Statement("every cluster", "* 2", True),
    Statement("one too few", "m1 1", False),
    Statement("another cluster", "m2 9", False),
]


@each_row("case", ALLOWANCES, ids=lambda case: case.why)
def test_allowances(case: Statement) -> None:
    try:
        allowed = Allowed(removals=(RemovalAllowance.parse(case.allowance),))
        check_removals([EVERYTHING], allowed.removals_by_cluster)
    except GuardRefused:
        assert not case.passes
    else:
        assert case.passes


def test_what_breaks_no_limit_needs_no_allowance() -> None:
    check_removals([Removal(cluster="m1", paths=("shop/A/a.yaml",), count_before=9, reasons=())], {})


@pytest.mark.parametrize("text", ["", "m1", "m1 many", "m1 1 2"])
def test_a_malformed_allowance_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        RemovalAllowance.parse(text)
