"""The files of a snapshot that are read, and those that are left out."""

from typing import NamedTuple

from reconciler.source.files import MAX_FILE_SIZE, FileSelection, Reason, Skipped, SourceFile, may_be_read, select_files

from .tables import each_row

FILE, LINK, MODULE = 0o100644, 0o120000, 0o160000


class File(NamedTuple):
    path: str
    mode: int = FILE
    id: bytes = b"\0" * 20
    size: int = 100


def select(
    *files: File | str,
    folder: str = "",
    paths: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    is_building: bool = False,
) -> FileSelection:
    return select_files(
        [File(file) if isinstance(file, str) else file for file in files],
        folder=folder,
        paths=paths,
        ignore=ignore,
        is_building=is_building,
    )


class Case(NamedTuple):
    why: str
    files: tuple[str, ...]
    want: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    folder: str = ""
    paths: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


CASES = [
    Case("an empty repository has no files", (), ()),
    Case(
        "three suffixes are read, by path",
        ("b.yml", "c.json", "a.yaml", "README.md", "d.YAML"),
        ("a.yaml", "b.yml", "c.json"),
    ),
    Case("only the fleet's folder counts", ("a.yaml", "eu/a.yaml", "eu-2/a.yaml"), ("eu/a.yaml",), folder="eu"),
    Case(
        "paths narrow to folders and files",
        ("apps/a.yaml", "apps2/a.yaml", "one.yaml", "two.yaml"),
        ("apps/a.yaml", "one.yaml"),
        paths=("apps/", "one.yaml"),
    ),
    Case(
        "paths are relative to the fleet",
        ("x/apps/a.yaml", "apps/b.yaml"),
        ("x/apps/a.yaml",),
        folder="x",
        paths=("apps",),
    ),
    Case(
        "dot-folders are left out, dot-files are not",
        (".github/ci.yaml", "apps/.old/a/b.yaml", "apps/.c.yaml"),
        ("apps/.c.yaml",),
        (Skipped(".github", Reason.DOT_FOLDER), Skipped("apps/.old", Reason.DOT_FOLDER)),
    ),
    Case("a dot-folder above the fleet does not matter", (".x/fleet/a.yaml",), (".x/fleet/a.yaml",), folder=".x/fleet"),
    Case(
        "ignore has gitignore's syntax",
        ("a.tmp.yaml", "docs/a.yaml", "x/docs/a.yaml", "x/b.yaml"),
        ("x/b.yaml", "x/docs/a.yaml"),
        (Skipped("a.tmp.yaml", Reason.IGNORED), Skipped("docs", Reason.IGNORED)),
        ignore=("# drafts", "*.tmp.yaml", "", "/docs/"),
    ),
    Case(
        "a later line takes a file back, but not out of a folder",
        ("gen/a.yaml", "gen/keep.yaml", "x.gen.yaml", "keep.gen.yaml"),
        ("keep.gen.yaml",),
        (Skipped("gen", Reason.IGNORED), Skipped("x.gen.yaml", Reason.IGNORED)),
        ignore=("gen/", "*.gen.yaml", "!keep.gen.yaml", "!gen/keep.yaml"),
    ),
    Case(
        "ignore is relative to the fleet",
        ("eu/docs/a.yaml", "eu/x/docs/b.yaml"),
        ("eu/x/docs/b.yaml",),
        (Skipped("eu/docs", Reason.IGNORED),),
        folder="eu",
        ignore=("/docs",),
    ),
    Case(
        "a chart is left out with all below it",
        ("chart/Chart.yaml", "chart/templates/a.yaml", "chart/values.yaml", "apps/a.yaml"),
        ("apps/a.yaml",),
        (Skipped("chart", Reason.HELM),),
    ),
    Case(
        "kustomizations have three names",
        ("a/kustomization.yaml", "a/x.yaml", "b/kustomization.yml", "c/Kustomization", "c/y.yaml"),
        (),
        (Skipped("a", Reason.KUSTOMIZE), Skipped("b", Reason.KUSTOMIZE), Skipped("c", Reason.KUSTOMIZE)),
    ),
    Case("a folder without manifests is not worth a word", ("a/Kustomization", "a/x.txt", ".git-hooks/run"), ()),
    Case(
        "a kustomization or chart at the root hides nothing below it",
        ("Chart.yaml", "kustomization.yaml", "x.yaml", "y/Chart.yaml"),
        ("Chart.yaml", "kustomization.yaml", "x.yaml"),
        (Skipped("y", Reason.HELM),),
    ),
    Case(
        "nor does one at the root of a fleet further down",
        ("eu/argosy.yaml", "eu/kustomization.yaml", "eu/x.yaml"),
        ("eu/argosy.yaml", "eu/kustomization.yaml", "eu/x.yaml"),
        folder="eu",
    ),
    Case("an ignored chart is ignored", ("x/c/Chart.yaml",), (), (Skipped("x", Reason.IGNORED),), ignore=("x",)),
    Case(
        "a fleet further down is another fleet",
        ("argosy.yaml", "a.yaml", "teams/b/argosy.yaml", "teams/b/apps/x.yaml", "teams/c.yaml"),
        ("a.yaml", "argosy.yaml", "teams/c.yaml"),
        (Skipped("teams/b", Reason.OTHER_FLEET),),
    ),
    Case(
        "the fleet's own file does not exclude it", ("teams/b/argosy.yaml",), ("teams/b/argosy.yaml",), folder="teams/b"
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_select_files(case: Case) -> None:
    selection = select(*case.files, folder=case.folder, paths=case.paths, ignore=case.ignore)
    assert tuple(file.path for file in selection.files) == case.want
    assert selection.skipped == case.skipped
    assert selection.too_big == ()


def test_links_and_submodules_are_never_followed() -> None:
    selection = select(
        File("apps/passwd.yaml", LINK),
        File("apps/shared", LINK),
        File("CLAIMS.md", LINK),
        File("vendor/base", MODULE, b"", 0),
    )
    assert selection.files == ()
    assert selection.skipped == (
        Skipped("apps/passwd.yaml", Reason.SYMLINK),
        Skipped("apps/shared", Reason.SYMLINK),
        Skipped("vendor/base", Reason.SUBMODULE),
    )


def test_a_file_over_the_limit_is_set_apart_unread() -> None:
    fits, big = File("a.yaml", size=MAX_FILE_SIZE), File("b.yaml", size=MAX_FILE_SIZE + 1)
    assert select(fits, big) == FileSelection(files=(fits,), too_big=(big,), skipped=())


def test_an_ignored_file_may_be_of_any_size() -> None:
    assert select(File("b.json", size=10**9), ignore=("*.json",)).too_big == ()


@each_row(
    ("path", "size", "want"),
    [
        ("apps/a.yaml", 10, True),
        ("argosy.yaml", MAX_FILE_SIZE, True),
        ("a/.argosyignore", 10, True),
        ("a.json", MAX_FILE_SIZE + 1, False),
        ("src/main.go", 10, False),
        ("x.argosyignore", 10, False),
    ],
)
def test_only_what_may_be_a_manifest_is_ever_asked_for(path: str, size: int, *, want: bool) -> None:
    assert may_be_read(path, size) is want


def paths_of(files: tuple[SourceFile, ...]) -> tuple[str, ...]:
    return tuple(file.path for file in files)


def test_what_stands_in_the_folder_of_a_kustomization_is_not_read_by_itself() -> None:
    selection = select(
        "a/kustomization.yaml",
        "a/x.yaml",
        "a/deep/y.yaml",
        "b/Kustomization",
        "c/z.yaml",
        "d/kustomization.yml",
        "e/Chart.yaml",
        ignore=("/d/",),
        is_building=True,
    )
    assert paths_of(selection.files) == ("c/z.yaml",)
    assert paths_of(selection.kustomizations) == ("a/kustomization.yaml", "b/Kustomization")
    assert paths_of(selection.beside) == ("a/deep/y.yaml", "a/x.yaml")
    assert selection.skipped == (Skipped("d", Reason.IGNORED), Skipped("e", Reason.HELM))


def test_a_kustomization_at_the_root_of_a_fleet_has_only_what_it_lists() -> None:
    selection = select("eu/kustomization.yaml", "eu/a.yaml", folder="eu", paths=("a.yaml", "./"), is_building=True)
    assert (paths_of(selection.files), paths_of(selection.beside)) == (("eu/a.yaml",), ())
