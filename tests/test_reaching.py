"""The clusters a pass applies to: those that argosy.yaml or the command line tells how to reach, and no others."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.members.choice import is_in_shard
from reconciler.members.exchange import Failure
from reconciler.members.kubeconfig import Contexts
from reconciler.members.options import AccessOptions, names_of_reached_members
from render.documents import emit
from render.settings.clusters import ClusterAccess
from render.settings.fleet import Fleet
from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy
from tests.tables import each_row

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
ALL: frozenset[str] | None = None


class Reach(NamedTuple):
    why: str
    fleet: Fleet
    options: dict[str, Any]
    want: frozenset[str] | None


def fleet(*names: str, kubeconfigs: str = "") -> Fleet:
    return Fleet(clusters=tuple(ClusterAccess(name=name) for name in names), kubeconfigs=kubeconfigs)


REACHES = [
    Reach("nothing is said", fleet(), {}, frozenset()),
    Reach("nothing is said of what is asked for", fleet(), {"clusters": ("a",)}, frozenset()),
    Reach("a kubeconfig for all", fleet(), {"kubeconfig": "file"}, ALL),
    Reach("a folder for all", fleet(), {"kubeconfigs": "folder"}, ALL),
    Reach("a folder in argosy.yaml", fleet("a", kubeconfigs="folder"), {}, ALL),
    Reach("those that are listed", fleet("a", "b"), {}, frozenset({"a", "b"})),
    Reach("and one that is asked for", fleet("a"), {"clusters": ("c",)}, frozenset({"a", "c"})),
    Reach("all others", fleet("a", "*"), {}, ALL),
    Reach("this one", fleet(), {"in_cluster": "a"}, frozenset({"a"})),
    Reach("this one and those listed", fleet("b"), {"in_cluster": "a"}, frozenset({"a", "b"})),
    Reach("a kubeconfig, though some are listed", fleet("a"), {"kubeconfig": "file"}, ALL),
]


@each_row("case", REACHES, ids=lambda case: case.why)
def test_reach(case: Reach) -> None:
    assert names_of_reached_members(case.fleet, AccessOptions(**case.options)) == case.want


def test_shards_divide_a_fleet_and_stay_where_they_are() -> None:
    names = [f"member{number}" for number in range(100)]
    shards = [{name for name in names if is_in_shard(name, index, 3)} for index in (1, 2, 3)]
    assert set().union(*shards) == set(names)
    assert sum(map(len, shards)) == len(names)
    assert all(20 <= len(shard) <= 50 for shard in shards)
    assert all(is_in_shard(name, 1, 1) for name in names)


def test_shards_may_be_counted_from_nought(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """The Pods of an Indexed Job count from 0, matrices of a pipeline mostly from 1: 0/3 is 3/3."""
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    shards = [applied(argosy(repository, capsys, "apply", "--shard", f"{index}/3").out) for index in (0, 1, 2, 3)]
    assert (shards[0], sorted([*shards[0], *shards[1], *shards[2]])) == (shards[3], ["member1", "member2"])
    ended = argosy(repository, capsys, "apply", "--shard", "4/3")
    said = "Error: Invalid value for '--shard': write i/n, such as 2/5, with i from 1 to n; 0 is the same as n\n"
    assert (ended.code, ended.err.endswith(said)) == (2, True), ended.err


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A fleet that only renders, for member1 and member2, and no kubeconfig anywhere."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nowhere"))
    made = Repository.create(tmp_path / "fleet")
    policy = a_policy("all", selectors=[CONFIG_MAPS])
    made.commit({"fleet.yaml": [*map(a_cluster, ("member1", "member2")), a_config_map("one"), policy]})
    return made


def applied(out: str) -> list[str]:
    """The clusters in the table of what was done; after an empty line comes what failed."""
    _, *rows = out[out.index("CLUSTER ") :].partition("\n\n")[0].splitlines() if "CLUSTER " in out else [""]
    return [row.split()[0] for row in rows]


class SlowlyRefusing(BaseHTTPRequestHandler):
    """A server that has nothing, and says so after two seconds."""

    def do_GET(self) -> None:
        threading.Event().wait(timeout=2.0)
        self.send_response_only(404)
        self.end_headers()


@pytest.mark.waits
def test_a_member_is_taken_in_again_within_the_time_that_is_given(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command has the option as others do, and went on for five minutes whatever it said."""
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    with ThreadingHTTPServer(("127.0.0.1", 0), SlowlyRefusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "slow", "cluster": {"server": address}}],
            "contexts": [{"name": "member1", "context": {"cluster": "slow", "user": "me"}}],
            "users": [{"name": "me", "user": {}}],
        }
        (tmp_path / "kubeconfig").write_bytes(emit(config))
        words = ("cluster", "rejoin", "member1", "--kubeconfig", str(tmp_path / "kubeconfig"), "--timeout", "1")
        ended = argosy(repository, capsys, *words)
        server.shutdown()
    assert (ended.code, ended.err) == (
        5,
        f"argosy: member1: {address} did not answer in time\n  hint: see whether the cluster is up\n",
    )


def test_joining_with_a_context_reaches_that_cluster_alone(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(repository, capsys, "cluster", "join", "lyon", "--context", "admin@lyon", "--commit")
    assert (ended.code, ended.outcome, ended.err.splitlines()[-2:]) == (
        0,
        "cluster/lyon joined\n",
        [
            "argosy reconcile --accept-settings applies to lyon",
            "warning: until now it only rendered; the clusters that argosy.yaml does not list are left alone",
        ],
    )
    ended = argosy(repository, capsys, "reconcile", "--accept-settings")
    assert (ended.code, applied(ended.out)) == (5, ["lyon"])
    left = "left alone, for argosy.yaml does not say how to reach them: member1, member2"
    assert left in ended.err.splitlines()


def test_joining_without_a_context_says_that_nothing_is_applied(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "cluster", "join", "rome")
    assert (ended.code, ended.err) == (0, "wrote file=clusters/rome.yaml\n")
    repository.write({"argosy.yaml": settings({"name": "member1"})})
    ended = argosy(repository, capsys, "cluster", "join", "oslo")
    said = "argosy reconcile renders for oslo and applies nothing there: argosy.yaml does not list it"
    assert (ended.code, ended.err.splitlines()[-1]) == (0, said)


@pytest.mark.parametrize(
    ("access", "said"),
    [
        ({"name": "member1"}, "  clusters:\n  - name: member1\n  - name: oslo\n"),
        ({"name": "*"}, '  clusters:\n  - name: "*"\n'),
    ],
    ids=["those that are listed", "all others"],
)
def test_a_context_of_the_same_name_is_listed_where_that_says_something(
    access: dict[str, str], said: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"argosy.yaml": settings(access)})
    ended = argosy(repository, capsys, "cluster", "join", "oslo", "--context", "oslo")
    assert (ended.code, ended.err.splitlines()[-1]) == (0, "argosy reconcile applies to oslo")
    assert (repository.path / "argosy.yaml").read_text().endswith(said)


def test_the_last_listed_cluster_that_leaves_ends_applying(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"argosy.yaml": settings({"name": "member1"})})
    ended = argosy(repository, capsys, "cluster", "unjoin", "member1", "--disconnect")
    said = "warning: argosy.yaml lists no cluster any more: argosy reconcile only renders"
    assert (ended.code, ended.err.splitlines()[-1]) == (0, said)


def settings(*clusters: dict[str, str]) -> dict[str, Any]:
    spec = {"clusters": list(clusters)}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


class Run(NamedTuple):
    why: str
    clusters: tuple[str, ...]
    line: str
    want: list[str]


RUNS = [
    Run("a pass where nothing is said", (), "reconcile", []),
    Run("a pass over one that is listed", ("member1",), "reconcile", ["member1"]),
    Run("a pass over all others", ("*",), "reconcile", ["member1", "member2"]),
    Run("a pass with a kubeconfig", ("member1",), "reconcile --kubeconfig nowhere", ["member1", "member2"]),
    Run("a pass that asks for another", ("member1",), "reconcile --cluster member2", ["member2"]),
    Run("a pass in a member", (), "reconcile --in-cluster member2", ["member2"]),
    Run("apply where nothing is said", (), "apply", ["member1", "member2"]),
    Run("apply to one that is listed", ("member1",), "apply", ["member1"]),
    Run("apply to another", ("member1",), "apply --cluster member2", ["member2"]),
    Run("apply in a member", (), "apply --in-cluster member2", ["member2"]),
]


@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.why)
def test_a_run_asks_whom_it_reaches(case: Run, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"argosy.yaml": settings(*({"name": name} for name in case.clusters))})
    argosy(repository, capsys, "reconcile", "--accept-settings")
    ended = argosy(repository, capsys, *case.line.split())
    assert (applied(ended.out), ended.code) == (case.want, 5 if case.want else 0)


@pytest.mark.parametrize("after", [None, settings()], ids=["no file", "no list"])
def test_an_argosy_yaml_that_reaches_no_cluster_any_more_is_a_warning(
    after: dict[str, Any] | None, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a fleet whose argosy.yaml went missing would be delivered no longer, and everything looked well."""
    said = (
        "warning: argosy.yaml reached clusters until now and reaches none now:"
        " they stay as they are, and nothing heals drift\n"
        "  hint: clusters or kubeconfigs in argosy.yaml, --kubeconfig, --kubeconfigs or --in-cluster say how;"
        " 'argosy cluster unjoin' takes out one that shall be left alone\n"
    )
    repository.commit({"argosy.yaml": settings({"name": "member1"})})
    assert said not in argosy(repository, capsys, "reconcile", "--bootstrap").err
    repository.commit({"argosy.yaml": after})
    runs = [argosy(repository, capsys, "reconcile", *words) for words in (["--dry-run"], ["--in-cluster", "member1"])]
    assert [(ended.code, said in ended.err) for ended in runs] == [(0, True), (5, False)]
    # It is said until something is rendered by it, which is the last that anybody heard of clusters.
    for name, is_said in (("more", True), ("again", False)):
        repository.commit({f"{name}.yaml": a_config_map(name)})
        assert (said in argosy(repository, capsys, "reconcile").err) is is_said


def test_a_selection_that_leaves_no_cluster_says_so(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    ended = argosy(repository, capsys, "apply", "-l", "env=nowhere")
    said = "argosy: no cluster of the source has the labels 'env=nowhere'\n  hint: no cluster has any label\n"
    assert (ended.code, applied(ended.out), ended.err) == (2, [], said)


def test_an_unknown_cluster_to_run_in_is_refused(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--in-cluster", "membr1")
    said = "argosy: the source has no cluster called 'membr1'\n  hint: did you mean 'member1'?\n"
    assert (ended.code, ended.out, ended.err) == (2, "", said)
    assert repository.git("branch", "--list", "argosy/*") == ""


def test_a_listed_cluster_that_is_not_there_is_a_warning(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"argosy.yaml": settings({"name": "membr1"}, {"name": "*"})})
    said = "the source has no cluster called 'membr1'\n  hint: did you mean 'member1'?"
    out = argosy(repository, capsys, "validate").out
    assert f"warning: argosy.yaml:7: spec.clusters[0].name: {said}\n" in out


def test_one_context_for_all_others_is_refused(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"argosy.yaml": settings({"name": "*", "context": "x"})})
    said = "spec.clusters[0].context: '*' stands for many clusters, each reached by the context named like it"
    out = argosy(repository, capsys, "validate").out
    assert out.splitlines()[0] == f"argosy.yaml:7: {said}"


def test_a_file_for_all_others_gives_nobody_its_current_context(tmp_path: Path) -> None:
    cluster = {"name": "it", "cluster": {"server": "https://it"}}
    context = {"name": "member1", "context": {"cluster": "it", "user": "me"}}
    path = tmp_path / "config"
    path.write_bytes(emit({"clusters": [cluster], "contexts": [context], "current-context": "member1"}))
    access = [ClusterAccess(name="*", kubeconfig=str(path))]
    contexts = Contexts(access=access, files=[tmp_path / "usual"])
    found = [contexts.find(name) for name in ("member1", "member2")]
    assert [isinstance(each, Failure) or each.name for each in found] == ["member1", True]


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        ((), "argosy reconcile only renders: argosy.yaml says of none how it is reached"),
        (("member2",), "argosy reconcile applies to member2; it leaves member1 alone"),
        (("*",), "argosy reconcile applies to member1, member2"),
    ],
)
def test_the_doctor_says_what_a_pass_applies_to(
    clusters: tuple[str, ...], said: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"argosy.yaml": settings(*({"name": name} for name in clusters))})
    assert f"ok   clusters: {said}\n" in argosy(repository, capsys, "doctor", "--offline").out


@pytest.mark.parametrize(
    "settled", [{"kubeconfigs": "/nowhere"}, {"clusters": [{"name": "*", "kubeconfig": "/nowhere/config"}]}]
)
def test_a_kubeconfig_on_the_command_line_outranks_what_argosy_yaml_says_of_all(
    settled: dict[str, Any], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = {**settings(), "spec": settled}
    repository.commit({"argosy.yaml": manifest})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfig", "/mine")
    assert ended.code == 5
    assert ended.out.count("there is no kubeconfig at /mine") == 2
