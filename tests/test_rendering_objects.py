"""Objects as clusters get them: what a rule makes wrong, and what the version of a cluster does not take."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

POLICY = a_policy(placement=on_clusters("one", "two"))
FLEET = {"one.yaml": a_cluster("one"), "two.yaml": a_cluster("two"), "policy.yaml": POLICY, "web.yaml": a_deployment()}
SAID = (
    "override.yaml:8: spec.overrideRules[0]: makes Deployment.apps default/nginx wrong in two:"
    " spec.replica: unknown field\n  hint: did you mean 'replicas'?\n"
)
REFUSED = f"{SAID}1 problem; nothing was changed\n"


def adding(path: str, value: Any, **target: Any) -> dict[str, Any]:
    """An override policy with one rule, which adds a field."""
    overriders = {"plaintext": [{"path": path, "operator": "add", "value": value}]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "extra", "namespace": "default"},
        "spec": {
            "overrideRules": [{"targetCluster": target, "overriders": overriders}],
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
        },
    }


WRONG = adding("/spec/replica", 4, clusterNames=["two"])


def settings(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec}


@pytest.mark.parametrize("command", ["render", "reconcile --bootstrap", "diff --bootstrap HEAD~ HEAD"])
def test_what_an_override_makes_wrong_is_refused(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(FLEET)
    repository.commit({"override.yaml": WRONG})
    ended = argosy(repository, capsys, *command.split())
    assert (ended.code, ended.out, ended.err) == (3, "", REFUSED)


def test_a_check_of_the_source_finds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever looks at a pull request may ask for this check alone."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "override.yaml": WRONG})
    assert argosy(repository, capsys, "validate") == (3, f"{SAID}1 problem, 0 warnings\n", "")
    assert argosy(repository, capsys, "validate", "--rev", "HEAD").code == 3
    repository.commit({"argosy.yaml": settings(validation="Warn")})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith(f"warning: {SAID}0 problems, 1 warning: ")) == (0, True)
    repository.commit({"argosy.yaml": settings(validation="Off")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"argosy.yaml": None})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith(f"warning: {SAID}0 problems, 1 warning: ")) == (0, True)


class Annotated(NamedTuple):
    why: str
    annotations: dict[str, str]
    code: int
    said: str


ANNOTATED = [
    Annotated("a path that is one", {"argosy.dev/own-fields": ".spec.replicas"}, 0, ""),
    Annotated(
        "a path that is none",
        {"argosy.dev/yield-fields": "/spec/replicas"},
        3,
        "override.yaml:8: spec.overrideRules[0]: makes Deployment.apps default/nginx wrong in two:"
        " metadata.annotations[argosy.dev/yield-fields]: '/spec/replicas' is a JSON pointer\n"
        "  hint: write '.spec.replicas'\n",
    ),
    Annotated(
        "a name that nothing reads",
        {"argosy.dev/yield-field": ".spec.replicas"},
        0,
        "override.yaml:8: spec.overrideRules[0]: makes Deployment.apps default/nginx wrong in two:"
        " metadata.annotations[argosy.dev/yield-field]: unknown annotation, which nothing reads\n"
        "  hint: did you mean 'argosy.dev/yield-fields'?\n",
    ),
]


@pytest.mark.parametrize("case", ANNOTATED, ids=lambda case: case.why)
def test_annotations_for_argosy_are_checked_where_a_rule_writes_them(
    case: Annotated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were checked in templates alone, and an apply took a path that is none for a rule about no field."""
    repository = Repository.create(tmp_path / "fleet")
    policy = adding("/metadata", None, clusterNames=["two"])
    rule = {"annotationsOverrider": [{"operator": "add", "value": case.annotations}]}
    policy["spec"]["overrideRules"][0]["overriders"] = rule
    repository.commit({**FLEET, "override.yaml": policy})
    checked = argosy(repository, capsys, "validate")
    reconciled = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (checked.code, reconciled.code) == (case.code, case.code)
    if case.code:
        assert (checked.out, reconciled.err) == (
            f"{case.said}1 problem, 0 warnings\n",
            f"{case.said}1 problem; nothing was changed\n",
        )
    else:
        warning = f"warning: {case.said}" if case.said else ""
        assert (checked.out.partition(" problems")[0], reconciled.err.startswith(warning)) == (f"{warning}0", True)


def test_a_clone_that_knows_no_past_excuses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A job that fetched one branch alone still refuses the mistake that it was made for."""
    origin = Repository.create(tmp_path / "origin")
    origin.commit({**FLEET, "override.yaml": WRONG, "argosy.yaml": settings(validation="Off")})
    assert argosy(origin, capsys, "reconcile", "--bootstrap").code == 0
    origin.commit({"argosy.yaml": None})
    origin.git("clone", "-q", "--single-branch", str(origin.path), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    assert argosy(clone, capsys, "validate") == (3, f"{SAID}1 problem, 0 warnings\n", "")


def test_what_clusters_hold_already_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "override.yaml": WRONG, "argosy.yaml": settings(validation="Off")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"argosy.yaml": None})
    ended = argosy(repository, capsys, "render")
    assert (ended.code, ended.err) == (0, f"warning: {SAID}")
    repository.commit({"web.yaml": a_deployment(image="nginx:1.30")})
    assert argosy(repository, capsys, "reconcile") == (3, "", REFUSED)


def test_a_rule_is_named_once_for_all_objects_and_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    names = ("a", "b", "c", "d", "e")
    every = a_policy(selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement=POLICY["spec"]["placement"])
    files = {f"{name}.yaml": a_deployment(name) for name in names}
    wrong = adding("/spec/template/spec/restartPolicy", "always")
    repository.commit({**FLEET, **files, "policy.yaml": every, "override.yaml": wrong})
    ended = argosy(repository, capsys, "render")
    said = (
        "override.yaml:8: spec.overrideRules[0]: makes Deployment.apps default/a, Deployment.apps default/b,"
        " Deployment.apps default/c and 3 more wrong in one, two: spec.template.spec.restartPolicy: none of the values"
        " it may have\n  hint: did you mean 'Always'?\n1 problem; nothing was changed\n"
    )
    assert (ended.code, ended.err) == (3, said)


def test_an_image_that_is_replaced_is_not_checked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    image = adding("/spec/paused", True)
    image["spec"]["overrideRules"][0]["overriders"] = {
        "imageOverrider": [{"component": "Tag", "operator": "replace", "value": "1.30"}]
    }
    repository.commit({**FLEET, "override.yaml": image})
    ended = argosy(repository, capsys, "render")
    assert (ended.code, ended.err) == (0, "")


def test_a_template_that_is_wrong_itself_is_no_mistake_of_an_override(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    template = a_deployment()
    template["spec"]["replica"] = 4
    right = adding("/spec/paused", True)
    repository.commit(
        {**FLEET, "web.yaml": template, "override.yaml": right, "argosy.yaml": settings(validation="Warn")}
    )
    ended = argosy(repository, capsys, "render")
    said = (
        "warning: web.yaml:9: spec.replica: unknown field in one, two, also after spec.overrideRules[0] of"
        " OverridePolicy default/extra\n  hint: did you mean 'replicas'?\n"
    )
    assert (ended.code, ended.err) == (0, said)


def running(name: str, version: str) -> dict[str, Any]:
    """A cluster that runs a version of Kubernetes."""
    return {**a_cluster(name), "status": {"kubernetesVersion": version}}


def resizing() -> dict[str, Any]:
    """A Deployment with a field that Kubernetes has from 1.27 on."""
    made = a_deployment()
    resize = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]
    made["spec"]["template"]["spec"]["containers"][0]["resizePolicy"] = resize
    return made


def autoscaler() -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nginx"}
    return {
        "apiVersion": "autoscaling/v2beta2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "nginx", "namespace": "default"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": target},
    }


class Version(NamedTuple):
    why: str
    template: dict[str, Any]
    versions: tuple[str, str]
    want: str


FIELD = "web.yaml:21: spec.template.spec.containers[0].resizePolicy: unknown field in Kubernetes"
VERSIONS = [
    Version("both know the field", resizing(), ("v1.27.1", "v1.36.0"), ""),
    Version(
        "one is too old for the field",
        resizing(),
        ("v1.26.3", "v1.36.0"),
        f"{FIELD} v1.26.3, which one runs\n  hint: Kubernetes has it from 1.27 on\n",
    ),
    Version("one runs what it likes", resizing(), ("", "v1.36.0"), ""),
    Version("one is older than any version with a schema", resizing(), ("v1.24.0", "v1.36.0"), ""),
    Version(
        "one serves the API version no more",
        autoscaler(),
        ("v1.25.0", "v1.33.2"),
        "web.yaml:1: apiVersion: Kubernetes 1.26 removed HorizontalPodAutoscaler from 'autoscaling/v2beta2', and"
        " two runs v1.33.2\n  hint: write 'autoscaling/v2'\n",
    ),
    Version(
        "none serves it yet",
        {**autoscaler(), "apiVersion": "autoscaling/v3"},
        ("v1.25.0", "v1.33.2"),
        "web.yaml:1: apiVersion: Kubernetes 1.25 to 1.33 does not serve HorizontalPodAutoscaler in 'autoscaling/v3'\n"
        "  hint: write 'autoscaling/v2'\n",
    ),
]
HPA = {"apiVersion": "autoscaling/v2beta2", "kind": "HorizontalPodAutoscaler"}


@pytest.mark.parametrize("case", VERSIONS, ids=lambda case: case.why)
def test_the_versions_of_the_clusters_decide(case: Version, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    one, two = case.versions
    kinds = [{"apiVersion": case.template["apiVersion"], "kind": case.template["kind"]}]
    policy = a_policy(selectors=kinds, placement=on_clusters("one", "two"))
    clusters = {"one.yaml": running("one", one), "two.yaml": running("two", two)}
    repository.commit({**clusters, "policy.yaml": policy, "web.yaml": case.template})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out[: len(case.want)]) == (3 if case.want else 0, case.want)


def test_a_cluster_that_does_not_get_it_decides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    clusters = {"one.yaml": running("one", "v1.26.3"), "two.yaml": running("two", "v1.36.0")}
    policy = a_policy(placement=on_clusters("two"))
    repository.commit({**clusters, "policy.yaml": policy, "web.yaml": resizing()})
    assert argosy(repository, capsys, "validate").code == 0


def test_a_cluster_that_got_it_before_is_only_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A first run takes templates as they stand, and what clusters hold stops no later run."""
    repository = Repository.create(tmp_path / "fleet")
    clusters = {"one.yaml": running("one", "v1.26.3"), "two.yaml": running("two", "v1.36.0")}
    repository.commit({**clusters, "policy.yaml": POLICY, "web.yaml": resizing()})
    warned = f"warning: {VERSIONS[1].want}"
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (ended.code, ended.err) == (0, warned)
    ended = argosy(repository, capsys, "render")
    assert (ended.code, ended.err) == (0, warned)
    changed = resizing()
    changed["spec"]["replicas"] = 5
    repository.commit({"web.yaml": changed})
    assert argosy(repository, capsys, "reconcile") == (3, "", f"{VERSIONS[1].want}1 problem; nothing was changed\n")


class Incomplete(NamedTuple):
    """A template without a selector, the clusters that a rule is for and what it adds; what is said, and the code."""

    why: str
    override: dict[str, Any]
    code: int
    want: str


BARE = a_deployment()
del BARE["spec"]["selector"]
COMPLETED = {"matchLabels": {"app": "nginx"}}
LEFT = "web.yaml:8: spec.selector: required, but missing in "
INCOMPLETE = [
    Incomplete("a rule for all clusters completes it", adding("/spec/selector", COMPLETED), 0, ""),
    Incomplete(
        "a rule for one cluster completes it there",
        adding("/spec/selector", COMPLETED, clusterNames=["two"]),
        3,
        f"{LEFT}one, where no override changes that\n",
    ),
    Incomplete(
        "a rule changes something else",
        adding("/spec/paused", True, clusterNames=["two"]),
        3,
        f"{LEFT}one, where no override changes that\n"
        f"{LEFT}two, also after spec.overrideRules[0] of OverridePolicy default/extra\n",
    ),
    Incomplete(
        "a rule completes it wrongly",
        adding("/spec/selector", {"matchLabel": {"app": "nginx"}}),
        3,
        "override.yaml:8: spec.overrideRules[0]: makes Deployment.apps default/nginx wrong in one, two:"
        " spec.selector.matchLabel: unknown field\n  hint: did you mean 'matchLabels'?\n",
    ),
    Incomplete(
        "the policy of the rule selects something else",
        {
            **adding("/spec/selector", COMPLETED),
            "spec": {
                **adding("/spec/selector", COMPLETED)["spec"],
                "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap"}],
            },
        },
        3,
        "web.yaml:8: spec.selector: required, but missing\n",
    ),
]


@pytest.mark.parametrize("case", INCOMPLETE, ids=lambda case: case.why)
def test_a_template_that_rules_complete_is_judged_as_clusters_get_it(
    case: Incomplete, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "web.yaml": a_deployment()})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"web.yaml": BARE, "override.yaml": case.override})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith(case.want)) == (case.code, True)
    counted = f"{case.want.count('.yaml:')} problem{'s' if case.want.count('.yaml:') > 1 else ''}"
    for command in (("render",), ("reconcile", "--dry-run"), ("diff", "HEAD~", "HEAD")):
        ended = argosy(repository, capsys, *command)
        said = f"{case.want}{counted}; nothing was changed\n"
        assert (ended.code, ended.err.endswith(said)) == (case.code, True) if case.code else not case.want
    assert argosy(repository, capsys, "reconcile").code == case.code


def test_a_template_that_goes_nowhere_is_a_warning_until_a_rule_completes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    selecting_others = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("one"))
    repository.commit({**FLEET, "policy.yaml": selecting_others, "web.yaml": BARE, "override.yaml": WRONG})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, "warning: web.yaml:8: spec.selector: required, but missing\n" in ended.out) == (0, True)
    repository.commit({"argosy.yaml": settings(source={"strict": True})})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, ended.out.startswith("web.yaml:8: spec.selector: required, but missing\n")) == (3, True)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("/spec/template/spec/containers/0/imgae", "nginx", "spec.template.spec.containers[0].imgae"),
        ("/metadata/labels", {"-bad-": "x"}, "metadata.labels"),
        ("/spec/selector/matchLabels/app", "other", "spec.template.metadata.labels"),
    ],
)
def test_only_parts_that_a_rule_left_alone_are_not_checked_again(
    path: str, value: Any, field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule that compares parts with each other sees those that stayed as well."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "override.yaml": adding(path, value)})
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, f": {field}: " in ended.out) == (3, True)
