"""Approvals by reviews on the forge: the persons behind a control, and the author of a change."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field

from reconciler.passes import asked_reviews
from reconciler.pipeline.rollouts.origins import ChangeAuthors, Review
from render.documents import parse_documents

from .build import Ended, Repository, a_cluster, a_policy, argosy, on_clusters
from .forges import HEAD, PROJECT, TOKEN, ForgeServer, Merged, serving_forge
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome")
ADA, BOB, EVE = "github:ada", "github:bob", "github:eve"
ALICE = "alice@example.com"
NOW = ("--now", "2026-03-01T09:00:00Z")
LATER = ("--now", "2026-03-01T09:10:00Z")


def fleet_file(**rollouts: Any) -> dict[str, Any]:
    spec = {"rollouts": rollouts}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


class Row(Struct, kw_only=True):
    """The persons who signed or reviewed controls, the author of the change, and whether the wave begins by that."""

    why: str
    begins: bool
    reviews: Mapping[str, Sequence[str]] = field(default_factory=dict)
    signers: Mapping[str, str] = field(default_factory=dict)
    author: str = "github:zoe"
    is_forge_asked: bool = True
    waits_for: str = ""
    approvers: Sequence[str] = ()
    reviewers: Sequence[str] = (ADA, BOB)


TWO = "waits for an approval of wave rest by 2 persons whose commit is signed or whose review counts"
ANOTHER = TWO.replace("2 persons", "another person")
COMMAND = "argosy rollout approve web -n default"
ROWS = (
    Row(why="two reviewers of one control", begins=True, reviews={"a": [ADA, BOB]}),
    Row(why="a reviewer of each of two controls", begins=True, reviews={"a": [ADA], "b": [BOB]}),
    Row(why="one reviewer twice", begins=False, reviews={"a": [ADA], "b": [ADA]}, waits_for=f"{ANOTHER}: {COMMAND}"),
    Row(why="forges know no capital letters", begins=True, reviews={"a": ["github:Ada", "github:BOB"]}),
    Row(
        why="a reviewer whom nobody lists",
        begins=False,
        reviews={"a": [ADA, EVE]},
        waits_for=f"{ANOTHER}: {COMMAND}; b is unverified",
    ),
    Row(
        why="nobody is listed",
        begins=False,
        reviews={"a": [ADA, BOB]},
        reviewers=(),
        waits_for=f"{TWO}: {COMMAND}; a is unverified, b is unverified",
    ),
    Row(
        why="a signer and a reviewer may be one person",
        begins=False,
        reviews={"a": [ADA]},
        signers={"b": ALICE},
        waits_for=f"{ANOTHER}: {COMMAND}",
    ),
    Row(
        why="who made the change is none of its approvers",
        begins=False,
        reviews={"a": [ADA, BOB]},
        author="github:ADA",
        waits_for=f"{ANOTHER}: {COMMAND}; b is unverified",
    ),
    Row(
        why="who signed the change is none of its approvers",
        begins=False,
        signers={"a": ALICE, "b": "bob@example.com"},
        author=ALICE,
        waits_for=f"{ANOTHER}: {COMMAND}; a is by {ALICE}, who made the change",
    ),
    Row(
        why="nobody knows who made the change",
        begins=False,
        reviews={"a": [ADA, BOB]},
        is_forge_asked=False,
        waits_for=f"{TWO}: {COMMAND}; a is unverified, b is unverified",
    ),
    Row(
        why="a reviewer who is no approver",
        begins=False,
        reviews={"a": [ADA], "b": [BOB]},
        approvers=[ADA, "github:kim"],
        waits_for=f"{ANOTHER}: {COMMAND}; b is by {BOB}, who is none of the approvers",
    ),
    Row(why="two reviewers who are approvers", begins=True, reviews={"a": [ADA, BOB]}, approvers=[ADA, BOB]),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.why)
def test_reviews_of_controls(row: Row) -> None:
    settings = {"reviewers": [*row.reviewers]} if row.reviewers else {}
    policy: dict[str, Any] = {"approvers": [*row.approvers]} if row.approvers else {}
    waves = [a_wave("canary", "oslo"), a_wave("rest", approvals=2)]
    fleet = RollingFleet.of(CLUSTERS, {"argosy": fleet_file(**settings)}, waves=waves, **policy)
    fleet.origin = ChangeAuthors(authors=(row.author,), is_forge_asked=row.is_forge_asked)
    assert fleet.commit(web=web(2)).run() == ["211 Progressing", "211 Waiting"]
    fleet.reviews = {name: Review(author="github:zoe", reviewers=tuple(each)) for name, each in row.reviews.items()}
    fleet.signers = dict(row.signers)
    fleet.commit(**{name: a_control(name, fleet.change, "Approve", wave="rest") for name in ("a", "b")}).run()
    assert fleet.images()["rome"] == ("2" if row.begins else "1")
    if not row.begins:
        assert fleet.state().next_step == row.waits_for


@pytest.mark.parametrize(("confirmed_by", "left"), [([BOB], []), ([ADA], ["now"]), ([EVE], ["now"]), ([], ["now"])])
def test_a_second_person_of_the_forge_confirms_an_emergency(confirmed_by: list[str], left: list[str]) -> None:
    freeze = {"until": "2026-04-01T00:00:00Z", "reason": "a fair"}
    fleet = RollingFleet.of(
        CLUSTERS, {"argosy": fleet_file(freezes=[freeze], reviewers=[ADA, BOB])}, waves=[a_wave("all")]
    )
    fleet.reviews = {
        "now": Review(author="github:Ada"),
        "then": Review(author="github:zoe", reviewers=tuple(confirmed_by)),
    }
    fleet.commit(web=web(2)).run()
    change = fleet.change
    fleet.commit(now=a_control("now", change, "Emergency", reason="orders are lost")).run()
    fleet.commit(then=a_control("then", change, "Confirm", reason="orders are lost")).run()
    assert fleet.latest is not None
    assert [each.name for each in fleet.latest.built.rolled.emergencies] == left


@pytest.mark.parametrize(("author", "phase"), [("github:zoe", "444 Completed"), (ADA, "211 Progressing")])
def test_an_approver_of_the_forge_expedites_the_change_of_somebody_else(author: str, phase: str) -> None:
    waves = [a_wave("canary", "oslo"), a_wave("rest")]
    files = {"argosy": fleet_file(reviewers=[ADA])}
    fleet = RollingFleet.of(CLUSTERS, files, waves=waves, onNewChange="Expedite", approvers=[ADA])
    fleet.origin = ChangeAuthors(authors=(author,), is_forge_asked=True)
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    fleet.commit(web=web(4)).run()
    fleet.unwell = set() if author != ADA else fleet.unwell
    fleet.reviews = {"hurry": Review(author="github:kim", reviewers=(ADA,))}
    newest = fleet.state().queue[-1].digest
    fleet.commit(hurry=a_control("hurry", newest, "Expedite", reason="orders are lost")).run()
    assert fleet.told[-1] == phase
    assert ("hurry expedites nothing: it is by github:ada, who made the change" in fleet.said) == (author == ADA)


class Scene(Struct, kw_only=True):
    """A fleet whose forge knows who merged what, and a change of which its second wave waits for two persons."""

    repository: Repository
    hub: Repository
    forge: ForgeServer
    change: str = ""

    def merge(self, files: Mapping[str, Any], author: str, *reviews: tuple[str, str, str]) -> str:
        """Merge a pull request by a commit of the forge."""
        repository = self.repository
        repository.git("checkout", "-q", "-b", "side")
        repository.commit(files)
        repository.git("checkout", "-q", "main")
        repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
        repository.git("branch", "-q", "-D", "side")
        commit = repository.git("rev-parse", "HEAD")
        self.forge.merged[commit] = Merged(author, list(reviews))
        return commit

    def approve(self, name: str, *reviews: tuple[str, str, str]) -> str:
        """Merge an approval by a pull request of zoe."""
        return self.merge({f"{name}.yaml": a_control(name, self.change, "Approve", wave="rest")}, "zoe", *reviews)

    def passed(self, capsys: pytest.CaptureFixture[str], *words: str) -> Ended:
        """A pass over what is committed."""
        self.repository.git("push", "-q", "origin", "HEAD:main")
        return argosy(self.repository, capsys, "reconcile", *words)

    def file(self, path: str) -> Any:
        return parse_documents(self.hub.show(path).encode())[0].value

    @property
    def waits_for(self) -> str:
        return str(self.file("rollouts/default/web.yaml")["nextStep"])

    @property
    def asked(self) -> list[str]:
        return [path for _, path, _, _ in self.forge.asked]


@pytest.fixture(params=["GitHub", "GitLab", "Gitea"])
def scene(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Scene]:
    kind = str(request.param)
    hub, repository = Repository.create(tmp_path / "hub.git", bare=True), Repository.create(tmp_path / "fleet")
    names = [f"{kind.lower()}:{name}" for name in ("ada", "bob", "zoe")]
    settings = fleet_file(reviewers=names)
    settings["spec"]["rendered"] = {"forge": kind}
    files = {
        "argosy.yaml": settings,
        **{f"clusters/{name}.yaml": a_cluster(name) for name in CLUSTERS},
        "web.yaml": web(1),
        "policy.yaml": a_policy("web", selectors=[WEB], placement=on_clusters()),
        "rollout.yaml": a_rollout_policy(waves=[a_wave("rest", approvals=2, allowEmpty=True)]),
    }
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    monkeypatch.setenv("ARGOSY_FORGE_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("ARGOSY_FORGE_PROJECT", PROJECT)
    with serving_forge(kind, hub) as forge:
        monkeypatch.setenv("ARGOSY_FORGE_API", forge.api)
        repository.commit(files)
        repository.git("remote", "add", "origin", str(hub.path))
        repository.git("push", "-q", "-u", "origin", "main")
        found = Scene(repository=repository, hub=hub, forge=forge)
        assert argosy(repository, capsys, "reconcile", "--bootstrap", *NOW).code == 0
        found.merge({"web.yaml": web(2)}, "ada")
        found.passed(capsys, *NOW)
        found.change = found.file("rollouts/default/web.yaml")["change"]
        yield found


def an_approval(name: str, commit: str = HEAD) -> tuple[str, str, str]:
    return name, "APPROVED", commit


def test_two_reviewers_let_a_wave_begin_and_the_author_is_none(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, kind = scene.repository, scene.forge.kind.lower()
    assert scene.asked == [], "nobody has said anything"
    scene.approve("a", an_approval("zoe"), an_approval("ada"), an_approval("Bob"))
    scene.passed(capsys, *NOW)
    assert scene.waits_for == f"{ANOTHER}: {COMMAND}", "zoe wrote it, and ada made the change"
    recorded = scene.file("speakers.yaml")
    assert [each["reviewers"] for each in recorded["reviews"]] == [[f"{kind}:Bob", f"{kind}:ada"]]
    assert [each["authors"] for each in recorded["changes"] if "authors" in each] == [[f"{kind}:ada"]]
    asked = len(scene.asked)
    assert argosy(repository, capsys, "verify").code == 0
    scene.passed(capsys, *LATER)
    assert len(scene.asked) == asked, "what is known is asked once"
    scene.merge({"b.yaml": a_control("b", scene.change, "Approve", wave="rest")}, "ada", an_approval("zoe"))
    scene.passed(capsys, *LATER)
    assert "image: web:2" in scene.hub.show("clusters/oslo/default/Deployment.apps/web.yaml")
    asked = len(scene.asked)
    scene.forge.refusal = (500, b"{}")
    assert argosy(repository, capsys, "verify").code == 0
    assert len(scene.asked) == asked, "a replay asks nobody"


def test_a_review_of_what_was_changed_afterwards_or_taken_back_counts_for_nobody(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = [an_approval("bob"), ("bob", "CHANGES_REQUESTED", HEAD), ("zoe", "COMMENTED", HEAD)]
    scene.approve("a", *judged)
    scene.passed(capsys, *NOW)
    assert scene.waits_for == f"{TWO}: {COMMAND}; a is unverified"
    if scene.forge.kind != "GitLab":  # whose projects take approvals away themselves
        scene.approve("b", an_approval("bob", "b" * 40))
        scene.passed(capsys, *LATER)
        assert scene.waits_for == f"{TWO}: {COMMAND}; a is unverified, b is unverified"


def test_reviews_beyond_a_page_count(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    comments = [("zoe", "COMMENTED", HEAD)] * 60
    scene.merge(
        {"a.yaml": a_control("a", scene.change, "Approve", wave="rest")},
        "kim",
        *comments,
        an_approval("bob"),
        an_approval("zoe"),
    )
    scene.passed(capsys, *NOW)
    assert "image: web:2" in scene.hub.show("clusters/oslo/default/Deployment.apps/web.yaml")


@pytest.mark.parametrize("scene", ["GitHub"], indirect=True)
def test_a_forge_that_is_away_makes_controls_unverified_and_is_asked_again(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.forge.refusal = (503, b"{}")
    scene.approve("a", an_approval("bob"), an_approval("kim"))
    ended = scene.passed(capsys, *NOW)
    assert (ended.code, "they are unverified" in ended.err, TOKEN in ended.err) == (0, True, False)
    assert scene.waits_for == f"{TWO}: {COMMAND}; a is unverified"
    asked = len(scene.asked)
    scene.forge.refusal = None
    scene.passed(capsys, *NOW)
    assert len(scene.asked) == asked, "not before two minutes are over"
    scene.passed(capsys, *LATER)
    assert scene.waits_for == f"{ANOTHER}: {COMMAND}"
    assert argosy(scene.repository, capsys, "verify").code == 0


@pytest.mark.parametrize("scene", ["GitHub"], indirect=True)
def test_a_forge_that_hangs_holds_up_nothing(
    scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_reviews, "SECONDS", 0.2)
    scene.forge.silence = threading.Event()
    try:
        scene.approve("a", an_approval("bob"))
        scene.repository.commit(
            {"other.yaml": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}}
        )
        ended = scene.passed(capsys, *NOW)
    finally:
        scene.forge.silence.set()
    assert (ended.code, "they are unverified" in ended.err) == (0, True)
    assert scene.waits_for == f"{TWO}: {COMMAND}; a is unverified"


@pytest.mark.parametrize("scene", ["GitHub"], indirect=True)
def test_a_control_that_came_by_no_pull_request_is_unverified(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    scene.repository.commit({"a.yaml": a_control("a", scene.change, "Approve", wave="rest", by="github:bob")})
    scene.passed(capsys, *NOW)
    assert scene.waits_for == f"{TWO}: {COMMAND}; a is unverified"


@pytest.mark.parametrize("scene", ["GitHub"], indirect=True)
def test_whoever_made_a_change_whose_place_another_took_is_none_of_its_approvers(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newer change has what the older one has not brought everywhere."""
    scene.merge({"web.yaml": web(3)}, "kim")
    scene.passed(capsys, *NOW)
    scene.change = scene.file("rollouts/default/web.yaml")["change"]
    scene.approve("a", an_approval("ada"), an_approval("bob"))
    scene.passed(capsys, *NOW)
    assert scene.waits_for == f"{ANOTHER}: {COMMAND}"


@pytest.mark.parametrize("scene", ["GitHub"], indirect=True)
def test_a_reviewer_who_is_to_count_is_accepted_first(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    text = (scene.repository.path / "argosy.yaml").read_text()
    one = f"- {ADA}"
    assert one in text
    scene.repository.commit({"argosy.yaml": text.replace(one, f"{one}\n    - {EVE}")})
    refused = scene.passed(capsys, *NOW)
    assert (refused.code, "spec.rollouts.reviewers" in refused.err) == (6, True)
