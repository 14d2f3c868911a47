"""Sets of clusters as integer masks: bit i stands for the i-th cluster in name order."""

from collections.abc import Iterable, Sequence
from itertools import compress

Mask = int

_MANY = 64
_SPARSE = 32
_SET = bytes(digit == ord("1") for digit in range(256))
_DIGIT = bytes(ord("1") if flag else ord("0") for flag in range(256))


def mask_of(indexes: Iterable[int]) -> Mask:
    """Return the mask with the given bits set.

    >>> mask_of([0, 3])
    9
    """
    chosen = list(indexes)
    if len(chosen) > _MANY:
        flags = bytearray(max(chosen) + 1)
        for index in chosen:
            flags[index] = True
        return int(flags[::-1].translate(_DIGIT), 2)
    mask = 0
    for index in chosen:
        mask |= 1 << index
    return mask


def mask_where(flags: Iterable[bool]) -> Mask:
    """Return the mask whose bit i is the i-th flag.

    >>> mask_where([True, False, False, True])
    9
    """
    return int(b"0" + bytes(flags)[::-1].translate(_DIGIT), 2)


def indexes_of_mask(mask: Mask) -> list[int]:
    """Return the indexes of the set bits, ascending.

    >>> indexes_of_mask(9)
    [0, 3]
    """
    if not mask & (mask - 1):
        return [mask.bit_length() - 1] if mask else []
    if mask.bit_count() * _SPARSE < mask.bit_length():
        return _indexes_one_by_one(mask)
    flags = f"{mask:b}"[::-1].encode().translate(_SET)
    return list(compress(range(len(flags)), flags))


def _indexes_one_by_one(mask: Mask) -> list[int]:
    """Return the indexes of a few set bits; to look at every bit would take longer."""
    found = []
    while mask:
        index = (mask & -mask).bit_length() - 1
        found.append(index)
        mask ^= 1 << index
    return found


def digit_masks(counts: Sequence[int]) -> list[Mask]:
    """Return counts written in binary: the n-th mask has the places whose count has that digit.

    >>> digit_masks([1, 2, 3])
    [5, 6]
    """
    digits = range(max(counts, default=0).bit_length())
    return [mask_of(place for place, count in enumerate(counts) if count >> digit & 1) for digit in digits]


def places_in_fewer_masks(masks: Iterable[Mask], wanted: Sequence[Mask]) -> Mask:
    """Return the places that are not in as many of some masks as is wanted of each; ``wanted`` are ``digit_masks``.

    All places are counted at once, digit by digit. None may be in more masks than ``wanted`` has digits for.

    >>> places_in_fewer_masks([0b11, 0b01], digit_masks([2, 2, 0]))
    2
    """
    counted, out = [0] * len(wanted), 0
    for mask in masks:
        carried = mask
        for digit, known in enumerate(counted):
            if not carried:
                break
            counted[digit], carried = known ^ carried, known & carried
    for known, digits in zip(counted, wanted, strict=True):
        out |= known ^ digits
    return out
