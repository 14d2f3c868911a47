"""Nothing vanishes unsaid: what is broken and what is not read any more, compared with the commit rendered before."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.guards import continuity

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .stories import settings, told

MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
FIRST = {
    "cluster.yaml": a_cluster("member1"),
    "policy.yaml": a_policy("all", selectors=[MAPS], placement=on_clusters("member1")),
    "apps/one.yaml": a_config_map("one", at="apps"),
    "apps/two.yaml": a_config_map("two", at="apps"),
}
STRAY = b"apiVersion: v1\nkind: [\n"
STRAY_SAID = "stray.yaml:3: left out: no value where one must stand\n  hint: check brackets, quotes and indentation\n"


def rendered(path: Path, capsys: pytest.CaptureFixture[str], **beside: bytes) -> Repository:
    """A repository whose objects are rendered, beside files of these names that cannot be read."""
    repository = Repository.create(path)
    repository.commit({**FIRST, **{f"{name}.yaml": content for name, content in beside.items()}})
    ended = told(argosy(repository, capsys, "reconcile", "--bootstrap"), repository)
    assert (ended.code, ended.err) == ((1, f"warning: {STRAY_SAID}") if beside else (0, ""))
    return repository


def test_a_file_that_was_as_broken_before_stops_no_pass_and_the_answer_is_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody meant objects to be in it, and a server would refuse it: whoever looks at the answer learns of it."""
    repository = rendered(tmp_path / "fleet", capsys, stray=STRAY)
    repository.commit({"apps/three.yaml": a_config_map("three")})
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (1, f"warning: {STRAY_SAID}")
    assert repository.files("argosy/rendered", "clusters/member1/default/ConfigMap/three.yaml")
    assert argosy(repository, capsys, "validate").code == 3
    repository.commit({"argosy.yaml": settings(source={"ignore": ["/stray.yaml"]})})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert argosy(repository, capsys, "validate").code == 0


def test_a_file_that_is_newly_broken_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = rendered(tmp_path / "fleet", capsys, stray=STRAY)
    repository.commit({"stray.yaml": STRAY.replace(b"v1", b"v2")})
    problem = STRAY_SAID.replace("left out: ", "")
    for command in ("reconcile", "render", "reconcile --dry-run"):
        ended = argosy(repository, capsys, *command.split())
        assert ended == (3, "", f"{problem}1 problem; nothing was changed\n")
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith(problem)) == (3, True)


def test_a_strict_source_has_no_broken_file_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FIRST, "stray.yaml": STRAY, "argosy.yaml": settings(source={"strict": True})})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    problem = STRAY_SAID.replace("left out: ", "")
    assert ended == (3, "", f"{problem}1 problem; nothing was changed\n")


def test_a_broken_policy_is_a_problem_at_a_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FIRST, "policy.yaml": b"apiVersion: policy.karmada.io/v1alpha1\nkind: [\n"})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 3


def test_objects_in_two_folders_stop_nothing_at_a_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of equal definitions the first is used; of others none, as nothing says which is meant."""
    repository = Repository.create(tmp_path / "fleet")
    again = {"staging/one.yaml": a_config_map("one", at="staging"), "staging/two.yaml": a_config_map("two", at="apps")}
    repository.commit({**FIRST, **again})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    said = (
        "warning: staging/one.yaml:1: left out: ConfigMap default/one is defined otherwise at apps/one.yaml:1, and none"
        " of these is used\n"
        "  hint: keep one, or leave out a folder in argosy.yaml:\n"
        "    spec:\n      source:\n        ignore: [/staging/]\n"
        "warning: ConfigMap default/one: DefinedDifferently: apps/one.yaml:1 and staging/one.yaml:1 define it"
        " differently, and none of these is used\n"
    )
    assert (ended.code, ended.err) == (1, said)
    once_more = argosy(repository, capsys, "reconcile")
    assert (once_more.code, once_more.err) == (1, said)
    assert repository.files("argosy/rendered", "clusters/member1/default") == [
        "clusters/member1/default/ConfigMap/two.yaml"
    ]


def linked(repository: Repository) -> None:
    path = repository.path / "apps/one.yaml"
    path.rename(repository.path / "elsewhere.txt")
    path.symlink_to("../elsewhere.txt")


def a_kustomization(repository: Repository) -> None:
    (repository.path / "apps/kustomization.yaml").write_text("resources: [one.yaml]\n")


def a_chart(repository: Repository) -> None:
    (repository.path / "apps/Chart.yaml").write_text("name: apps\n")


def a_fleet_of_its_own(repository: Repository) -> None:
    for folder in (".", "apps"):
        (repository.path / folder / "argosy.yaml").write_text("apiVersion: argosy.dev/v1alpha1\nkind: Fleet\n")


def a_pointer(repository: Repository) -> None:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    (repository.path / "apps/one.yaml").write_text(text)


def a_template(repository: Repository) -> None:
    (repository.path / "apps/one.yaml").write_text("{{ if x }}\nkind: ConfigMap\n{{ end }}\n")


def overwritten(path: str, text: str) -> Callable[[Repository], None]:
    def change(repository: Repository) -> None:
        (repository.path / path).write_text(text)

    return change


def moved(repository: Repository) -> None:
    (repository.path / ".old").mkdir()
    (repository.path / "apps/one.yaml").rename(repository.path / ".old/one.yaml")


class Unread(NamedTuple):
    why: str
    change: Callable[[Repository], None]
    said: tuple[str, ...]
    left: str = ""


ONE = "ConfigMap default/one came from it"
TWO = "ConfigMap default/two came from it"
NO_MANIFEST = "no document in it has apiVersion and kind"
UNREAD = [
    Unread("a link", linked, (f"apps/one.yaml: not read any more: a symbolic link; links are never followed; {ONE}",)),
    Unread(
        "a folder with a kustomization that does not list it",
        a_kustomization,
        (
            (
                "apps/kustomization.yaml: is new, and for it 1 file is not read any more: in the folder of a"
                " kustomization that does not list it; ConfigMap default/two came from there"
            ),
        ),
        "apps/two.yaml",
    ),
    Unread(
        "a folder with a chart",
        a_chart,
        (
            (
                "apps/Chart.yaml: is new, and for it 2 files are not read any more: apps is a Helm chart that no"
                " HelmChart renders; ConfigMap default/one, ConfigMap default/two came from there"
            ),
        ),
        "apps/one.yaml, apps/two.yaml",
    ),
    Unread(
        "a folder with a fleet of its own",
        a_fleet_of_its_own,
        (
            (
                "apps/argosy.yaml: is new, and for it 2 files are not read any more: apps is another fleet, with an"
                " argosy.yaml of its own; ConfigMap default/one, ConfigMap default/two came from there"
            ),
        ),
        "apps/one.yaml, apps/two.yaml",
    ),
    Unread(
        "a pointer of Git LFS",
        a_pointer,
        (f"apps/one.yaml: not read any more: a Git LFS pointer; only what Git itself holds is read; {ONE}",),
    ),
    Unread(
        "a template",
        a_template,
        (f"apps/one.yaml: not read any more: a template; what stands in {{{{ }}}} is not filled in; {ONE}",),
    ),
    *(
        Unread(why, overwritten(path, text), (f"{path}: not read any more: {NO_MANIFEST}; {name} came from it",))
        for why, path, text, name in (
            ("text that is no YAML", "apps/one.yaml", "a: [\n", "ConfigMap default/one"),
            ("other YAML", "apps/one.yaml", "color: red\n", "ConfigMap default/one"),
            ("a policy", "policy.yaml", "a: [\n", "PropagationPolicy default/all"),
            ("a cluster", "cluster.yaml", "member1\n", "Cluster member1"),
        )
    ),
    Unread(
        "a file moved behind a dot",
        moved,
        (f"apps/one.yaml: not read any more: .old is below a folder whose name begins with a dot; {ONE}",),
    ),
]
NEW_HINT = "  hint: take it away again; if these objects are to go, remove {} as well\n"
HINT = "  hint: make it readable again; if its objects are to go, remove the file, or name it under source.ignore\n"


@pytest.mark.parametrize("case", UNREAD, ids=lambda case: case.why)
def test_what_is_not_read_any_more_is_a_problem(
    case: Unread, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = rendered(tmp_path / "fleet", capsys)
    case.change(repository)
    repository.commit({})
    hint = (
        f"  hint: take it away again; if these objects are to go, remove {case.left} as well\n" if case.left else HINT
    )
    problems = "".join(f"{line}\n{hint}" for line in case.said)
    count = "1 problem" if len(case.said) == 1 else f"{len(case.said)} problems"
    assert argosy(repository, capsys, "reconcile") == (3, "", f"{problems}{count}; nothing was changed\n")
    ended = argosy(repository, capsys, "diff", "main~1", "main")
    assert (ended.code, ended.err.startswith(problems)) == (3, True)
    assert argosy(repository, capsys, "validate").code == 3


def test_a_file_that_is_emptied_says_that_it_is_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = rendered(tmp_path / "fleet", capsys)
    overwritten("apps/one.yaml", "# moved to another fleet\n---\n{}\n")(repository)
    repository.commit({})
    assert argosy(repository, capsys, "reconcile").code == 0
    assert repository.files("argosy/rendered", "clusters/member1/default") == [
        "clusters/member1/default/ConfigMap/two.yaml"
    ]


class Copied(NamedTuple):
    why: str
    path: str


COPIED = [
    Copied("written by render --output-dir", "out/clusters/member1/default/ConfigMap/one.yaml"),
    Copied("behind a dot", ".old/one.yaml"),
]


@pytest.mark.parametrize("case", COPIED, ids=lambda case: case.why)
def test_a_file_that_is_removed_has_not_moved_to_where_a_copy_stood_before(
    case: Copied, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever had a copy of a file could not remove it, and the hint was to remove it."""
    repository = rendered(tmp_path / "fleet", capsys)
    if case.path.startswith("out/"):
        assert argosy(repository, capsys, "render", "--output-dir", str(repository.path / "out")).code == 0
        repository.commit({"apps/one.yaml": (repository.path / case.path).read_bytes()})
    else:
        repository.commit({case.path: (repository.path / "apps/one.yaml").read_bytes(), "apps/two.yaml": None})
    assert argosy(repository, capsys, "reconcile").code == 0
    repository.commit({"apps/one.yaml": None})
    ended = argosy(repository, capsys, "reconcile", "--allow-removal", "member1=2")
    assert (ended.code, "apps/one.yaml" in ended.err) == (0, False)


def test_text_that_changes_does_not_read_the_source_before_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = rendered(tmp_path / "fleet", capsys)
    repository.commit({"values.yaml": b"size: 1\n", "apps/one.yaml": a_config_map("one", at="else")})
    assert argosy(repository, capsys, "reconcile").code == 0
    repository.commit({"values.yaml": b"size: 2\n"})
    monkeypatch.setattr(continuity, "read_source", None)
    assert argosy(repository, capsys, "reconcile").code == 0


def test_an_ignore_that_is_written_says_that_it_is_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The difference and the guard name the cause all the same."""
    repository = rendered(tmp_path / "fleet", capsys)
    repository.commit({"argosy.yaml": settings(source={"ignore": ["/apps/"]})})
    causes = [
        f"apps/{name}.yaml: not read any more: apps is ignored; ConfigMap default/{name} came from it"
        for name in ("one", "two")
    ]
    ended = argosy(repository, capsys, "diff", "main~1", "main")
    assert (ended.code, [line for line in ended.err.splitlines() if "apps/" in line]) == (
        1,
        [f"warning: {cause}" for cause in causes],
    )
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, [line for line in ended.err.splitlines() if "apps/" in line]) == (
        6,
        [f"  {cause}" for cause in causes],
    )
    assert argosy(repository, capsys, "reconcile", "--allow-removal", "member1=2").code == 0
