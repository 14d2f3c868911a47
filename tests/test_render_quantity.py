"""Quantities read and written as Kubernetes does."""

from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.quantity import (
    LARGEST,
    Amount,
    QuantityFormat,
    amount_rounded_up,
    canonical_quantity,
    format_quantity,
    milli_value_of_amount,
    parse_quantity,
    quantity_format,
)

from .tables import each_row


class Reading(NamedTuple):
    why: str
    text: str
    amount: Amount
    canonical: str


READINGS = [
    Reading("a whole number is itself", "2", 2, "2"),
    Reading("thousandths of a core", "1500m", Fraction(3, 2), "1500m"),
    Reading("whole thousandths become whole", "2000m", 2, "2"),
    Reading("a decimal point becomes thousandths", "0.5", Fraction(1, 2), "500m"),
    Reading("a point may lead", ".5", Fraction(1, 2), "500m"),
    Reading("a point may trail", "5.", 5, "5"),
    Reading("leading zeros say nothing", "007", 7, "7"),
    Reading("thousands take a suffix", "2000", 2000, "2k"),
    Reading("a decimal suffix keeps its base", "500M", 500_000_000, "500M"),
    Reading("a binary suffix keeps its base", "64Mi", 64 * 2**20, "64Mi"),
    Reading("a binary suffix grows", "1024Mi", 2**30, "1Gi"),
    Reading("half of a binary unit is the next smaller one", "0.5Gi", 2**29, "512Mi"),
    Reading("little in binary is written in decimal", "0.5Ki", 512, "512"),
    Reading("a fraction of a byte rounds up in binary", "1.0005Ki", Fraction("1024.512"), "1025"),
    Reading("an exponent stays one", "1e3", 1000, "1e3"),
    Reading("an exponent moves to a multiple of three", "12E4", 120_000, "120e3"),
    Reading("E without digits is exa", "1E", 10**18, "1E"),
    Reading("millionths and billionths", "1500n", Fraction(15, 10**7), "1500n"),
    Reading("finer than a billionth rounds away from zero", "0.0000000001", Fraction(1, 10**9), "1n"),
    Reading("negative amounts exist", "-2.5", Fraction(-5, 2), "-2500m"),
    Reading("a plus sign says nothing", "+1Ki", 1024, "1Ki"),
    Reading("nothing is nothing in any notation", "0Gi", 0, "0"),
    Reading("too large is the largest", "99Ei", LARGEST, "9223372036854775807"),
]


@each_row("case", READINGS, ids=lambda case: case.why)
def test_a_quantity_is_read_exactly_and_written_canonically(case: Reading) -> None:
    assert (parse_quantity(case.text), canonical_quantity(case.text)) == (case.amount, case.canonical)


@each_row("text", ["", ".", "m", "1 Gi", "1gi", "1Kb", "0x10", "1e", "--1", "1.2.3", "٣", "1\n", "1e9999"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parse_quantity(text)
    assert str(refusal.value) == f"{text!r} is not a quantity such as '500m', '2' or '64Mi'"


class Rounding(NamedTuple):
    why: str
    amount: Amount
    whole: int
    thousandths: int


ROUNDINGS = [
    Rounding("a fraction counts as the next whole", Fraction(1, 3), 1, 334),
    Rounding("and away from zero below it", Fraction(-1, 3), -1, -334),
    Rounding("a whole number stays", 3, 3, 3000),
]


@pytest.mark.parametrize("case", ROUNDINGS, ids=lambda case: case.why)
def test_rounding(case: Rounding) -> None:
    assert (amount_rounded_up(case.amount), milli_value_of_amount(case.amount)) == (case.whole, case.thousandths)


@given(st.integers(-(10**18), 10**18), st.sampled_from(QuantityFormat))
def test_what_is_written_reads_back(number: int, notation: QuantityFormat) -> None:
    text = format_quantity(number, notation)
    assert parse_quantity(text) == number
    assert canonical_quantity(text) == text or quantity_format(text) is not notation


@given(st.integers(-(10**12), 10**12))
def test_billionths_read_back(number: int) -> None:
    amount = Fraction(number, 10**9)
    assert parse_quantity(format_quantity(amount)) == amount
