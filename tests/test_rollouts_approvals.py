"""Approvals by persons of whom it is known who they are: how many a wave takes, whose count, and what it waits for."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field

from reconciler.repository import open_repository
from reconciler.repository.signing import signer_of_file
from render.documents import parse_documents

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web

NOW = ("--now", "2026-03-01T09:00:00Z")
CLUSTERS = ("oslo", "paris", "rome")
ALICE, BOB, EVE = "alice@example.com", "bob@example.com", "eve@example.com"


class Row(Struct, kw_only=True):
    """The signers of the controls that approve of the last wave, by name of control, and whether it begins."""

    why: str
    signers: Mapping[str, str]
    begins: bool
    waits_for: str = ""
    policy: Mapping[str, Any] = field(default_factory=dict)
    wave: Mapping[str, Any] = field(default_factory=lambda: {"approvals": 2})


KNOWN = "whose commit is signed or whose review counts: argosy rollout approve web -n default"
TWO = f"waits for an approval of wave rest by 2 persons {KNOWN}"
ONE = f"waits for an approval of wave rest by one person {KNOWN}"
ANOTHER = f"waits for an approval of wave rest by another person {KNOWN}"
ROWS = (
    Row(why="two persons", signers={"a": ALICE, "b": BOB}, begins=True),
    Row(why="one person twice", signers={"a": ALICE, "b": ALICE}, begins=False, waits_for=ANOTHER),
    Row(why="one person", signers={"a": ALICE}, begins=False, waits_for=f"{ANOTHER}; b is unverified"),
    Row(why="nobody is known", signers={}, begins=False, waits_for=f"{TWO}; a is unverified, b is unverified"),
    Row(
        why="one of two is no approver",
        signers={"a": ALICE, "b": EVE},
        begins=False,
        waits_for=f"{ANOTHER}; b is by {EVE}, who is none of the approvers",
        policy={"approvers": [ALICE, BOB]},
    ),
    Row(why="two approvers", signers={"a": ALICE, "b": BOB}, begins=True, policy={"approvers": [ALICE, BOB]}),
    Row(
        why="an approval of approvers takes one of them",
        signers={"b": BOB},
        begins=True,
        policy={"approvers": [BOB]},
        wave={"approval": True},
    ),
    Row(
        why="an approval of approvers is no text",
        signers={},
        begins=False,
        waits_for=f"{ONE}; a is unverified, b is unverified",
        policy={"approvers": [BOB]},
        wave={"approval": True},
    ),
    Row(why="an approval of anybody is text", signers={}, begins=True, wave={"approval": True}),
    Row(why="one verified person", signers={"a": EVE}, begins=True, wave={"approvals": 1}),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.why)
def test_approvals_of_a_wave(row: Row) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest", **row.wave)]
    fleet = RollingFleet.of(CLUSTERS, {}, waves=waves, **row.policy)
    assert fleet.commit(web=web(2)).run() == ["211 Progressing", "211 Waiting"]
    controls = {name: a_control(name, fleet.change, "Approve", wave="rest", by="Bob <bob@x>") for name in ("a", "b")}
    fleet.signers = dict(row.signers)
    passes = fleet.commit(**controls).run()
    assert passes == (["222 Progressing", "222 Completed"] if row.begins else passes)
    if not row.begins:
        assert (fleet.images()["rome"], fleet.state().next_step) == ("1", row.waits_for)


def test_an_approval_of_another_change_counts_for_nobody() -> None:
    fleet = RollingFleet.of(CLUSTERS, {}, waves=[a_wave("rest", approvals=2)])
    fleet.commit(web=web(2)).run()
    fleet.signers = {"a": ALICE, "b": BOB}
    fleet.commit(a=a_control("a", fleet.change, "Approve", wave="rest")).run()
    fleet.commit(web=web(3)).run()
    fleet.commit(b=a_control("b", fleet.change, "Approve", wave="rest")).run()
    assert fleet.state().next_step == ANOTHER


def yaml_of(text: str) -> Any:
    return parse_documents(text.encode())[0].value


class SignedFleet(Struct, kw_only=True):
    """A repository with a wave that two persons approve of, and the keys of some."""

    repository: Repository
    keys: Path

    def public_key(self, name: str) -> str:
        """The type and the key of a person."""
        return " ".join((self.keys / f"{name}.pub").read_text().split()[:2])

    def commit_signed(self, files: Mapping[str, Any], name: str) -> str:
        """Commit files with the signature of a person."""
        self.repository.write(files)
        self.repository.git("add", "-A")
        key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={self.keys / name}")
        self.repository.git(*key, "commit", "-q", "-S", "-m", f"change by {name}")
        return self.repository.git("rev-parse", "HEAD")

    def signer_of(self, path: str, commit: str = "HEAD", folder: Path | None = None) -> str:
        """The signer of a file, among alice and bob."""
        signers = [f"{name}@example.com {self.public_key(name)}" for name in ("alice", "bob")]
        with open_repository(folder or self.repository.path) as repository:
            return signer_of_file(repository.git, repository.resolve(commit), path, signers)


@pytest.fixture
def fleet(tmp_path: Path) -> SignedFleet:
    keys = tmp_path / "keys"
    keys.mkdir()
    for name in ("alice", "bob", "eve"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(keys / name)]
        subprocess.run(command, check=True, timeout=30)
    found = SignedFleet(repository=Repository.create(tmp_path / "fleet"), keys=keys)
    signers = [f"{name}@example.com {found.public_key(name)}" for name in ("alice", "bob")]
    settings = {"rollouts": {"signers": signers}}
    found.repository.commit(
        {
            "argosy.yaml": {
                "apiVersion": "argosy.dev/v1alpha1",
                "kind": "Fleet",
                "metadata": {"name": "default"},
                "spec": settings,
            },
            **{f"clusters/{name}.yaml": a_cluster(name) for name in CLUSTERS},
            "web.yaml": web(1),
            "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
            "rollout.yaml": a_rollout_policy(waves=[a_wave("rest", approvals=2, allowEmpty=True)]),
        }
    )
    return found


def test_a_file_is_said_by_who_signed_the_commit_by_which_it_came(fleet: SignedFleet) -> None:
    repository = fleet.repository
    fleet.commit_signed({"a.yaml": a_config_map("a")}, "alice")
    fleet.commit_signed({"b.yaml": a_config_map("b")}, "bob")
    fleet.commit_signed({"e.yaml": a_config_map("e")}, "eve")
    repository.commit({"u.yaml": a_config_map("u")})
    assert [fleet.signer_of(f"{name}.yaml") for name in "abeu"] == [ALICE, BOB, "", ""]
    assert fleet.signer_of("none.yaml") == ""
    repository.commit({"a.yaml": a_config_map("a", more="1")})
    assert fleet.signer_of("a.yaml") == "", "somebody else changed it"


def test_a_merge_says_nothing_that_is_not_in_its_commits(fleet: SignedFleet) -> None:
    """Whoever merges an unsigned commit does not sign what it says, and a merge of a signed one leaves it signed."""
    repository = fleet.repository
    repository.git("checkout", "-q", "-b", "side")
    fleet.commit_signed({"a.yaml": a_config_map("a")}, "alice")
    repository.commit({"u.yaml": a_config_map("u")})
    repository.git("checkout", "-q", "-")
    repository.commit({"other.yaml": a_config_map("other")})
    key = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={fleet.keys / 'bob'}")
    repository.git(*key, "merge", "-q", "--no-ff", "-S", "-m", "merge", "side")
    assert (fleet.signer_of("a.yaml"), fleet.signer_of("u.yaml")) == (ALICE, "")


def test_the_first_commit_of_a_shallow_clone_signs_nothing(fleet: SignedFleet, tmp_path: Path) -> None:
    """It seems to bring every file, whoever wrote them."""
    fleet.repository.commit({"u.yaml": a_config_map("u")})
    fleet.commit_signed({"a.yaml": a_config_map("a")}, "alice")
    clone = tmp_path / "clone"
    fleet.repository.git("clone", "-q", "--depth=1", fleet.repository.path.as_uri(), str(clone))
    assert (fleet.signer_of("u.yaml", folder=clone), fleet.signer_of("a.yaml", folder=clone)) == ("", "")


def test_two_signed_approvals_let_a_wave_begin(fleet: SignedFleet, capsys: pytest.CaptureFixture[str]) -> None:
    repository = fleet.repository
    assert argosy(repository, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    repository.commit({"web.yaml": web(2)})
    argosy(repository, capsys, "reconcile", *NOW)
    change = yaml_of(repository.show("rollouts/default/web.yaml"))["change"]
    for name, signer in (("a", "alice"), ("again", "alice"), ("eve", "eve")):
        fleet.commit_signed({f"{name}.yaml": a_control(name, change, "Approve", wave="rest", by="Bob")}, signer)
    argosy(repository, capsys, "reconcile", *NOW)
    assert yaml_of(repository.show("rollouts/default/web.yaml"))["nextStep"] == f"{ANOTHER}; eve is unverified"
    fleet.commit_signed({"b.yaml": a_control("b", change, "Approve", wave="rest")}, "bob")
    argosy(repository, capsys, "reconcile", *NOW)
    assert "image: web:2" in repository.show("clusters/oslo/default/Deployment.apps/web.yaml")
    recorded = {each["control"]: each["signer"] for each in yaml_of(repository.show("speakers.yaml"))["speakers"]}
    assert recorded == {"a": ALICE, "again": ALICE, "b": BOB}
    assert argosy(repository, capsys, "verify").code == 0


def test_whoever_signed_a_change_is_none_of_its_approvers(
    fleet: SignedFleet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by what came last: an approval of another person's in the same pass is no change."""
    repository = fleet.repository
    assert argosy(repository, capsys, "reconcile", "--bootstrap", *NOW).code == 0
    fleet.commit_signed({"web.yaml": web(2)}, "alice")
    repository.commit({"other.yaml": a_config_map("other")})
    argosy(repository, capsys, "reconcile", *NOW)
    change = yaml_of(repository.show("rollouts/default/web.yaml"))["change"]
    for name, signer in (("a", "alice"), ("b", "bob")):
        fleet.commit_signed({f"{name}.yaml": a_control(name, change, "Approve", wave="rest")}, signer)
    argosy(repository, capsys, "reconcile", *NOW)
    found = yaml_of(repository.show("rollouts/default/web.yaml"))["nextStep"]
    assert found == f"{ANOTHER}; a is by {ALICE}, who made the change"
    assert argosy(repository, capsys, "verify").code == 0


def test_a_replay_goes_by_what_was_verified_then(
    fleet: SignedFleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs neither the keys nor the program that checks signatures."""
    repository = fleet.repository
    test_two_signed_approvals_let_a_wave_begin(fleet, capsys)
    monkeypatch.setattr("reconciler.repository.signing.signer_of_commit", lambda *_: "")
    assert argosy(repository, capsys, "verify").code == 0


def test_a_person_who_is_to_count_is_accepted_first(fleet: SignedFleet, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(fleet.repository, capsys, "reconcile", "--bootstrap", *NOW)
    text = (fleet.repository.path / "argosy.yaml").read_text()
    one = f"- alice@example.com {fleet.public_key('alice')}"
    assert one in text
    fleet.repository.commit({"argosy.yaml": text.replace(one, f"{one}\n    - {EVE} {fleet.public_key('eve')}")})
    refused = argosy(fleet.repository, capsys, "reconcile", *NOW)
    assert (refused.code, "spec.rollouts.signers" in refused.err) == (6, True)
