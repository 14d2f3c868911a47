"""Fleets that are made to cost time: many policies, clusters, taints, schedules and tests, against each other.

Each function makes a fleet of a size and returns what is timed: the source loaded, rendered, and all its warnings.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overrides.lint import lint_overrides
from reconciler.building.charts import calls_with_volatile_results
from reconciler.check.policies import policy_warnings
from reconciler.check.source_warnings import (
    idle_rule_warnings,
    named_workload_warnings,
    pruned_field_warnings,
    warnings_of_unfilled_texts,
)
from reconciler.gitops.argo.generators.syntax import parsed_template
from reconciler.locked.lock_file import parse_lock
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.stages import render_pass
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from reconciler.trial.trials import run_trial
from render.documents import emit
from tests.build import a_cluster, a_config_map, a_deployment, a_policy, on_clusters
from tests.sources import source_of

Work = Callable[[], object]
Objects = Iterable[Mapping[str, Any]]

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
HERE = on_clusters("member0")
CUSTOMIZATION, CONFIG_API = "ResourceInterpreterCustomization", "config.karmada.io/v1alpha1"
POLICY_API, AUTOSCALING = "policy.karmada.io/v1alpha1", "autoscaling.karmada.io/v1alpha1"


def a_file(objects: Objects) -> bytes:
    return b"---\n".join(emit(each) for each in objects)


def labelled(count: int, labels: Callable[[int], dict[str, str]]) -> Objects:
    """So many ConfigMaps with labels."""
    for number in range(count):
        metadata = {"name": f"c{number}", "namespace": "default", "labels": labels(number)}
        yield {**CONFIG_MAP, "metadata": metadata}


def clusters(count: int, **spec: Any) -> Objects:
    return (a_cluster(f"member{number}", **spec) for number in range(count))


def policies(count: int, selector: Callable[[int], dict[str, Any]], **spec: Any) -> Objects:
    made = {"placement": HERE, **spec}
    return (a_policy(f"p{number}", selectors=[{**CONFIG_MAP, **selector(number)}], **made) for number in range(count))


def an_object(kind: str, api: str, number: int, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": f"o{number}", "namespace": "default"}, **rest}


def clusterwide(kind: str, api: str, number: int, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": f"o{number}"}, "spec": spec}


def expressions(*each: tuple[str, str, list[str]]) -> dict[str, Any]:
    found = [{"key": key, "operator": operator, **({"values": some} if some else {})} for key, operator, some in each]
    return {"labelSelector": {"matchExpressions": found}}


def everything_of(*parts: Objects) -> Work:
    """Load a fleet, render it, and look for its warnings."""
    source = source_of({f"{number}.yaml": a_file(part) for number, part in enumerate(parts)})

    def work() -> object:
        loaded = load_source(source.files, SourceReading(source.read))
        assert not loaded.problems, loaded.problems[0]
        desired = loaded.desired
        rendered = render_pass(Inputs(desired=desired, facts={}, previous=None, source=""))
        return rendered, list(warnings_of(desired))

    return work


def warnings_of(desired: Any) -> Iterable[object]:
    yield policy_warnings(desired, facts={}, previous={})
    yield lint_overrides(desired.override_policies, desired.templates, desired.clusters)
    yield list(named_workload_warnings(desired, None))
    yield list(idle_rule_warnings(desired, None))
    yield list(warnings_of_unfilled_texts(desired.templates, None))
    yield list(pruned_field_warnings(desired.templates, None))


def policies_of_all(size: int) -> Work:
    """Every policy selects every object."""
    chosen = policies(size, lambda number: expressions(("a", "NotIn", [f"v{number}"])))
    return everything_of(clusters(1), labelled(size, lambda _: {"a": "x"}), chosen)


def policies_of_none(size: int) -> Work:
    """Every policy all but selects every object."""

    def selector(number: int) -> dict[str, Any]:
        return expressions(("a", "In", ["x"]), ("b", "In", [f"v{number}"]), ("c", "Exists", []))

    chosen = policies(size, selector)
    return everything_of(clusters(1), labelled(size, lambda number: {"a": "x", "b": f"v{number}"}), chosen)


def policies_by_name(size: int) -> Work:
    chosen = policies(size, lambda number: {"name": f"c{number}" if number % 2 else f"d{number}"})
    return everything_of(clusters(1), labelled(size, lambda _: {}), chosen)


def selectors_of_a_policy(size: int) -> Work:
    """One policy that claims everything by as many selectors, in a fleet whose claims stay."""
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"claims": "Sticky"}}
    selectors = [{**CONFIG_MAP, **expressions(("a", "NotIn", [f"v{number}"]))} for number in range(size)]
    claimed = labelled(size, lambda _: {"a": "x"})
    chosen = [a_policy("p", selectors=selectors, placement=HERE), a_policy("q", selectors=selectors, placement=HERE)]
    source = {"argosy.yaml": a_file([fleet]), "a.yaml": a_file(claimed), "p.yaml": a_file(chosen)}
    read = source_of({**source, "c.yaml": a_file(clusters(1))})
    return lambda: render_pass(
        Inputs(desired=load_source(read.files, SourceReading(read.read)).desired, facts={}, previous=None, source="")
    )


def overrides(size: int) -> Work:
    """Override policies that each select one object, by its name or its labels, beside some that select none."""

    def selector(number: int) -> dict[str, Any]:
        if number % 2:
            return {**CONFIG_MAP, "name": f"c{number}"}
        return {**CONFIG_MAP, **expressions(("a", "In", ["x"]), ("b", "In", [f"v{number}", "w"]))}

    rules = [{"overriders": {"labelsOverrider": [{"operator": "add", "value": {"z": "y"}}]}}]
    specs = ({"resourceSelectors": [selector(number)], "overrideRules": rules} for number in range(size))
    made = (an_object("OverridePolicy", POLICY_API, number, spec=spec) for number, spec in enumerate(specs))
    chosen = policies(1, lambda _: {})
    return everything_of(clusters(1), labelled(size, lambda number: {"a": "x", "b": f"v{number}"}), chosen, made)


def rules_of_an_override(size: int) -> Work:
    """One policy with as many rules, each for another cluster."""
    rules = [
        {
            "targetCluster": {"clusterNames": [f"member{number}"]},
            "overriders": {"labelsOverrider": [{"operator": "add", "value": {"z": f"v{number}"}}]},
        }
        for number in range(size)
    ]
    made = [an_object("OverridePolicy", POLICY_API, 0, spec={"overrideRules": rules})]
    placement: dict[str, Any] = {"clusterAffinity": {}}
    return everything_of(
        clusters(size), labelled(1, lambda _: {}), policies(1, lambda _: {}, placement=placement), made
    )


def taints(size: int) -> Work:
    """Clusters that each have taints of their own, and policies that each tolerate others."""

    def taint(number: int) -> list[dict[str, str]]:
        return [{"key": f"k{number}", "value": "v", "effect": "NoSchedule"}, {"key": "all", "effect": "NoExecute"}]

    def tolerating(number: int) -> dict[str, Any]:
        tolerations = [
            {"key": "all", "operator": "Exists"},
            {"key": f"k{number}", "value": "v", "effect": "NoSchedule"},
        ]
        return {"clusterAffinity": {}, "clusterTolerations": tolerations}

    chosen = (
        a_policy(f"p{number}", selectors=[{**CONFIG_MAP, "name": f"c{number}"}], placement=tolerating(number))
        for number in range(size)
    )
    tainted = (a_cluster(f"member{number}", taints=taint(number)) for number in range(size))
    return everything_of(tainted, labelled(size, lambda _: {}), chosen)


def labels(size: int) -> Work:
    """Clusters with labels of their own, and policies that each select by another one."""

    def placement(number: int) -> dict[str, Any]:
        return {"clusterAffinity": expressions((f"k{number}", "Exists", []), ("a", "NotIn", [f"v{number}"]))}

    chosen = (
        a_policy(f"p{number}", selectors=[{**CONFIG_MAP, "name": f"c{number}"}], placement=placement(number))
        for number in range(size)
    )
    made = (a_cluster(f"member{number}", labels={f"k{number}": "v", "a": f"v{number}"}) for number in range(size))
    return everything_of(made, labelled(size, lambda _: {}), chosen)


def taint_policies(size: int) -> Work:
    """Policies that each taint the clusters with another condition."""

    def spec(number: int) -> dict[str, Any]:
        condition = {"conditionType": f"C{number}", "operator": "In", "statusValues": ["True"]}
        taint = {"key": f"k{number}", "effect": "NoSchedule"}
        targets = {"clusterNames": [f"member{number}"]}
        return {"targetClusters": targets, "addOnConditions": [condition], "taints": [taint]}

    made = (clusterwide("ClusterTaintPolicy", POLICY_API, number, spec(number)) for number in range(size))
    return everything_of(clusters(size), made, labelled(1, lambda _: {}), policies(1, lambda _: {}))


def schedules(size: int) -> Work:
    """Rules of CronFederatedHPAs, of which half never come."""

    def spec(number: int) -> dict[str, Any]:
        schedule = f"{number % 60} {number // 60 % 24} 31 2 *" if number % 2 else f"{number % 60} * * * *"
        rules = [{"name": "r", "schedule": schedule, "targetReplicas": 1, "timeZone": "Europe/Berlin"}]
        return {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"d{number}"}, "rules": rules}

    made = (an_object("CronFederatedHPA", AUTOSCALING, number, spec=spec(number)) for number in range(size))
    deployments = (a_deployment(f"d{number}") for number in range(size))
    chosen = [a_policy("p", selectors=[DEPLOYMENT], placement=HERE)]
    return everything_of(clusters(1), made, deployments, chosen)


def rules_of_a_schedule(size: int) -> Work:
    """One CronFederatedHPA with as many rules."""
    rule = {"targetReplicas": 1}
    rules = [{**rule, "name": f"r{number}", "schedule": f"{number % 60} * * * *"} for number in range(size)]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    made = [an_object("CronFederatedHPA", AUTOSCALING, 0, spec={"scaleTargetRef": target, "rules": rules})]
    chosen = [a_policy("p", selectors=[DEPLOYMENT], placement=HERE)]
    return everything_of(clusters(1), made, [a_deployment("d")], chosen)


def tests(size: int) -> Work:
    """PolicyTests of one object."""
    expect = [{"kind": "ConfigMap", "name": "c0", "clusters": ["member0"]}]
    made = (clusterwide("PolicyTest", "argosy.dev/v1alpha1", number, {"expect": expect}) for number in range(size))
    parts = (clusters(1), labelled(1, lambda _: {}), policies(1, lambda _: {}), made)
    source = source_of({f"{number}.yaml": a_file(part) for number, part in enumerate(parts)})

    def work() -> object:
        loaded = load_source(source.files, SourceReading(source.read))
        assert not loaded.problems, loaded.problems[0]
        return [run_trial(test, loaded.desired).passed for test in loaded.tests]

    return work


def expectations(size: int) -> Work:
    """One PolicyTest with as many expectations and clusters."""
    expect = [{"kind": "ConfigMap", "name": f"c{number}", "clusters": ["member0"]} for number in range(size)]
    given = {
        "clusters": [{"metadata": {"name": f"extra{number}"}, "spec": {"syncMode": "Push"}} for number in range(size)]
    }
    made = [clusterwide("PolicyTest", "argosy.dev/v1alpha1", 0, {"given": given, "expect": expect})]
    parts = (clusters(1), labelled(size, lambda _: {}), policies(1, lambda _: {}), made)
    source = source_of({f"{number}.yaml": a_file(part) for number, part in enumerate(parts)})

    def work() -> object:
        loaded = load_source(source.files, SourceReading(source.read))
        assert not loaded.problems, loaded.problems[0]
        return [run_trial(test, loaded.desired).passed for test in loaded.tests]

    return work


def dependencies(size: int) -> Work:
    """Workloads that each bring a ConfigMap of their own along."""
    pods = ({"volumes": [{"name": "v", "configMap": {"name": f"c{number}"}}]} for number in range(size))
    owners = []
    for number, pod in enumerate(pods):
        each = a_deployment(f"d{number}")
        template = {**each["spec"]["template"], "spec": {**each["spec"]["template"]["spec"], **pod}}
        owners.append({**each, "spec": {**each["spec"], "template": template}})
    chosen = a_policy("p", selectors=[DEPLOYMENT], placement=HERE, propagateDeps=True)
    return everything_of(clusters(1), owners, labelled(size, lambda _: {}), [chosen])


def dependencies_by_labels(size: int) -> Work:
    """Workloads that each ask a script of their kind for ConfigMaps by labels."""
    script = """
    function GetDependencies(o)
      local selector = {matchLabels = {a = "x", b = o.metadata.name}}
      return {{apiVersion = "v1", kind = "ConfigMap", namespace = "default", labelSelector = selector}}
    end
    """
    kind = {"apiVersion": "example.com/v1", "kind": "Widget"}
    customizations = {"dependencyInterpretation": {"luaScript": script}}
    made = [clusterwide(CUSTOMIZATION, CONFIG_API, 0, {"target": kind, "customizations": customizations})]
    owners = (an_object("Widget", "example.com/v1", number) for number in range(size))
    chosen = a_policy("p", selectors=[kind], placement=HERE, propagateDeps=True)
    return everything_of(
        clusters(1), made, owners, labelled(size, lambda number: {"a": "x", "b": f"c{number}"}), [chosen]
    )


def customizations(size: int) -> Work:
    """Customizations of as many kinds."""

    def spec(number: int) -> dict[str, Any]:
        script = "function GetReplicas(o) return 1, nil end"
        target = {"apiVersion": "example.com/v1", "kind": f"Kind{number}"}
        return {"target": target, "customizations": {"replicaResource": {"luaScript": script}}}

    made = (clusterwide(CUSTOMIZATION, CONFIG_API, number, spec(number)) for number in range(size))
    return everything_of(clusters(1), made, labelled(1, lambda _: {}), policies(1, lambda _: {}))


def rebalancers(size: int) -> Work:
    """Requests to place objects anew, each of one object."""

    def spec(number: int) -> dict[str, Any]:
        return {"workloads": [{"apiVersion": "v1", "kind": "ConfigMap", "name": f"c{number}", "namespace": "default"}]}

    api = "apps.karmada.io/v1alpha1"
    made = (clusterwide("WorkloadRebalancer", api, number, spec(number)) for number in range(size))
    return everything_of(clusters(1), made, labelled(size, lambda _: {}), policies(1, lambda _: {}))


def quotas(size: int) -> Work:
    """Quotas of a namespace, and as many workloads in it."""
    spec = {"overall": {"cpu": "1000000"}}
    made = (an_object("FederatedResourceQuota", POLICY_API, number, spec=spec) for number in range(size))
    chosen = [a_policy("p", selectors=[DEPLOYMENT], placement=HERE)]
    return everything_of(clusters(1), made, (a_deployment(f"d{number}") for number in range(size)), chosen)


def namespaces(size: int) -> Work:
    """Objects of one name in as many namespaces, each with a policy of its own."""
    spaces = [f"n{number}" for number in range(size)]
    made = (a_config_map("c", namespace=space) for space in spaces)
    chosen = (a_policy("p", selectors=[CONFIG_MAP], namespace=space, placement=HERE) for space in spaces)
    return everything_of(clusters(1), made, chosen)


def clusters_of_a_fleet(size: int) -> Work:
    """Clusters of as many regions, over which one object is spread."""
    spread = [{"spreadByField": "region", "minGroups": 1, "maxGroups": size}]
    placement = {"clusterAffinity": {}, "spreadConstraints": [*spread, {"spreadByField": "cluster", "minGroups": 1}]}
    made = (a_cluster(f"member{number}", region=f"r{number}") for number in range(size))
    return everything_of(made, labelled(2, lambda _: {}), policies(1, lambda _: {}, placement=placement))


def weights(size: int) -> Work:
    """Clusters that a workload is divided between by as many weights."""
    listed = [{"targetCluster": {"clusterNames": [f"member{number}"]}, "weight": number + 1} for number in range(size)]
    division = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    scheduling = {**division, "weightPreference": {"staticWeightList": listed}}
    placement = {"clusterAffinity": {}, "replicaScheduling": scheduling}
    chosen = [a_policy("p", selectors=[DEPLOYMENT], placement=placement)]
    return everything_of(clusters(size), [a_deployment("d", replicas=1000)], chosen)


def duplicates(size: int) -> Work:
    """Objects that stand in two files."""
    every = a_file(labelled(size, lambda _: {}))
    source = source_of({"a/x.yaml": every, "b/x.yaml": every + b"\n# again\n"})
    return lambda: load_source(source.files, SourceReading(source.read))


def files(size: int) -> Work:
    """Files of one object, each in a folder of its own."""
    source = source_of({f"f{number}/a.yaml": a_file([a_config_map(f"c{number}")]) for number in range(size)})
    return lambda: load_source(source.files, SourceReading(source.read))


def braces(size: int) -> Work:
    """A file of a chart with braces that are never closed, and calls of chance that are."""
    chart = {"templates/a.yaml": b"{{ uuidv4 }}\n" * size + b"{" * size}
    return lambda: list(calls_with_volatile_results(chart, ["a"], "chart", is_random=True))


def go_templates(size: int) -> Work:
    """A template of an ApplicationSet with as many actions."""
    text = "{{.a}} {{- if .b }}x{{ end -}} " * size
    return lambda: parsed_template(text)


def locked(size: int) -> Work:
    """A lock of as many Sources."""
    every = [
        {
            "name": f"s{number}",
            "spec": {"git": {"url": f"https://example.com/{number}"}},
            "resolved": {"revision": "0" * 40},
            "content": f"sha256:{'0' * 64}",
        }
        for number in range(size)
    ]
    text = emit({"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": every})
    return lambda: parse_lock(text, "argosy.lock")


def definitions(size: int) -> Work:
    """CustomResourceDefinitions, and an object of each."""

    def definition(number: int) -> dict[str, Any]:
        names = {"kind": f"Kind{number}", "plural": f"kind{number}s", "singular": f"kind{number}"}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        api = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        return {**api, "metadata": {"name": f"kind{number}s.example.com"}, "spec": spec}

    made = (an_object(f"Kind{number}", "example.com/v1", number, spec={}) for number in range(size))
    return everything_of(clusters(1), map(definition, range(size)), made, policies(1, lambda _: {}))


FLEETS: tuple[tuple[str, int, Callable[[int], Work]], ...] = (
    ("policies that all select everything", 100, policies_of_all),
    ("policies that all but select everything", 100, policies_of_none),
    ("policies that select by name", 100, policies_by_name),
    ("selectors of one policy", 100, selectors_of_a_policy),
    ("override policies", 100, overrides),
    ("rules of an override policy", 100, rules_of_an_override),
    ("taints and tolerations", 100, taints),
    ("policies that taint clusters", 100, taint_policies),
    ("labels of clusters", 100, labels),
    ("clusters and their regions", 100, clusters_of_a_fleet),
    ("weights of a division", 100, weights),
    ("schedules", 100, schedules),
    ("rules of a schedule", 100, rules_of_a_schedule),
    ("PolicyTests", 50, tests),
    ("expectations of a PolicyTest", 50, expectations),
    ("dependencies by name", 100, dependencies),
    ("dependencies by labels", 100, dependencies_by_labels),
    ("customizations of the interpreter", 50, customizations),
    ("requests to rebalance", 100, rebalancers),
    ("quotas and workloads", 100, quotas),
    ("namespaces", 100, namespaces),
    ("definitions of kinds", 50, definitions),
    ("objects that are defined twice", 200, duplicates),
    ("files and folders", 200, files),
    ("braces in a chart", 2_000, braces),
    ("actions of a template", 2_000, go_templates),
    ("entries of argosy.lock", 200, locked),
)
"""The rows of SECURITY.md about fleets, a size to begin at, and what makes a fleet of a size."""
