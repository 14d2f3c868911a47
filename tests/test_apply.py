"""``argosy apply`` and ``argosy reconcile`` against real API servers: what was committed is what runs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.build import (
    Ended,
    Repository,
    a_cluster,
    a_config_map,
    a_policy,
    argosy,
    on_clusters,
)
from tests.clusters import Member, remove_namespaces

pytestmark = pytest.mark.cluster

SPACE = "delivered"
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}


@pytest.fixture
def kubeconfigs(members: tuple[Member, ...], tmp_path: Path) -> Iterator[Path]:
    """A folder with a kubeconfig for each member; what a test applied is gone afterwards."""
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    for member in members:
        (folder / f"{member.name}.yaml").write_text(member.kubeconfig.read_text())
    yield folder
    remove_namespaces(members, SPACE, "argosy-system")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2, 3)})
    made.write(
        {
            "policy.yaml": a_policy(
                "everything", namespace=SPACE, selectors=[CONFIG_MAPS], placement=on_clusters("member1", "member2")
            )
        }
    )
    made.commit({f"{name}.yaml": a_config_map(name, namespace=SPACE, color="red") for name in ("one", "two", "three")})
    return made


def apply(repository: Repository, capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> Ended:
    return argosy(repository, capsys, "apply", "--kubeconfigs", str(folder), *words)


def counts(ended: Ended) -> dict[str, dict[str, int]]:
    return {name: each["counts"] for name, each in json.loads(ended.out)["clusters"].items()}


def color(member: Member, name: str) -> str | None:
    found = member.read(f"/api/v1/namespaces/{SPACE}/configmaps/{name}")
    return None if found is None else found["data"]["color"]


def test_what_was_committed_is_what_runs(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    first = apply(repository, capsys, kubeconfigs, "-o", "json")
    assert (first.code, counts(first)) == (
        0,
        {"member1": {"created": 4}, "member2": {"created": 4}, "member3": {}},
    )
    assert [color(member, "one") for member in members] == ["red", "red", None]

    status = repository.git("rev-parse", "argosy/status")
    again = apply(repository, capsys, kubeconfigs, "-o", "json")
    assert counts(again) == {"member1": {"unchanged": 4}, "member2": {"unchanged": 4}, "member3": {}}
    assert repository.git("rev-parse", "argosy/status") == status


def test_drift_is_corrected_and_what_left_the_source_goes(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "reconcile", "--bootstrap", "--kubeconfigs", str(kubeconfigs)).code == 0
    members[0].kubectl("-n", SPACE, "patch", "configmap", "one", "-p", '{"data":{"color":"blue"}}')
    drift = apply(repository, capsys, kubeconfigs, "-o", "json", "--cluster", "member1")
    assert counts(drift) == {"member1": {"configured": 1, "unchanged": 3}}
    assert color(members[0], "one") == "red"

    repository.commit({"two.yaml": None})
    ended = argosy(repository, capsys, "reconcile", "--kubeconfigs", str(kubeconfigs))
    assert ended.code == 0, ended.err
    assert [color(member, "two") for member in members] == [None, None, None]
    assert [color(member, "three") for member in members] == ["red", "red", None]


def test_a_dry_run_writes_nothing_anywhere(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    ended = apply(repository, capsys, kubeconfigs, "--dry-run", "server")
    assert ended.code in {0, 1}
    assert members[0].read(f"/api/v1/namespaces/{SPACE}") is None
    assert repository.git("rev-parse", "--verify", "argosy/status", check=False) == ""


def test_a_context_that_leads_to_another_cluster_is_refused(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    apply(repository, capsys, kubeconfigs, "--cluster", "member1")
    swapped = members[2].kubeconfig.read_text().replace('"member3"', '"member1"')
    (kubeconfigs / "member1.yaml").write_text(swapped)
    ended = apply(repository, capsys, kubeconfigs, "--cluster", "member1")
    assert ended.code == 1
    assert "the context of 'member1' leads to another cluster" in ended.out
    assert members[2].read(f"/api/v1/namespaces/{SPACE}") is None


def test_a_dead_cluster_costs_itself_alone(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    dead = members[1].kubeconfig.read_text().replace(members[1].host, "https://127.0.0.1:1")
    (kubeconfigs / "member2.yaml").write_text(dead)
    ended = apply(repository, capsys, kubeconfigs, "-o", "json", "--timeout", "20s")
    states = {name: each["state"] for name, each in json.loads(ended.out)["clusters"].items()}
    assert (ended.code, states) == (7, {"member1": "Converged", "member2": "Unreachable", "member3": "Converged"})
    alone = apply(repository, capsys, kubeconfigs, "--cluster", "member2", "--timeout", "20s")
    assert alone.code == 5


def test_what_applying_would_change_is_shown_field_by_field(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    access = ("--kubeconfigs", str(kubeconfigs), "--cluster", "member1")
    secret = {**a_config_map("login", namespace=SPACE), "kind": "Secret", "data": {"password": "b2xk"}}
    also = a_policy(
        "secrets",
        namespace=SPACE,
        selectors=[{"apiVersion": "v1", "kind": "Secret"}],
        placement=on_clusters("member1"),
    )
    repository.commit({"login.yaml": secret, "secrets.yaml": also})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    missing = argosy(repository, capsys, "diff", "--live", *access)
    assert (missing.code, missing.out) == (
        1,
        "member1: 5 objects differ\n"
        f"  + Namespace {SPACE} created (Missing)\n"
        + "".join(f"  + {kind} {SPACE}/{name} created (Missing)\n" for kind, name in CREATED),
    )

    assert apply(repository, capsys, kubeconfigs, "--cluster", "member1").code == 0
    assert argosy(repository, capsys, "diff", "--live", *access) == Ended(0, "member1: equal\n", "")

    changes = {"configmap/one": '{"data":{"color":"blue"}}', "secret/login": '{"data":{"password":"bmV3"}}'}
    for name, patch in changes.items():
        members[0].kubectl("-n", SPACE, "patch", name, "-p", patch)
    ended = argosy(repository, capsys, "diff", "--live", *access)
    lines = [line.partition(" 20")[0] for line in ended.out.splitlines()]
    assert (ended.code, lines) == (
        1,
        [
            "member1: 2 objects differ",
            f"  ~ ConfigMap {SPACE}/one configured (Drifted)",
            "      data.color: blue -> red  (kubectl-patch",
            f"  ~ Secret {SPACE}/login configured (Drifted)",
            "      data.password: (hidden) -> (hidden)  (kubectl-patch",
        ],
    )
    rehearsed = apply(repository, capsys, kubeconfigs, "--cluster", "member1", "--dry-run", "server")
    assert "      data.color: blue -> red\n" in rehearsed.out
    assert "      data.password: (hidden) -> (hidden)\n" in rehearsed.out
    told = json.loads(argosy(repository, capsys, "diff", "--live", "-o", "json", *access).out)
    assert [each["fields"][0]["path"] for each in told["clusters"]["member1"]["objects"]] == [
        ".data.color",
        ".data.password",
    ]


CREATED = [("ConfigMap", "one"), ("ConfigMap", "three"), ("ConfigMap", "two"), ("Secret", "login")]


@pytest.mark.parametrize("words", [("-o", "markdown"), ("--check",), ("HEAD", "HEAD")])
def test_a_live_difference_answers_one_question(
    words: tuple[str, ...], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "diff", "--live", *words).code == 2


def uid_of(member: Member) -> str:
    return str(member.read("/api/v1/namespaces/kube-system")["metadata"]["uid"])


def rebuilt(kubeconfigs: Path, members: tuple[Member, ...]) -> Member:
    """Let member1's context lead to a cluster of no other member that somebody has put something in already."""
    (kubeconfigs / "member1.yaml").write_text(members[2].kubeconfig.read_text())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    assert members[2].request("POST", "/api/v1/namespaces", namespace)[0] == 201
    for name, value in (("one", "red"), ("two", "blue")):
        body = a_config_map(name, namespace=SPACE, color=value)
        path = f"/api/v1/namespaces/{SPACE}/configmaps?fieldManager=somebody"
        assert members[2].request("POST", path, body)[0] == 201
    return members[2]


def waited_for(repository: Repository, capsys: pytest.CaptureFixture[str]) -> Ended:
    return argosy(repository, capsys, "wait", "cluster/member1", "--timeout", "0s")


def check_that_it_is_told(repository: Repository, capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    """See that the old health of a swapped member counts for nothing, and that the way out is named."""
    status, waited = argosy(repository, capsys, "status"), waited_for(repository, capsys)
    line = (
        f"namespace is {new}, not {old}\n  hint: correct the context; if the cluster was built anew, take it in again:"
    )
    for code, said in ((status.code, status.out), (waited.code, waited.err)):
        assert (code, "member1: not applied: the last run failed (first " in said) == (1, True)
        assert f"{line} argosy cluster rejoin member1 --accept-uid {new}\n" in said


def test_a_cluster_that_was_built_anew_is_taken_in_again(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"clusters/member3.yaml": None})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    assert apply(repository, capsys, kubeconfigs).code == 0
    old, new = uid_of(members[0]), uid_of(rebuilt(kubeconfigs, members))
    refused = apply(repository, capsys, kubeconfigs, "--cluster", "member1")
    assert refused.code == 1
    assert refused.out.splitlines()[3:] == [
        "OBJECT   CLUSTER   ACTION   REASON         MESSAGE",
        (
            "-        member1   failed   WrongCluster   the context of 'member1' leads to another cluster: the UID of"
            f" its kube-system namespace is {new}, not {old}"
        ),
        "",
        (
            "hint for WrongCluster: correct the context; if the cluster was built anew, take it in again:"
            f" argosy cluster rejoin member1 --accept-uid {new}"
        ),
    ]
    check_that_it_is_told(repository, capsys, old, new)
    words = ("cluster", "rejoin", "member1", "--kubeconfigs", str(kubeconfigs))
    theirs = "it is in the cluster already, different and not ours"
    found = [
        f"  Namespace {SPACE}: to adopt (Equal): it was there already, as wanted",
        f"  ConfigMap {SPACE}/one: to adopt (Equal): it was there already, as wanted",
        f"  ConfigMap {SPACE}/three: to create (Missing)",
        f"  ConfigMap {SPACE}/two: in conflict (NotOurs): {theirs} (managers: somebody)",
        "4 objects: 1 to create, 2 to adopt, 1 in conflict",
        "next:",
    ]
    shown = argosy(repository, capsys, *words)
    head, tail = (
        f"cluster/member1 was built anew: {new}, before {old}",
        f"  argosy cluster rejoin member1 --accept-uid {new}",
    )
    assert (shown.code, shown.out.splitlines()) == (1, [head, *found, tail]), shown.err
    document = json.loads(argosy(repository, capsys, *words, "-o", "json").out)
    told = {key: document[key] for key in ("uid", "recorded", "needed", "accepted", "next")}
    assert told == {"uid": new, "recorded": old, "needed": True, "accepted": False, "next": [tail.strip()]}
    assert [each["action"] for each in document["objects"]] == ["to adopt", "to adopt", "to create", "in conflict"]
    other = argosy(repository, capsys, *words, "--accept-uid", old)
    assert (other.code, other.out) == (6, "")
    assert (
        f"the UID of member1's kube-system namespace is {new}, not {old}; nothing was recorded\n  hint: see which"
        " cluster the context leads to; argosy cluster rejoin without --accept-uid shows it" in other.err
    )
    accepted = argosy(repository, capsys, *words, "--accept-uid", new)
    head, tail = f"cluster/member1 rejoined: {new}, before {old}", "  argosy apply --cluster member1"
    assert (accepted.code, accepted.out.splitlines()) == (0, [head, *found, tail])
    assert waited_for(repository, capsys).err.endswith(" yet; it has none\n")
    again = argosy(repository, capsys, *words)
    assert (again.code, again.out) == (0, f"cluster/member1 is the recorded one: {new}\n")
    applied = apply(repository, capsys, kubeconfigs, "--cluster", "member1", "-o", "json")
    assert counts(applied) == {"member1": {"adopted": 2, "conflict": 1, "created": 1}}
    assert color(members[2], "two") == "blue"


def test_a_member_that_nobody_knows_is_not_taken_in(
    repository: Repository, kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    unknown = argosy(repository, capsys, "cluster", "rejoin", "member9", "--kubeconfigs", str(kubeconfigs))
    assert unknown.code == 2
    known = argosy(repository, capsys, "cluster", "rejoin", "member1", "--kubeconfigs", str(kubeconfigs))
    assert known.code == 0
    assert known.out.startswith("cluster/member1 is not recorded yet: ")


def a_fleet(folder: Path, *names: str, color: str) -> Repository:
    """A fleet of its own, with the name that every fleet has by default, that renders for member1."""
    made = Repository.create(folder)
    policy = a_policy("everything", namespace=SPACE, selectors=[CONFIG_MAPS], placement=on_clusters("member1"))
    made.write({"clusters/member1.yaml": a_cluster("member1"), "policy.yaml": policy})
    made.commit({f"{name}.yaml": a_config_map(name, namespace=SPACE, color=color) for name in names})
    return made


def test_two_fleets_with_one_cluster_keep_off_each_others_objects(
    members: tuple[Member, ...], kubeconfigs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = a_fleet(tmp_path / "first", "shared", "one", color="red")
    second = a_fleet(tmp_path / "second", "shared", "two", color="blue")
    for fleet in (first, second):
        assert argosy(fleet, capsys, "render", "--commit", "--bootstrap").code == 0
    assert apply(first, capsys, kubeconfigs).code == 0
    refused = apply(second, capsys, kubeconfigs)
    root = first.git("rev-parse", "argosy/rendered")[:12]
    assert refused.code == 1
    said = f"conflict   OtherFleet   it belongs to the fleet 'default' ({root})\n"
    assert f"ConfigMap {SPACE}/shared   member1   {said}" in refused.out, refused
    assert "hint for OtherFleet: let one fleet deliver it, or take it over with --take-from applyset\n" in refused.out
    everything = ("--orphans", "--yes", "--confirm-all", "--allow-removal", "*=100")
    second.commit({"shared.yaml": None, "two.yaml": None})
    assert argosy(second, capsys, "render", "--commit", "--allow-removal", "member1=100").code == 0
    assert apply(second, capsys, kubeconfigs, *everything).code == 0
    assert {name: color(members[0], name) for name in ("shared", "one", "two")} == {
        "shared": "red",
        "one": "red",
        "two": None,
    }
    quiet = apply(first, capsys, kubeconfigs, "-o", "json")
    assert (quiet.code, counts(quiet)) == (0, {"member1": {"unchanged": 3}})


@pytest.mark.parametrize("breaks", ["a file", "a guard"])
def test_drift_is_healed_while_a_source_is_refused(
    breaks: str,
    repository: Repository,
    members: tuple[Member, ...],
    kubeconfigs: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reaching = ("reconcile", "--kubeconfigs", str(kubeconfigs))
    assert argosy(repository, capsys, *reaching, "--bootstrap").code == 0
    rendered = repository.git("rev-parse", "argosy/rendered")
    gone = {f"{name}.yaml": None for name in ("one", "two", "three")}
    refused = repository.commit({"one.yaml": "kind: ConfigMap\nmetadata: ["} if breaks == "a file" else gone)
    members[0].kubectl("-n", SPACE, "patch", "configmap", "two", "-p", '{"data":{"color":"blue"}}')
    members[1].kubectl("-n", SPACE, "delete", "configmap", "three")
    ended = argosy(repository, capsys, *reaching)
    assert ended.code == (3 if breaks == "a file" else 6), ended.err
    assert f"the last good commit {rendered[:12]} stays applied: 3 clusters converged\n" in ended.err
    assert [color(member, name) for member in members[:2] for name in ("one", "two", "three")] == ["red"] * 6
    assert refused in repository.show("refusal.yaml", "argosy/status")

    repository.git("revert", "--no-edit", refused)
    assert argosy(repository, capsys, *reaching).code == 0
    assert "refusal.yaml" not in repository.files("argosy/status")


def test_one_cluster_is_held_back_while_the_other_goes_on(
    repository: Repository, members: tuple[Member, ...], kubeconfigs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of three objects leave member1, which is more than one; member2 gets the change of the third."""

    def policies(*clusters: str) -> list[dict[str, Any]]:
        chosen = {"everything": (("one",), ("member1", "member2")), "others": (("two", "three"), clusters)}
        return [
            a_policy(
                policy,
                namespace=SPACE,
                selectors=[{**CONFIG_MAPS, "name": name} for name in names],
                placement=on_clusters(*where),
            )
            for policy, (names, where) in chosen.items()
        ]

    spec = {"removalGuard": {"scope": "Cluster", "count": 1, "percent": 0}}
    head = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}
    repository.commit({"argosy.yaml": head, "policy.yaml": policies("member1", "member2")})
    reaching = ("reconcile", "--kubeconfigs", str(kubeconfigs))
    assert argosy(repository, capsys, *reaching, "--bootstrap").code == 0

    blue = a_config_map("one", namespace=SPACE, color="blue")
    repository.commit({"policy.yaml": policies("member2"), "one.yaml": blue})
    members[0].kubectl("-n", SPACE, "patch", "configmap", "two", "-p", '{"data":{"color":"green"}}')
    ended = argosy(repository, capsys, *reaching)
    said = "this change removes too much at once; member1 keeps what was there, all others go on\n"
    assert (ended.code, said in ended.err) == (6, True)
    assert [color(members[0], name) for name in ("one", "two", "three")] == ["red", "red", "red"]
    assert [color(members[1], name) for name in ("one", "two", "three")] == ["blue", "red", "red"]

    repository.commit({}, "Mean it\n\nArgosy-Allow-Removal: member1 2")
    allowed = argosy(repository, capsys, *reaching)
    assert allowed.code == 0, allowed.err
    assert [color(members[0], name) for name in ("one", "two", "three")] == ["blue", None, None]
    assert argosy(repository, capsys, "verify", "-n", "3").code == 0
