"""Limits as people write them: a number of some things, or a percentage of them."""

from typing import Self

from msgspec import Struct

_MOST_DIGITS = 10
"""The digits of the largest number that admission lets pass."""


class Limit(Struct, frozen=True):
    """A number of clusters or replicas, or a percentage of some."""

    amount: int
    is_percentage: bool = False

    @classmethod
    def of_text(cls, text: str) -> Self | None:
        """Return what a text such as ``25%`` or ``3`` says; None where it is neither.

        >>> str(Limit.of_text("25%")), str(Limit.of_text("3")), Limit.of_text("a few")
        ('25%', '3', None)
        """
        digits = text.removesuffix("%")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
            return None
        return cls(int(digits), digits != text)

    def of_total(self, total: int, *, at_least: int = 0) -> int:
        """Return the number that it is of some things; a percentage is rounded down.

        >>> Limit(25, True).of_total(7), Limit(10, True).of_total(7, at_least=1), Limit(3).of_total(7)
        (1, 1, 3)
        """
        return max(at_least, total * self.amount // 100 if self.is_percentage else self.amount)

    def needed_of_total(self, total: int) -> int:
        """Return how many of some things are at least such a share of them; a percentage is rounded up.

        >>> Limit(50, True).needed_of_total(3), Limit(5).needed_of_total(3), Limit(1, True).needed_of_total(0)
        (2, 3, 0)
        """
        return min(total, -(-total * self.amount // 100) if self.is_percentage else self.amount)

    def __str__(self) -> str:
        return f"{self.amount}%" if self.is_percentage else str(self.amount)
