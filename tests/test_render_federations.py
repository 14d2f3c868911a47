"""Federations: one table has all that is said of each, and documents of wrong shapes go the same way with every one."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.cli import run
from render.federations import FEDERATIONS, RULE_BY_CODE, federations_found_in
from render.federations.conversion import Documents, FrontEnd, convert_documents
from render.federations.decoding import decode_text
from render.federations.shapes import Shape, reader_of_fields, shape_of_document
from render.federations.units import Conversion, Labels, Placed, Reach, Unit
from render.settings.source import OtherFederation

from . import test_import_hostile as hostile
from .tables import each_row

ROOT = Path(__file__).parent.parent


def test_every_federation_has_what_converts_it() -> None:
    modules = [f"render.federations.{each.name.replace('-', '_')}.front_end" for each in FEDERATIONS]
    assert [isinstance(import_module(name).FRONT_END, FrontEnd) for name in modules] == [True] * len(FEDERATIONS)


def test_every_federation_has_documents_that_are_broken_at_random() -> None:
    assert list(hostile.documents()) == [each.name for each in FEDERATIONS]


def test_every_federation_is_told_by_its_documents_alone() -> None:
    found = {
        name: [each.name for each in federations_found_in(documents)] for name, documents in hostile.documents().items()
    }
    assert found == {each.name: [each.name] for each in FEDERATIONS}


def test_every_federation_that_is_rendered_where_it_stands_is_a_choice_of_the_settings() -> None:
    assert sorted(each.setting for each in FEDERATIONS if each.setting) == sorted(OtherFederation)


def test_every_federation_has_a_guide_that_the_readme_names() -> None:
    guides = {each.name: ROOT / "examples" / f"coming-from-{each.name}" / "README.md" for each in FEDERATIONS}
    assert {name: path.is_file() and "argosy import" in path.read_text() for name, path in guides.items()} == (
        dict.fromkeys(guides, True)
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [each.title for each in FEDERATIONS if each.title not in readme] == []


def test_the_help_of_import_says_what_is_read_of_every_federation(capsys: Any) -> None:
    assert run(["import", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert [each.name for each in FEDERATIONS if f"{each.name} {each.about}" not in words] == []


def test_no_rule_is_told_by_codes_of_two_federations() -> None:
    assert len(RULE_BY_CODE) == sum(len(each.rules) for each in FEDERATIONS)


class Given(NamedTuple):
    why: str
    kind: str
    spec: Any
    plain: Shape | None
    want: str


PAIR = reader_of_fields(size=decode_text)
GIVEN = [
    Given("its own document of the right shape", "Its", {"size": "s"}, None, "own"),
    Given("its own document of a wrong shape", "Its", {"size": 5}, None, "left"),
    Given("its own document of a kind that is read otherwise", "ItsOther", {"size": 5}, None, "own"),
    Given("another document where it takes no others", "Plain", {"size": "s"}, None, "others"),
    Given("another document of the right shape", "Plain", {"size": "s"}, shape_of_document(PAIR), "plain"),
    Given("another document of a wrong shape", "Plain", {"size": 5}, shape_of_document(PAIR), "others"),
]


def read(documents: Documents, _known: Labels) -> Conversion:
    """Return a unit for each document, which names the way that it came."""
    return Conversion(
        units=tuple(
            Unit(manifest=each.manifest, reach=Reach(), origin=each.origin, subject=way)
            for way, found in (("own", documents.own), ("plain", documents.plain))
            for each in found
        )
    )


@each_row("row", GIVEN, ids=lambda row: row.why)
def test_a_document_is_converted_left_out_or_counted(row: Given) -> None:
    front_end = FrontEnd(
        kinds={"Its": shape_of_document(PAIR)}, other=shape_of_document(), plain=row.plain, convert=read
    )
    manifest = {"apiVersion": "v1", "kind": row.kind, "metadata": {"name": "a"}, "spec": row.spec}
    found = convert_documents(
        [Placed(manifest=manifest, origin="f:1")], front_end, lambda each: str(each["kind"]).startswith("Its"), {}
    )
    ways = [each.subject for each in found.units] + ["left" for _ in found.left] + ["others"] * found.others
    assert ways == [row.want]
    assert [(each.origin, each.remark.code, each.remark.message) for each in found.left] == (
        [("f:1", "unreadable", "spec.size is not text")] if row.want == "left" else []
    )
