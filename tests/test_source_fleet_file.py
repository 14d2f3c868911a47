"""The argosy.yaml that is meant, and its effect."""

from typing import NamedTuple

from reconciler.source.fleet_file import load_fleet
from tests.sources import source_of
from tests.tables import each_row

FLEET = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nmetadata:\n  name: eu\n"


class Case(NamedTuple):
    why: str
    paths: tuple[str, ...]
    folder: str
    want: tuple[str, str]


CASES = [
    Case("without any, the whole repository is, from any folder of it", ("apps/a.yaml",), "apps", ("", "")),
    Case("without any, the whole repository is", ("apps/a.yaml",), "", ("", "")),
    Case("the one in the folder", ("argosy.yaml", "eu/argosy.yaml"), "eu", ("eu", "eu/argosy.yaml")),
    Case("the nearest above", ("argosy.yaml", "eu/argosy.yaml"), "eu/apps/web", ("eu", "eu/argosy.yaml")),
    Case("the one at the root, from anywhere", ("argosy.yaml",), "apps/web", ("", "argosy.yaml")),
    Case(
        "the only one below", ("deploy/fleet/argosy.yaml", "x.yaml"), "", ("deploy/fleet", "deploy/fleet/argosy.yaml")
    ),
    Case("the only one below the folder", ("a/eu/argosy.yaml", "b/us/argosy.yaml"), "b", ("b/us", "b/us/argosy.yaml")),
    Case("a name that only ends alike is none", ("eu/no-argosy.yaml",), "", ("", "")),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_which_fleet(case: Case) -> None:
    source = source_of(dict.fromkeys(case.paths, FLEET))
    home = load_fleet(source.files, folder=case.folder, read=source.read)
    assert (home.folder, home.path, home.problems) == (*case.want, ())
    assert home.fleet.name == ("eu" if home.path else "default")


class Named(NamedTuple):
    """A name of a fleet, and what is said of it."""

    why: str
    name: str
    said: tuple[str, ...] = ()


LONGEST = "x" * 108
NAMES = [
    Named("an ordinary one", "eu.prod-1"),
    Named("the longest that a field manager may have in it", LONGEST),
    Named("a longer one", f"{LONGEST}y", (f"'{'x' * 40}...' is longer than 108 characters",)),
    Named("what Git refuses", "eu.lock", ("'eu.lock' is no such name: Git has no branches that end with '.lock'",)),
    Named("a word in it", "lock.eu"),
]


@each_row("case", NAMES, ids=lambda case: case.why)
def test_a_name_makes_a_field_manager_and_branches(case: Named) -> None:
    """Once these were found out by the servers, object by object, and by Git."""
    source = source_of({"argosy.yaml": FLEET.replace("name: eu", f"name: {case.name}")})
    home = load_fleet(source.files, folder="", read=source.read)
    assert tuple(problem.message for problem in home.problems) == case.said


def test_what_is_ignored_comes_from_both_files_the_settings_last() -> None:
    spec = "spec:\n  source:\n    ignore: ['!keep.yaml']\n"
    source = source_of({"f/argosy.yaml": FLEET + spec, "f/.argosyignore": "*.yaml\n# all\n", ".argosyignore": "x"})
    assert load_fleet(source.files, folder="f", read=source.read).ignore == ("*.yaml", "# all", "!keep.yaml")


def test_other_documents_may_stand_beside_the_fleet() -> None:
    source = source_of({"argosy.yaml": f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: eu\n---\n{FLEET}"})
    assert load_fleet(source.files, folder="", read=source.read).fleet.name == "eu"
