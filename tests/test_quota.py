"""FederatedResourceQuota: what a namespace may request in the whole fleet, and the shares of its clusters."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from overrides.admission import admit
from reconciler.record.quota_usage import quota_file, usage_of_each_quota
from reconciler.record.recorded_status import RecordedStatus
from reconciler.source.desired import Desired
from render.documents import emit, parse_documents
from render.model import ObjectRef, Template
from render.settings.feature_gates import FeatureGates
from render.settings.fleet import Fleet
from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters, weighted
from tests.memory_fleet import MemoryFleet
from tests.tables import each_row

BINDING = "bindings/shop/Deployment.apps/{}.yaml"


def _workload(name: str, replicas: int, cpu: str = "1") -> dict[str, Any]:
    deployment = a_deployment(name, replicas=replicas, namespace="shop")
    deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return deployment


def _quota(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": spec,
    }


def _fleet(tmp_path: Path, **files: Any) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    every = {"apiVersion": "apps/v1", "kind": "Deployment"}
    placement = on_clusters("lyon", "paris", replicaScheduling=weighted(lyon=1, paris=1))
    policy = a_policy("all", selectors=[every], namespace="shop", placement=placement)
    clusters = {f"c/{name}.yaml": a_cluster(name) for name in ("lyon", "paris")}
    repository.commit({"p.yaml": policy, **clusters, **{f"{name}.yaml": each for name, each in files.items()}})
    return repository


def _placed(repository: Repository, name: str) -> tuple[int, str]:
    """Return the replicas that a binding places, and the reason of its condition."""
    binding = parse_documents(repository.show(BINDING.format(name)).encode())[0].value
    clusters = binding["spec"].get("clusters") or ()
    reasons = [each["reason"] for each in binding["status"]["conditions"] if each["type"] == "Scheduled"]
    return sum(each.get("replicas", 0) for each in clusters), reasons[0]


def _rendered(repository: Repository, capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> None:
    ended = argosy(repository, capsys, "render", "--commit", *options)
    assert ended.code == code, ended.err


class Refused(NamedTuple):
    why: str
    quota: dict[str, Any]
    problems: str


REFUSED = [
    Refused(
        "a resource that the whole lacks",
        _quota(overall={"cpu": "4"}, staticAssignments=[{"clusterName": "lyon", "hard": {"memory": "1Gi"}}]),
        "spec.staticAssignments[0].hard[memory]: spec.overall does not have this resource\n"
        "  hint: add it to spec.overall, or leave it out here",
    ),
    Refused(
        "shares that add up to more than the whole",
        _quota(
            overall={"cpu": "4"},
            staticAssignments=[
                {"clusterName": "lyon", "hard": {"cpu": "3"}},
                {"clusterName": "paris", "hard": {"cpu": "1500m"}},
            ],
        ),
        "spec.overall[cpu]: is less than what is assigned to clusters",
    ),
    Refused(
        "a share of a cluster that can have no such name",
        _quota(overall={"cpu": "4"}, staticAssignments=[{"clusterName": "ly.on", "hard": {"cpu": "1"}}]),
        "spec.staticAssignments[0].clusterName: 'ly.on' is no such name: use lower-case letters, digits and '-' only,"
        " with a letter or digit at both ends",
    ),
    Refused(
        "less than nothing",
        _quota(overall={"cpu": "4"}, staticAssignments=[{"clusterName": "lyon", "hard": {"cpu": "-1"}}]),
        "spec.staticAssignments[0].hard[cpu]: must not be negative",
    ),
    Refused("half a pod", _quota(overall={"pods": "1.5"}), "spec.overall[pods]: must be a whole number"),
    Refused(
        "a name too long for a label",
        {**_quota(overall={"cpu": "1"}), "metadata": {"name": "q" * 64, "namespace": "shop"}},
        "metadata.name: is longer than 63 characters, and labels are named after it",
    ),
]


@each_row("case", REFUSED, ids=lambda case: case.why)
def test_a_quota_is_refused_in_so_many_words(case: Refused) -> None:
    assert "\n".join(map(str, admit(case.quota).problems)) == case.problems


def test_workloads_are_placed_in_one_order_until_a_quota_is_used_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 4), web=_workload("web", 4), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap", code=1)
    assert _placed(fleet, "api") == (4, "Success")
    assert _placed(fleet, "web") == (0, "QuotaExceeded")
    said = "FederatedResourceQuota(shop/shop) exceeded for resource cpu: requested sum 8, limit 6."
    assert said in " ".join(fleet.show(BINDING.format("web")).split())


def test_a_refused_change_keeps_the_previous_targets_and_shrinking_is_always_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 4), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap")
    fleet.commit({"api.yaml": _workload("api", 8)})
    _rendered(fleet, capsys, code=1)
    assert _placed(fleet, "api") == (4, "QuotaExceeded")
    fleet.commit({"q.yaml": _quota(overall={"cpu": "1"}), "api.yaml": _workload("api", 3)})
    _rendered(fleet, capsys)
    assert _placed(fleet, "api") == (3, "Success")


def test_what_one_workload_gives_back_another_gets_in_the_same_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = _fleet(tmp_path, web=_workload("web", 6), q=_quota(overall={"cpu": "6"}))
    _rendered(fleet, capsys, "--bootstrap")
    fleet.commit({"api.yaml": _workload("api", 4), "web.yaml": _workload("web", 2)})
    _rendered(fleet, capsys)
    assert (_placed(fleet, "api"), _placed(fleet, "web")) == ((4, "Success"), (2, "Success"))
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_resource_that_a_quota_does_not_limit_is_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 40), q=_quota(overall={"requests.cpu": "1", "pods": "2"}))
    _rendered(fleet, capsys, "--bootstrap")
    assert _placed(fleet, "api") == (40, "Success")
    assert argosy(fleet, capsys, "validate").out.splitlines()[:-1] == [
        "warning: q.yaml:8: spec.overall[pods]: limits nothing: what workloads request is counted",
        "  hint: assign shares of it with staticAssignments",
        "warning: q.yaml:9: spec.overall[requests.cpu]: limits nothing: what workloads request is counted",
        "  hint: write 'cpu'",
    ]


@pytest.mark.parametrize(
    "spec",
    [{"compatibility": "Karmada"}, {"featureGates": {"FederatedQuotaEnforcement": False}}],
    ids=["as in Karmada", "by the gate"],
)
def test_nothing_is_enforced_while_the_gate_is_off(
    spec: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec}
    fleet = _fleet(tmp_path, api=_workload("api", 8), q=_quota(overall={"cpu": "6"}), argosy=settings)
    facts = {
        "apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}]
    }
    fleet.commit({f"c/{name}.yaml": {**a_cluster(name), "status": facts} for name in ("lyon", "paris")})
    _rendered(fleet, capsys, "--bootstrap")
    assert _placed(fleet, "api") == (8, "Success")
    warning = "q.yaml:7: spec.overall: limits no placement while featureGates.FederatedQuotaEnforcement is false"
    assert warning in argosy(fleet, capsys, "validate").out


def test_assignments_become_resource_quotas_of_their_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shares = [{"clusterName": "paris", "hard": {"cpu": "4"}}, {"clusterName": "lyon", "hard": {"cpu": "2"}}]
    quota = _quota(overall={"cpu": "8"}, staticAssignments=[*shares, {"clusterName": "nowhere", "hard": {"cpu": "1"}}])
    fleet = _fleet(tmp_path, q=quota)
    _rendered(fleet, capsys, "--bootstrap")
    assert fleet.show("clusters/paris/shop/ResourceQuota/shop.yaml") == (
        'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: shop\n  namespace: shop\nspec:\n  hard:\n    cpu: "4"'
    )
    assert fleet.files(under="clusters") == [
        "clusters/lyon/_cluster/Namespace/shop.yaml",
        "clusters/lyon/shop/ResourceQuota/shop.yaml",
        "clusters/paris/_cluster/Namespace/shop.yaml",
        "clusters/paris/shop/ResourceQuota/shop.yaml",
    ]
    fleet.commit(
        {"q.yaml": _quota(overall={"cpu": "8"}, staticAssignments=shares[:1])}, "Less\n\nArgosy-Allow-Removal: lyon 1"
    )
    _rendered(fleet, capsys)
    assert "clusters/lyon/shop/ResourceQuota/shop.yaml" not in fleet.files()
    assert argosy(fleet, capsys, "verify").code == 0


def test_a_template_of_the_same_name_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"hard": {"pods": "9"}},
    }
    selector = {"apiVersion": "v1", "kind": "ResourceQuota"}
    policy = a_policy("quotas", selectors=[selector], namespace="shop", placement=on_clusters("paris"))
    quota = _quota(overall={"cpu": "8"}, staticAssignments=[{"clusterName": "paris", "hard": {"cpu": "4"}}])
    fleet = _fleet(tmp_path, q=quota, own=own, own_policy=policy)
    _rendered(fleet, capsys, "--bootstrap")
    assert 'pods: "9"' in fleet.show("clusters/paris/shop/ResourceQuota/shop.yaml")


def test_status_tells_what_is_used_of_a_quota(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = _fleet(tmp_path, api=_workload("api", 4), q=_quota(overall={"cpu": "6", "memory": "64Gi", "pods": "9"}))
    _rendered(fleet, capsys, "--bootstrap")
    lines = argosy(fleet, capsys, "status").out.splitlines()
    at = lines.index("QUOTA       RESOURCE   USED   LIMIT")
    assert [line.split() for line in lines[at + 1 : at + 4]] == [
        ["shop/shop", "cpu", "4", "6"],
        ["memory", "4Gi", "64Gi"],
        ["pods", "0", "9"],
    ]
    value = parse_documents(argosy(fleet, capsys, "status", "-o", "json").out.encode())[0].value
    assert value["quotas"] == [
        {
            "quota": "shop/shop",
            "limits": {"cpu": "6", "memory": "64Gi", "pods": "9"},
            "used": {"cpu": "4", "memory": "4Gi"},
            "clusters": {},
        }
    ]


def _a_report(status: Any, applied: str = "True") -> dict[str, Any]:
    return {
        "metadata": {"name": "shop"},
        "status": {"conditions": [{"type": "Applied", "status": applied}], "manifestStatuses": [{"status": status}]},
    }


def test_reports_of_members_are_the_usage_where_nothing_is_enforced() -> None:
    shares = [{"clusterName": name, "hard": {"cpu": "4"}} for name in ("paris", "lyon", "rome", "oslo")]
    quota = _quota(overall={"cpu": "16"}, staticAssignments=shares)
    reports = {
        "paris": _a_report({"hard": {"cpu": "4"}, "used": {"cpu": "2500m", "pods": "3"}}),
        "lyon": _a_report({"hard": {"cpu": "4"}, "used": {"cpu": "1"}}),
        "rome": _a_report({"used": {"cpu": "1"}}, applied="False"),
        "oslo": _a_report({"used": {"cpu": "many"}}),
    }
    files = {f"works/{name}/shop/ResourceQuota/shop.yaml": emit(report) for name, report in reports.items()}
    template = Template(ref=ObjectRef.of(quota), manifest=quota)
    desired = Desired(fleet=Fleet(feature_gates=FeatureGates(federated_quota_enforcement=False)), quotas=(template,))
    (usage,) = usage_of_each_quota(desired, (), RecordedStatus(files=files))
    assert quota_file(usage).status == {
        "overall": {"cpu": "16"},
        "overallUsed": {"cpu": "3500m", "pods": "3"},
        "aggregatedStatus": [
            {"clusterName": "lyon", "hard": {"cpu": "4"}, "used": {"cpu": "1"}},
            {"clusterName": "paris", "hard": {"cpu": "4"}, "used": {"cpu": "2500m", "pods": "3"}},
        ],
    }


def test_a_pass_records_the_usage_of_a_quota(tmp_path: Path) -> None:
    placement = {"replicaScheduling": weighted(lyon=1, paris=1)}
    policy = a_policy(
        "all", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], namespace="shop", placement=placement
    )
    files = {"api.yaml": _workload("api", 4), "policy.yaml": policy, "q.yaml": _quota(overall={"cpu": "6"})}
    room = (1, {"cpu": "8", "memory": "16Gi", "pods": "110"})
    fleet = MemoryFleet.create(tmp_path / "fleet", {"lyon": room, "paris": room}, files)
    fleet.run()
    recorded = fleet.recorded("quotas/shop/shop.yaml")
    assert recorded["status"] == {"overall": {"cpu": "6"}, "overallUsed": {"cpu": "4"}}
    fleet.repository.commit({"q.yaml": None})
    fleet.run(10)
    assert "quotas/shop/shop.yaml" not in fleet.repository.files("argosy/status")
