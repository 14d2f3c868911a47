"""A table's rows are all tested, and those that fail are named."""

import pytest

from .tables import each_row


def test_every_row_is_tested_and_those_that_fail_are_named() -> None:
    tested = list[int]()

    @each_row("number", [1, 2, 3, 4], ids=lambda number: f"the number {number}")
    def test_odd(number: int) -> None:
        tested.append(number)
        if number == 2:
            pytest.fail("it is even")
        assert number % 2

    with pytest.raises(BaseExceptionGroup, match=r"^2 of 4 rows$") as raised:
        test_odd()
    assert tested == [1, 2, 3, 4]
    assert [error.__notes__ for error in raised.value.exceptions] == [["row 1: the number 2"], ["row 3: the number 4"]]
    assert (test_odd.__name__, test_odd.__module__) == ("test_odd", __name__)


@pytest.mark.parametrize(
    ("ids", "want"), [(None, "row 0: 'a', 1"), (["first"], "row 0: first"), (str.upper, "row 0: A, B")]
)
def test_a_row_is_called_as_its_parameters_would_be(ids: object, want: str) -> None:
    @each_row(("one", "two"), [("a", "b" if callable(ids) else 1)], ids=ids)  # type: ignore[arg-type] # any of them
    def test_nothing(one: str, two: object) -> None:
        raise ValueError(one, two)

    with pytest.raises(ExceptionGroup) as raised:
        test_nothing()
    assert raised.value.exceptions[0].__notes__ == [want]


def test_a_table_without_rows_is_none() -> None:
    with pytest.raises(AssertionError, match="claims nothing"):
        each_row("number", [])(lambda **_: None)
