"""Objects that are defined more than once: equal copies are one object, all others are variants, to choose from.

Nothing guesses here which variant is meant: an object of which variants are read is not used, and each is named. What
a kustomization builds is used all the same where it is contradicted by nothing but files that contradict each other.
``variant_folders`` says which folders to leave out so that one variant is read.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from render.admission.customizations import functions_of_customization
from render.expressions import lazy_expression
from render.interpreter.customization_keys import KIND as CUSTOMIZATION
from render.model import ObjectRef, Template
from render.words import words_in_sentence

from .broken import Broken, LostObject, broken_by_problem
from .built_files import BuiltFile
from .lines import Lines
from .manifests import FieldProblem, LocatedManifest
from .templates import Templates, is_same_template
from .variant_folders import (
    Definition,
    FolderUses,
    ignore_line_of,
    objects_in_one_folder_only,
    paths_down_to,
    paths_to_leave_out,
    variant_roots,
)

_PLAIN = lazy_expression(r"[A-Za-z0-9_./+@~-]+")
"""Texts that mean themselves in a list of YAML, without quotes."""
VARIANTS = "DefinedDifferently"
PlacedTemplate = tuple[Template, LocatedManifest]


class _DuplicateTemplates(Struct, frozen=True, kw_only=True):
    """Objects with variants at the same places: their problem, all places, and the templates that are not used.

    ``lost`` are those of which nothing is used, ``ignore`` the lines for argosy.yaml that leave out a variant of them.
    """

    found: FieldProblem
    places: tuple[LocatedManifest, ...]
    unusable: tuple[Template, ...]
    lost: tuple[LostObject, ...]
    ignore: tuple[str, ...]


class VariantChoice(Struct, frozen=True, kw_only=True):
    """A folder or file to leave out, so that one variant of its objects is read.

    ``line`` is the one for argosy.yaml that leaves it out, ``alone`` are the objects that stand nowhere else.
    """

    path: str
    line: str
    alone: tuple[str, ...] = ()


def templates_left_out_as_duplicates(
    templates: Templates, choices: Sequence[VariantChoice], lines: Lines
) -> list[Broken]:
    """Leave out the templates that repeat others, and return those that contradict each other, which are as well."""
    if _is_each_defined_once(templates.placed):
        return []
    templates.leave_out(_repeated_templates(templates.placed))
    found = tuple(_duplicate_templates(templates.placed, choices, lines))
    templates.leave_out({id(template) for each in found for template in each.unusable})
    return [
        replace(
            broken_by_problem(lines.located_problem(each.found), [place.file for place in each.places]),
            ignore=each.ignore,
            lost=each.lost,
        )
        for each in found
    ]


def _is_each_defined_once(placed: Sequence[PlacedTemplate]) -> bool:
    """Say whether each object stands in one place alone, as in most sources: then there is nothing to compare."""
    return len({template.ref for template, _ in placed}) == len(placed)


def _is_each_named_once(karmada: Sequence[tuple[str, LocatedManifest]]) -> bool:
    """Say whether objects of Karmada's kinds are different ones, none of which customizes others by a script."""
    names = {name for name, place in karmada if place.manifest["kind"] != CUSTOMIZATION}
    return len(names) == len(karmada)


def _repeated_templates(placed: Iterable[PlacedTemplate]) -> set[int]:
    """Return the further ones of equal templates, by identity: one is as good as the other, and the first is used."""
    return {
        id(template)
        for definitions in _definitions_by_object(placed).values()
        if len(definitions) > 1 and not has_variants(definitions)
        for template, _ in definitions[1:]
    }


def choices_of_variants(
    templates: Templates,
    karmada: Sequence[tuple[str, LocatedManifest]],
    uses_of_folders: Callable[[], FolderUses],
    folder: str,
) -> tuple[VariantChoice, ...]:
    """Return the folders and files of a fleet to leave out so that one variant of each object is read.

    ``karmada`` are the objects of Karmada's kinds, with their names.
    """
    placed = (*templates.placed, *templates.given_way)
    if _is_each_defined_once(placed) and _is_each_named_once(karmada):
        return ()
    objects = {ref: _definitions_of_templates(each) for ref, each in _definitions_by_object(placed).items()}
    objects |= _definitions_of_karmada_objects(karmada)
    if not any(each.content for definitions in objects.values() for each in definitions):
        return ()
    paths = paths_to_leave_out(objects, uses_of_folders())
    files = {each.path for definitions in objects.values() for each in definitions}
    alone = objects_in_one_folder_only(objects, paths)
    return tuple(
        VariantChoice(
            path=path, line=ignore_line_of(path, folder, is_file=path in files), alone=tuple(alone.get(path, ()))
        )
        for path in paths
    )


def _duplicate_templates(
    placed: Iterable[PlacedTemplate], choices: Sequence[VariantChoice], lines: Lines
) -> Iterator[_DuplicateTemplates]:
    """Yield the objects with variants, one problem for all whose places part at the same folders or files."""
    groups: dict[tuple[str, ...], list[list[PlacedTemplate]]] = {}
    for definitions in _definitions_by_object(placed).values():
        if has_variants(definitions):
            roots = variant_roots([place.file.path for _, place in definitions])
            groups.setdefault(roots, []).append(definitions)
    by_path = {each.path: each for each in choices}
    for roots, found in groups.items():
        paths = (place.file.path for definitions in found for _, place in definitions)
        above = dict.fromkeys(each for path in paths for each in paths_down_to(path) if each in by_path)
        yield _duplicates_at_roots(roots, found, [by_path[each] for each in above], lines)


def has_variants(definitions: Sequence[PlacedTemplate]) -> bool:
    """Say whether templates of one object differ in anything that is rendered of them."""
    first = definitions[0][0]
    return any(not is_same_template(first, other) for other, _ in definitions[1:])


def _definitions_by_object(placed: Iterable[PlacedTemplate]) -> dict[ObjectRef, list[PlacedTemplate]]:
    found: dict[ObjectRef, list[PlacedTemplate]] = {}
    for template, place in placed:
        found.setdefault(template.ref, []).append((template, place))
    return found


def _definitions_of_templates(placed: Sequence[PlacedTemplate]) -> list[Definition]:
    numbers = _numbers_of_equal([template for template, _ in placed], is_same_template)
    return [
        Definition(place.file.path, number, is_built=isinstance(place.file, BuiltFile))
        for number, (_, place) in zip(numbers, placed, strict=True)
    ]


def _definitions_of_karmada_objects(
    places: Sequence[tuple[str, LocatedManifest]],
) -> dict[ObjectRef, list[Definition]]:
    """Return the definitions of objects by name, and those of customizations by all that they customize as well."""
    found: dict[ObjectRef, list[LocatedManifest]] = {}
    numbers = Counter(name for name, _ in places)
    for name, place in places:
        for each in _names_that_one_place_may_have(name, place, is_shared=numbers[name] > 1):
            found.setdefault(ObjectRef("", "", "", each), []).append(place)
    return {
        ref: [
            Definition(place.file.path, number, decides=True)
            for number, place in zip(
                _numbers_of_equal(each, lambda one, other: one.manifest == other.manifest), each, strict=True
            )
        ]
        for ref, each in found.items()
    }


def _names_that_one_place_may_have(name: str, place: LocatedManifest, *, is_shared: bool) -> Iterator[str]:
    """Yield what no second object may be: one of a name, or a customization that has a script for the same function.

    A customization whose name is its own stands for what it customizes alone: another one may take its place.
    """
    functions = functions_of_customization(place.manifest) if place.manifest["kind"] == CUSTOMIZATION else ()
    yield from (f"{function} of {version} {kind}" for version, kind, function in sorted(functions))
    if is_shared or not functions:
        yield name


def _numbers_of_equal(values: Sequence[Any], is_equal: Callable[[Any, Any], bool]) -> list[int]:
    """Return a number for each value that equal ones share.

    >>> _numbers_of_equal(["a", "b", "a"], str.__eq__)
    [0, 1, 0]
    """
    known: list[Any] = []
    numbers = []
    for value in values:
        number = next((number for number, other in enumerate(known) if is_equal(other, value)), len(known))
        if number == len(known):
            known.append(value)
        numbers.append(number)
    return numbers


def _duplicates_at_roots(
    roots: tuple[str, ...], found: Sequence[list[PlacedTemplate]], choices: Sequence[VariantChoice], lines: Lines
) -> _DuplicateTemplates:
    """Return the objects with variants at some folders or files as one problem, at the second place of the first."""
    used = [_agreeing_built_templates(definitions) for definitions in found]
    used_ids = {id(template) for each in used for template in each}
    lost = tuple(_lost_object(definitions, lines) for definitions, each in zip(found, used, strict=True) if not each)
    return _DuplicateTemplates(
        found=found[0][1][1].problem(
            "", _message_of_variants(roots, found, lost, lines), hint=_hint_of_choices(choices), kind="Duplicate"
        ),
        places=tuple(place for definitions in found for _, place in definitions),
        unusable=tuple(
            template for definitions in found for template, _ in definitions if id(template) not in used_ids
        ),
        lost=lost,
        ignore=tuple(each.line for each in choices),
    )


def _lost_object(definitions: Sequence[PlacedTemplate], lines: Lines) -> LostObject:
    where = words_in_sentence([lines.shown_place(place) for _, place in definitions])
    return LostObject(definitions[0][0].ref, VARIANTS, f"{where} define it differently, and none of these is used")


def _agreeing_built_templates(definitions: Sequence[PlacedTemplate]) -> list[Template]:
    """Return the template that kustomizations build of an object, if all build the same; files contradict each other.

    What is built gives way to a file, but never to one that is not used itself.
    """
    built = [each for each in definitions if isinstance(each[1].file, BuiltFile)]
    return [] if not built or has_variants(built) else [built[0][0]]


def _message_of_variants(
    roots: tuple[str, ...], found: Sequence[list[PlacedTemplate]], lost: Sequence[LostObject], lines: Lines
) -> str:
    is_used = "and none of these is used" if lost else "and what is built is used"
    if lost and len(lost) < len(found):
        is_used = "and none of these is used, unless it is built"
    if len(found) == 1:
        others = words_in_sentence(
            [lines.shown_place(place) for number, (_, place) in enumerate(found[0]) if number != 1]
        )
        return f"{found[0][0][0].ref} is defined otherwise at {others}, {is_used}"
    names = words_in_sentence([str(definitions[0][0].ref) for definitions in found])
    return f"{len(found)} objects are defined differently in {words_in_sentence(roots)}, {is_used}: {names}"


def _hint_of_choices(choices: Sequence[VariantChoice]) -> str:
    if not choices:
        return "keep one"
    alone = [name for each in choices for name in each.alone]
    lost = f", with what is nowhere else ({', '.join(alone)})," if alone else ""
    what = "a folder" if all(each.line.endswith("/") for each in choices) else "what is not meant"
    text = ", ".join(each.line if _PLAIN.fullmatch(each.line) else json.dumps(each.line) for each in choices)
    return f"keep one, or leave out {what}{lost} in argosy.yaml:\n    spec:\n      source:\n        ignore: [{text}]"
