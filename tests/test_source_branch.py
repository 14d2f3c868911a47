"""A fleet is rendered from one branch: what is not in its history at the remote is refused, and previews take it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, copied

REFUSED = "argosy: source {} is not on branch 'main' at 'origin', which this fleet is rendered from\n"
SETTING = "argosy.yaml names another one for good: spec.source.branch\n"
SWITCH = (
    "  hint: merge it there first (argosy diff shows what it would change), or render that branch: git switch main; "
    + SETTING
)
BY_REVISION = SWITCH.replace("git switch main", "--rev origin/main")
UNPUSHED = "  hint: it is not pushed yet: git push origin main\n"

Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Repository]:
    """A bare repository with a fleet on its branch main that was rendered once, and the clone it was rendered in."""
    folder = tmp_path_factory.mktemp("hub")
    work = Repository.create(folder / "work")
    work.write({"clusters/member1.yaml": a_cluster("member1")})
    work.commit({"nginx.yaml": [a_deployment(replicas=2), a_policy()]}, "the fleet")
    bare = Repository.create(folder / "origin.git", bare=True)
    work.git("remote", "add", "origin", f"file://{bare.path}")
    work.git("push", "-q", "-u", "origin", "main")
    return bare, work


@pytest.fixture
def pair(hub: tuple[Repository, Repository], tmp_path: Path) -> tuple[Repository, Repository]:
    origin, work = copied(tmp_path, *hub)
    return origin, work


@pytest.fixture
def origin(pair: tuple[Repository, Repository]) -> Repository:
    return pair[0]


@pytest.fixture
def clone(pair: tuple[Repository, Repository], run: Run) -> Repository:
    """A clone in which the first pass stood on the branch main."""
    assert run(pair[1], "reconcile", "--bootstrap").code == 0
    return pair[1]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return lambda repository, *words: argosy(repository, capsys, *words)


def changed(repository: Repository, image: str = "nginx:2", **settings: str) -> str:
    """Commit another image, with settings of the source; return the first digits of the commit."""
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    files = {"argosy.yaml": {**fleet, "spec": {"source": settings}}} if settings else {}
    return repository.commit({"nginx.yaml": [a_deployment(replicas=2, image=image), a_policy()], **files})[:12]


def branch_of(repository: Repository, ref: str = "origin/argosy/rendered") -> str:
    """Return the branch that the newest rendered commit remembers."""
    return repository.git("log", "-1", "--format=%(trailers:key=Argosy-Branch,valueonly,separator=%x2C)", ref)


def test_the_first_pass_remembers_its_branch_and_later_ones_do_as_well(clone: Repository, run: Run) -> None:
    assert branch_of(clone) == "main"
    changed(clone)
    clone.git("push", "-q")
    assert run(clone, "reconcile").code == 0
    assert branch_of(clone) == "main"


def test_a_first_pass_beside_the_default_branch_says_so_and_what_leads_back(
    pair: tuple[Repository, Repository], run: Run
) -> None:
    _, work = pair
    said = "warning: source commits have to be of branch 'feature' from now on, which is not the default one"
    work.git("remote", "set-head", "origin", "main")
    work.git("switch", "-q", "-c", "feature")
    changed(work)
    work.git("push", "-q", "-u", "origin", "feature")
    ended = run(work, "reconcile", "--bootstrap")
    assert (ended.code, said in ended.err) == (0, True)
    assert "spec.source.branch: main there, and run argosy reconcile --accept-settings --accept-rewind\n" in ended.err
    assert "warning" not in run(work, "reconcile").err
    work.git("switch", "-q", "main")
    changed(work, "nginx:3", branch="main")
    work.git("push", "-q")
    back = run(work, "reconcile", "--accept-settings", "--accept-rewind")
    assert (back.code, branch_of(work)) == (0, "main"), back.err


@pytest.mark.parametrize("named", ["", "main"])
def test_a_first_pass_of_the_default_branch_has_nothing_to_warn_of(
    named: str, pair: tuple[Repository, Repository], run: Run
) -> None:
    _, work = pair
    work.git("push", "-q", "origin", "main:feature")
    work.git("remote", "set-head", "origin", "feature" if named else "main")
    if named:
        changed(work, branch=named)
        work.git("push", "-q")
    assert run(work, "reconcile", "--bootstrap").err == ""


def test_a_feature_branch_is_refused_pushed_or_not_and_previews_take_it(clone: Repository, run: Run) -> None:
    before = clone.git("rev-parse", "origin/argosy/rendered")
    clone.git("switch", "-q", "-c", "feature")
    commit = changed(clone)
    for _ in range(2):
        for words in ((), ("--dry-run",), ("--bootstrap",), ("--accept-rewind",)):
            assert run(clone, "reconcile", *words) == (6, "", REFUSED.format(commit) + SWITCH), words
        assert "push" not in SWITCH
        for command in ("render", "diff", "validate", "status"):
            assert run(clone, command).code == 0, command
        assert run(clone, "render", "--commit").code == 6
        clone.git("push", "-q", "origin", "feature")
    assert clone.git("ls-remote", "origin", "argosy/rendered").split()[0] == before
    clone.git("switch", "-q", "main")
    assert run(clone, "reconcile").code == 0


def test_a_feature_branch_is_rendered_once_it_is_merged(clone: Repository, run: Run) -> None:
    clone.git("switch", "-q", "-c", "feature")
    changed(clone)
    clone.git("push", "-q", "origin", "feature", "feature:main")
    assert run(clone, "reconcile").code == 0
    assert branch_of(clone) == "main"


def test_a_feature_branch_that_main_has_left_behind_is_no_rewind(clone: Repository, run: Run) -> None:
    clone.git("push", "-q", "origin", "main:feature")
    changed(clone)
    clone.git("push", "-q")
    assert run(clone, "reconcile").code == 0
    clone.git("switch", "-q", "-c", "feature", "HEAD~1")
    ended = run(clone, "reconcile")
    assert (ended.code, ended.err.splitlines()[-1]) == (6, "  hint: git switch main: passes render that branch")


def test_a_detached_checkout_passes_with_a_commit_of_the_branch_alone(clone: Repository, run: Run) -> None:
    clone.git("switch", "-q", "--detach")
    commit = changed(clone)
    assert run(clone, "reconcile") == (6, "", REFUSED.format(commit) + BY_REVISION)
    clone.git("push", "-q", "origin", "HEAD:main")
    assert run(clone, "reconcile").code == 0
    assert branch_of(clone) == "main"


def test_a_commit_of_the_branch_that_is_not_pushed_is_refused(clone: Repository, run: Run) -> None:
    commit = changed(clone)
    refused = (6, "", REFUSED.format(commit) + UNPUSHED)
    assert run(clone, "reconcile", "--rev", "main") == refused
    assert run(clone, "reconcile", "--rev", commit) == refused
    clone.git("switch", "-q", "--detach")
    assert run(clone, "reconcile") == refused
    clone.git("push", "-q", "origin", "main")
    assert run(clone, "reconcile", "--rev", commit).code == 0


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("-o", "json"), ("--accept-rewind",)])
def test_a_pass_on_the_branch_says_that_its_newest_commit_is_not_pushed(
    words: tuple[str, ...], clone: Repository, run: Run
) -> None:
    """The pass renders what is pushed: it was "unchanged", and nothing said why the commit had no effect."""
    pushed = clone.git("rev-parse", "HEAD")[:12]
    commit = changed(clone)
    said = (
        f"warning: HEAD {commit} is not pushed, and so not looked at: source {pushed} of 'origin' is rendered\n"
        "  hint: git push origin main\n"
    )
    for _ in range(2):  # with a checkpoint as well
        ended = run(clone, "reconcile", *words)
        assert (ended.code, ended.err) == (0, said)
    clone.git("push", "-q", "origin", "main")
    assert run(clone, "reconcile", *words)[::2] == (0, "")


def test_a_pass_renders_what_others_pushed_and_says_that_head_has_diverged(
    clone: Repository, origin: Repository, run: Run
) -> None:
    author = Repository(clone.path.with_name("author"))
    clone.git("clone", "-q", f"file://{origin.path}", str(author.path))
    author.git("config", "user.name", "author")
    author.git("config", "user.email", "author@example.com")
    pushed = changed(author, "nginx:3")
    author.git("push", "-q", "origin", "HEAD:main")
    commit = changed(clone)
    said = (
        f"warning: HEAD {commit} is not looked at: source {pushed} of 'origin' is rendered, and the two have diverged\n"
        f"  hint: git log --oneline --left-right HEAD...{pushed} shows what each has\n"
    )
    for out in ("committed", "unchanged:"):
        ended = run(clone, "reconcile")
        assert (ended.code, ended.out.split()[0], ended.err) == (0, out, said)


def test_a_clone_that_is_behind_has_nothing_to_push(clone: Repository, run: Run) -> None:
    changed(clone)
    clone.git("push", "-q", "origin", "main")
    clone.git("reset", "-q", "--hard", "HEAD~1")
    for _ in range(2):
        assert run(clone, "reconcile")[::2] == (0, "")


def test_a_broken_source_is_refused_and_the_mend_that_is_not_pushed_is_named(clone: Repository, run: Run) -> None:
    clone.commit({"nginx.yaml": "a: [", "policy.yaml": [a_policy()]})
    clone.git("push", "-q", "origin", "main")
    commit = changed(clone)
    ended = run(clone, "reconcile")
    assert (ended.code, f"warning: HEAD {commit} is not pushed, " in ended.err) == (3, True), ended.err


def test_a_feature_branch_with_more_than_is_pushed_is_not_to_be_pushed(clone: Repository, run: Run) -> None:
    clone.git("switch", "-q", "-c", "feature")
    commit = changed(clone)
    clone.git("push", "-q", "origin", "feature")
    changed(clone, "nginx:3")
    assert run(clone, "reconcile") == (6, "", REFUSED.format(commit) + SWITCH)


def test_what_is_not_committed_is_told_where_a_remote_has_the_source(clone: Repository, run: Run) -> None:
    clone.write({"nginx.yaml": a_deployment(replicas=9)})
    said = "warning: not committed, and so not looked at: nginx.yaml\n  hint: commit and push them first\n"
    for _ in range(2):
        assert run(clone, "reconcile")[::2] == (0, said)
    clone.git("checkout", "-q", "--", ".")
    assert run(clone, "reconcile")[::2] == (0, "")


@pytest.mark.parametrize("kind", ["main", "feature"])
def test_a_shallow_detached_clone_fetches_the_history_it_asks_about(
    kind: str, clone: Repository, origin: Repository, run: Run
) -> None:
    if kind == "feature":
        clone.git("switch", "-q", "-c", "feature")
    for number in range(3):
        changed(clone, f"nginx:{number}")
    clone.git("push", "-q", "origin", kind)
    path = clone.path.with_name("shallow")
    Repository(clone.path.parent).git("clone", "-q", "--depth=1", "-b", kind, f"file://{origin.path}", str(path))
    shallow = Repository(path)
    shallow.git("switch", "-q", "--detach")
    shallow.git("branch", "-q", "-D", kind)
    ended = run(shallow, "reconcile")
    assert ended.code == (0 if kind == "main" else 6), ended.err
    assert kind == "main" or "is not on branch 'main'" in ended.err


def test_the_setting_goes_before_where_a_pass_stands(pair: tuple[Repository, Repository], run: Run) -> None:
    _, work = pair
    work.git("switch", "-q", "-c", "feature")
    commit = changed(work, branch="main")
    assert run(work, "reconcile", "--bootstrap") == (6, "", REFUSED.format(commit) + SWITCH)
    work.git("push", "-q", "origin", "feature:main")
    assert run(work, "reconcile", "--bootstrap").code == 0
    assert branch_of(work) == "main"


def test_a_branch_of_another_name_waits_until_a_person_accepts_it(
    clone: Repository, origin: Repository, run: Run
) -> None:
    clone.git("branch", "-q", "-m", "main", "trunk")
    clone.git("push", "-q", "origin", "trunk")
    origin.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    clone.git("push", "-q", "origin", ":main")
    ended = run(clone, "reconcile")
    assert (ended.code, "which 'origin' does not have" in ended.err, "spec.source.branch" in ended.err) == (
        6,
        True,
        True,
    )
    changed(clone, branch="trunk")
    clone.git("push", "-q", "origin", "trunk")
    waiting = run(clone, "reconcile")
    assert (waiting.code, "spec.source.branch: main -> trunk" in waiting.err) == (6, True)
    assert run(clone, "reconcile", "--accept-settings").code == 0
    assert branch_of(clone) == "trunk"
    changed(clone, "nginx:4")
    clone.git("push", "-q", "origin", "trunk")
    assert run(clone, "reconcile").code == 0


def test_a_setting_that_is_taken_away_is_remembered(clone: Repository, run: Run) -> None:
    """Naming the branch that is remembered, or no longer naming it, is no change that anybody has to accept."""
    changed(clone, branch="main")
    clone.git("push", "-q")
    assert run(clone, "reconcile").code == 0
    clone.git("rm", "-q", "argosy.yaml")
    changed(clone, "nginx:3")
    clone.git("push", "-q")
    assert run(clone, "reconcile").code == 0
    assert branch_of(clone) == "main"


def test_rendered_branches_that_remember_none_go_on_and_begin_to(clone: Repository, run: Run) -> None:
    message = clone.git("log", "-1", "--format=%B", "origin/argosy/rendered")
    old = clone.git("commit-tree", "origin/argosy/rendered^{tree}", "-m", message.replace("\nArgosy-Branch: main", ""))
    clone.git("push", "-q", "-f", "origin", f"{old}:argosy/rendered")
    assert branch_of(clone, old) == ""
    assert run(clone, "reconcile").out.startswith("unchanged")
    changed(clone)
    clone.git("push", "-q")
    assert run(clone, "reconcile").code == 0
    assert branch_of(clone) == "main"


def test_without_a_remote_the_branch_here_decides(pair: tuple[Repository, Repository], run: Run) -> None:
    _, work = pair
    work.git("remote", "remove", "origin")
    assert run(work, "reconcile", "--bootstrap").code == 0
    assert branch_of(work, "argosy/rendered") == "main"
    work.git("switch", "-q", "-c", "feature")
    commit = changed(work)
    refused = (REFUSED.format(commit) + SWITCH).replace(" at 'origin'", "")
    assert run(work, "reconcile") == (6, "", refused)
    assert run(work, "render", "--commit").code == 6
    work.git("branch", "-q", "-f", "main", "feature")
    assert run(work, "reconcile").code == 0
    assert branch_of(work, "argosy/rendered") == "main"


def test_a_first_pass_of_a_branch_that_is_not_pushed_is_told_to_stand_on_the_right_one(
    pair: tuple[Repository, Repository], run: Run
) -> None:
    _, work = pair
    work.git("switch", "-q", "-c", "feature")
    hint = "stand on the branch that the fleet is to be rendered from, or name the source: --rev REVISION"
    refused = (4, "", f"argosy: 'origin' has no branch 'feature'\n  hint: {hint}\n")
    assert run(work, "reconcile", "--bootstrap") == refused


def test_a_clone_that_mirrors_all_refs_publishes_as_any_other(
    clone: Repository, origin: Repository, run: Run, tmp_path: Path
) -> None:
    """``git clone --mirror`` makes every push one of all refs, which git refuses to be one of some."""
    Repository(tmp_path).git("clone", "-q", "--mirror", f"file://{origin.path}", "mirror.git")
    changed(clone)
    clone.git("push", "-q")
    mirror = Repository(tmp_path / "mirror.git")
    mirror.git("fetch", "-q")
    assert run(mirror, "reconcile").code == 0
    assert branch_of(origin, "argosy/rendered") == "main"
    assert origin.git("log", "-1", "--format=%(trailers:key=Argosy-Source,valueonly)", "argosy/rendered").strip() == (
        clone.git("rev-parse", "HEAD")
    )


def test_a_detached_clone_of_several_remotes_asks_which_one_is_meant(
    clone: Repository, origin: Repository, run: Run
) -> None:
    """To begin anew in this repository alone, as --bootstrap would, would be a second fleet."""
    clone.git("remote", "rename", "origin", "upstream")
    clone.git("remote", "add", "fork", f"file://{origin.path}")
    clone.git("switch", "-q", "--detach")
    ended = run(clone, "reconcile")
    assert (ended.code, "nothing says which of the remotes fork, upstream it is at" in ended.err) == (3, True)
    clone.git("switch", "-q", "main")
    assert run(clone, "reconcile").code == 0


def test_a_first_pass_before_anything_is_pushed_says_so(
    hub: tuple[Repository, Repository], tmp_path: Path, run: Run
) -> None:
    origin, work = copied(tmp_path, *hub)
    origin.git("update-ref", "-d", "refs/heads/main")
    work.git("update-ref", "-d", "refs/remotes/origin/main")
    hint = "git push origin main, or name the source: --rev REVISION"
    assert run(work, "reconcile", "--bootstrap") == (4, "", f"argosy: 'origin' has no branch 'main'\n  hint: {hint}\n")


def test_an_address_renders_its_default_branch_if_that_is_the_fleet_s(
    clone: Repository, origin: Repository, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = Repository(Path(f"file://{origin.path}"))
    address.path = f"file://{origin.path}"  # type: ignore[assignment]  # an address instead of a folder
    assert run(address, "reconcile").code == 0
    clone.git("switch", "-q", "-c", "develop")
    changed(clone)
    clone.git("push", "-q", "origin", "develop")
    origin.git("symbolic-ref", "HEAD", "refs/heads/develop")
    ended = run(address, "reconcile")
    assert (ended.code, "hint: --rev main renders that one" in ended.err) == (6, True)
    assert run(address, "reconcile", "--rev", "main").code == 0


def test_status_and_doctor_go_by_the_branch_that_is_rendered(clone: Repository, run: Run) -> None:
    assert "source branch: 'main'\n" in run(clone, "doctor").out
    clone.git("switch", "-q", "-c", "feature")
    commit = changed(clone)
    told = run(clone, "status").out.splitlines()[0]
    assert told.endswith(f"; HEAD {commit} is not on branch 'main', which passes render")
    for _ in range(2):
        said = run(clone, "doctor")
        assert said.code == 1
        assert f"FAIL source branch: source {commit} is not on branch 'main' at 'origin'" in said.out
        assert "git push" not in said.out
        clone.git("push", "-q", "origin", "feature")
