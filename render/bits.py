"""Sets of clusters as integer masks: bit i stands for the i-th cluster in name order."""

from collections.abc import Iterable

Mask = int


def mask_of(indexes: Iterable[int]) -> Mask:
    """Return the mask with the given bits set.

    >>> mask_of([0, 3])
    9
    """
    mask = 0
    for index in indexes:
        mask |= 1 << index
    return mask


def members(mask: Mask) -> list[int]:
    """Return the indexes of the set bits, ascending.

    >>> members(9)
    [0, 3]
    """
    if not mask & (mask - 1):
        return [mask.bit_length() - 1] if mask else []
    return [index for index, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]
