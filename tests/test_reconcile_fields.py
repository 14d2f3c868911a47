"""Fields that others write behind a pass's back: who gets them, and who is told - in memory and for real."""

import io
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.commands.wait import WaitOptions, wait_and_show
from reconciler.console.log import Log
from reconciler.deliver.reports import exit_code_of_reports, report_text
from reconciler.diff.live import live_text
from reconciler.status.branches import Pacing

from .build import a_deployment, a_policy, on_clusters
from .clusters import remove_namespaces
from .fakes import MERGE_PATCH
from .memory_fleet import WAYS, MemoryFleet, Way

IMAGE = 'spec.template.spec.containers[name="web"].image'
OWNED = f"field manager 'foo-controller' owns .{IMAGE}"
MEMBER = "member1"


class Shop(MemoryFleet):
    """A fleet of one member with a Deployment, in a namespace of its own."""

    space: str = ""

    def commit_web(self, image: str, **annotations: str) -> None:
        """Let the source ask for an image."""
        web = a_deployment("web", namespace=self.space, image=image)
        web["metadata"]["annotations"] = {"team": "shop", **annotations}
        self.repository.commit({"web.yaml": web})

    def write_behind_its_back(self, manager: str, image: str) -> None:
        """Set the image as something else in the cluster does."""
        path = f"/apis/apps/v1/namespaces/{self.space}/deployments/web"
        containers = self.members[MEMBER].read(path)["spec"]["template"]["spec"]["containers"]
        body = {"spec": {"template": {"spec": {"containers": [{**containers[0], "image": image}]}}}}
        status, answer = self.members[MEMBER].request(
            "PATCH", f"{path}?fieldManager={manager}", body, content_type=MERGE_PATCH
        )
        assert status == 200, answer

    @property
    def image(self) -> str:
        """The image that runs."""
        live = self.members[MEMBER].read(f"/apis/apps/v1/namespaces/{self.space}/deployments/web")
        return str(live["spec"]["template"]["spec"]["containers"][0]["image"])

    def live_difference(self) -> list[str]:
        """The answer of ``argosy diff --live``, which nobody gets of a cluster that pulls."""
        return [] if self.by_agent else "".join(live_text(self.run(is_observing=True))).splitlines()

    def waited(self) -> tuple[int, str]:
        """The end of a wait without patience, and what it said."""
        log = Log(stream=io.StringIO(), repository=str(self.repository.path))
        code = wait_and_show(log, WaitOptions(timeout=0), Pacing(clock=lambda: self.now))
        assert isinstance(log.stream, io.StringIO)
        return code, log.stream.getvalue()


@pytest.fixture(params=WAYS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    """The shop as it was first applied."""
    space = f"t{secrets.token_hex(4)}"
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}]
    policy = a_policy(selectors=selectors, placement=on_clusters(MEMBER), namespace=space)
    way = Way(request.param)
    made = Shop.create(tmp_path / "fleet", {MEMBER: (0, {})}, {"policy.yaml": policy}, by_agent=way.by_agent)
    assert isinstance(made, Shop)
    made.space = space
    if way.is_real:
        made.members[MEMBER] = request.getfixturevalue("members")[0]
    made.commit_web("nginx:1")
    made.run()
    yield made
    if way.is_real:
        remove_namespaces([made.members[MEMBER]], space)


def test_an_image_that_another_manager_changed_is_a_conflict_everywhere(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manager that is called a controller has no right to an image; and nobody may say that all is well."""
    web = f"Deployment.apps {shop.space}/web"
    assert shop.waited() == (0, "")
    shop.write_behind_its_back("foo-controller", "nginx:evil")
    shop.commit_web("nginx:2")
    reports = shop.run(60)
    conflict = f"{web} {MEMBER} conflict FieldManagerConflict {OWNED}"
    table = "".join(report_text(reports))
    assert [" ".join(line.split()) for line in table.splitlines()] == [
        "CLUSTER UNCHANGED WRITTEN DELETED KEPT FAILED STATE",
        f"{MEMBER} 1 0 0 0 1 Incomplete",
        "",
        "OBJECT CLUSTER ACTION REASON MESSAGE",
        conflict,
        "",
        (
            "hint for FieldManagerConflict: drop that manager's change, or set conflictResolution: Overwrite in its"
            " policy, or take all of its fields over: argosy apply --migrate-from foo-controller"
        ),
    ]
    assert (exit_code_of_reports(reports), shop.image) == (1, "nginx:evil")
    told = [f"{MEMBER}: 1 object differs", f"  ! {web} conflict (FieldManagerConflict): {OWNED}"]
    told.append(f"      {IMAGE}: nginx:evil -> nginx:2  (foo-controller")
    shown = [line.rstrip(")").partition(" 20")[0] for line in shop.live_difference()[:3]]
    assert shown == ([] if shop.by_agent else told)
    late = f"warning: {web} is not applied in {MEMBER}: AppliedFailed: FieldManagerConflict: {OWNED}\n"
    assert shop.waited() == (1, f"warning: after 0 s the fleet is not applied\n{late}")
    ended = shop.status(capsys)
    assert ended.code == 1
    assert f"AppliedFailed 2027-01-15T08:01:00Z FieldManagerConflict: {OWNED}" in " ".join(ended.out.split())
    value = shop.recorded(f"inventory/{MEMBER}.yaml")
    assert value["converged"] != shop.repository.git("rev-parse", "argosy/rendered")


def test_an_image_that_a_rule_yields_is_shown_with_its_manager(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    web = f"Deployment.apps {shop.space}/web"
    rule = {"argosy.dev/yield-fields": ".spec.template.spec.containers[*].image"}
    shop.commit_web("nginx:1", **rule)
    shop.run(60)
    shop.write_behind_its_back("foo-controller", "nginx:theirs")
    shop.commit_web("nginx:2", **rule)
    reports = shop.run(60)
    kept = f"field manager 'foo-controller' decides .{IMAGE}"
    assert (exit_code_of_reports(reports), shop.image) == (0, "nginx:theirs")
    for said in ("".join(report_text(reports)), shop.status(capsys).out):
        assert f"{web} {MEMBER} kept Yielded {kept}" in " ".join(said.split())
    equal = [f"{MEMBER}: equal", f"    {web} unchanged (UpToDate)"]
    equal.append(f"      {IMAGE}: nginx:theirs, not nginx:2: left to foo-controller")
    assert shop.live_difference() == ([] if shop.by_agent else equal)
    assert shop.waited() == (0, "")


def test_a_scale_by_hand_is_drift_unless_a_rule_leaves_it(shop: Shop) -> None:
    deployment = f"/apis/apps/v1/namespaces/{shop.space}/deployments/web"

    def scaled() -> int:
        body: dict[str, Any] = {"spec": {"replicas": 7}}
        path = f"{deployment}/scale?fieldManager=kubectl"
        path = path if hasattr(shop.members[MEMBER], "kubectl") else f"{deployment}?fieldManager=kubectl"
        status, answer = shop.members[MEMBER].request("PATCH", path, body, content_type=MERGE_PATCH)
        assert status == 200, answer
        shop.run(60)
        return int(shop.members[MEMBER].read(deployment)["spec"]["replicas"])

    assert scaled() == 2
    shop.commit_web("nginx:1", **{"argosy.dev/yield-fields": ".spec.replicas"})
    shop.run(60)
    assert scaled() == 7
