"""The objects a cluster may hold, from the first attempt to convergence, and back from their record in Git."""

import pytest
from msgspec.structs import replace

from reconciler.ledger.branch_file import FileFault
from reconciler.ledger.holds import RELEASED, ClusterHold
from reconciler.ledger.inventory import ApplyOutcome, HeldObject, Inventory
from render.model import ObjectRef

WEB = HeldObject(ref=ObjectRef("apps", "Deployment", "shop", "web"))
DISK = HeldObject(ref=ObjectRef("", "PersistentVolumeClaim", "shop", "disk"), preserve=True, keep=True)
EMPTY = Inventory(cluster="member1")


def test_the_first_attempt_pins_the_cluster() -> None:
    assert EMPTY.with_attempt("one", "uid-1") == Inventory(cluster="member1", uid="uid-1", attempted=("one",))


def test_a_pinned_cluster_stays_pinned() -> None:
    pinned = Inventory(cluster="member1", uid="uid-1")
    assert pinned.with_attempt("one", "uid-2").uid == "uid-1"


def test_an_attempt_is_written_down_once() -> None:
    once = EMPTY.with_attempt("one", "u")
    assert once.with_attempt("one", "u") == once


def test_the_commit_a_cluster_holds_needs_no_attempt() -> None:
    converged = Inventory(cluster="member1", uid="u", converged="one")
    assert converged.with_attempt("one", "u") == converged


def test_convergence_leaves_one_commit() -> None:
    before = Inventory(cluster="member1", uid="u", converged="one", attempted=("two", "three"))
    assert before.commits == ("one", "two", "three")
    after = before.inventory_after_apply("three", ApplyOutcome.CONVERGED, [DISK])
    assert after == Inventory(cluster="member1", uid="u", converged="three", left=(DISK,))
    assert after.commits == ("three",)


def test_a_pass_that_got_to_its_end_needs_no_earlier_attempts() -> None:
    """Whatever they left is in its own remains; a conflict that stays must not pile attempts up."""
    before = Inventory(cluster="member1", uid="u", converged="one", attempted=("two", "three"))
    after = before.inventory_after_apply("three", ApplyOutcome.INCOMPLETE, [WEB])
    assert after == Inventory(cluster="member1", uid="u", converged="one", attempted=("three",), left=(WEB,))


def test_an_interrupted_pass_forgets_nothing() -> None:
    before = Inventory(cluster="member1", uid="u", converged="one", attempted=("two",), left=(DISK,))
    after = before.inventory_after_apply("two", ApplyOutcome.INTERRUPTED, [WEB])
    assert after == Inventory(cluster="member1", uid="u", converged="one", attempted=("two",), left=(DISK, WEB))


@pytest.mark.parametrize(
    ("outcome", "want"),
    [
        (ApplyOutcome.CONVERGED, Inventory(cluster="member1", uid="u", converged="two", attempted=("three",))),
        (ApplyOutcome.INCOMPLETE, Inventory(cluster="member1", uid="u", converged="three", attempted=("two",))),
    ],
)
def test_a_slow_pass_forgets_nothing_that_a_newer_one_recorded_meanwhile(
    outcome: ApplyOutcome, want: Inventory
) -> None:
    """It was planned when the cluster held the first commit, and knows nothing of what the third put there."""
    planned = Inventory(cluster="member1", uid="u", converged="one", attempted=("two",), left=(WEB,))
    newer = Inventory(cluster="member1", uid="u", converged="three", left=(DISK,))
    assert newer.inventory_after_apply("two", outcome, [WEB], known=planned) == replace(want, left=(DISK, WEB))


def test_what_is_held_is_what_was_left_and_what_the_trees_hold() -> None:
    inventory = Inventory(cluster="member1", left=(DISK,)).with_objects([WEB])
    assert inventory.held_objects == {DISK.ref: DISK, WEB.ref: WEB}


def test_what_git_keeps_comes_back() -> None:
    inventory = Inventory(cluster="member1", uid="u", converged="one", attempted=("two",), left=(DISK, WEB))
    assert inventory.plain() == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Inventory",
        "cluster": "member1",
        "clusterUID": "u",
        "converged": "one",
        "attempted": ["two"],
        "left": [
            {
                "group": "",
                "kind": "PersistentVolumeClaim",
                "namespace": "shop",
                "name": "disk",
                "preserve": True,
                "keep": True,
            },
            {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"},
        ],
    }
    assert Inventory.of(inventory.plain()) == inventory


WRITTEN = {"cluster": "a", "clusterUID": "", "converged": ""}
OBJECT = {"kind": "Deployment", "name": "web"}


@pytest.mark.parametrize(
    "manifest",
    [
        {},
        {"cluster": "a"},
        *({**WRITTEN, name: value} for name in WRITTEN for value in (None, 1, ["a"], {"a": "b"})),
        *({**WRITTEN, "attempted": value} for value in (None, "abc", [1], [["a"]], {"a": "b"})),
        *({**WRITTEN, "left": [value]} for value in (1, "a", {}, {**OBJECT, "name": 1}, {**OBJECT, "keep": "yes"})),
        {**WRITTEN, "fieldManager": 1},
    ],
)
def test_anything_else_is_no_inventory(manifest: dict[str, object]) -> None:
    with pytest.raises(FileFault):
        Inventory.of(manifest)


HOLD = ClusterHold(commit=40 * "a", source=40 * "b", by="Ada <ada@example.com>", since="2027-01-15T08:00:00Z")


def test_an_inventory_with_a_hold_is_none_for_an_argosy_that_knows_no_holds() -> None:
    """Such an Argosy would undo the rollback, and so would one that ends every hold with a newer source.

    Every other inventory stays one that it reads.
    """
    plain = Inventory(cluster="member1", uid="u", converged=40 * "a")
    held = replace(plain, hold=HOLD)
    outlasting = [replace(plain, hold=replace(HOLD, until=until)) for until in (RELEASED, "2027-01-15T09:00:00Z")]
    assert b"\nversion: 1\n" in plain.content()
    assert b"\nversion: 2\n" in held.content()
    assert all(b"\nversion: 3\n" in each.content() for each in outlasting)
    for each in (plain, held, *outlasting):
        assert Inventory.read("inventory/member1.yaml", each.content()) == each
        assert each.inventory_after_apply(40 * "c", ApplyOutcome.CONVERGED, []).hold == each.hold


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("commit", "main", "hold.commit has a value of no use"),
        ("source", "", "hold.source has a value of no use"),
        ("since", "released", "hold has 'released' for a time"),
        ("since", "", "hold has '' for a time"),
        ("since", "yesterday", "hold has 'yesterday' for a time"),
        ("until", "soon", "hold has 'soon' for a time"),
        ("by", 7, "hold.by is no text"),
    ],
)
def test_a_hold_that_is_none_is_named(field: str, value: object, fault: str) -> None:
    plain = dict(replace(EMPTY, hold=HOLD).plain())
    with pytest.raises(FileFault) as raised:
        Inventory.of({**plain, "hold": {**plain["hold"], field: value}})
    assert raised.value.fault == fault
