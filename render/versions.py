"""Semantic versions and ranges of them, as Helm and Flux read them.

A range is ``||`` between alternatives, each of comparisons that must all hold, apart by spaces or commas: ``>=1.2 <2``,
``^1.2`` (no breaking change), ``~1.2.3`` (patches alone), ``1.x``, ``1.2 - 1.4``, ``=1.2.3``, ``!=1.3``, ``*``. A
pre-release is only in a range if a comparison of that alternative names one.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .expressions import lazy_expression

_VERSION = lazy_expression(
    r"v?(?P<major>\d{1,9})(?:\.(?P<minor>\d{1,9}))?(?:\.(?P<patch>\d{1,9}))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?"
)
_PARTIAL = lazy_expression(
    r"v?(?P<major>\d{1,9}|[xX*])(?:\.(?P<minor>\d{1,9}|[xX*]))?(?:\.(?P<patch>\d{1,9}|[xX*]))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?"
)
_COMPARISON = lazy_expression(r"(?P<sign>!=|>=|=>|<=|=<|~>|=|>|<|~|\^|)\s*(?P<version>[^\s,<>=!~^|]+)[\s,]*")
_HYPHEN = lazy_expression(r"(?<!\S)(\S++)\s++-\s++(\S++)")
_LONGEST_RANGE = 256


class UnusableRange(ValueError):
    """A text is no range of versions."""


class Version(NamedTuple):
    """A version; compare it with others by ``order``, which ignores build metadata."""

    major: int
    minor: int
    patch: int
    pre: tuple[str, ...] = ()

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """The value that versions are sorted by: a release after its pre-releases, numbers before words."""
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, parts)

    @property
    def sort_key_of_first_pre_release(self) -> tuple[Any, ...]:
        """The order of its first pre-release, before which every earlier version stands."""
        return (self.major, self.minor, self.patch, False, ())


def parse_version(text: str) -> Version | None:
    """Return the version that a text is, with or without a ``v`` before it; None for any other text.

    >>> parse_version("v1.4.0-rc.1")
    Version(major=1, minor=4, patch=0, pre=('rc', '1'))
    """
    found = _VERSION.fullmatch(text) if len(text) <= _LONGEST_RANGE else None
    if found is None:
        return None
    pre = tuple(found["pre"].split(".")) if found["pre"] else ()
    return Version(int(found["major"]), int(found["minor"] or 0), int(found["patch"] or 0), pre)


def newest_version_in_range(texts: Iterable[str], wanted: str) -> str | None:
    """Return the newest of the versions in a range; None where none is in it. Texts that are no versions are left out.

    >>> newest_version_in_range(["1.2.0", "1.10.1", "2.0.0", "1.11.0-rc.1", "latest"], "^1.2")
    '1.10.1'
    """
    is_in = predicate_of_version_range(wanted)
    versions = ((version, text) for text in texts if (version := parse_version(text)) is not None)
    found = [(version.sort_key, text) for version, text in versions if is_in(version)]
    return max(found)[1] if found else None


def predicate_of_version_range(text: str) -> Callable[[Version], bool]:
    """Return what says whether a version is in a range; UnusableRange where the text is none."""
    if len(text) > _LONGEST_RANGE:
        raise UnusableRange(f"is longer than {_LONGEST_RANGE} characters")
    alternatives = [_predicate_of_range_alternative(part.strip()) for part in text.split("||")]
    return lambda version: any(is_in(version) for is_in in alternatives)


def _predicate_of_range_alternative(text: str) -> Callable[[Version], bool]:
    comparisons, position = [], 0
    text = _HYPHEN.sub(r">=\1 <=\2", text) or "*"
    while position < len(text):
        found = _COMPARISON.match(text, position)
        if found is None:
            raise UnusableRange(f"cannot be read from {text[position : position + 20]!r} on")
        comparisons.append(_Comparison.of(found["sign"], found["version"]))
        position = found.end()
    takes_pre = any(each.low.pre for each in comparisons)
    return lambda version: (not version.pre or takes_pre) and all(each.holds(version) for each in comparisons)


class _Comparison(NamedTuple):
    """A sign and the versions that the text beside it stands for: from ``low`` to below ``high`` (None: no end)."""

    sign: str
    low: Version
    high: Version | None

    @classmethod
    def of(cls, sign: str, text: str) -> "_Comparison":
        found = _PARTIAL.fullmatch(text)
        if found is None:
            raise UnusableRange(f"{text[:40]!r} is no version")
        named = [found[part] for part in ("major", "minor", "patch")]
        known = [int(part) for part in named[: _count_of_numbers(named)] if part is not None]
        pre = tuple(found["pre"].split(".")) if found["pre"] else ()
        low = _version_with_missing_zeros(known)._replace(pre=pre)
        return cls(sign.replace("=>", ">=").replace("=<", "<="), low, _version_after(sign, known))

    def holds(self, version: Version) -> bool:
        """Say whether a version is as the sign and the text say."""
        at, low = version.sort_key, self.low.sort_key
        is_below_end = self.high is None or at < self.high.sort_key_of_first_pre_release
        is_meant = at == low if self._is_exact else at >= low and is_below_end
        answers = {
            ">=": at >= low,
            "<": at < low,
            ">": at > low if self._is_exact else not is_below_end,
            "<=": at <= low if self._is_exact else is_below_end,
            "!=": not is_meant,
            "=": is_meant,
            "": is_meant,
        }
        return answers.get(self.sign, at >= low and is_below_end)

    @property
    def _is_exact(self) -> bool:
        return self.high is not None and self.high == Version(self.low.major, self.low.minor, self.low.patch + 1)


def _count_of_numbers(named: list[str | None]) -> int:
    """Return how many numbers of a version are written before the first that stands for any."""
    return next((index for index, part in enumerate(named) if part is None or not part.isdigit()), 3)


def _version_with_missing_zeros(numbers: list[int]) -> Version:
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    return Version(major, minor, patch)


def _version_after(sign: str, known: list[int]) -> Version | None:
    """Return the first version after those that a sign and some numbers mean."""
    if not known:
        return None
    if sign == "^":
        first = next((index for index, number in enumerate(known) if number), len(known) - 1)
    elif sign in {"~", "~>"}:
        first = min(1, len(known) - 1)
    else:
        first = len(known) - 1
    return _version_with_missing_zeros([*known[:first], known[first] + 1])
