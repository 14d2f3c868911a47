"""A push to a bare repository changes the objects of three real API servers within seconds; drift is healed."""

import shutil
import time
from pathlib import Path

import pytest

from reconciler.ledger.notices import Notice
from reconciler.members.opening import MemberAccess, Members
from reconciler.run.notices.channels import Channel, ChannelKind, send_to_channel
from reconciler.run.notices.conditions import Message

from .build import Repository, a_cluster, a_config_map, a_policy, on_clusters
from .clusters import Member
from .controllers import controller, rendered_source
from .waiting import eventually

pytestmark = pytest.mark.cluster

NAMES = ("member1", "member2", "member3")
SPACE = "run-e2e"
PATH = f"/api/v1/namespaces/{SPACE}/configmaps/settings"


def test_notices_are_events_once(members: tuple[Member, ...]) -> None:
    member, channel = members[0], Channel(kind=ChannelKind.EVENTS, context=members[0].name)
    member.request("POST", "/api/v1/namespaces", {"metadata": {"name": "argosy-system"}})
    notices = (Notice(text="cluster west does not answer"), Notice(text="é" * 2000, is_solved=True))
    message = Message(id="f" * 40, fleet="shop", source="a", rendered="b", notices=notices)
    access = Members(MemberAccess(kubeconfig=str(member.kubeconfig)))
    for _ in range(2):
        assert send_to_channel(channel, message, access.open)
    found = member.read("/apis/events.k8s.io/v1/namespaces/argosy-system/events")["items"]
    ours = {each["metadata"]["name"]: each for each in found if each["reportingController"] == "argosy"}
    try:
        assert [(each["reason"], each["regarding"]["name"]) for _, each in sorted(ours.items())] == [
            ("ConditionChanged", "shop"),
            ("ConditionSolved", "shop"),
        ]
    finally:
        for name in ours:
            member.request("DELETE", f"/apis/events.k8s.io/v1/namespaces/argosy-system/events/{name}")


def text_in(member: Member) -> str:
    found = member.read(PATH)
    return str(found["data"]["text"]) if found else ""


def test_a_push_changes_the_objects_of_three_servers_within_five_seconds(
    members: tuple[Member, ...], tmp_path: Path
) -> None:
    bare, work = Repository.create(tmp_path / "fleet.git", bare=True), Repository.create(tmp_path / "work")
    kubeconfigs = tmp_path / "kubeconfigs"
    kubeconfigs.mkdir()
    for member in members:
        shutil.copy(member.kubeconfig, kubeconfigs / f"{member.name}.yaml")
    everything = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    policy = a_policy("all", selectors=everything, namespace=SPACE, placement=on_clusters(*NAMES))
    work.commit({**{f"{name}.yaml": a_cluster(name) for name in NAMES}, "policy.yaml": policy})

    def pushed(text: str) -> str:
        commit = work.commit({"settings.yaml": a_config_map("settings", namespace=SPACE, text=text)})
        work.git("push", "-q", str(bare.path), "main")
        return commit

    pushed("first")
    try:
        with controller(tmp_path, str(bare.path), "--bootstrap", "--kubeconfigs", str(kubeconfigs)) as argosy:
            eventually(lambda: {text_in(each) for each in members} == {"first"}, "the first objects", seconds=60)
            argosy.says("pass ended code=0")
            begun = time.monotonic()
            commit = pushed("second")
            eventually(lambda: {text_in(each) for each in members} == {"second"}, "the new objects", seconds=60)
            took = time.monotonic() - begun
            status = bare.git("rev-parse", "argosy/status")
            argosy_saw = eventually(lambda: argosy.said.count("pass cause=change"), "the pass of the push")
            assert argosy.ended() == 0
    finally:
        for member in members:
            member.request("DELETE", f"/api/v1/namespaces/{SPACE}")
    assert took < 5
    assert (rendered_source(bare.path), argosy_saw, bool(status)) == (commit, 1, True)


def test_drift_is_healed_by_a_controller_that_nobody_tells(members: tuple[Member, ...], tmp_path: Path) -> None:
    member, space = members[0], "run-drift"
    path = f"/api/v1/namespaces/{space}/configmaps/settings"
    work = Repository.create(tmp_path / "work")
    policy = a_policy(
        "all", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], namespace=space, placement=on_clusters("member1")
    )
    settings = a_config_map("settings", namespace=space, text="right")
    work.commit({"member1.yaml": a_cluster("member1"), "policy.yaml": policy, "settings.yaml": settings})
    options = ("--bootstrap", "--kubeconfig", str(member.kubeconfig), "--drift", "1s", "--inside", "0")
    try:
        with controller(tmp_path, str(work.path), *options) as argosy:
            eventually(lambda: member.read(path), "the object", seconds=60)
            argosy.says("pass cause=drift")
            member.request("DELETE", path)
            eventually(lambda: member.read(path), "the object again", seconds=60)
            assert argosy.ended() == 0
        assert len(work.git("rev-list", "argosy/rendered").split()) == 1
    finally:
        member.request("DELETE", f"/api/v1/namespaces/{space}")
