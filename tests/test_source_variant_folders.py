"""The choice among folders that define objects differently: the same as by weighing each pair, without weighing each.

What is chosen is in the tests of sources and of ``argosy init``.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reconciler.source import variant_folders
from reconciler.source.variant_folders import Definition, FolderUses, paths_to_leave_out
from render.model import ObjectRef

FOLDERS = ("", "a/", "b/", "a/a/", "a/b/", "b/a/", "a/b/a/")
NAMES = ("x.yaml", "y.yaml", "kustomization.yaml")
PATHS = st.builds("{}{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
DEFINITIONS = st.builds(Definition, PATHS, st.integers(0, 2), st.booleans())
OBJECTS = st.lists(st.tuples(st.lists(DEFINITIONS, min_size=1, max_size=6), st.booleans()), max_size=6)
USES = st.sets(st.sampled_from([each.rstrip("/") for each in FOLDERS if each]), max_size=2)


class CountedContent(int):
    """A content that counts how often it is looked at."""

    looked_at = 0

    def __hash__(self) -> int:
        CountedContent.looked_at += 1
        return int.__hash__(self)


def an_object(number: int) -> ObjectRef:
    return ObjectRef("", "ConfigMap", "default", str(number))


IN_A = Definition("a/x.yaml", 0)
IN_A_FOLDER_OF_IT = Definition("a/b/y.yaml", 1)


@given(OBJECTS, USES, USES)
@example([([IN_A, IN_A_FOLDER_OF_IT], False), ([IN_A_FOLDER_OF_IT], False), ([IN_A_FOLDER_OF_IT], False)], set(), set())
@example([([IN_A, IN_A_FOLDER_OF_IT], False), ([IN_A], False), ([IN_A], False)], set(), set())
def test_what_is_left_out_is_what_weighing_each_pair_leaves_out(
    drawn: list[tuple[list[Definition], bool]], applied: set[str], of_policies: set[str]
) -> None:
    objects = {
        an_object(number): [each._replace(decides=decides) for each in definitions]
        for number, (definitions, decides) in enumerate(drawn)
    }
    uses = FolderUses(applied, of_policies)
    chosen = paths_to_leave_out(objects, uses)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(variant_folders._FolderContents, "may_be_left_out_for_any", lambda *_: True)
        assert chosen == paths_to_leave_out(objects, uses)


def looks_at_contents(size: int) -> int:
    """Return how often a content is looked at, of so many folders that each define one object otherwise."""
    objects = {an_object(0): [Definition(f"f{each}/a.yaml", CountedContent(each)) for each in range(size)]}
    for each in range(size):
        objects |= {an_object(3 * each + other): [Definition(f"f{each}/b.yaml", each)] for other in (1, 2, 3)}
    CountedContent.looked_at = 0
    assert paths_to_leave_out(objects, FolderUses()) == []
    return CountedContent.looked_at


def test_variants_that_cannot_be_left_out_are_not_compared_with_each_other() -> None:
    """Each folder has things of its own: weighing each pair of 2,000 took half a minute."""
    assert looks_at_contents(400) <= 2 * looks_at_contents(200)
