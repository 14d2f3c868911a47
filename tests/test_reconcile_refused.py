"""While a source is refused, the last good commit stays applied and observed; exit code and status branch say both."""

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.branches.in_force import rendered_tip_last_seen
from reconciler.branches.last_good import read_last_good
from reconciler.cli import run
from reconciler.record.refusal import refusal_caused_by
from reconciler.repository import open_repository
from render.documents import parse_documents
from render.errors import GitError, InputError, Problem

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .fakes import FakeCluster
from .memory_fleet import add_node
from .served import Served, serving_members
from .stories import allowing, removal_hint

pytestmark = pytest.mark.xdist_group("reconcile refused")  # one process makes the shared fleet for all of them

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
NAMES = ("member1", "member2")
KEYS = [f"c{number:02}" for number in range(12)]


class Fleet:
    """A repository whose argosy.yaml says that its members are reached, which are in memory behind real HTTP."""

    def __init__(self, repository: Repository, members: dict[str, FakeCluster], served: Served, out: Any) -> None:
        self.repository, self.members, self.written, self._out = repository, members, served.written, out

    def run(self, *words: str) -> Ended:
        self.written.clear()
        return argosy(self.repository, self._out, *words)

    def drift(self) -> None:
        """Change an object of member1 behind our back, as another manager would."""
        live = self.member_object()
        live["data"]["color"] = "blue"
        for entry in live["metadata"]["managedFields"]:
            entry["fieldsV1"] = {"f:metadata": entry["fieldsV1"].get("f:metadata", {})}

    def member_object(self, name: str = "c00") -> Any:
        return self.members["member1"].objects["configmaps.", "default", name]

    def tip(self, branch: str) -> str:
        return self.repository.git("rev-parse", branch)

    def refusal(self) -> Any:
        return parse_documents((self.repository.show("refusal.yaml", "argosy/status") + "\n").encode())[0].value


class Applied(NamedTuple):
    """A fleet whose first commit is applied, to be copied: its repository, its members, and where these are reached."""

    repository: Path
    members: dict[str, FakeCluster]
    kubeconfigs: Path


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Applied:
    folder = tmp_path_factory.mktemp("applied")
    members = {name: FakeCluster(name=name) for name in NAMES}
    for member in members.values():
        add_node(member, "node", cpu="4", memory="8Gi", pods="110")
    repository = Repository.create(folder / "fleet")
    with serving_members(members.values(), folder / "kubeconfigs") as served:
        spec = {"kubeconfigs": str(served.kubeconfigs)}
        head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
        files = {f"{key}.yaml": a_config_map(key, color="red") for key in KEYS}
        policy = a_policy("all", selectors=[CONFIG_MAPS])
        clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in NAMES}
        repository.commit({"argosy.yaml": {**head, "spec": spec}, "policy.yaml": policy, **clusters, **files})
        assert run(["-q", "-C", str(repository.path), "reconcile", "--bootstrap"]) == 0
    return Applied(repository.path, members, served.kubeconfigs)


@pytest.fixture
def fleet(applied: Applied, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Fleet]:
    """A copy of the fleet, and members as they were after its first pass, behind kubeconfigs of the same names."""
    members = copy.deepcopy(applied.members)
    shutil.copytree(applied.repository, tmp_path / "fleet")
    with serving_members(members.values(), applied.kubeconfigs) as served:
        yield Fleet(Repository(tmp_path / "fleet"), members, served, capsys)


class Refused(NamedTuple):
    """A source that is refused: its files, the end of the pass, and the refusal as it is recorded."""

    why: str
    files: dict[str, Any]
    code: int
    error: str
    message: str
    details: list[str]
    hint: str = ""


WITHOUT_SELECTOR = """\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placment: {}
"""
LEAVING = ", ".join(f"default/ConfigMap/{key}.yaml" for key in KEYS[:5])
ALLOWING = allowing("pass --allow-removal", "Argosy-Allow-Removal: member1 11", "Argosy-Allow-Removal: member2 11")
MUCH = [f"{name}: 11 of 12 objects (more than 10): {LEAVING} and 6 more" for name in NAMES]
REFUSED = [
    Refused(
        "a broken policy",
        {"policy.yaml": WITHOUT_SELECTOR},
        3,
        "policy.yaml:6: spec.placment: unknown field\n  hint: did you mean 'placement'?\n"
        "1 problem; nothing was changed\n",
        "1 problem; run argosy validate",
        ["policy.yaml:6"],
    ),
    Refused(
        "a broken argosy.yaml",
        {"argosy.yaml": "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {removalGuards: 1}\n"},
        3,
        "argosy.yaml:3: spec.removalGuards: unknown field\n  hint: did you mean 'removalGuard'?\n"
        "1 problem; nothing was changed\n",
        "1 problem; run argosy validate",
        ["argosy.yaml:3"],
    ),
    Refused(
        "a file that is not read any more",
        {"c00.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name }}\ndata: ["},
        3,
        "1 problem; nothing was changed\n",
        "1 problem; run argosy validate",
        ["c00.yaml"],
    ),
    Refused(
        "a removal that is too much",
        {f"{key}.yaml": None for key in KEYS[:11]},
        6,
        f"this change removes too much at once; nothing was committed\n  {MUCH[0]}\n  {MUCH[1]}\n  hint: {ALLOWING}\n",
        "this change removes too much at once",
        MUCH,
        ALLOWING,
    ),
    Refused(
        "a fleet whose argosy.yaml and clusters are gone",
        {"argosy.yaml": None, "clusters/member1.yaml": None, "clusters/member2.yaml": None},
        6,
        "the source has no clusters any more, but member1, member2 hold objects; nothing was committed\n"
        "  hint: look at source.paths and ignore in argosy.yaml; if it is meant, say so in a source commit with the"
        " trailer 'Argosy-Allow-Removal: * 2'\n",
        "the source has no clusters any more, but member1, member2 hold objects",
        [],
        "look at source.paths and ignore in argosy.yaml; if it is meant, say so in a source commit with the"
        " trailer 'Argosy-Allow-Removal: * 2'",
    ),
]
HEALED = """\
CLUSTER   UNCHANGED   WRITTEN   DELETED   KEPT   FAILED   STATE
member1   11          1         0         0      0        Converged
member2   12          0         0         0      0        Converged
"""


TIMING = re.compile(r".* ms=\d+\n")


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_drift_is_healed_and_the_refusal_recorded(case: Refused, fleet: Fleet) -> None:
    """The members are observed once for all of that."""
    rendered, source = fleet.tip("argosy/rendered"), fleet.tip("HEAD")
    refused = fleet.repository.commit(case.files)
    fleet.drift()
    ended = fleet.run("-vv", "reconcile")
    assert ended.err.count("look at members") == 1
    ended = ended._replace(err=TIMING.sub("", ended.err))
    holds = f"unchanged: argosy/rendered {rendered[:12]} holds source {source[:12]}\n"
    assert (ended.code, ended.out) == (case.code, f"{holds}{HEALED}")
    said = f"warning: the last good commit {rendered[:12]} stays applied: 2 clusters converged\n"
    assert f"member1: ConfigMap default/c00: configured (Drifted)\n{said}" in ended.err
    assert ended.err.endswith(case.error)
    assert fleet.member_object()["data"] == {"color": "red"}
    assert fleet.tip("argosy/rendered") == rendered
    assert {**fleet.refusal(), "since": ""} == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "SourceRefusal",
        "source": refused,
        "since": "",
        "code": case.code,
        "message": case.message,
        "details": case.details,
        "hint": case.hint,
        "version": 1,
    }


@pytest.mark.parametrize("case", [REFUSED[0], REFUSED[3]], ids=lambda case: case.why)
def test_a_refusal_is_recorded_once_until_it_is_over(case: Refused, fleet: Fleet) -> None:
    refused = fleet.repository.commit(case.files)
    fleet.run("reconcile")
    subject = fleet.repository.git("log", "-1", "--format=%s", "argosy/status")
    assert subject == f"Apply {fleet.tip('argosy/rendered')[:12]}: source {refused[:12]} is refused"
    recorded, since = fleet.tip("argosy/status"), fleet.refusal()["since"]
    page = fleet.repository.show("README.md", "argosy/status")
    assert f"    source {refused[:12]} is refused since {since}: {case.message}\n" in page
    assert fleet.run("reconcile").code == case.code
    assert (fleet.tip("argosy/status"), fleet.written) == (recorded, [])

    fleet.repository.git("revert", "--no-edit", "-n", refused)
    fleet.repository.commit({})
    assert fleet.run("reconcile").code == 0
    assert "refusal.yaml" not in fleet.repository.files("argosy/status")
    assert "is refused" not in fleet.repository.show("README.md", "argosy/status")


def test_a_refused_pass_is_told_as_json(fleet: Fleet) -> None:
    rendered, source = fleet.tip("argosy/rendered"), fleet.tip("HEAD")
    case = REFUSED[0]
    refused = fleet.repository.commit(case.files)
    ended = fleet.run("reconcile", "-o", "json")
    told = json.loads(ended.out)
    clusters = told.pop("clusters")
    assert (ended.code, told) == (
        3,
        {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "Reconciliation",
            "source": source,
            "previous": rendered,
            "rendered": rendered,
            "branch": "argosy/rendered",
            "remote": None,
            "changed": False,
            "removals": [],
            "released": [],
            "pending": [],
            "problems": [],
            "refused": {
                "source": refused,
                "since": fleet.refusal()["since"],
                "code": 3,
                "message": case.message,
                "details": case.details,
                "hint": "",
            },
        },
    )
    assert {name: each["state"] for name, each in clusters.items()} == dict.fromkeys(NAMES, "Converged")


def test_a_dry_run_says_what_would_stay_and_writes_nothing(fleet: Fleet) -> None:
    rendered, status = fleet.tip("argosy/rendered"), fleet.tip("argosy/status")
    fleet.repository.commit(REFUSED[0].files)
    fleet.drift()
    ended = fleet.run("reconcile", "--dry-run")
    assert ended == (3, "", f"warning: the last good commit {rendered[:12]} would stay applied\n{REFUSED[0].error}")
    assert (fleet.written, fleet.tip("argosy/status")) == ([], status)


def test_a_fleet_that_only_renders_has_nobody_to_apply_to(fleet: Fleet) -> None:
    head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    fleet.repository.commit({"argosy.yaml": head})
    assert fleet.run("reconcile").code == 0
    status = fleet.tip("argosy/status")
    fleet.repository.commit(REFUSED[0].files)
    assert fleet.run("reconcile") == (3, "", REFUSED[0].error)
    assert (fleet.written, fleet.tip("argosy/status")) == ([], status)


def test_a_first_run_has_no_last_good_commit(fleet: Fleet) -> None:
    fleet.repository.git("branch", "-D", "argosy/rendered")
    fleet.repository.commit(REFUSED[0].files)
    assert fleet.run("reconcile", "--bootstrap") == (3, "", REFUSED[0].error)
    assert fleet.written == []


def test_members_are_observed_anew_where_the_refused_source_has_others(fleet: Fleet) -> None:
    """The last good commit has a member that the refused source has no more."""
    fleet.repository.commit({**REFUSED[3].files, "clusters/member2.yaml": None})
    ended = fleet.run("-vv", "reconcile")
    assert (ended.code, ended.err.count("look at members"), ended.out.splitlines()[2:]) == (
        6,
        2,
        [
            "member1   12          0         0         0      0        Converged",
            "member2   12          0         0         0      0        Converged",
        ],
    )


def test_a_last_good_commit_whose_source_is_not_in_this_clone_is_told(fleet: Fleet) -> None:
    """The history was rewritten, and what it had before was swept away."""
    source, rendered = fleet.tip("HEAD"), fleet.tip("argosy/rendered")
    fleet.repository.git("checkout", "-q", "--orphan", "rewritten")
    fleet.repository.commit(REFUSED[0].files)
    fleet.repository.git("branch", "-q", "-D", "main")
    fleet.repository.git("branch", "-q", "-m", "main")
    fleet.repository.git("reflog", "expire", "--expire=now", "--all")
    fleet.repository.git("gc", "-q", "--prune=now")
    absent = f"source {source[:12]}, which {rendered[:12]} was rendered from, is not in this clone\n  hint: fetch"
    told = (
        f"warning: the last good commit cannot be read: {absent} it from a clone that has it: git fetch FOLDER {source}"
    )
    assert fleet.run("reconcile") == (3, "", f"{told}\n{REFUSED[0].error}")
    assert fleet.written == []

    fleet.repository.git("config", "branch.main.remote", "upstream")
    fleet.repository.git("config", "remote.upstream.url", "https://example.com/fleet")
    fleet.repository.git("update-ref", "refs/remotes/upstream/argosy/rendered", rendered)
    with pytest.raises(GitError, match=f"^{re.escape(f'{absent} it: git fetch upstream {source}')}$"):
        read_last_good(open_repository(fleet.repository.path), fleet.tip("HEAD"), rendered_tip_last_seen)

    (fleet.repository.path / ".git" / "shallow").write_text(f"{fleet.tip('HEAD')}\n")
    with pytest.raises(GitError, match=f"^{re.escape(f'{absent} the whole history: git fetch --unshallow')}$"):
        read_last_good(open_repository(fleet.repository.path), fleet.tip("HEAD"), rendered_tip_last_seen)


def test_orphans_are_not_deleted_beside_a_source_that_is_refused(fleet: Fleet) -> None:
    """An object that was once rendered is there again, and nothing names it any more."""
    orphan = copy.deepcopy(fleet.member_object())
    fleet.repository.commit({"c00.yaml": None})
    assert fleet.run("reconcile").code == 0
    fleet.members["member1"].objects["configmaps.", "default", "c00"] = orphan
    refused = fleet.repository.commit(REFUSED[0].files)
    assert (fleet.run("reconcile", "--orphans", "--yes").code, fleet.written) == (3, [])

    fleet.repository.git("revert", "--no-edit", refused)
    fleet.run("reconcile", "--orphans", "--yes")
    assert "DELETE /api/v1/namespaces/default/configmaps/c00" in fleet.written


def test_a_member_that_does_not_answer_is_counted(fleet: Fleet) -> None:
    rendered = fleet.tip("argosy/rendered")
    fleet.repository.commit(REFUSED[0].files)
    ended = fleet.run("reconcile", "--kubeconfig", "/nowhere")
    assert ended.code == 3
    assert f"warning: the last good commit {rendered[:12]} stays applied: 0 of 2 clusters converged\n" in ended.err


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_the_status_shows_what_is_refused_and_nobody_waits_for_it(case: Refused, fleet: Fleet) -> None:
    rendered, source = fleet.tip("argosy/rendered"), fleet.tip("HEAD")
    refused = fleet.repository.commit(case.files)
    fleet.run("reconcile")
    since = fleet.refusal()["since"]
    holds = f"argosy/rendered {rendered[:12]} holds source {source[:12]}, but the newest source is {refused[:12]}\n"
    details = "".join(f"  {line}\n" for line in case.details) + (f"  hint: {case.hint}\n" if case.hint else "")
    ended = fleet.run("status")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith(f"{holds}source {refused[:12]} is refused since {since}: {case.message}\n{details}")
    told = json.loads(fleet.run("status", "-o", "json").out)
    assert (told["current"], told["refused"]) == (
        False,
        {
            "source": refused,
            "since": since,
            "code": case.code,
            "message": case.message,
            "details": case.details,
            "hint": case.hint,
        },
    )
    assert fleet.run("status", "cluster/member1").err == ""
    assert fleet.run("status", "cm/c11").err == ""

    details = "".join(f"\n  {line}" for line in case.details) + (f"\n  hint: {case.hint}" if case.hint else "")
    head = "" if case.details else "argosy: "
    said = f"{head}source {refused[:12]} is refused since {since}: {case.message}{details}\n"
    assert fleet.run("wait", "--timeout", "60s") == (case.code, "", said)


@pytest.mark.parametrize("case", REFUSED[:3], ids=lambda case: case.why)
def test_a_broken_source_is_refused_before_any_pass_has_said_so(case: Refused, fleet: Fleet) -> None:
    refused = fleet.repository.commit(case.files)
    said = f"source {refused[:12]} is refused: {case.message}\n  {case.details[0]}\n"
    ended = fleet.run("status")
    assert (ended.code, f"\n{said}" in ended.out) == (1, True)
    assert json.loads(fleet.run("status", "-o", "json").out)["refused"]["since"] is None
    assert fleet.run("wait", "--timeout", "60s") == (3, "", said)


def test_a_source_that_mends_what_was_refused_is_waited_for(fleet: Fleet) -> None:
    refused = fleet.repository.commit(REFUSED[3].files)
    fleet.run("reconcile")
    fleet.repository.commit({"c11.yaml": a_config_map("c11", color="green")}, "Mean it\n\nArgosy-Allow-Removal: * 11")
    head = fleet.tip("HEAD")
    assert f", but the newest source is {head[:12]}: run argosy reconcile\n" in fleet.run("status").out
    assert "refused" not in json.loads(fleet.run("status", "-o", "json").out)
    assert f"source {head[:12]} is not rendered yet" in fleet.run("wait", "--timeout", "0s").err
    assert fleet.run("reconcile").code == 0
    assert refused[:12] not in fleet.run("status").out


def test_what_a_flag_allowed_is_refused_no_more(fleet: Fleet) -> None:
    """The source is the one that is recorded as refused, and it is rendered now."""
    fleet.repository.commit(REFUSED[3].files)
    fleet.run("reconcile")
    assert fleet.run("render", "--commit", "--allow-removal", "*=11").code == 0
    assert "is refused" not in fleet.run("status").out


@pytest.mark.parametrize("content", ["kind: SourceRefusal\ncode: 3\n", "source: x\nsince: ''\nmessage: ''\nhint: ''\n"])
def test_a_refusal_that_nobody_wrote_is_named(content: str, fleet: Fleet) -> None:
    worktree = fleet.repository.path / "status"
    fleet.repository.git("worktree", "add", "-q", str(worktree), "argosy/status")
    status = Repository(worktree)
    status.commit({"refusal.yaml": content})
    fleet.repository.git("worktree", "remove", "--force", str(worktree))
    ended = fleet.run("status")
    fault = "source is missing" if "code" in content else "code is missing"
    assert (ended.code, ended.err.splitlines()[0]) == (
        4,
        f"argosy: refusal.yaml on the status branch is not as Argosy writes it: {fault}",
    )


def test_a_cluster_that_is_held_back_keeps_what_it_has_while_others_go_on(fleet: Fleet) -> None:
    settings = parse_documents(fleet.repository.show("argosy.yaml", "HEAD").encode())[0].value
    spec = {**settings["spec"], "removalGuard": {"scope": "Cluster"}}
    one = [{**CONFIG_MAPS, "name": key} for key in KEYS[:11]]
    policies = [
        a_policy("all", selectors=[{**CONFIG_MAPS, "name": "c11"}]),
        a_policy("one", selectors=one, placement=on_clusters("member1")),
    ]
    moved = {"argosy.yaml": {**settings, "spec": spec}, "policy.yaml": policies}
    fleet.repository.commit(moved, "Move\n\nArgosy-Allow-Removal: member2 11")
    assert fleet.run("reconcile").code == 0

    fleet.repository.commit({**REFUSED[3].files, "c11.yaml": a_config_map("c11", color="blue")})
    fleet.drift()
    ended = fleet.run("reconcile")
    assert (ended.code, ended.out.splitlines()[2:]) == (
        6,
        [
            "member1   11          1         0         0      0        Incomplete",
            "member2   0           1         0         0      0        Converged",
            "",
            "OBJECT   CLUSTER   ACTION   REASON   MESSAGE",
            "-        member1   kept     Held     nothing is pruned: not all of it could be rendered",
        ],
    )
    assert [fleet.member_object(key)["data"] for key in ("c00", "c11")] == [{"color": "red"}, {"color": "red"}]
    other = fleet.members["member2"].objects["configmaps.", "default", "c11"]
    assert other["data"] == {"color": "blue"}
    held = (
        f"argosy: member1 is held back since source {fleet.tip('HEAD')[:12]}: 11 of 12 objects would leave"
        f" (more than 10)\n{removal_hint('member1 11')}"
    )
    for subject in ((), ("cluster/member1",), ("cm/c11",)):
        assert fleet.run("wait", *subject, "--timeout", "60s") == (6, "", held), subject
    assert fleet.run("wait", "cluster/member2").code == 0

    fleet.repository.commit({}, "Mean it\n\nArgosy-Allow-Removal: member1 11")
    ended = fleet.run("reconcile")
    assert (ended.code, ended.out.splitlines()[2:]) == (
        0,
        [
            "member1   0           1         11        0      0        Converged",
            "member2   1           0         0         0      0        Converged",
        ],
    )
    assert fleet.member_object("c11")["data"] == {"color": "blue"}
    assert fleet.run("verify", "-n", "3").code == 0


def test_a_source_branch_that_is_gone_stops_neither_repair_nor_status(fleet: Fleet, tmp_path: Path) -> None:
    hub, repository = Repository.create(tmp_path / "hub.git", bare=True), fleet.repository
    repository.git("remote", "add", "origin", str(hub.path))
    repository.git("push", "-q", "-u", "origin", "main", "argosy/rendered", "argosy/status")
    source, rendered = fleet.tip("HEAD"), fleet.tip("argosy/rendered")
    assert run(["-q", "-C", hub.path.as_uri(), "reconcile"]) == 0  # from here on there is a mirror, too
    hub.git("update-ref", "-d", "refs/heads/main")
    fleet.drift()
    ended = fleet.run("-q", "reconcile")
    gone, hint = "'origin' has no branch 'main' any more", "push it again, or name the source: --rev REVISION"
    unchanged = f"unchanged: argosy/rendered {rendered[:12]} holds source {source[:12]}\n"
    assert ended == (4, f"{unchanged}{HEALED}", f"argosy: {gone}\n  hint: {hint}\n")
    assert fleet.member_object()["data"] == {"color": "red"}
    told = fleet.run("status").out.splitlines()[1:3]
    waited = fleet.run("wait", "--timeout", "0s")
    assert told[0].startswith(f"source {source[:12]} is refused since ")
    assert told[0].endswith(f": {gone}")
    assert (waited.code, waited.err) == (4, f"argosy: {told[0]}\n  hint: {hint}\n")
    assert [line for line in fleet.run("doctor").out.splitlines() if line.startswith("FAIL")] == [
        "FAIL remote: 'origin' has no branch 'main', which passes take the source from"
    ]
    fleet.drift()
    assert run(["-q", "-C", hub.path.as_uri(), "reconcile"]) == 4
    assert fleet.member_object()["data"] == {"color": "red"}
    repository.git("push", "-q", "origin", "main")
    assert (fleet.run("reconcile").code, fleet.run("wait", "--timeout", "0s").code) == (0, 0)


def test_of_many_problems_the_first_are_named() -> None:
    problems = [Problem(f"f{number:02}.yaml", 1, "spec", "the value 'secret' is wrong") for number in range(23)]
    refusal = refusal_caused_by("0123456789abcdef", InputError(problems))
    places = [f"f{number:02}.yaml:1" for number in range(20)]
    assert refusal.lines == (
        "source 0123456789ab is refused: 23 problems; run argosy validate",
        *(f"  {place}" for place in places),
        "  and 3 more",
    )
