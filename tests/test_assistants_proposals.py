"""A proposal of an assistant is one commit and one new branch, and nothing else, whatever it is asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.edit.proposing import SourceProposal, made_proposal, planned_proposal
from reconciler.repository import open_repository
from render.errors import ReconcileError
from tests.assistants import Reply, a_fleet, a_server, everything_below, texts_of
from tests.build import Repository, a_config_map, argosy, as_bytes

BLUE = as_bytes(a_config_map("settings", colour="blue")).decode()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet with a link, a program, a pipeline and branches at a remote; nothing in these tests changes it."""
    repository = a_fleet(tmp_path_factory.mktemp("proposed") / "fleet")
    repository.write({"run.sh": "#!/bin/sh\n", ".github/workflows/check.yaml": "on: push\n"})
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link.yaml").symlink_to("web.yaml")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "More")
    repository.git("branch", "there")
    repository.git("remote", "add", "origin", "git@github.com:team/fleet.git")
    repository.git("update-ref", "refs/remotes/origin/pushed", "HEAD")
    return repository


def proposed(
    branch: str = "more", message: str = "Blue\n\nIt is calmer.", base: str = "", **files: Any
) -> SourceProposal:
    contents: Mapping[str, Any] = files or {"settings.yaml": BLUE}
    made = {path: None if content is None else content.encode() for path, content in contents.items()}
    return SourceProposal(branch=branch, message=message, contents=made, base=base)


class Refused(NamedTuple):
    why: str
    proposal: SourceProposal
    want: str


def at(path: str, content: str | None = BLUE) -> SourceProposal:
    return SourceProposal(branch="more", message="Blue", contents={path: None if content is None else content.encode()})


OUTSIDE = "is outside of what a proposal may change"
FILES = "it is for files below the root of the repository, in no folder and of no name that begins with a dot"
REFUSED = [
    *(
        Refused(f"the path {path}", at(path), f"{path!r} {OUTSIDE}\n  hint: {FILES}")
        for path in (
            "/etc/x.yaml",
            "../x.yaml",
            "a/../../x.yaml",
            "./x.yaml",
            "a//x.yaml",
            "a/",
            ".git/config",
            ".GIT/hooks/pre-commit",
            "a/.git/config",
            "git~1/config",
            ".gitattributes",
            ".github/workflows/check.yaml",
            ".argosyignore",
        )
    ),
    *(Refused(f"the path {path!r}", at(path), f"{path!r} is no path of a file") for path in ("", "a\\b", "a\x01")),
    Refused("a file above a file", at("web.yaml/x.yaml"), "'web.yaml/x.yaml': 'web.yaml' is no folder"),
    Refused("a link above a file", at("link.yaml/x.yaml"), "'link.yaml/x.yaml': 'link.yaml' is no folder"),
    Refused("a folder", at("clusters"), "'clusters' is a folder\n  hint: name each file"),
    Refused("a link", at("link.yaml"), "'link.yaml' is a symbolic link or a submodule"),
    Refused("a file that is not there", at("no.yaml", None), "'no.yaml' is to be removed, and there is no such file"),
    Refused(
        "two paths of which one is in the other",
        SourceProposal(branch="more", message="x", contents={"a": b"x", "a/b": b"x"}),
        "'a/b': 'a' is no folder",
    ),
    Refused(
        "no file",
        SourceProposal(branch="more", message="x", contents={}),
        "no file is changed\n  hint: name a file with its whole content, or one to remove",
    ),
    Refused(
        "what is so already",
        at("settings.yaml", as_bytes(a_config_map("settings", colour="red")).decode()),
        "the proposal changes nothing: the files are so already",
    ),
    Refused(
        "a new problem",
        at("settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [s3cret]}\n"),
        "settings.yaml:3: metadata.name: must be a string, not a list\n  hint: put it in quotes\n"
        "1 problem; nothing was changed",
    ),
    *(
        Refused(
            f"the branch {branch!r}",
            proposed(branch),
            f"{branch!r} is no name for a branch\n  hint: write one such as 'more-web'",
        )
        for branch in ("", "-d", "--force", "a b", "a..b", "a.lock", "a/", "/a", "a//b", "@{-1}", "+more", "a:b", "é")
    ),
    *(
        Refused(
            f"the branch {branch}",
            proposed(branch),
            f"{branch!r} is a branch that the fleet is rendered from or that Argosy writes",
        )
        for branch in ("argosy/rendered", "argosy/status", "argosy/x", "argosy-eu/rendered", "refs/heads/x", "HEAD")
    ),
    *(
        Refused(
            f"the branch {branch}",
            proposed(branch),
            f"branch {branch!r} is there already, and is not moved\n  hint: choose another name",
        )
        for branch in ("main", "there")
    ),
    Refused(
        "a branch of the remote",
        proposed("pushed"),
        "branch 'pushed' is at a remote already: refs/remotes/origin/pushed\n  hint: choose another name",
    ),
    Refused(
        "no message",
        proposed(message=" \n"),
        "the message is empty\n  hint: say in its first line what the change is, and below it why",
    ),
    *(
        Refused(
            f"an allowance: {line}",
            proposed(message=f"Blue\n\n{line}\n\nMore"),
            f"the message has the trailer {line.strip().partition(':')[0]}, by which a person allows something\n"
            "  hint: leave it out; whoever merges the branch can add it",
        )
        for line in ("Argosy-Allow-Removal: * 99", " argosy-allow-fragile: *")
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_what_is_no_change_of_the_source_is_refused_and_nothing_is_written(case: Refused, fleet: Repository) -> None:
    before = everything_below(fleet.path)
    with open_repository(fleet.path) as repository, pytest.raises(ReconcileError) as refused:
        planned_proposal(repository, case.proposal)
    assert str(refused.value) == case.want
    assert without_caches(everything_below(fleet.path)) == without_caches(before)


def without_caches(found: Mapping[str, str]) -> dict[str, str]:
    """Everything but what Argosy keeps for itself beside a repository, in a process that may."""
    return {path: what for path, what in found.items() if "/.git/argosy" not in path and not path.endswith("/.git")}


def test_a_proposal_is_one_commit_on_its_base_with_these_files_alone(tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path / "fleet")
    fleet.write({"apps/run.sh": "#!/bin/sh\n"})
    (fleet.path / "apps/run.sh").chmod(0o755)
    fleet.git("add", "-A")
    fleet.git("commit", "-q", "-m", "More")
    head = fleet.git("rev-parse", "HEAD")
    contents = {
        "settings.yaml": BLUE.encode(),
        "apps/run.sh": b"#!/bin/sh\ntrue\n",
        "web.yaml": None,
        "a/b/c.yaml": b"",
    }
    proposal = SourceProposal(branch="team/blue", message="Blue\n\nCalmer.", contents=contents)
    with open_repository(fleet.path) as repository:
        made = made_proposal(repository, planned_proposal(repository, proposal))
    assert fleet.git("rev-parse", "team/blue") == made.commit
    assert fleet.git("show", "-s", "--format=%P|%B", made.commit) == f"{head}|Blue\n\nCalmer."
    assert fleet.git("diff", "--name-only", head, "team/blue").splitlines() == sorted(contents)
    assert fleet.git("diff", "--summary", head, "team/blue").splitlines() == [
        "create mode 100644 a/b/c.yaml",
        " delete mode 100644 web.yaml",
    ]
    assert fleet.git("ls-tree", "team/blue", "apps/run.sh").startswith("100755")
    assert (made.written, made.removed) == (("a/b/c.yaml", "apps/run.sh", "settings.yaml"), ("web.yaml",))
    assert fleet.git("fsck", "--strict") == ""


class Place(NamedTuple):
    why: str
    address: str
    want: list[str]


PUSH = "git push --set-upstream origin blue"
PLACES = [
    Place("no remote", "", ["git switch main && git merge blue"]),
    Place("GitHub", "git@github.com:team/fleet.git", [PUSH, "gh pr create --base main --head blue --fill"]),
    Place(
        "GitLab",
        "https://gitlab.com/team/fleet.git",
        [PUSH, "glab mr create --target-branch main --source-branch blue --fill"],
    ),
    Place("Forgejo", "https://codeberg.org/team/fleet", [PUSH, "tea pulls create --base main --head blue"]),
    Place("a forge that nobody knows", "ssh://git@git.example.com/fleet", [PUSH]),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.why)
def test_the_way_on_is_that_of_the_forge(place: Place, tmp_path: Path) -> None:
    fleet = a_fleet(tmp_path / "fleet")
    if place.address:
        fleet.git("remote", "add", "origin", place.address)
    with open_repository(fleet.path) as repository:
        made = made_proposal(repository, planned_proposal(repository, proposed("blue")))
    assert list(made.go_on) == place.want


def files_alone(found: Mapping[str, str]) -> dict[str, str]:
    return {path: what for path, what in found.items() if Path(path).is_file()}


def test_propose_writes_objects_and_one_branch_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the work tree nor any other branch, nor configuration, hooks or the home folder: by bytes and times."""
    fleet, home = a_fleet(tmp_path / "fleet"), tmp_path / "home"
    home.mkdir()
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.write({"settings.yaml": "not committed\n"})
    before = files_alone(everything_below(fleet.path, home))
    refs = fleet.git("for-each-ref", "--format=%(refname) %(objectname)")
    with a_server(fleet, home=home) as client:
        files = [{"path": "settings.yaml", "content": BLUE}]
        made = client.call("propose", branch="blue", message="Blue", files=files)
        again = client.call("propose", branch="blue", message="Blue", files=files)
        compared = client.call("diff", base="main", head="blue")
    after = files_alone(everything_below(fleet.path, home))
    commit = fleet.git("rev-parse", "blue")
    assert not made["isError"]
    assert texts_of(made) == [
        (
            f"branch: blue\ncommit: {commit}\nbase: {fleet.git('rev-parse', 'main')}\nwrote: settings.yaml\n"
            f"what it does:\n  git show {commit[:12]}\n  argosy diff {fleet.git('rev-parse', 'main')[:12]} blue\n"
            "nothing was pushed; a person goes on with:\n  git switch main && git merge blue"
        )
    ]
    assert made["structuredContent"]["commit"] == commit
    assert again["isError"]
    assert texts_of(again) == [
        "no branch was made",
        "branch 'blue' is there already, and is not moved\n  hint: choose another name",
    ]
    assert "colour" in texts_of(compared)[1]
    new = {path for path in after if before.get(path) != after[path]}
    git = fleet.path / ".git"
    assert {str(Path(path).relative_to(git).parent) for path in new} <= {
        "objects/pack",
        "refs/heads",
        "logs/refs/heads",
    }
    assert {path for path in new if path in before} == set()
    assert before.keys() <= after.keys()
    left = fleet.git("for-each-ref", "--format=%(refname) %(objectname)").replace(f"refs/heads/blue {commit}\n", "")
    assert left == refs


HOSTILE_PROPOSALS: tuple[dict[str, Any], ...] = (
    {"branch": "--force"},
    {"branch": "x\0"},
    {"branch": 7},
    {"branch": "x" * 2000},
    {"message": "half \ud800"},
    {"message": ["x"]},
    {"files": "web.yaml"},
    {"files": [{"path": "--output=/etc/x", "content": "x"}]},
    {"files": [{"path": "a", "content": "x" * 2_000_000}]},
    {"files": [{"path": "a", "content": "x", "mode": "120000"}]},
    {"files": [{"path": "a", "content": "x", "remove": True}]},
    {"files": [{"path": "a"}]},
    {"files": [{"path": "a", "content": "x"}] * 2},
    {"files": [{"path": f"a{number}", "content": "x"} for number in range(300)]},
    {"base": "--upload-pack=touch /tmp/x"},
    {"force": True},
    {"remote": "origin"},
    {"branch": "../../../etc/x"},
    {"files": [{"path": "../../etc/x.yaml", "content": "x"}]},
    {"files": [{"path": ".git/hooks/pre-commit", "content": "x"}]},
    {"base": "nowhere"},
    {"base": "ext::sh -c touch% pwned"},
)


def test_hostile_proposals_make_nothing(tmp_path: Path) -> None:
    fleet, home = a_fleet(tmp_path / "fleet"), tmp_path / "home"
    home.mkdir()
    before = everything_below(fleet.path, home)
    good = {"branch": "blue", "message": "Blue", "files": [{"path": "settings.yaml", "content": BLUE}]}
    with a_server(fleet, home=home) as client:
        begun = [client.begin("tools/call", name="propose", arguments=good | each) for each in HOSTILE_PROPOSALS]
        replies: list[Reply] = [client.answer(each) for each in begun]
    assert [reply["result"]["isError"] for reply in replies] == [True] * len(HOSTILE_PROPOSALS)
    assert all("a bug" not in "".join(texts_of(reply["result"])) for reply in replies)
    assert everything_below(fleet.path, home) == before
