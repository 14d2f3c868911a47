"""Warnings about divisions: objects that every cluster gets whole, and numbers that each cluster gets whole."""

from typing import Any, NamedTuple

from reconciler.branches.reading import ObservedInputs
from reconciler.check.divisions import division_problems
from reconciler.pipeline.claims import claims_of
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from tests.build import a_cluster, a_deployment, a_policy, as_bytes, on_clusters
from tests.sources import source_of
from tests.tables import each_row
from tests.test_render_interpreter_scale import a_definition

TWO = on_clusters("member1", "member2")
ONE_OF_THEM = (
    "let one cluster run it: replicaSchedulingType: Duplicated, and a spread constraint by cluster with maxGroups: 1"
)
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
DIVIDED = {**TWO, "replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}}


def pods(**labels: str) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "main:1"}]}}


def an_object(api_version: str, kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "it", "namespace": "default"}, "spec": spec}


def selector_of(manifest: dict[str, Any]) -> dict[str, str]:
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}


def policy_of(*objects: dict[str, Any], placement: Any = None) -> dict[str, Any]:
    kinds = dict.fromkeys((each["apiVersion"], each["kind"]) for each in objects)
    selectors = [{"apiVersion": api_version, "kind": kind} for api_version, kind in kinds]
    return a_policy("all", selectors=selectors, placement=placement or DIVIDED)


def found(*objects: dict[str, Any], placement: Any = None, beside: tuple[Any, ...] = ()) -> list[str]:
    """Return the warnings about objects that one policy divides; what is ``beside`` them is claimed by no policy."""
    claimed = [each for each in objects if each["kind"] != "CustomResourceDefinition"]
    files = {
        "clusters.yaml": [a_cluster("member1"), a_cluster("member2")],
        "objects.yaml": [*objects, *beside],
        "policy.yaml": policy_of(*claimed, placement=placement),
    }
    return warnings_of(files)


def warnings_of(files: dict[str, Any]) -> list[str]:
    """Return the warnings about a source, given its objects by file."""
    source = source_of({name: as_bytes(content) for name, content in files.items()})
    loaded = load_source(source.files, SourceReading(source.read))
    assert (loaded.problems, loaded.lines is None) == ((), False)
    line_of = loaded.lines.line_of if loaded.lines else None
    claims = claims_of(loaded.desired, {})
    return [str(each) for each in division_problems(loaded.desired, claims, ObservedInputs(), line_of)]


class Undivided(NamedTuple):
    """Objects under one policy, and the reason and the hint of the warning (none: they are divided, or need not be)."""

    why: str
    objects: list[dict[str, Any]]
    clause: str = ""
    hint: str = ""
    placement: Any = None


def unread(kind: str, api_version: str, *, may_be_defined: bool = True) -> dict[str, str]:
    crd = ", or add its CustomResourceDefinition if that has a scale subresource" if may_be_defined else ""
    written = f"write a ResourceInterpreterCustomization for {api_version} {kind.partition('.')[0]}"
    return {
        "clause": f"nothing tells how many replicas {kind} has",
        "hint": (
            f"{written} with replicaResource and replicaRevision (see argosy interpret --show-doc){crd}; or"
            f" {ONE_OF_THEM}"
        ),
    }


ROLLOUT = an_object("argoproj.io/v1alpha1", "Rollout", replicas=9, template=pods(app="it"))
WORKLOAD = an_object("workload.example.io/v1alpha1", "Workload", replicas=3, paused=False, template=pods(app="it"))
FLINK = an_object("flink.apache.org/v1beta1", "FlinkDeployment", taskManager={"replicas": 3})
UNDIVIDED = [
    Undivided(
        "Karmada's own example", [WORKLOAD], **unread("Workload.workload.example.io", "workload.example.io/v1alpha1")
    ),
    Undivided("a Rollout", [ROLLOUT], **unread("Rollout.argoproj.io", "argoproj.io/v1alpha1")),
    Undivided(
        "a Rollout whose definition tells nothing",
        [ROLLOUT, a_definition(group="argoproj.io", kind="Rollout", name="v1alpha1", subresources={})],
        **unread("Rollout.argoproj.io", "argoproj.io/v1alpha1", may_be_defined=False),
    ),
    Undivided(
        "pods without a number",
        [an_object("example.io/v1", "Agents", run={"template": pods(app="it")})],
        **unread("Agents.example.io", "example.io/v1"),
    ),
    Undivided(
        "pods in a list",
        [
            an_object(
                "jobset.x-k8s.io/v1alpha2", "JobSet", replicatedJobs=[{"template": {"spec": {"template": pods()}}}]
            )
        ],
        **unread("JobSet.jobset.x-k8s.io", "jobset.x-k8s.io/v1alpha2"),
    ),
    Undivided(
        "a number below another field",
        [an_object("db.example.io/v1", "Cluster", storage={"instances": 3}), a_deployment()],
        **unread("Cluster.db.example.io", "db.example.io/v1"),
    ),
    Undivided(
        "a size is a number of replicas",
        [an_object("db.example.io/v1", "Cache", size=3), a_deployment()],
        **unread("Cache.db.example.io", "db.example.io/v1"),
    ),
    Undivided(
        "the size of something else",
        [
            an_object("cert-manager.io/v1", "Certificate", secretName="a", privateKey={"size": 4096}),
            an_object("db.example.io/v1", "Volume", disk={"size": 20}),
            a_deployment(),
        ],
    ),
    Undivided(
        "a custom kind alone in its policy",
        [an_object("example.io/v1", "Thing", color="red")],
        **unread("Thing.example.io", "example.io/v1"),
    ),
    Undivided(
        "one beside a workload that is divided", [an_object("example.io/v1", "Thing", color="red"), a_deployment()]
    ),
    Undivided("what has no replicas at present", [an_object("example.io/v1", "Thing", replicas=0), a_deployment()]),
    Undivided(
        "kinds of Kubernetes that have none",
        [
            an_object("v1", "Service", ports=[{"port": 80}]),
            an_object("apps/v1", "DaemonSet", selector={"matchLabels": {"app": "it"}}, template=pods(app="it")),
        ],
    ),
    Undivided(
        "a share that nothing writes",
        [FLINK],
        "nothing writes the share of a cluster into FlinkDeployment.flink.apache.org",
        "write a ResourceInterpreterCustomization for flink.apache.org/v1beta1 FlinkDeployment with replicaRevision"
        f" (see argosy interpret --show-doc), or {ONE_OF_THEM}",
    ),
    Undivided("one pod goes to one cluster", [an_object("kubeflow.org/v1", "Notebook", template=pods())]),
    Undivided(
        "several pod templates",
        [an_object("batch.volcano.sh/v1alpha1", "Job", tasks=[])],
        "Job.batch.volcano.sh has several pod templates, which nothing divides",
        ONE_OF_THEM,
    ),
    Undivided(
        "a CronJob",
        [
            an_object(
                "batch/v1",
                "CronJob",
                schedule="* * * * *",
                jobTemplate={"spec": {"template": {"spec": {"restartPolicy": "Never", **pods()["spec"]}}}},
            )
        ],
        "CronJob.batch has no replicas, and runs its Jobs by each cluster's own clock",
        ONE_OF_THEM,
    ),
    Undivided(
        "what a definition scales",
        [WORKLOAD, a_definition(group="workload.example.io", kind="Workload", name="v1alpha1")],
    ),
    Undivided(
        "what a definition scales, without a number",
        [an_object("example.io/v1", "Widget", color="red"), a_definition()],
        "Widget.example.io says its replicas in spec.replicas, where nothing is written",
        "write spec.replicas into it: its scale subresource tells replicas by it",
    ),
    Undivided("one cluster is chosen", [ROLLOUT], placement=on_clusters("member1", replicaScheduling=AGGREGATED)),
    Undivided(
        "one of two clusters is chosen",
        [ROLLOUT],
        placement={
            **TWO,
            "replicaScheduling": AGGREGATED,
            "spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}],
        },
    ),
    Undivided("nothing is divided", [ROLLOUT], placement=TWO),
]


@each_row("case", UNDIVIDED, ids=lambda case: case.why)
def test_what_every_cluster_gets_whole(case: Undivided) -> None:
    warnings = found(*case.objects, placement=case.placement)
    kind, group = case.objects[0]["kind"], case.objects[0]["apiVersion"].rpartition("/")[0]
    message = f"it divides, but {case.clause}: every cluster gets all of {kind}.{group} default/it"
    want = [f"spec.placement.replicaScheduling: {message}\n  hint: {case.hint}"] if case.clause else []
    assert [each.split(" ", 1)[1] for each in warnings] == want
    assert all(each.startswith("policy.yaml:") for each in warnings)


BANNER = an_object("shop.example.io/v1", "Banner", text="sale", weight=3, slots=4)
SELECTED_ALONE = [
    ("kinds of Kubernetes that others claim or nobody has", ["apps/v1 Deployment", "v1 ConfigMap", "batch/v1 Job"], 0),
    ("one such kind", ["v1 ConfigMap"], 0),
    ("other custom kinds", ["shop.example.io/v1 Shelf"], 1),
    ("nothing else", [], 1),
]


@each_row("why, others, count", SELECTED_ALONE)
def test_a_kind_without_replicas_need_not_be_divided_beside_what_its_policy_selects(
    why: str, others: list[str], count: int
) -> None:
    pairs = (each.split() for each in others)
    beside = [{"apiVersion": api_version, "kind": kind} for api_version, kind in pairs]
    policy = a_policy("banners", selectors=[selector_of(BANNER), *beside], placement=DIVIDED)
    looks_it = {**WORKLOAD, "metadata": {"name": "it", "namespace": "shop"}}
    also = a_policy("shop", selectors=[selector_of(looks_it), *beside], placement=DIVIDED, namespace="shop")
    files = {"all.yaml": [a_cluster("member1"), a_cluster("member2"), BANNER, looks_it, policy, also]}
    told = warnings_of(files)
    assert len([each for each in told if "Banner" in each]) == count, why
    assert len([each for each in told if "Workload" in each]) == 1, why


def test_objects_of_a_kind_are_named_together() -> None:
    objects = [{**ROLLOUT, "metadata": {"name": f"pay{number}", "namespace": "default"}} for number in range(5)]
    (warning,) = found(*objects)
    refs = ", ".join(f"Rollout.argoproj.io default/pay{number}" for number in range(3))
    assert f"every cluster gets all of {refs} and 2 more\n" in warning


REPLICAS = {"path": "/spec/replicas", "operator": "replace", "value": 4}


def an_override(kind: str, *edits: dict[str, Any], clusters: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return an override policy with a rule for each cluster, or with one for all."""
    targets = [{"targetCluster": {"clusterNames": [name]}} for name in clusters] or [{}]
    rules = [{**target, "overriders": {"plaintext": list(edits)}} for target in targets]
    versions = {"PodDisruptionBudget": "policy/v1", "HorizontalPodAutoscaler": "autoscaling/v2"}
    selector = {"apiVersion": versions.get(kind, "argoproj.io/v1alpha1"), "kind": kind}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "each", "namespace": "default"},
        "spec": {"resourceSelectors": [selector], "overrideRules": rules},
    }


@each_row("clusters", [(), ("member1", "member2"), ("member1", "member2", "member3")])
def test_overrides_that_write_replicas_are_a_division(clusters: tuple[str, ...]) -> None:
    assert found(ROLLOUT, beside=(an_override("Rollout", REPLICAS, clusters=clusters),)) == []


def test_clusters_without_such_an_override_get_all_of_it() -> None:
    (warning,) = found(ROLLOUT, beside=(an_override("Rollout", REPLICAS, clusters=("member1",)),))
    rest = "each cluster for which no override writes that number"
    assert f"has: {rest} gets all of Rollout.argoproj.io default/it\n" in warning


def test_overrides_of_other_clusters_say_nothing_about_a_division() -> None:
    (warning,) = found(ROLLOUT, beside=(an_override("Rollout", REPLICAS, clusters=("member3",)),))
    assert "has: every cluster gets all of Rollout.argoproj.io default/it\n" in warning


def a_customization(written: str) -> dict[str, Any]:
    """Return a customization of Rollouts that writes a share into a field of their spec."""
    read = "function GetReplicas(desiredObj) return desiredObj.spec.replicas, nil end"
    write = f"function ReviseReplica(desiredObj, n) desiredObj.spec.{written} = n return desiredObj end"
    return {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "rollouts"},
        "spec": {
            "target": {"apiVersion": ROLLOUT["apiVersion"], "kind": "Rollout"},
            "customizations": {"replicaResource": {"luaScript": read}, "replicaRevision": {"luaScript": write}},
        },
    }


def test_a_customization_that_writes_shares_is_enough() -> None:
    assert found(ROLLOUT, beside=(a_customization("replicas"),)) == []


def test_a_customization_that_writes_them_elsewhere_is_not() -> None:
    (warning,) = found(ROLLOUT, beside=(a_customization("count"),))
    assert warning.partition(" ")[2] == (
        "spec.placement.replicaScheduling: it divides, but the ReviseReplica of its customization changes nothing that"
        " GetReplicas of Rollout.argoproj.io reads: every cluster gets all of Rollout.argoproj.io default/it\n"
        "  hint: have it write the number that GetReplicas reads; argosy interpret tries both"
    )


class Number(NamedTuple):
    """A divided workload and what stands beside it, and the fields that are warned about, each with its message."""

    why: str
    objects: list[dict[str, Any]]
    want: list[str]


def web(replicas: int = 6, **spec: Any) -> dict[str, Any]:
    deployment = a_deployment("web", replicas=replicas)
    return {**deployment, "spec": {**deployment["spec"], **spec}}


def a_set(**spec: Any) -> dict[str, Any]:
    return an_object(
        "apps/v1",
        "StatefulSet",
        replicas=6,
        serviceName="it",
        selector={"matchLabels": {"app": "it"}},
        template=pods(app="it"),
        **spec,
    )


def a_job(**spec: Any) -> dict[str, Any]:
    return an_object(
        "batch/v1",
        "Job",
        parallelism=6,
        completions=6,
        template={"spec": {"restartPolicy": "Never", **pods()["spec"]}},
        **spec,
    )


def a_budget(**spec: Any) -> dict[str, Any]:
    return an_object("policy/v1", "PodDisruptionBudget", **{"selector": {"matchLabels": {"app": "web"}}, **spec})


def a_scaler(
    api_version: str = "autoscaling/v2", kind: str = "HorizontalPodAutoscaler", target: Any = None, **spec: Any
) -> dict[str, Any]:
    return an_object(
        api_version,
        kind,
        scaleTargetRef=target or {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        **spec,
    )


def rolling(**numbers: Any) -> dict[str, Any]:
    return {"rollingUpdate": numbers}


WHOLE = "is as many as a cluster may have in all, so that an update may"
FROM_0 = "counts pods from 0 in each cluster, so that those of small shares are never updated"
STAY = "Deployment.apps default/web is divided, and {} counts in each cluster: "
NO_EVICTION = "where that is the share of a cluster, no pod may be evicted"
BY_ITSELF = "Deployment.apps default/web is divided, and each cluster scales its share by itself"
SCALED = "Deployment.apps default/web is divided, and each cluster scales its share by these bounds: "
NUMBERS = [
    Number(
        "an Indexed Job",
        [a_job(completionMode="Indexed")],
        [
            (
                "spec.completionMode: each cluster counts the indexes of its completions from 0, so they are not"
                " divided: one runs them all"
            )
        ],
    ),
    Number("a Job without indexes", [a_job()], []),
    Number(
        "an Indexed Job of one pod at a time",
        [{**a_job(), "spec": {**a_job()["spec"], "parallelism": 1, "completionMode": "Indexed"}}],
        [],
    ),
    Number(
        "a partition",
        [a_set(updateStrategy=rolling(partition=4))],
        [f"spec.updateStrategy.rollingUpdate.partition: 4 {FROM_0}"],
    ),
    Number("a partition that holds nothing back", [a_set(updateStrategy=rolling(partition=0))], []),
    Number(
        "numbers of pods that begin elsewhere",
        [a_set(ordinals={"start": 3})],
        [
            (
                "spec.ordinals.start: 3 begins at the same number in each cluster, so that pods of different clusters"
                " have the same names"
            )
        ],
    ),
    Number(
        "a set updated all at once",
        [a_set(updateStrategy=rolling(maxUnavailable=3))],
        [f"spec.updateStrategy.rollingUpdate.maxUnavailable: 3 {WHOLE} stop all of its pods at once"],
    ),
    Number(
        "a Deployment updated all at once",
        [web(strategy=rolling(maxUnavailable=3, maxSurge=4))],
        [
            f"spec.strategy.rollingUpdate.maxSurge: 4 {WHOLE} start all of its pods at once",
            f"spec.strategy.rollingUpdate.maxUnavailable: 3 {WHOLE} stop all of its pods at once",
        ],
    ),
    Number("a Deployment updated by percentages", [web(strategy=rolling(maxUnavailable="50%", maxSurge="50%"))], []),
    Number("a Deployment updated one by one", [web(strategy=rolling(maxUnavailable=1, maxSurge=2))], []),
    Number("a Deployment that may stop anyway", [web(strategy=rolling(maxUnavailable=6))], []),
    Number(
        "a budget as large as a share",
        [web(), a_budget(minAvailable=3)],
        [f"spec.minAvailable: {STAY.format(3)}{NO_EVICTION}"],
    ),
    Number(
        "a budget smaller than a share",
        [web(), a_budget(minAvailable=2)],
        [f"spec.minAvailable: {STAY.format(2)}up to 4 stay in all"],
    ),
    Number("a budget of one", [web(), a_budget(minAvailable=1)], []),
    Number(
        "a budget of one, of shares of one",
        [web(2), a_budget(minAvailable=1)],
        [f"spec.minAvailable: {STAY.format(1)}{NO_EVICTION}"],
    ),
    Number("a percentage", [web(), a_budget(minAvailable="50%")], []),
    Number(
        "what may go",
        [web(), a_budget(maxUnavailable=2)],
        [f"spec.maxUnavailable: {STAY.format(2)}up to 4 may go at once"],
    ),
    Number(
        "what may go is all of a share",
        [web(), a_budget(maxUnavailable=3)],
        [f"spec.maxUnavailable: {STAY.format(3)}where that is the share of a cluster, all of its pods may go at once"],
    ),
    Number("a budget of other pods", [web(), a_budget(minAvailable=3, selector={"matchLabels": {"app": "api"}})], []),
    Number(
        "a budget by expressions",
        [
            web(),
            a_budget(
                minAvailable=3, selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
            ),
        ],
        [f"spec.minAvailable: {STAY.format(3)}{NO_EVICTION}"],
    ),
    Number(
        "a budget of everything",
        [web(), a_budget(minAvailable=3, selector={})],
        [f"spec.minAvailable: {STAY.format(3)}{NO_EVICTION}"],
    ),
    Number(
        "OpenKruise's budget",
        [
            web(),
            an_object(
                "policy.kruise.io/v1alpha1",
                "PodUnavailableBudget",
                targetRef={"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                minAvailable=3,
            ),
        ],
        [f"spec.minAvailable: {STAY.format(3)}{NO_EVICTION}"],
    ),
    Number(
        "bounds of an autoscaler",
        [web(), a_scaler(minReplicas=2, maxReplicas=10)],
        [f"spec.maxReplicas: {SCALED}at least 4 and at most 20 in 2 clusters, not at least 2 and at most 10"],
    ),
    Number(
        "an upper bound alone",
        [web(), a_scaler(maxReplicas=10)],
        [f"spec.maxReplicas: {SCALED}at most 20 in 2 clusters, not at most 10"],
    ),
    Number(
        "bounds of KEDA, which need no kind",
        [web(), a_scaler("keda.sh/v1alpha1", "ScaledObject", {"name": "web"}, minReplicaCount=2)],
        [f"spec.minReplicaCount: {SCALED}at least 4 in 2 clusters, not at least 2"],
    ),
    Number(
        "bounds that KEDA has by itself",
        [web(), a_scaler("keda.sh/v1alpha1", "ScaledObject", {"name": "web"})],
        [f"spec.scaleTargetRef: {SCALED}at most 200 in 2 clusters, not at most 100"],
    ),
    Number(
        "bounds of the fleet",
        [web(), a_scaler("autoscaling.karmada.io/v1alpha1", "FederatedHPA", minReplicas=2, maxReplicas=10)],
        [],
    ),
    Number(
        "bounds of another Deployment",
        [web(), a_scaler(target={"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}, maxReplicas=10)],
        [],
    ),
    Number(
        "bounds of another kind of the same name",
        [web(), a_scaler(target={"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}, maxReplicas=10)],
        [],
    ),
    Number(
        "one replica runs in one cluster, until an autoscaler makes it more",
        [web(1), a_budget(minAvailable=1), a_scaler(maxReplicas=10)],
        [f"spec.scaleTargetRef: {BY_ITSELF}"],
    ),
    Number(
        "an autoscaler of an older version",
        [web(), a_scaler("autoscaling/v1", maxReplicas=4)],
        [f"spec.maxReplicas: {SCALED}at most 8 in 2 clusters, not at most 4"],
    ),
]


@each_row("case", NUMBERS, ids=lambda case: case.why)
def test_what_is_not_divided_with_its_object(case: Number) -> None:
    warnings = found(*case.objects)
    assert [each.partition(" ")[2].partition("\n")[0] for each in warnings] == case.want
    assert all(each.startswith("objects.yaml:") and "\n  hint: " in each for each in warnings)


def test_numbers_of_rollouts_and_sets_of_other_projects() -> None:
    steps = [{"setWeight": 20}, {"setCanaryScale": {"replicas": 2}}]
    strategy = {"canary": {"steps": steps, "maxSurge": 5}, "blueGreen": {"previewReplicaCount": 1}}
    rollout = {**ROLLOUT, "spec": {**ROLLOUT["spec"], "strategy": strategy}}
    definition = a_definition(group="argoproj.io", kind="Rollout", name="v1alpha1")
    clones = an_object(
        "apps.kruise.io/v1alpha1", "CloneSet", replicas=6, template=pods(), updateStrategy={"partition": 2}
    )
    subsets = {"subsets": [{"name": "a", "replicas": 2}, {"name": "b", "replicas": "50%"}]}
    united = an_object("apps.kruise.io/v1alpha1", "UnitedDeployment", replicas=6, template={}, topology=subsets)
    fields = [each.split(": ")[1] for each in found(rollout, clones, united, definition)]
    assert fields == [
        "spec.updateStrategy.partition",
        "spec.topology.subsets[0].replicas",
        "spec.strategy.blueGreen.previewReplicaCount",
        "spec.strategy.canary.maxSurge",
        "spec.strategy.canary.steps[1].setCanaryScale.replicas",
    ]


def test_of_many_workloads_that_a_budget_selects_the_first_few_are_told() -> None:
    """A source of thousands of both would have millions of warnings."""
    deployments = [{**web(), "metadata": {"name": f"web{number}", "namespace": "default"}} for number in range(9)]
    warnings = found(*deployments, a_budget(minAvailable=3))
    assert [each.partition("Deployment.apps default/")[2].split()[0] for each in warnings] == ["web0", "web1", "web2"]


def test_a_budget_has_a_percentage_for_its_way_out() -> None:
    (warning,) = found(web(), a_budget(minAvailable=4))
    assert warning.endswith("  hint: write a percentage, such as '67%', or override it in each cluster")


def test_a_number_that_an_override_writes_is_known_to_be_another_in_each_cluster() -> None:
    edit = {"path": "/spec/minAvailable", "operator": "replace", "value": 2}
    assert found(web(), a_budget(minAvailable=4), beside=(an_override("PodDisruptionBudget", edit),)) == []


@each_row("companion", [a_scaler(maxReplicas=10), a_budget(minAvailable=2)])
def test_a_companion_in_one_cluster_counts_there_alone(companion: dict[str, Any]) -> None:
    files = {"all.yaml": [a_cluster("member1"), a_cluster("member2"), web(), companion, policy_of(web())]}
    is_scaler = "scaleTargetRef" in companion["spec"]
    for placement, counts in ((on_clusters("member1"), False), (TWO, True)):
        also = a_policy("beside", selectors=[selector_of(companion)], placement=placement)
        warnings = warnings_of({**files, "also.yaml": [also]})
        assert len(warnings) == (is_scaler or counts), placement
        assert any("2 clusters" in each or "in all" in each for each in warnings) == counts


def test_autoscalers_of_divided_workloads_are_one_warning_for_each_kind_of_them() -> None:
    """An autoscaler for every workload of a fleet would be as many warnings of one and the same thing."""
    names = ("a", "b", "c", "d", "e")
    deployments = [{**web(), "metadata": {"name": name, "namespace": "default"}} for name in names]
    scalers = [
        {
            **a_scaler(target={"apiVersion": "apps/v1", "kind": "Deployment", "name": name}, maxReplicas=4),
            "metadata": {"name": name, "namespace": "default"},
        }
        for name in names
    ]
    warnings = found(*deployments, *scalers, a_scaler("keda.sh/v1alpha1", "ScaledObject", {"name": "a"}))
    first = "Deployment.apps default/a is divided, and each cluster scales its share by these bounds: at most"
    more = "so it is with 4 more HorizontalPodAutoscalers: default/b, default/c, default/d and 1 more"
    hint = (
        "let a FederatedHPA scale it, whose bounds are the fleet's, or override them in each cluster;"
        " argosy status shows what runs as LIVE, beside the REPLICAS of the division"
    )
    assert [each.partition(" ")[2].split("\n  hint: ") for each in warnings] == [
        [f"spec.maxReplicas: {first} 8 in 2 clusters, not at most 4; {more}", hint],
        [f"spec.scaleTargetRef: {first} 200 in 2 clusters, not at most 100", hint],
    ]


def test_autoscalers_of_other_projects_are_known_by_what_they_scale() -> None:
    """One that changes what a pod asks for leaves the number of pods alone."""
    definitions = [
        a_definition(group="example.com", kind="PodScaler", name="v1"),
        a_definition(group="autoscaling.k8s.io", kind="VerticalPodAutoscaler", name="v1"),
    ]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scalers = [
        a_scaler("example.com/v1", "PodScaler", maxReplicas=4),
        an_object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", targetRef=target),
    ]
    also = a_policy("beside", selectors=[*map(selector_of, scalers)], placement=TWO)
    clusters = [a_cluster("member1"), a_cluster("member2")]
    (warning,) = warnings_of({"all.yaml": [*clusters, web(), *scalers, *definitions, policy_of(web()), also]})
    assert f"spec.maxReplicas: {SCALED}at most 8 in 2 clusters, not at most 4\n" in warning


def test_an_autoscaler_whose_bounds_overrides_write_sets_the_share_all_the_same() -> None:
    edit = {"path": "/spec/maxReplicas", "operator": "replace", "value": 3}
    override = an_override("HorizontalPodAutoscaler", edit)
    (warning,) = found(web(), a_scaler(maxReplicas=10), beside=(override,))
    assert warning.partition(" ")[2].startswith(f"spec.scaleTargetRef: {BY_ITSELF}\n  hint: let a FederatedHPA")


def test_companions_that_go_nowhere_count_nowhere() -> None:
    assert found(web(), beside=(a_budget(minAvailable=4), a_scaler(maxReplicas=9))) == []


def test_what_a_weight_of_none_keeps_out_has_no_share() -> None:
    weights = [{"targetCluster": {"clusterNames": ["member1"]}, "weight": 1}]
    scheduling = {**DIVIDED["replicaScheduling"], "weightPreference": {"staticWeightList": weights}}
    assert found(web(), a_budget(minAvailable=4), placement={**TWO, "replicaScheduling": scheduling}) == []


def test_a_document_that_sops_signed_as_a_whole_cannot_be_divided() -> None:
    sealed = {**a_deployment(replicas=4), "sops": {"mac": "ENC[x]"}}
    (said,) = found(sealed)
    assert said == (
        "objects.yaml:11: spec.replicas: SOPS signed all of it, so that the share of a cluster is not written: where it"
        " is not 4, the cluster keeps what it has\n"
        "  hint: encrypt it with mac_only_encrypted: true, or let one cluster run it: replicaSchedulingType:"
        " Duplicated, and a spread constraint by cluster with maxGroups: 1"
    )
    assert found({**sealed, "sops": {"mac": "ENC[x]", "mac_only_encrypted": True}}) == []
    assert found(sealed, placement=TWO) == []
