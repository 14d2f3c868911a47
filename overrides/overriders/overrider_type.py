"""A type of overrider as one value: all that Argosy knows of the entries of one list of a rule.

A module beside this one states it; parsing, admission, the edits of a rule, the record on a Work and the warnings of
lint read it there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from overrides.draft import Draft
from render.admission.findings import Findings
from render.admission.schema import Record
from render.model import Manifest

Overrider = TypeVar("Overrider")

Change = Callable[[Draft], None]
"""Edits a draft in place; raises ``Refused``."""

Check = Callable[[Manifest, str, Findings], None]
"""Reports what is wrong with an entry as its author wrote it, given its field path."""

REMOVED = object()
"""The value of a setting that removes what stands at its path."""


class OverriderEdit(NamedTuple):
    """A change that is made as a whole: its place in the list, and the overriders that it is made of."""

    place: str
    change: Change
    overriders: tuple[Any, ...]


class Complaint(NamedTuple):
    """A mistake in an overrider, in words, and what to do."""

    message: str
    hint: str = ""


def _report_nothing(_entry: Manifest, _path: str, _findings: Findings) -> None:
    """Find nothing wrong."""


class OverriderType(Struct, Generic[Overrider], frozen=True, kw_only=True, eq=False):
    """The overriders of one list, such as ``imageOverrider``. Fields without a default must be stated by every type."""

    name: str
    """The name of the list in a rule."""

    item: Record
    """The schema of an entry."""

    parse: Callable[[Manifest], Overrider]
    """Makes the value of an admitted entry."""

    plain: Callable[[Overrider], dict[str, Any]]
    """Returns an overrider as Karmada records it on a Work: the entry, its empty optional fields left out."""

    edits: Callable[[Sequence[Overrider]], Iterator[OverriderEdit]]
    """Compiles the overriders of a rule, by ``compile_one_by_one`` or ``compile_all_at_once``."""

    reach: Callable[[Overrider], Iterable[str | None]]
    """Returns the top-level fields that an overrider can read or change; None for every field there is."""

    pointer: Callable[[Overrider], str | None]
    """Returns the JSON pointer at which its author has an overrider write; None where authors cannot choose it.

    What can change the identity of an object by its pointer is watched while it runs.
    """

    settings: Callable[[Overrider], Iterable[tuple[str, Any]]]
    """Returns the paths that have the same value after an overrider, whatever they had before: value or ``REMOVED``."""

    check: Check = _report_nothing
    """Reports the entries of a rule that Karmada's webhook refuses, beyond their schema."""

    warn: Check = _report_nothing
    """Warns of entries that change nothing, or something else than they seem to."""

    warn_unchecked: Check = _report_nothing
    """Warns of what ``check`` refuses: Karmada does not check the overriders of the deprecated form."""

    complaints: Callable[[Overrider], Iterable[Complaint]] = lambda _overrider: ()
    """Returns the mistakes in an overrider that show whatever object it meets."""

    damage: Callable[[Overrider, Manifest, Manifest], Iterable[Complaint]] = lambda _overrider, _before, _after: ()
    """Returns the harm that an overrider did to one object, given before and after; messages go on with ``in NAME``."""

    idle_hint: str = ""
    """The reason why an overrider may change nothing in any object; without one, lint does not say so."""

    may_harm: bool = True
    """True if it can make a right object wrong; an image, a command or a label stays a text, whatever it says."""

    may_annotate: bool = True
    """True if it can write an annotation."""

    is_seen_beside_rules: bool = True
    """False if Karmada's webhook overlooks it in ``spec.overriders`` beside ``overrideRules``, where it is ignored."""

    is_recorded_first: bool = False
    """True if Karmada records its list before those of other types; these are recorded in the order they apply."""


def compile_one_by_one(
    change: Callable[[Overrider], Change],
) -> Callable[[Sequence[Overrider]], Iterator[OverriderEdit]]:
    """Compile overriders to an edit each."""

    def edits(overriders: Sequence[Overrider]) -> Iterator[OverriderEdit]:
        for index, overrider in enumerate(overriders):
            yield OverriderEdit(f"[{index}]", change(overrider), (overrider,))

    return edits


def compile_all_at_once(
    change: Callable[[Sequence[Overrider]], Change],
) -> Callable[[Sequence[Overrider]], Iterator[OverriderEdit]]:
    """Compile the overriders of a rule to one edit: all of them apply, or none. Refusals name the entry."""

    def edits(overriders: Sequence[Overrider]) -> Iterator[OverriderEdit]:
        yield OverriderEdit("", change(overriders), tuple(overriders))

    return edits


def no_pointer(_overrider: Any) -> None:
    """Return the pointer of overriders that write where their type says."""


def no_settings(_overrider: Any) -> tuple[()]:
    """Return the settings of overriders whose result depends on the value before."""
    return ()
