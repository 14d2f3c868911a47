"""Passes on clones: where the branch lives at a remote, somebody else is faster, or the checkout is shallow."""

import json
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple
from unittest.mock import Mock

import pytest

from reconciler.branches.publication import Publication
from reconciler.repository import open_repository, remotes

from .build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, copied, weighted
from .fakes import FakeCluster
from .prepared import prepared
from .served import serving_members
from .stories import failed, held, settings, tips, told
from .waiting import SECONDS

TWO_TO_ONE = a_policy(placement={"replicaScheduling": weighted(member1=2, member2=1)})
NGINX = "default/Deployment.apps/nginx"
SIX = (f"member1 {NGINX} 4 nginx:1.29", f"member2 {NGINX} 2 nginx:1.29")
COMMITTED = "committed <rendered> to argosy/rendered at origin: source <main> for 2 clusters\n"
HERE = COMMITTED.replace(" at origin", "")
UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
FASTER = "somebody else was faster; rendering again reason="
MOVED = (
    "git push: refs/heads/argosy/rendered: failed to update ref; cannot lock ref 'refs/heads/argosy/rendered':"
    " is at {} but expected {}"
)
NEVER_FETCHED = (
    "argosy: branch 'argosy/rendered' of 'origin' was never fetched here, so the fleet's past is not known\n"
    "  hint: git fetch origin '+refs/heads/argosy/rendered:refs/remotes/origin/argosy/rendered',"
    " or pass --bootstrap if the branch does not exist yet\n"
)
REWOUND = (
    "argosy: source <main> does not follow {}, which the clusters were rendered from\n"
    "  hint: if the branch was rewound on purpose, pass --accept-rewind\n"
)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A bare repository with a fleet of two clusters on its branch main, to be copied."""
    folder = tmp_path_factory.mktemp("hub")
    work = Repository.create(folder / "first")
    work.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)})
    work.commit({"nginx.yaml": [a_deployment(replicas=6), TWO_TO_ONE]}, "the fleet")
    bare = Repository.create(folder / "origin.git", bare=True)
    work.git("push", "-q", str(bare.path), "main")
    return bare


@pytest.fixture
def origin(hub: Repository, tmp_path: Path) -> Repository:
    return copied(tmp_path, hub)[0]


def cloned(origin: Repository, name: str, *options: str) -> Repository:
    path = origin.path.parent / name
    Repository(origin.path.parent).git("clone", "-q", *options, f"file://{origin.path}", str(path))
    return Repository(path)


def test_a_pass_that_reaches_members_asks_the_remote_once(
    origin: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a clone that knows nothing yet, twice: which branch is the rendered one is said by the source."""
    asking = Mock(wraps=remotes.list_remote_refs)
    monkeypatch.setattr(remotes, "list_remote_refs", asking)
    clone = cloned(origin, "clone")

    def connections(*options: str) -> int:
        asking.reset_mock()
        assert argosy(clone, capsys, "reconcile", "--kubeconfigs", str(served.kubeconfigs), *options).code == 0
        return asking.call_count

    with serving_members([FakeCluster("member1"), FakeCluster("member2")], tmp_path / "members") as served:
        assert connections("--bootstrap") == 2
        assert connections() == 1
        clone.commit({"nginx.yaml": [a_deployment(replicas=9), TWO_TO_ONE]})
        clone.git("push", "-q", "origin", "HEAD:main")
        assert connections() == 1


def pushed(author: Repository, image: str) -> str:
    """Commit another image of nginx and push it."""
    commit = author.commit({"nginx.yaml": [a_deployment(replicas=6, image=image), TWO_TO_ONE]})
    author.git("push", "-q")
    return commit


def ran(clone: Repository, origin: Repository, capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run a command in a clone and say how it ended, commits called by the branches of the remote."""
    return told(argosy(clone, capsys, *arguments), origin)


def test_a_pass_in_a_clone_publishes_at_the_remote(origin: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    clone = cloned(origin, "clone")
    assert ran(clone, origin, capsys, "reconcile", "--bootstrap") == (0, COMMITTED, "")
    assert clone.git("rev-parse", "origin/argosy/rendered") == tips(origin)[0]
    assert clone.git("branch", "--list", "argosy/*") == ""
    assert ran(cloned(origin, "other"), origin, capsys, "reconcile") == (0, UNCHANGED, "")
    assert (held(origin), len(tips(origin))) == (SIX, 1)


def test_json_names_the_branch_and_the_remote(origin: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    clone = cloned(origin, "clone")
    for words, remote in (((), "origin"), (("--dry-run",), "origin")):
        told = json.loads(argosy(clone, capsys, "reconcile", "--bootstrap", "-o", "json", *words).out)
        assert (told["branch"], told["remote"]) == ("argosy/rendered", remote)
    clone.git("remote", "remove", "origin")
    told = json.loads(argosy(clone, capsys, "reconcile", "--bootstrap", "-o", "json").out)
    assert (told["branch"], told["remote"]) == ("argosy/rendered", None)


@pytest.mark.parametrize(
    ("address", "named"),
    [("https://me:s3cret@example.com/fleet.git", "https://***@example.com/fleet.git"), ("hub", "hub"), ("", "")],
)
def test_an_address_is_named_without_its_password(address: str, named: str, origin: Repository) -> None:
    with open_repository(str(origin.path)) as repository:
        assert Publication(repository=repository, remote=address).place == named


def test_a_pass_on_an_address_needs_no_clone(
    origin: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = Repository(Path(f"file://{origin.path}"))
    address.path = f"file://{origin.path}"  # type: ignore[assignment]  # an address instead of a folder
    there = COMMITTED.replace(" at origin", f" at {address.path}")
    assert ran(address, origin, capsys, "reconcile", "--bootstrap") == (0, there, "")
    assert ran(address, origin, capsys, "reconcile") == (0, UNCHANGED, "")
    assert (held(origin), len(tips(origin))) == (SIX, 1)


def test_the_newest_source_of_the_remote_is_rendered_not_the_clone_s(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    pushed(author, "nginx:1.30")
    assert ran(clone, origin, capsys, "reconcile") == (0, COMMITTED, "")
    assert held(origin) == (f"member1 {NGINX} 4 nginx:1.30", f"member2 {NGINX} 2 nginx:1.30")


# Passes that overlap.


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("where", ["in clones of one remote", "in one repository"])
def test_passes_at_once_make_one_commit(origin: Repository, where: str, count: int) -> None:
    if where == "in one repository":
        shared = cloned(origin, "shared")
        shared.git("remote", "remove", "origin")
        folders, home = [shared] * count, shared
    else:
        folders, home = [cloned(origin, f"clone{number}") for number in range(count)], origin
    ended = [told(each, home) for each in at_once(folders, "reconcile", "--bootstrap")]
    committed = HERE if where == "in one repository" else COMMITTED
    assert sorted(each.out for each in ended) == [committed, *[UNCHANGED] * (count - 1)]
    assert {each.code for each in ended} == {0}
    assert all(line.startswith(FASTER) for each in ended for line in each.err.splitlines())
    assert (held(home), len(tips(home))) == (SIX, 1)


def at_once(folders: list[Repository], *arguments: str) -> list[Ended]:
    """Run a command in several folders at once, each in a process and under a name of its own."""
    with ExitStack() as stack:
        ended = []
        for number, folder in enumerate(folders):
            out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
            environment = {**os.environ, "ARGOSY_AUTHOR_NAME": f"pass {number}"}
            running = prepared().running(arguments, folder=folder.path, environment=environment, stdout=out, stderr=err)
            ended.append((stack.enter_context(running), out, err))
        return [Ended(process.wait(SECONDS), _written(out), _written(err)) for process, out, err in ended]


def _written(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


HOOK = """\
#!/bin/sh
# Somebody else is faster: before a push is let in, the branch moves on.
cd "$(dirname "$0")/.." || exit 1
for name in $(git rev-parse --local-env-vars) GIT_QUARANTINE_PATH; do unset "$name"; done
[ -e {flag} ] || exit 0
{once}
tip=$(git rev-parse {ref})
new=$(git -c user.name=x -c user.email=x@example.com commit-tree "$tip^{{tree}}" -p "$tip" -F - <<END
$(git log -1 --format=%B "$tip")
END
)
git update-ref {ref} "$new" "$tip"
"""


def a_faster_one(origin: Repository, ref: str, *, always: bool = False) -> None:
    """Let a branch of the remote move on just before the next push, or before every one."""
    hook, flag = origin.path / "hooks" / "pre-receive", origin.path / "faster"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK.format(flag=flag.name, ref=ref, once="" if always else f"rm {flag.name}"))
    hook.chmod(0o755)
    flag.touch()


def test_a_rendered_branch_that_moves_on_the_way_is_rendered_again(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    pushed(author, "nginx:1.30")
    a_faster_one(origin, "refs/heads/argosy/rendered")
    faster = f'{FASTER}"{MOVED.format("<rendered~1>", "<rendered~2>")}"\n'
    assert ran(clone, origin, capsys, "reconcile") == (0, COMMITTED, faster)
    assert held(origin) == (f"member1 {NGINX} 4 nginx:1.30", f"member2 {NGINX} 2 nginx:1.30")
    assert len(tips(origin)) == 3


def test_a_branch_that_never_rests_is_given_up_after_five_tries(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    pushed(author, "nginx:1.30")
    a_faster_one(origin, "refs/heads/argosy/rendered", always=True)
    code, out, err = ran(clone, origin, capsys, "reconcile")
    lines = err.splitlines()
    assert (code, out, len(lines)) == (4, "", 6)
    assert all(line.startswith(FASTER) for line in lines[:4])
    assert lines[4:] == [
        f"argosy: {MOVED.format('<rendered>', '<rendered~1>')}",
        "  hint: somebody was faster; run again",
    ]
    assert (held(origin), len(tips(origin))) == (SIX, 6)


def test_a_source_that_moves_on_the_way_is_rendered_by_the_next_pass(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = cloned(origin, "clone")
    a_faster_one(origin, "refs/heads/main")
    assert ran(clone, origin, capsys, "reconcile", "--bootstrap") == (0, COMMITTED.replace("<main>", "<main~1>"), "")
    assert ran(clone, origin, capsys, "reconcile") == (0, UNCHANGED, "")


# What a clone does not have.

OTHERWISE = {
    **dict.fromkeys(("render", "diff", "render --commit"), "pass --bootstrap"),
    **dict.fromkeys(("explain deploy/nginx", "status", "verify"), "run argosy reconcile --bootstrap"),
}


@pytest.mark.parametrize("command", OTHERWISE)
def test_a_shallow_checkout_of_one_branch_does_not_know_the_past_and_says_so(
    command: str, origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(cloned(origin, "clone"), capsys, "reconcile", "--bootstrap").code == 0
    shallow = cloned(origin, "shallow", "--depth", "1", "--single-branch", "-b", "main")
    said = NEVER_FETCHED.replace("pass --bootstrap", OTHERWISE[command])
    assert ran(shallow, origin, capsys, *command.split()) == (4, "", said)
    assert len(tips(origin)) == 1


def test_who_says_that_there_is_no_past_is_believed_where_none_is_known(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    shallow = cloned(origin, "shallow", "--depth", "1", "--single-branch", "-b", "main")
    table = (
        "NAMESPACE   OBJECT                  CLUSTERS              POLICY\n"
        "default     Deployment.apps/nginx   member1:4 member2:2   PropagationPolicy default/nginx\n"
    )
    assert ran(shallow, origin, capsys, "render") == (4, "", NEVER_FETCHED)
    assert ran(shallow, origin, capsys, "render", "--bootstrap") == (0, table, "")
    assert ran(shallow, origin, capsys, "diff", "--bootstrap") == (0, "<main>..work tree: no difference\n", "")


def test_a_local_commit_goes_on_where_the_branch_of_the_remote_stands(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The branch is not here yet in a new clone, and falls behind in one that others are faster than."""
    first, clone = cloned(origin, "first"), cloned(origin, "clone")
    assert argosy(first, capsys, "reconcile", "--bootstrap").code == 0
    for image in ("nginx:1.30", "nginx:1.31"):
        clone.git("fetch", "-q")
        clone.commit({"nginx.yaml": [a_deployment(replicas=6, image=image), TWO_TO_ONE]})
        ended = argosy(clone, capsys, "render", "--commit")
        assert ended == (0, "", f"committed branch=argosy/rendered commit={tips(clone)[0][:12]}\n")
        assert clone.git("rev-parse", "argosy/rendered~1", "origin/argosy/rendered").split() == [tips(origin)[0]] * 2
        clone.git("push", "-q", "origin", "HEAD:main")
        assert argosy(first, capsys, "reconcile").code == 0
        clone.git("branch", "-q", "-f", "argosy/rendered", "argosy/rendered~1")


def test_a_local_commit_takes_no_commit_away_that_is_only_here(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = cloned(origin, "clone")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    newest = tips(origin)[0][:12]
    clone.commit({"nginx.yaml": [a_deployment(replicas=6, image="nginx:1.30"), TWO_TO_ONE]})
    assert argosy(clone, capsys, "render", "--commit").code == 0
    here = tips(clone)[0]
    clone.commit({"nginx.yaml": [a_deployment(replicas=6, image="nginx:1.31"), TWO_TO_ONE]})
    said = (
        f"argosy: branch 'argosy/rendered' has commits here that the remote's, at {newest}, does not follow\n"
        f"  hint: see them with git log {newest}..argosy/rendered; if they may go:"
        f" git branch -f argosy/rendered {newest}\n"
    )
    assert argosy(clone, capsys, "render", "--commit") == (4, "", said)
    assert tips(clone)[0] == here


def test_a_pass_in_a_shallow_checkout_of_one_branch_starts_from_the_past_of_the_remote(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steady: two of three replicas were dealt at other weights, and nothing moves but what is new."""
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    shallow = cloned(origin, "shallow", "--depth", "1", "--single-branch", "-b", "main")
    assert ran(shallow, origin, capsys, "reconcile") == (0, UNCHANGED, "")
    pushed(author, "nginx:1.30")
    again = cloned(origin, "again", "--depth", "1", "--single-branch", "-b", "main")
    assert ran(again, origin, capsys, "reconcile") == (0, COMMITTED, "")
    assert held(origin) == (f"member1 {NGINX} 4 nginx:1.30", f"member2 {NGINX} 2 nginx:1.30")
    assert ran(cloned(origin, "whole"), origin, capsys, "verify", "-n", "2") == (
        0,
        "<rendered> source <main>: equal\n<rendered~1> source <main~1>: equal\n",
        "",
    )


def test_a_history_that_is_cut_off_is_not_taken_for_a_rewound_one(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """No branch is remembered whose history could be fetched, for the first pass was in a detached clone."""
    author, clone = cloned(origin, "author"), cloned(origin, "clone")
    clone.git("switch", "-q", "--detach")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    pushed(author, "nginx:1.30")
    shallow = cloned(origin, "shallow", "--depth", "1", "-b", "main")
    assert ran(shallow, origin, capsys, "reconcile", "--rev", "HEAD") == failed(
        4,
        "argosy: this shallow clone does not reach from <main> back to <main~1>",
        "  hint: fetch the whole history: git fetch --unshallow",
    )
    assert ran(shallow, origin, capsys, "reconcile") == (0, COMMITTED, "")


def test_a_partial_clone_is_never_fetched_into_behind_one_s_back(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    origin.git("config", "uploadpack.allowFilter", "true")
    partial = cloned(origin, "partial", "--filter=blob:none", "--no-checkout")
    blobs = [line.split()[2][:12] for line in origin.git("ls-tree", "-r", "main").splitlines()]
    assert ran(partial, origin, capsys, "reconcile", "--bootstrap") == failed(
        4,
        f"argosy: 3 objects are not in this partial clone: {', '.join(sorted(blobs))}",
        "  hint: Argosy never fetches behind your back; complete the clone: git fetch --refetch --no-filter",
    )


# A source that was pushed by force.


def test_a_force_pushed_source_is_refused_until_it_is_accepted(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, author = cloned(origin, "clone"), cloned(origin, "author")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    first = origin.git("rev-parse", "main")
    author.git("commit", "-q", "--amend", "-m", "rewritten")
    author.git("push", "-q", "--force")
    refused = (6, "", REWOUND.format(first[:12]))
    said = (
        f"warning: HEAD {first[:12]} is not looked at: source <main> of 'origin' is rendered, and the two have"
        " diverged\n  hint: git log --oneline --left-right HEAD...<main> shows what each has\n"
    )
    assert ran(clone, origin, capsys, "reconcile") == (6, "", said + refused[2])
    assert ran(cloned(origin, "fresh"), origin, capsys, "reconcile") == refused
    shallow = cloned(origin, "shallow", "--depth", "1", "--single-branch", "-b", "main")
    assert ran(shallow, origin, capsys, "reconcile") == refused
    assert len(tips(origin)) == 1
    assert ran(clone, origin, capsys, "reconcile", "--accept-rewind") == (0, COMMITTED, said)
    assert ran(cloned(origin, "later"), origin, capsys, "reconcile") == (0, UNCHANGED, "")
    assert (held(origin), len(tips(origin))) == (SIX, 2)


# Where branches are.


class OtherCluster(NamedTuple):
    """Something done in a clone, and how a pass there ends."""

    why: str
    git: str
    code: int
    err: str


ASTRAY = [
    OtherCluster(
        "a rendered branch that somebody removed",
        "push -q origin :argosy/rendered",
        3,
        "argosy: there is no branch 'argosy/rendered' at 'origin': is this the first run?\n"
        "  hint: then pass --bootstrap; otherwise look for who removed the branch, or every workload is rescheduled\n",
    ),
    OtherCluster(
        "a remote that is gone",
        "remote set-url origin {folder}/gone.git",
        4,
        "argosy: git ls-remote: '{folder}/gone.git' does not appear to be a git repository\n"
        "  hint: check the address of the remote: git remote -v\n",
    ),
    OtherCluster(
        "a remote over a protocol that may run anything",
        "remote set-url origin ext::sh",
        4,
        "argosy: git ls-remote: transport 'ext' not allowed\n"
        "  hint: Argosy speaks to remotes over file, https and ssh only\n",
    ),
]


@pytest.mark.parametrize("astray", ASTRAY, ids=lambda astray: astray.why)
def test_a_pass_that_cannot_know_does_nothing(
    astray: OtherCluster, origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, folder = cloned(origin, "clone"), origin.path.parent
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    clone.git(*astray.git.format(folder=folder).split())
    before = origin.git("for-each-ref")
    assert ran(clone, origin, capsys, "reconcile") == (astray.code, "", astray.err.format(folder=folder))
    assert origin.git("for-each-ref") == before


def test_a_pass_on_another_branch_is_not_answered_by_the_one_before(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = cloned(origin, "clone")
    assert argosy(clone, capsys, "reconcile", "--bootstrap").code == 0
    clone.git("checkout", "-q", "-b", "release")
    clone.commit({"nginx.yaml": [a_deployment(replicas=6, image="nginx:1.30"), TWO_TO_ONE]})
    clone.git("push", "-q", "-u", "origin", "release")
    ended = ran(clone, origin, capsys, "reconcile")
    assert (ended.code, ended.out, "is not on branch 'main' at 'origin'" in ended.err) == (6, "", True)
    assert held(origin) == SIX


def test_a_push_that_the_server_refuses_is_told_in_its_words(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    hook = origin.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'nobody writes argosy/*' >&2\nexit 1\n")
    hook.chmod(0o755)
    assert ran(cloned(origin, "clone"), origin, capsys, "reconcile", "--bootstrap") == failed(
        4,
        "argosy: git push: refs/heads/argosy/rendered: pre-receive hook declined; nobody writes argosy/*",
        "  hint: a rule of the server refused the push; its words are above",
    )
    assert tips(origin) == []


def test_the_rendered_branch_may_live_in_another_repository(
    origin: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = Repository.create(tmp_path / "rendered.git", bare=True)
    author = cloned(origin, "author")
    fleet = {**settings(rendered={"remote": f"file://{elsewhere.path}"}), "metadata": {"name": "prod"}}
    source = author.commit({"argosy.yaml": fleet})
    author.git("push", "-q")
    first = argosy(author, capsys, "reconcile", "--bootstrap")
    tip = elsewhere.git("rev-parse", "argosy-prod/rendered")
    said = f"to argosy-prod/rendered at file://{elsewhere.path}: source {source[:12]} for 2 clusters"
    assert first == (0, f"committed {tip[:12]} {said}\n", "")
    assert argosy(author, capsys, "reconcile") == (
        0,
        f"unchanged: argosy-prod/rendered {tip[:12]} holds source {source[:12]}\n",
        "",
    )
    assert elsewhere.git("for-each-ref", "--format=%(refname)") == "refs/heads/argosy-prod/rendered"
    assert origin.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_branch_that_argosy_did_not_write_is_left_alone(
    origin: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    origin.git("branch", "argosy/rendered", "main")
    assert ran(cloned(origin, "clone"), origin, capsys, "reconcile") == failed(
        4,
        "argosy: commit <main> on the rendered branch was not written by Argosy",
        (
            "  hint: restore the branch to the last commit that has an Argosy-Source trailer"
            " (a pull request is merged by a merge commit, by rebasing or fast-forwarding, so that its trailers stay)"
        ),
    )
