"""Commits that are proposed: one pull request, renewed, closed, merged; and members that get what is merged alone."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.cli import run
from reconciler.forge.address import forge_of
from render.errors import ConfigError

from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, copied, on_clusters
from .fakes import FakeCluster
from .forges import PROJECT, TOKEN, ForgeServer, serving_forge
from .schemas import faults
from .served import serving_members
from .tables import each_row

pytestmark = pytest.mark.xdist_group("reconcile proposals")  # one process makes the shared fleet for all of them

FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
SELECTORS = [{"apiVersion": "v1", "kind": "ConfigMap"}]
PROPOSED, RENDERED = "argosy/proposed", "argosy/rendered"
URL = "https://forge.example.com/team/fleet/1"


MISSING = [
    ("ARGOSY_FORGE_TOKEN_FILE", "", "pull requests need a token"),
    ("ARGOSY_FORGE_TOKEN_FILE", "/nowhere", "the token file /nowhere cannot be read"),
    ("ARGOSY_FORGE_API", "", "the address of the remote does not say where the forge's API is"),
    ("ARGOSY_FORGE_API", "http://forge.example.com/api", "a token is sent through TLS alone"),
]


def settings(kind: str = "GitHub", **spec: Any) -> dict[str, Any]:
    return {**FLEET, "spec": {"rendered": {"push": "PullRequest", "forge": kind}, **spec}}


@pytest.fixture(params=["GitHub", "GitLab", "Gitea"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Scene(NamedTuple):
    """A clone, the bare repository it pushes to, and the forge that shows that."""

    fleet: Repository
    hub: Repository
    forge: ForgeServer

    def passed(self, capsys: pytest.CaptureFixture[str], *words: str) -> Ended:
        """A pass over what is committed."""
        self.fleet.git("push", "-q", "origin", "HEAD:main")
        return argosy(self.fleet, capsys, "reconcile", *words)

    def changed(self, **maps: str) -> str:
        """Commit ConfigMaps with these values; return the commit."""
        return self.fleet.commit({f"{name}.yaml": a_config_map(name, a=value) for name, value in maps.items()})

    def tip(self, branch: str) -> str:
        return self.hub.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)

    def merge(self) -> None:
        """Merge as forges do by default: by a commit of their own."""
        tree = self.hub.git("rev-parse", f"{PROPOSED}^{{tree}}")
        message = f"Merge pull request #1 from {PROPOSED}\n\nRender it"
        commit = self.hub.git("commit-tree", tree, "-p", RENDERED, "-p", PROPOSED, "-m", message)
        self.hub.git("update-ref", f"refs/heads/{RENDERED}", commit)


@contextmanager
def served_scene(kind: str, hub: Repository, fleet: Repository) -> Iterator[Scene]:
    """Serve the forge of a hub, and let passes know of it."""
    token = hub.path.parent / "token"
    token.write_text(f"{TOKEN}\n")
    with serving_forge(kind, hub) as forge, pytest.MonkeyPatch.context() as patched:
        patched.setenv("ARGOSY_FORGE_TOKEN_FILE", str(token))
        patched.setenv("ARGOSY_FORGE_API", forge.api)
        patched.setenv("ARGOSY_FORGE_PROJECT", PROJECT)
        yield Scene(fleet, hub, forge)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sequence[Repository]]:
    """Hubs and their clones, by the kind of their forge, to be copied.

    Their first commit is rendered, for there was nothing yet to merge it into.
    """

    @cache
    def made(kind: str) -> Sequence[Repository]:
        folder = tmp_path_factory.mktemp(kind)
        hub, fleet = Repository.create(folder / "hub.git", bare=True), Repository.create(folder / "fleet")
        policy = a_policy("all", selectors=SELECTORS, placement=on_clusters("member1"))
        files = {"argosy.yaml": settings(kind), "clusters/member1.yaml": a_cluster("member1"), "policy.yaml": policy}
        fleet.commit({**files, "one.yaml": a_config_map("one", a="1")}, "the fleet")
        fleet.git("remote", "add", "origin", str(hub.path))
        fleet.git("push", "-q", "-u", "origin", "main")
        with served_scene(kind, hub, fleet) as scene:
            assert run(["-q", "-C", str(fleet.path), "reconcile", "--bootstrap"]) == 0
            assert (scene.tip(RENDERED) != "", scene.tip(PROPOSED), scene.forge.asked) == (True, "", [])
        return hub, fleet

    return made


@pytest.fixture
def scene(kind: str, rendered: Callable[[str], Sequence[Repository]], tmp_path: Path) -> Iterator[Scene]:
    hub, fleet = copied(tmp_path, *rendered(kind))
    with served_scene(kind, hub, fleet) as scene:
        yield scene


@pytest.fixture
def proposed(scene: Scene, capsys: pytest.CaptureFixture[str]) -> str:
    """The second commit is proposed."""
    source = scene.fleet.commit({"one.yaml": a_config_map("one", a="2")}, "Change @one <b>")
    ended = scene.passed(capsys)
    line = f"proposed {scene.tip(PROPOSED)[:12]} on {PROPOSED}: source {source[:12]} for 1 cluster; "
    assert (ended.code, ended.out) == (0, f"{line}a pull request is opened: {URL}\n")
    return scene.tip(PROPOSED)


def test_a_change_is_proposed(scene: Scene, proposed: str, kind: str) -> None:
    source = scene.fleet.git("rev-parse", "HEAD")
    assert scene.hub.git("rev-parse", f"{proposed}^") == scene.tip(RENDERED)
    (request,) = scene.forge.requests
    assert (request["head"], request["base"], request["state"]) == (PROPOSED, RENDERED, "open")
    assert request["title"] == f"Render {source[:12]}: Change @one <b>"
    assert request["body"].startswith("### 1 cluster changes, 1 object changed\n")
    assert "| <code>member1</code> | 0 | 1 | 0 | 0 |\n" in request["body"]
    assert '@@ ConfigMap default/one in member1 @@\n- data.a: "1"\n+ data.a: "2"\n' in request["body"]
    assert f"\nThis is the rendered commit <code>{proposed[:12]}</code>. Merge it by a merge commit" in request["body"]
    token = {"GitHub": f"Bearer {TOKEN}", "GitLab": TOKEN, "Gitea": f"token {TOKEN}"}[kind]
    header = "PRIVATE-TOKEN" if kind == "GitLab" else "Authorization"
    assert {headers[header] for _, _, headers, _ in scene.forge.asked} == {token}


def test_nothing_is_pushed_or_opened_twice(scene: Scene, proposed: str, capsys: pytest.CaptureFixture[str]) -> None:
    again = scene.passed(capsys)
    assert again.out.endswith(f"; its pull request waits to be merged: {URL}\n")
    assert (scene.tip(PROPOSED), scene.forge.calls) == (proposed, ["POST"])


def test_another_change_renews_the_pull_request(
    scene: Scene, proposed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = scene.changed(one="3")
    ended = scene.passed(capsys)
    renewed = scene.tip(PROPOSED)
    assert (ended.code, "its pull request is renewed" in ended.out, renewed != proposed) == (0, True, True)
    assert scene.hub.git("rev-parse", f"{renewed}^") == scene.tip(RENDERED)
    (request,) = scene.forge.requests
    assert request["title"] == f"Render {source[:12]}: change"
    assert f"<code>{renewed[:12]}</code>" in request["body"]


@pytest.mark.usefixtures("proposed")
def test_what_is_merged_is_the_previous_commit(scene: Scene, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    scene.merge()
    scene.forge.told(scene.forge.requests[0])
    scene.forge.requests[0]["state"] = "merged" if kind == "GitLab" else "closed"
    ended = scene.passed(capsys)
    assert (ended.code, ended.out.startswith(f"unchanged: {RENDERED} {scene.tip(RENDERED)[:12]}")) == (0, True), ended
    assert (scene.tip(PROPOSED), scene.forge.calls) == ("", ["POST"])
    assert argosy(scene.fleet, capsys, "verify").code == 0
    scene.changed(one="5")
    assert "a pull request is opened" in scene.passed(capsys).out
    assert scene.hub.git("rev-parse", f"{PROPOSED}^") == scene.tip(RENDERED)


@pytest.mark.usefixtures("proposed")
def test_a_change_that_is_taken_back_closes_its_pull_request(
    scene: Scene, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.changed(one="1")
    ended = scene.passed(capsys)
    said = f"removed the branch '{PROPOSED}', which has nothing to propose, closed 1 pull request\n"
    assert (ended.code, ended.err, scene.tip(PROPOSED)) == (0, said, "")
    assert scene.forge.requests[0]["state"] == "closed"
    assert scene.forge.calls == ["POST", "PUT" if kind == "GitLab" else "PATCH"]


@pytest.mark.usefixtures("proposed")
def test_a_pull_request_that_somebody_closed_stays_closed_until_something_changes(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.forge.told(scene.forge.requests[0])
    scene.forge.requests[0]["state"] = "closed"
    assert "somebody closed its pull request" in scene.passed(capsys).out
    scene.changed(one="3")
    assert "a pull request is opened" in scene.passed(capsys).out
    assert [each["state"] for each in scene.forge.requests] == ["closed", "open"]


def maps_in(member: FakeCluster) -> dict[str, Any]:
    """The data of the fleet's ConfigMaps in a member."""
    return {name: each.get("data") for (kind, space, name), each in member.objects.items() if space == "default"}


@pytest.mark.parametrize("kind", ["GitHub"], indirect=True)
class TestOneForge:
    """Rules that no forge makes a difference to."""

    def test_members_get_what_is_merged(self, scene: Scene, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        member = FakeCluster(name="member1")
        with serving_members([member], tmp_path / "members") as served:
            reached = ("--kubeconfigs", str(served.kubeconfigs))
            assert scene.passed(capsys, *reached).code == 0
            scene.changed(one="2", two="2")
            ended = scene.passed(capsys, *reached)
            assert (ended.code, "a pull request is opened" in ended.out, "Converged" in ended.out) == (0, True, True)
            assert maps_in(member) == {"one": {"a": "1"}}
            scene.merge()
            assert scene.passed(capsys, *reached).code == 0
            assert maps_in(member) == {"one": {"a": "2"}, "two": {"a": "2"}}

    def test_a_pass_renders_nothing_while_its_proposal_waits(
        self, scene: Scene, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """Neither where no member is reached, nor where all are as they were; then the merge is noticed at once."""
        scene.changed(one="2")
        scene.passed(capsys)
        again = scene.passed(capsys, "-vv")
        assert (" render ms=" in again.err, again.out.endswith(f"; its pull request waits to be merged: {URL}\n")) == (
            False,
            True,
        )
        with serving_members([FakeCluster(name="member1")], tmp_path / "members") as served:
            reached = ("--kubeconfigs", str(served.kubeconfigs))
            lines = [scene.passed(capsys, "-vv", *reached) for _ in range(4)]
            assert ["render ms=" in each.err for each in lines][-1:] == [False], lines[-1].err
            assert lines[-1].out == lines[-2].out
            scene.merge()
            assert scene.passed(capsys, *reached).out.startswith(f"unchanged: {RENDERED} ")

    def test_a_proposal_that_somebody_touches_is_looked_after(
        self, scene: Scene, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scene.changed(one="2")
        scene.passed(capsys)
        scene.forge.requests[0]["body"] = "what a bot wrote"
        assert "its pull request is renewed" in scene.passed(capsys).out
        scene.hub.git("update-ref", "-d", f"refs/heads/{PROPOSED}")
        assert scene.passed(capsys).code == 0
        assert scene.tip(PROPOSED)
        scene.forge.told(scene.forge.requests[0])
        scene.forge.requests[0]["state"] = "closed"
        assert "somebody closed its pull request" in scene.passed(capsys).out

    def test_a_forge_that_refuses_ends_a_pass_with_4_after_the_members(
        self, scene: Scene, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        with serving_members([FakeCluster(name="member1")], tmp_path / "members") as served:
            reached = ("--kubeconfigs", str(served.kubeconfigs))
            scene.passed(capsys, *reached)
            scene.changed(one="2")
            said = json.dumps({"message": f"Resource not accessible by {TOKEN}\x1b[2J"})
            scene.forge.refusal = (403, said.encode())
            ended = scene.passed(capsys, *reached)
        host = scene.forge.api.removeprefix("http://").removesuffix("/api")
        assert (ended.code, "Converged" in ended.out, ended.err.splitlines()[-2:]) == (
            4,
            True,
            [
                f"argosy: {host} answers GET /repos/team/fleet/pulls with 403: Resource not accessible by ***\\x1b[2J",
                "  hint: let the token read the repository, and read and write its pull requests",
            ],
        ), ended

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (b"<html>", "answers with no JSON"),
            (b'{"message": "none"}', "answers with what is no pull request"),
            (b'[{"number": "x", "state": "open", "head": {"ref": "a"}, "base": {"ref": "b"}}]', "no pull request"),
            (b'"' + b"x" * (9 << 20) + b'"', "answers with more than 8 MiB"),
        ],
        ids=["no JSON", "no list", "no number", "endless"],
    )
    def test_an_answer_of_another_shape_is_said(
        self, scene: Scene, capsys: pytest.CaptureFixture[str], answer: bytes, said: str
    ) -> None:
        scene.changed(one="2")
        scene.forge.refusal = (200, answer)
        ended = scene.passed(capsys)
        assert (ended.code, said in ended.err) == (4, True), ended.err

    def test_a_json_pass_names_its_proposal(self, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        scene.changed(one="2")
        value = json.loads(scene.passed(capsys, "-o", "json").out)
        proposal = {"commit": scene.tip(PROPOSED), "branch": PROPOSED, "state": "Opened", "url": URL}
        assert (value["proposal"], value["rendered"]) == (proposal, scene.tip(RENDERED))
        assert faults(value, "Reconciliation") == []

    def test_a_dry_run_proposes_nothing(self, scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
        scene.changed(one="2")
        ended = scene.passed(capsys, "--dry-run")
        assert (ended.code, ended.out.startswith("would propose source ")) == (0, True), ended
        assert (scene.tip(PROPOSED), scene.forge.asked) == ("", [])

    @pytest.mark.parametrize("row", MISSING, ids=lambda row: f"{row[0]}={row[1]}")
    def test_what_is_missing_is_said(
        self,
        scene: Scene,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        row: tuple[str, str, str],
    ) -> None:
        name, value, said = row
        scene.changed(one="2")
        monkeypatch.setenv(name, value)
        ended = scene.passed(capsys)
        assert (ended.code, ended.err.splitlines()[-2], scene.forge.calls) == (3, f"argosy: {said}", []), ended.err


class Addressed(NamedTuple):
    """The address of a remote, and where its API is, or why that is not known."""

    address: str
    want: str


ADDRESSES = [
    Addressed("https://github.com/team/fleet.git", "GitHub https://api.github.com team/fleet"),
    Addressed("git@github.com:team/fleet.git", "GitHub https://api.github.com team/fleet"),
    Addressed("ssh://git@gitlab.example.com:2222/a/b/c.git", "GitLab https://gitlab.example.com/api/v4 a/b/c"),
    Addressed("https://me:secret@github.example.com/a/b", "GitHub https://github.example.com/api/v3 a/b"),
    Addressed("https://codeberg.org/team/fleet", "Gitea https://codeberg.org/api/v1 team/fleet"),
]


@each_row("case", ADDRESSES, ids=lambda case: case.address)
def test_the_address_of_a_remote_says_where_its_api_is(case: Addressed) -> None:
    forge = forge_of(case.address, None, {"ARGOSY_FORGE_TOKEN_FILE": "/token"})
    assert f"{forge.kind} {forge.api} {forge.project}" == case.want


UNKNOWN = [
    Addressed("https://git.example.com/team/fleet", "which forge 'git.example.com' is, is not known"),
    Addressed("https://notgithub.com/team/fleet", "which forge 'notgithub.com' is, is not known"),
    Addressed("/srv/fleet.git", "which forge this remote is, is not known"),
]


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.address)
def test_another_address_says_nothing(case: Addressed) -> None:
    with pytest.raises(ConfigError) as raised:
        forge_of(case.address, None, {"ARGOSY_FORGE_TOKEN_FILE": "/token"})
    assert raised.value.message == case.want


def test_an_address_that_argosy_yaml_names_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may push to the source could have the token sent anywhere."""
    other, fleet = Repository.create(tmp_path / "other.git", bare=True), Repository.create(tmp_path / "fleet")
    rendered = {"push": "PullRequest", "forge": "GitHub", "remote": f"file://{other.path}"}
    policy = a_policy("all", selectors=SELECTORS, placement=on_clusters("member1"))
    files = {"argosy.yaml": {**FLEET, "spec": {"rendered": rendered}}, "policy.yaml": policy}
    fleet.commit({**files, "member1.yaml": a_cluster("member1"), "one.yaml": a_config_map("one", a="1")})
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({"one.yaml": a_config_map("one", a="2")})
    monkeypatch.setenv("ARGOSY_FORGE_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("ARGOSY_FORGE_PROJECT", PROJECT)
    ended = argosy(fleet, capsys, "reconcile")
    said = "argosy: the address of the remote does not say where the forge's API is"
    assert (ended.code, ended.err.splitlines()[-2]) == (3, said), ended.err


def merged(scene: Scene, kind: str) -> None:
    """Merge what is proposed, as a person does at the forge."""
    scene.merge()
    scene.forge.told(scene.forge.requests[-1])
    scene.forge.requests[-1]["state"] = "merged" if kind == "GitLab" else "closed"


@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "with another change"])
def test_settings_are_accepted_once_and_merged(
    scene: Scene, kind: str, capsys: pytest.CaptureFixture[str], *, is_alone: bool
) -> None:
    """They wait for both, a person who accepts and one who merges, and for nobody after that."""
    files = {"argosy.yaml": settings(kind, validation="Off")}
    scene.fleet.commit(files if is_alone else {**files, "one.yaml": a_config_map("one", a="2")})
    assert scene.passed(capsys).code == 6
    accepted = scene.passed(capsys, "--accept-settings")
    assert (accepted.code, "a pull request is opened" in accepted.out) == (0, True)
    assert scene.passed(capsys).code in {0, 6}
    merged(scene, kind)
    ended = scene.passed(capsys)
    assert (ended.code, ended.out.startswith("unchanged: ")) == (0, True), ended
    scene.changed(one="5")
    assert "a pull request is opened" in scene.passed(capsys).out


def test_what_is_accepted_waits_for_its_merge_alone(
    scene: Scene, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A newer commit renews the request, and asks again only for what it changes itself."""
    scene.fleet.commit({"argosy.yaml": settings(kind, validation="Off")})
    assert scene.passed(capsys, "--accept-settings").code == 0
    assert scene.passed(capsys).code == 0
    scene.changed(one="7")
    renewed = scene.passed(capsys)
    assert (renewed.code, "its pull request is renewed" in renewed.out) == (0, True), renewed
    scene.fleet.commit({"argosy.yaml": settings(kind, validation="Off", removalGuard={"percent": 100})})
    ended = scene.passed(capsys)
    assert (ended.code, "removalGuard.percent" in ended.err, "spec.validation" in ended.err) == (6, True, False)


def test_a_place_that_is_accepted_waits_for_its_merge_alone(
    scene: Scene, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The branches move at once, and what is proposed at the new place is merged there; other clones are led on."""
    place = {"push": "PullRequest", "forge": kind, "branch": "elsewhere"}
    scene.fleet.commit({"argosy.yaml": {**FLEET, "spec": {"rendered": place}}, "one.yaml": a_config_map("one", a="2")})
    assert scene.passed(capsys).code == 6
    assert "a pull request is opened" in scene.passed(capsys, "--accept-settings").out
    assert scene.passed(capsys).code == 0
    scene.hub.git("update-ref", "refs/heads/elsewhere", PROPOSED)
    scene.forge.told(scene.forge.requests[-1])
    scene.forge.requests[-1]["state"] = "merged" if kind == "GitLab" else "closed"
    ended = scene.passed(capsys)
    assert (ended.code, ended.out.startswith("unchanged: elsewhere")) == (0, True), ended
    other = scene.hub.path.parent / "other"
    scene.fleet.git("clone", "-q", str(scene.hub.path), str(other))
    ended = argosy(Repository(other), capsys, "reconcile")
    assert (ended.code, ended.out.startswith("unchanged: elsewhere")) == (0, True), ended
