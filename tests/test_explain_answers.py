"""``argosy explain`` through the command line: what holds an object, why it is there, what is kept, what is hidden."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.names.kinds import ref_of_named_object
from render.errors import UnknownName
from render.model import ObjectRef, Template
from tests.build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
    weighted,
)
from tests.tables import each_row

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
DYNAMIC = {
    "replicaScheduling": {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    }
}
WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.io"},
    "spec": {
        "group": "example.io",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["wd"]},
    },
}


def a_roomy_cluster(name: str, pods: int) -> dict[str, Any]:
    return {**a_cluster(name), "status": {"resourceSummary": {"allocatable": {"pods": str(pods)}}}}


def an_override(name: str, kind: str, edits: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "v1", "kind": kind}],
            "overrideRules": [
                {"targetCluster": {"clusterNames": ["member1"]}, "overriders": {"plaintext": edits}},
            ],
        },
    }


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.write({f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)})
    return made


def explain(repository: Repository, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    ended = argosy(repository, capsys, "explain", *words)
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def told(text: str, title: str) -> list[str]:
    """The lines of a section, without their indentation."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(title))
    end = next((number for number in range(start, len(lines)) if not lines[number]), len(lines))
    return [line.strip() for line in lines[start + 1 : end]]


class Named(NamedTuple):
    """A name for a kind, and the object that is found, or the message."""

    noun: str
    name: str
    want: ObjectRef | str
    namespace: str = ""


WEB, OTHER = ObjectRef("apps", "Deployment", "shop", "web"), ObjectRef("apps", "Deployment", "lab", "web")
POLICY = ObjectRef("networking.k8s.io", "NetworkPolicy", "shop", "walls")
WIDGET, CRD = ObjectRef("example.io", "Widget", "shop", "one"), ObjectRef("apiextensions.k8s.io", "X", "", "widgets")
TEMPLATES = (
    *(Template(ref=ref, manifest={"apiVersion": f"{ref.group}/v1", "metadata": {}}) for ref in (WEB, OTHER, POLICY)),
    Template(ref=WIDGET, manifest={"apiVersion": "example.io/v1", "metadata": {}}),
    Template(ref=ObjectRef("", "ConfigMap", "shop", "web"), manifest={"apiVersion": "v1", "metadata": {}}),
    Template(ref=ObjectRef.of(WIDGETS), manifest=WIDGETS),
)
NAMES = [
    Named("deploy", "web", WEB, "shop"),
    Named("deployment", "web", OTHER, "lab"),
    Named("Deployments", "web", WEB, "shop"),
    Named("Deployment.apps", "web", WEB, "shop"),
    Named("deployments.v1.apps", "web", WEB, "shop"),
    Named("cm", "web", ObjectRef("", "ConfigMap", "shop", "web")),
    Named("networkpolicies", "walls", POLICY),
    Named("netpol.networking.k8s.io", "walls", POLICY),
    Named("wd", "one", WIDGET),
    Named("crd", "widgets.example.io", ObjectRef.of(WIDGETS)),
    Named(
        "deploy",
        "web",
        (
            "deploy/web may be Deployment.apps lab/web, Deployment.apps shop/web"
            "\n  hint: say which with -n or a longer kind"
        ),
    ),
    Named("crd", "widgets.example.io", ObjectRef.of(WIDGETS), "shop"),
    Named(
        "deploy", "wbe", "the source has no deploy called 'wbe' in namespace shop\n  hint: did you mean 'web'?", "shop"
    ),
    Named(
        "cm", "web", "the source has no cm called 'web' in namespace lab\n  hint: there is one in namespace shop", "lab"
    ),
    Named("deploy", "webb", "the source has no deploy called 'webb'\n  hint: did you mean 'web'?"),
    Named("deploment", "web", "the source has no objects of kind 'deploment'\n  hint: did you mean 'deployment'?"),
    Named(
        "x",
        "web",
        (
            "the source has no objects of kind 'x'"
            "\n  hint: known here: ConfigMap, CustomResourceDefinition, Deployment, NetworkPolicy, Widget"
        ),
    ),
    Named(
        "deployments.v2.apps",
        "web",
        "the source has no objects of kind 'deployments.v2.apps'\n  hint: did you mean 'deployments.v1.apps'?",
    ),
]


@each_row("case", NAMES, ids=lambda case: f"{case.noun}/{case.name}")
def test_a_kind_has_the_names_kubectl_has_for_it(case: Named) -> None:
    try:
        got: ObjectRef | str = ref_of_named_object(case.noun, case.name, case.namespace, TEMPLATES)
    except UnknownName as error:
        got = str(error)
    assert got == case.want


def test_policies_that_lost_say_why(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [
        a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("member1")),
        a_policy("one", selectors=[{**CONFIG_MAPS, "name": "one"}], placement=on_clusters("member2")),
        a_cluster_policy("top", selectors=[CONFIG_MAPS], priority=9),
    ]
    repository.commit({"one.yaml": a_config_map("one"), "policies.yaml": policies})
    text = explain(repository, capsys, "cm/one")
    rows = [" ".join(line.split()) for line in told(text, "Policies")]
    assert rows == [
        "POLICY VERDICT BY PRIORITY WHY FILE",
        "PropagationPolicy default/one claims it name 0 - policies.yaml",
        (
            "PropagationPolicy default/all lost kind 0 it selects by kind, PropagationPolicy default/one by name"
            " policies.yaml"
        ),
        (
            "ClusterPropagationPolicy top lost kind 9 a PropagationPolicy of the namespace comes before every"
            " ClusterPropagationPolicy policies.yaml"
        ),
    ]
    assert told(text, "Clusters refused")[1:] == [
        "member1    ClusterAffinity   cluster(s) did not match the placement cluster affinity constraint"
    ]


def test_an_earlier_decision_is_explained_by_the_pass_that_took_it(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement={**on_clusters("member1", "member2"), **DYNAMIC})
    clusters = {f"clusters/member{each}.yaml": a_roomy_cluster(f"member{each}", 10 * each) for each in (1, 2)}
    first = repository.commit({**clusters, "nginx.yaml": a_deployment(replicas=6), "policy.yaml": policy})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    rendered = repository.git("rev-parse", "argosy/rendered")
    repository.commit({"nginx.yaml": a_deployment(replicas=6, image="nginx:2")})
    assert argosy(repository, capsys, "reconcile").code == 0
    text = explain(repository, capsys, "deploy", "nginx")
    since = f"Decided in rendered commit {rendered[:12]}, source {first[:12]}; kept since then."
    assert told(text, "Scheduling")[:2] == [since, "PlacementChanged: its placement is new or has changed."]
    assert told(text, "Division") == told(explain(repository, capsys, "deploy", "nginx", "--rev", first), "Division")
    assert told(text, "Division")[-1].split() == ["sum", "30", "6"]
    found = json.loads(explain(repository, capsys, "deploy", "nginx", "-o", "json"))
    assert (found["decidedIn"], found["decidedFrom"]) == (rendered, first)


def test_what_nothing_asks_to_decide_tells_what_would_be_decided(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement={"replicaScheduling": weighted(member1=1, member2=1, member3=1)})
    repository.commit({"nginx.yaml": a_deployment(replicas=6), "policy.yaml": policy})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.git("update-ref", "refs/heads/tip", "argosy/rendered")
    repository.commit({"clusters/member3.yaml": a_cluster("member3")})
    assert told(explain(repository, capsys, "cluster", "member3"), "It does not hold")[1:] == [
        (
            "Deployment.apps default/nginx   nothing asks for a new decision;"
            " argosy rebalance deployment/nginx -n default would give it 2"
        )
    ]


def test_the_scheduled_condition_says_what_is_explained(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement={**on_clusters("member1"), **DYNAMIC})
    repository.commit(
        {
            "nginx.yaml": a_deployment(replicas=6),
            "policy.yaml": policy,
            "clusters/member1.yaml": a_roomy_cluster("member1", 5),
        }
    )
    shown = argosy(repository, capsys, "render", "-o", "json")
    condition = json.loads(shown.out)["bindings"][0]["status"]["conditions"][0]
    text = explain(repository, capsys, "deploy/nginx")
    assert f"{condition['reason']}: {condition['message']}" in told(text, "Scheduling")
    rows = [" ".join(line.split()) for line in told(text, "Capacity")]
    assert rows[-1] == "member1 declared 5 5 pods 5: 5 of 1"


def test_observed_capacity_says_when_it_was_recorded(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement={**on_clusters("member1"), **DYNAMIC})
    repository.commit({"nginx.yaml": a_deployment(replicas=3), "policy.yaml": policy})
    repository.git("checkout", "-q", "--orphan", "argosy/status")
    repository.git("rm", "-rfq", ".")
    facts = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ClusterFacts",
        "metadata": {"name": "member1"},
        "status": {"resourceSummary": {"allocatable": {"pods": "8"}, "allocated": {"pods": "2"}}},
    }
    status = repository.commit({"facts/member1.yaml": facts})
    repository.git("checkout", "-q", "main")
    lines = told(explain(repository, capsys, "deploy/nginx"), "Capacity")
    assert lines[1].startswith(f"What was observed is as recorded in commit {status[:12]} of 2")
    assert lines[-1].split() == ["member1", "observed", "6", "6", "pods", "6", "of", "8:", "6", "of", "1"]


def test_capacity_is_what_it_adds_up_to(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """More used than there is leaves nothing; the grades of nodes count node by node, and not the sum."""
    most = "9223372036854775807"
    models = [
        {
            "grade": grade,
            "ranges": [
                {"name": "cpu", "min": low, "max": high},
                {"name": "memory", "min": low, "max": high},
            ],
        }
        for grade, (low, high) in enumerate((("0", "2"), ("2", most)))
    ]
    template = a_deployment(replicas=1)
    template["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "500m"}}
    policy = a_policy(placement={**on_clusters("member1"), **DYNAMIC})
    member = a_cluster("member1", resourceModels=models)
    repository.commit({"nginx.yaml": template, "policy.yaml": policy, "clusters/member1.yaml": member})
    summary = {"allocatable": {"cpu": "4", "pods": "8"}, "allocated": {"cpu": "4600m"}}
    resources = "pods 8: 8 of 1, cpu 0 of 4, 600m too many: 0 of 500m"
    for modelled, row in (
        ({}, f"member1 observed 0 0 {resources}"),
        (
            {"allocatableModelings": [{"grade": 0, "count": 0}, {"grade": 1, "count": 1}]},
            (
                f"member1 observed 4 4 {resources}, but 4 by its resource model, in which a node has the least of its"
                " grade (argosy explain cluster/member1)"
            ),
        ),
    ):
        facts = {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "ClusterFacts",
            "metadata": {"name": "member1"},
            "observedAt": "2026-03-01T09:18:00Z",
            "status": {"resourceSummary": {**summary, **modelled}},
        }
        repository.git("checkout", "-q", "--orphan", "observed")
        repository.git("rm", "-rfq", ".")
        status = repository.commit({"facts/member1.yaml": facts})
        repository.git("checkout", "-q", "main")
        repository.git("branch", "-q", "-f", "argosy/status", status)
        repository.git("branch", "-q", "-D", "observed")
        lines = told(explain(repository, capsys, "deploy/nginx"), "Capacity")
        assert lines[1] == f"What was observed is as recorded in commit {status[:12]}, seen at 2026-03-01T09:18:00Z."
        assert " ".join(lines[-1].split()) == row
    grades = told(explain(repository, capsys, "cluster/member1"), "Resource model")
    assert [line.split() for line in grades[-2:]] == [
        ["GRADE", "NODES", "EACH", "HAS", "AT", "LEAST"],
        ["1", "1", "cpu", "2,", "memory", "2"],
    ]


def test_a_cluster_that_nothing_is_known_of_says_so(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    source = repository.commit({"clusters/bare.yaml": a_cluster("bare")})
    assert json.loads(explain(repository, capsys, "cluster/bare", "-o", "json")) == {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "ClusterExplanation",
        "name": "bare",
        "path": "clusters/bare.yaml",
        "source": source,
        "previous": None,
        "origin": "unknown",
    }
    assert "No capacity is known." in explain(repository, capsys, "cluster/bare")


def test_json_has_the_seats_of_a_division(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policy = a_policy(placement={"replicaScheduling": weighted(member1=2, member2=1)})
    repository.commit({"nginx.yaml": {**a_deployment(replicas=2)}, "policy.yaml": policy})
    found = json.loads(explain(repository, capsys, "deploy/nginx", "-v", "-o", "json"))
    assert found["seats"] == [
        [
            {"number": 1, "cluster": "member1", "average": 2.0},
            {"number": 2, "cluster": "member2", "average": 1.0},
        ]
    ]


SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": "default"},
    "data": {"password": "c3dvcmRmaXNo"},
}


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_a_secret_stays_one(output: str, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    edit = {"path": "/data/password", "operator": "replace", "value": "bWFybGlu"}
    repository.commit(
        {
            "secret.yaml": SECRET,
            "policy.yaml": a_policy("all", selectors=[{"apiVersion": "v1", "kind": "Secret"}]),
            "override.yaml": an_override("other", "Secret", [edit]),
        }
    )
    text = explain(repository, capsys, "secret/key", "-o", output)
    assert "/data/password" in text
    assert [word for word in ("c3dvcmRmaXNo", "bWFybGlu", "swordfish", "marlin") if word in text] == []


def test_a_failed_override_keeps_what_was_there(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    edit = {"path": "/data/nope", "operator": "remove"}
    repository.commit(
        {
            "one.yaml": a_config_map("one", here="x"),
            "policy.yaml": a_policy("all", selectors=[CONFIG_MAPS]),
            "override.yaml": an_override("other", "ConfigMap", [edit]),
        }
    )
    text = explain(repository, capsys, "cm/one", "--cluster", "member1")
    field = "spec.overrideRules[0].overriders.plaintext[0]"
    assert [" ".join(line.split()) for line in told(text, "Kept")][1:] == [
        f"member1 OverrideFailed OverridePolicy default/other: {field}: 'nope' does not exist in /data"
    ]
    assert "could not be applied" in text
    assert "Kept" not in explain(repository, capsys, "cm/one", "--cluster", "member2")


def test_released_and_unheld_objects_say_so(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policy = a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("member1"))
    repository.commit({"one.yaml": a_config_map("one"), "policy.yaml": policy, "nginx.yaml": a_deployment()})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    assert explain(repository, capsys, "deploy/nginx").splitlines()[1:] == [
        "  No policy selects it.",
        "  It goes nowhere.",
    ]
    repository.commit({"policy.yaml": None})
    text = explain(repository, capsys, "cm/one")
    assert text.splitlines()[1] == "  Released: no policy selects it; its objects stay as they are."
    assert [line.split() for line in told(text, "Kept")][1] == ["member1", "NoPolicy", "no", "policy", "selects", "it"]


class Missed(NamedTuple):
    why: str
    selector: dict[str, Any]
    verdict: str


WOULD = "No policy selects it; PropagationPolicy default/nginx would, if it were in namespace 'team' or a"
MISSED = [
    Missed("by its name", {**CONFIG_MAPS, "name": "one"}, f"{WOULD} ClusterPropagationPolicy."),
    Missed("by its labels", {**CONFIG_MAPS, "labelSelector": {}}, f"{WOULD} ClusterPropagationPolicy."),
    Missed("by its kind alone, as policies of other teams do", CONFIG_MAPS, "No policy selects it."),
    Missed("by another name", {**CONFIG_MAPS, "name": "two"}, "No policy selects it."),
]


@pytest.mark.parametrize("case", MISSED, ids=lambda case: case.why)
def test_a_policy_that_misses_an_object_by_its_namespace_is_named(
    case: Missed, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """It went nowhere, without a word about the policy that was written for it."""
    one = a_config_map("one", namespace="team")
    repository.commit({"one.yaml": one, "policy.yaml": a_policy(selectors=[case.selector])})
    assert explain(repository, capsys, "cm/one", "-n", "team").splitlines()[1:] == [
        f"  {case.verdict}",
        "  It goes nowhere.",
    ]


def test_what_another_scheduler_is_to_place_says_so(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(schedulerName="other", placement={})})
    assert explain(repository, capsys, "deploy/nginx").splitlines()[1] == (
        "  PropagationPolicy default/nginx claims it, but scheduler 'other' is to place it."
    )


def test_what_cannot_be_interpreted_says_why(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "broken"},
        "spec": {
            "target": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "customizations": {
                "replicaResource": {"luaScript": "function GetReplicas(desiredObj)\n  return nil + 1\nend"}
            },
        },
    }
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(), "broken.yaml": customization})
    verdict = explain(repository, capsys, "deploy/nginx").splitlines()[1]
    assert verdict.startswith("  PropagationPolicy default/nginx claims it, but it could not be interpreted: ")


def test_a_policy_tells_what_it_holds_and_loses(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [
        a_policy("all", selectors=[CONFIG_MAPS], placement=on_clusters("member1")),
        a_policy("one", selectors=[{**CONFIG_MAPS, "name": "one"}], placement=on_clusters("member2")),
    ]
    repository.commit({"maps.yaml": [a_config_map("one"), a_config_map("two")], "policies.yaml": policies})
    assert explain(repository, capsys, "policy/all").splitlines() == [
        "PropagationPolicy default/all (policies.yaml)",
        "  Priority 0, preemption Never.",
        "  It selects 2 objects, claims 1 and loses 1.",
        "",
        "Its selectors",
        "  SELECTOR                            OBJECTS",
        "  v1 ConfigMap in namespace default   2",
        "",
        "It claims",
        "  OBJECT                  BY     CLUSTERS",
        "  ConfigMap default/two   kind   member1",
        "",
        "It selects, but does not claim",
        "  OBJECT                  BY     CLAIMED BY                      WHY",
        (
            "  ConfigMap default/one   kind   PropagationPolicy default/one"
            "   it selects by kind, PropagationPolicy default/one by name"
        ),
    ]


def test_what_follows_says_where_it_goes(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    deployment = a_deployment()
    deployment["spec"]["template"]["spec"]["volumes"] = [{"name": "one", "configMap": {"name": "one"}}]
    policy = a_policy(placement=on_clusters("member1"), propagateDeps=True)
    repository.commit({"one.yaml": [a_config_map("one"), deployment], "policy.yaml": policy})
    outcomes = [
        argosy(repository, capsys, "explain", "cm/one", *words).out.splitlines()[2]
        for words in ((), ("--cluster", "member1"), ("--cluster", "member2"))
    ]
    along = "  It is propagated to member1 with what requires it."
    assert outcomes == [along, along, "  It does not go to member2."]


def test_a_workload_of_no_replicas_says_that_it_asks_for_none(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    def outcome() -> str:
        return argosy(repository, capsys, "explain", "deploy/nginx").out.splitlines()[2]

    def of_replicas(count: int) -> dict[str, Any]:
        deployment = a_deployment(replicas=count)
        deployment["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "fast"}
        return {"nginx.yaml": deployment}

    halves = on_clusters("member1", "member2", replicaScheduling=weighted(member1=1, member2=1))
    repository.commit({"policy.yaml": a_policy(placement=halves), **of_replicas(0)})
    assert outcome() == "  It asks for 0 replicas and goes nowhere."
    repository.commit(of_replicas(2))
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    repository.commit(of_replicas(0))
    assert outcome() == "  It asks for 0 replicas and goes to member1, member2."
    assert argosy(repository, capsys, "render", "--commit").code == 0
    held = [path for path in repository.files("argosy/rendered") if path.endswith("Deployment.apps/nginx.yaml")]
    assert sorted(path.split("/")[1] for path in held if path.startswith("clusters/")) == ["member1", "member2"]
    assert argosy(repository, capsys, "verify").code == 0
