"""CronFederatedHPA in whole passes: commits when a rule fires, none in between, and the same again on replay."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from render.documents import parse_documents
from render.timing import parse_instant
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.fakes import FakeCluster
from tests.served import serving_members

BINDING = "bindings/default/Deployment.apps/nginx.yaml"


def _cron(**targets: int) -> dict[str, Any]:
    rules = [
        {"name": name, "schedule": schedule, "targetReplicas": targets[name], "timeZone": "Europe/Paris"}
        for name, schedule in (("morning", "0 8 * * 1-5"), ("evening", "0 20 * * *"))
    ]
    return {
        "apiVersion": "autoscaling.karmada.io/v1alpha1",
        "kind": "CronFederatedHPA",
        "metadata": {"name": "office", "namespace": "default"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}, "rules": rules},
    }


class Fleet:
    """A fleet of two clusters, rendered at one time after the other."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str], **replica_scheduling: Any) -> None:
        self.repository, self.capsys = Repository.create(path), capsys
        policy = a_policy(placement=on_clusters("lyon", "paris", **replica_scheduling))
        clusters = {f"c/{name}.yaml": a_cluster(name) for name in ("lyon", "paris")}
        files = {"a.yaml": a_deployment(replicas=2), "p.yaml": policy, "cron.yaml": _cron(morning=6, evening=1)}
        self.repository.commit({**files, **clusters})
        self.rendered("2026-03-02T06:00:00Z", "--bootstrap")

    def rendered(self, now: str, *options: str) -> str:
        """Render at a time; return the rendered commit."""
        ended = argosy(self.repository, self.capsys, "render", "--commit", "--now", now, *options)
        assert ended.code == 0, ended.err
        return self.repository.git("rev-parse", "argosy/rendered")

    def binding(self) -> dict[str, Any]:
        found: dict[str, Any] = parse_documents(self.repository.show(BINDING).encode())[0].value
        return found

    def replicas(self) -> list[int]:
        """Return the replicas in the manifests of the clusters."""
        path = "clusters/{}/default/Deployment.apps/nginx.yaml"
        texts = (self.repository.show(path.format(name)) for name in ("lyon", "paris"))
        return [parse_documents(text.encode())[0].value["spec"]["replicas"] for text in texts]


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    return Fleet(tmp_path / "fleet", capsys, replicaScheduling=weighted(lyon=1, paris=1))


def test_a_rule_that_fires_is_a_commit_and_nothing_else_is(fleet: Fleet) -> None:
    assert fleet.replicas() == [1, 1]
    first = fleet.rendered("2026-03-02T06:59:59Z")
    assert fleet.rendered("2026-03-02T06:30:00Z") == first
    second = fleet.rendered("2026-03-02T07:00:00Z")
    assert second != first
    assert fleet.replicas() == [3, 3]
    assert fleet.binding()["status"]["scaled"] == {
        "replicas": 6,
        "template": 2,
        "by": "office",
        "rule": "morning",
        "at": "2026-03-02T07:00:00Z",
    }
    assert "Argosy-Now: 2026-03-02T07:00:00Z" in fleet.repository.git("log", "-1", "--format=%B", second)
    assert fleet.rendered("2026-03-02T18:59:59Z") == second
    fleet.rendered("2026-03-02T19:00:00Z")
    assert fleet.binding()["spec"]["clusters"] == [{"name": "lyon", "replicas": 1}]
    assert argosy(fleet.repository, fleet.capsys, "verify", "argosy/rendered").code == 0
    assert argosy(fleet.repository, fleet.capsys, "verify", "argosy/rendered~1").code == 0


def test_every_replica_of_a_duplicated_workload_follows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = Fleet(tmp_path / "fleet", capsys)
    assert fleet.replicas() == [2, 2]
    fleet.rendered("2026-03-02T09:00:00Z")
    assert fleet.replicas() == [6, 6]


def test_a_newer_number_of_the_template_counts(fleet: Fleet) -> None:
    fleet.rendered("2026-03-02T07:00:00Z")
    fleet.repository.commit({"a.yaml": a_deployment(replicas=4)})
    fleet.rendered("2026-03-02T10:00:00Z")
    assert fleet.replicas() == [2, 2]
    assert "scaled" not in fleet.binding()["status"]


def test_diff_answers_for_another_time(fleet: Fleet) -> None:
    fleet.rendered("2026-03-02T06:10:00Z")
    ended = argosy(fleet.repository, fleet.capsys, "diff", "--now", "2026-03-02T07:00:00Z")
    assert ended.out


def test_the_outcome_says_when_a_rule_fires_next(fleet: Fleet) -> None:
    ended = argosy(fleet.repository, fleet.capsys, "render", "--now", "2026-03-02T06:10:00Z", "-o", "json")
    assert '"2026-03-02T07:00:00Z"' in ended.out


def test_a_target_that_is_not_there_is_warned_of(fleet: Fleet) -> None:
    cron = _cron(morning=6, evening=1)
    cron["spec"]["scaleTargetRef"]["name"] = "ngnix"
    fleet.repository.write({"cron.yaml": cron})
    ended = argosy(fleet.repository, fleet.capsys, "validate")
    assert ended.out.startswith(
        "warning: cron.yaml:16: spec.scaleTargetRef: there is no Deployment default/ngnix in the source, so nothing is"
        " scaled\n  hint: did you mean 'nginx'?\n"
    )


def test_explain_names_the_rule_and_the_next_one(fleet: Fleet) -> None:
    fleet.rendered("2026-03-02T07:00:00Z")
    ended = argosy(fleet.repository, fleet.capsys, "explain", "deploy/nginx", "--now", "2026-03-02T07:30:00Z")
    assert (
        "CronFederatedHPA office set 6 replicas by its rule morning at 2026-03-02T07:00:00Z, where the template says 2;"
        " next, office sets Deployment.apps default/nginx to 1 at 2026-03-02T19:00:00Z."
    ) in " ".join(ended.out.split())


def test_status_tells_what_rules_did_and_when_they_fire_next(fleet: Fleet) -> None:
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"cron": {"startingDeadlineSeconds": 60}}}
    fleet.repository.commit({"argosy.yaml": settings})
    fleet.rendered("2026-03-02T07:00:30Z")
    fleet.rendered("2026-03-02T19:30:00Z")
    assert fleet.replicas() == [3, 3]
    lines = argosy(fleet.repository, fleet.capsys, "status").out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("SCALED BY CRON"))
    assert [" ".join(line.split()) for line in lines[at + 1 : at + 3]] == [
        "Deployment.apps default/nginx office/morning 2026-03-02T07:00:00Z 2026-03-03T07:00:00Z",
        "office/evening 2026-03-02T19:00:00Z failed: it was found more than 60 seconds late 2026-03-03T19:00:00Z",
    ]
    value = parse_documents(argosy(fleet.repository, fleet.capsys, "status", "-o", "json").out.encode())[0].value
    assert [(each["object"], each["autoscaler"]) for each in value["cron"]] == [
        ("Deployment.apps default/nginx", "office")
    ]
    assert value["cron"][0]["rules"][0]["runs"] == [
        {"due": "2026-03-02T07:00:00Z", "ran": "2026-03-02T07:00:30Z", "replicas": 6}
    ]


def test_where_the_clock_here_is_wrong_that_of_the_members_counts(
    fleet: Fleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = datetime.now(UTC) + timedelta(days=7)
    members = [FakeCluster(name=name, now=later.timestamp()) for name in ("lyon", "paris")]
    with serving_members(members, tmp_path / "kubeconfigs") as served:
        ended = argosy(fleet.repository, capsys, "reconcile", "--kubeconfigs", str(served.kubeconfigs))
    assert "s behind those of most members: theirs counts" in ended.err
    said = fleet.repository.git("log", "-1", "--format=%(trailers:key=Argosy-Now,valueonly)", "argosy/rendered")
    now = parse_instant(said.strip())
    assert now is not None
    assert abs(now - later) < timedelta(minutes=2)


def test_a_clock_that_was_set_back_is_said(fleet: Fleet) -> None:
    fleet.rendered("2026-03-03T07:00:00Z")
    said = "warning: the clock shows a time before 2026-03-03T07:00:00Z, when rules of time last decided"

    def warned(now: str) -> bool:
        return said in argosy(fleet.repository, fleet.capsys, "render", "--commit", "--now", now).err

    assert [warned(f"2026-03-03T{clock}Z") for clock in ("06:58:59", "06:59:00", "07:00:00")] == [True, False, False]
