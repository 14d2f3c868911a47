"""Templates that the schema of their kind does not allow: what is said of each, and when it stops a source."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.source.schemas.checks import EVERY_MINOR, NO_MINOR, SchemaChecks
from reconciler.source.schemas.kubernetes import KubernetesSchemas
from render.documents import parse_documents
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy, on_clusters

CONTAINERS = "spec.template.spec.containers[0]"


class Mistake(NamedTuple):
    why: str
    text: str
    want: str


def deployment(spec: str = "", container: str = "") -> str:
    """A Deployment with a line of its own in the spec and in the container: lines 5 and 12."""
    return (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
        f"  {spec or 'paused: false'}\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n"
        f"      containers:\n        - name: web\n          {container or 'image: nginx'}\n"
    )


def one_line(api_version: str, kind: str, rest: str) -> str:
    return f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: web}}\n{rest}\n"


MISTAKES = [
    Mistake(
        "replicas misspelled",
        deployment(spec="replica: 4"),
        "a.yaml:5: spec.replica: unknown field\n  hint: did you mean 'replicas'?\n",
    ),
    Mistake(
        "image misspelled",
        deployment(container="imgae: nginx"),
        f"a.yaml:12: {CONTAINERS}.imgae: unknown field\n  hint: did you mean 'image'?\n",
    ),
    Mistake(
        "a number as the value of a variable",
        deployment(container="env: [{name: PORT, value: 8080}]"),
        f"a.yaml:12: {CONTAINERS}.env[0].value: must be a string, not a number\n  hint: put it in quotes\n",
    ),
    Mistake(
        "a flag as the value of a variable",
        deployment(container="env: [{name: DEBUG, value: yes}]"),
        f"a.yaml:12: {CONTAINERS}.env[0].value: must be a string, not a boolean\n  hint: put it in quotes\n",
    ),
    Mistake(
        "a port in quotes",
        deployment(container='ports: [{containerPort: "80"}]'),
        f"a.yaml:12: {CONTAINERS}.ports[0].containerPort: must be a whole number, not a string\n"
        "  hint: write it without quotes\n",
    ),
    Mistake(
        "a port that is none",
        deployment(container="ports: [{port: 80}]"),
        f"a.yaml:12: {CONTAINERS}.ports[0].containerPort: required, but missing\n"
        f"a.yaml:12: {CONTAINERS}.ports[0].port: unknown field\n"
        "  hint: known here: containerPort, hostIP, hostPort, name, protocol\n",
    ),
    Mistake(
        "a pull policy in small letters",
        deployment(container="imagePullPolicy: always"),
        f"a.yaml:12: {CONTAINERS}.imagePullPolicy: none of the values it may have\n  hint: did you mean 'Always'?\n",
    ),
    Mistake(
        "an amount with a unit that is none",
        deployment(container="resources: {limits: {memory: 1GB}}"),
        f"a.yaml:12: {CONTAINERS}.resources.limits.memory: must be a quantity such as '500m', '2' or '64Mi'\n",
    ),
    Mistake(
        "limits at the wrong level",
        deployment(container="limits: {cpu: 1}"),
        f"a.yaml:12: {CONTAINERS}.limits: unknown field\n",
    ),
    Mistake(
        "a command that is no list",
        deployment(container="command: run"),
        f"a.yaml:12: {CONTAINERS}.command: must be a list, not a string\n  hint: write it as a list, also of one\n",
    ),
    Mistake(
        "an unknown strategy",
        deployment(spec="strategy: {type: BlueGreen}"),
        "a.yaml:5: spec.strategy.type: none of the values it may have\n  hint: write 'Recreate' or 'RollingUpdate'\n",
    ),
    Mistake(
        "no selector",
        deployment().replace("  selector: {matchLabels: {app: web}}\n", ""),
        "a.yaml:4: spec.selector: required, but missing\n",
    ),
    Mistake(
        "containers in the wrong place",
        one_line("v1", "Pod", "containers: [{name: web}]"),
        "a.yaml:4: containers: unknown field\n  hint: known here: apiVersion, kind, metadata, spec, status\n",
    ),
    Mistake(
        "a service without a port",
        one_line("v1", "Service", "spec: {ports: [{targetPort: 80}]}"),
        "a.yaml:4: spec.ports[0].port: required, but missing\n",
    ),
    Mistake(
        "an unknown type of service",
        one_line("v1", "Service", "spec: {type: Loadbalancer}"),
        "a.yaml:4: spec.type: none of the values it may have\n  hint: did you mean 'LoadBalancer'?\n",
    ),
    Mistake(
        "a number in a ConfigMap",
        one_line("v1", "ConfigMap", "data: {replicas: 3}"),
        "a.yaml:4: data.replicas: must be a string, not a number\n  hint: put it in quotes\n",
    ),
    Mistake(
        "a Secret in clear text under data",
        one_line("v1", "Secret", "data: {password: hunter 2}"),
        "a.yaml:4: data.password: must be base64\n",
    ),
    Mistake(
        "an ingress path without its type",
        one_line(
            "networking.k8s.io/v1",
            "Ingress",
            "spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: a, port: {number: 80}}}}]}}]}",
        ),
        "a.yaml:4: spec.rules[0].http.paths[0].pathType: required, but missing\n",
    ),
    Mistake(
        "an ingress of before",
        one_line(
            "networking.k8s.io/v1",
            "Ingress",
            "spec: {defaultBackend: {serviceName: web, servicePort: 80}}",
        ),
        "a.yaml:4: spec.defaultBackend.serviceName: unknown field\n  hint: did you mean 'service'?\n"
        "a.yaml:4: spec.defaultBackend.servicePort: unknown field\n  hint: did you mean 'service'?\n",
    ),
    Mistake(
        "a job that restarts for ever",
        one_line("batch/v1", "CronJob", "spec: {concurrencyPolicy: Never, schedule: '* * * * *', jobTemplate: {}}"),
        "a.yaml:4: spec.concurrencyPolicy: none of the values it may have\n"
        "  hint: write 'Allow', 'Forbid' or 'Replace'\na.yaml:4: spec.jobTemplate.spec: required, but missing\n",
    ),
    Mistake(
        "an autoscaler of before",
        one_line(
            "autoscaling/v2beta1",
            "HorizontalPodAutoscaler",
            "spec: {maxReplicas: 2, scaleTargetRef: {kind: a, name: a}}",
        ),
        "a.yaml:1: apiVersion: Kubernetes 1.25 removed HorizontalPodAutoscaler from 'autoscaling/v2beta1'\n"
        "  hint: write 'autoscaling/v2'\n",
    ),
    Mistake(
        "a Deployment of before",
        deployment().replace("apps/v1", "apps/v1beta1"),
        "a.yaml:1: apiVersion: Kubernetes 1.16 removed Deployment from 'apps/v1beta1'\n  hint: write 'apps/v1'\n",
    ),
    Mistake(
        "an Ingress of another group",
        one_line("extensions/v1beta1", "Ingress", "spec: {}"),
        "a.yaml:1: apiVersion: Kubernetes 1.22 removed Ingress from 'extensions/v1beta1'\n"
        "  hint: write 'networking.k8s.io/v1'\n",
    ),
    Mistake(
        "a kind that is gone",
        one_line("policy/v1beta1", "PodSecurityPolicy", "spec: {}"),
        "a.yaml:1: apiVersion: Kubernetes 1.25 removed PodSecurityPolicy from 'policy/v1beta1'\n"
        "  hint: the kind is gone from Kubernetes\n",
    ),
    Mistake(
        "more than a server stores",
        one_line("v1", "ConfigMap", f"data: {{blob: {'a' * (1 << 20)}b}}"),
        "a.yaml:1: more than 1048576 bytes of data, which is all a server stores\n",
    ),
]
FLEET = {"clusters/m.yaml": a_cluster("m"), "policy.yaml": a_policy(placement=on_clusters("m"))}
WRONG, FIELD = a_deployment(), "a.yaml:9: spec.replica: unknown field\n  hint: did you mean 'replicas'?\n"
WRONG["spec"]["replica"] = 4
NOTHING_CHANGED = "1 problem; nothing was changed\n"


def settings(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": spec}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(Path(tmp_path_factory.mktemp("mistakes")) / "fleet")
    made.commit(FLEET)
    return made


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.why)
def test_a_mistake_is_refused(case: Mistake, fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.write({"a.yaml": case.text})
    ended = argosy(fleet, capsys, "validate")
    count = case.want.count("a.yaml:")
    counted = f"{count} problem{'s' if count > 1 else ''}"
    assert (ended.code, ended.out[: len(case.want)]) == (3, case.want)
    assert f"\n{counted}, " in ended.out


@pytest.mark.parametrize("command", ["render", "reconcile", "reconcile --dry-run", "diff", "validate"])
def test_every_command_refuses_it(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "a.yaml": a_deployment()})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"a.yaml": WRONG})
    ended = argosy(repository, capsys, *command.split())
    assert (ended.code, (ended.err or ended.out).startswith(FIELD)) == (3, True)


class Refused(NamedTuple):
    """A template that every server refuses, and the beginning of what is said of it."""

    why: str
    template: dict[str, Any]
    said: str


COUNTED = a_deployment()
COUNTED["spec"]["replicas"] = "8"
NAMELESS = a_deployment()
NAMELESS["metadata"] = {"generateName": "nginx-"}
REFUSED = [
    Refused("a field that no schema has", WRONG, FIELD),
    Refused("a count that is a text", COUNTED, "a.yaml:9: spec.replicas: must be a whole number, not a string"),
    Refused("an object without a name", NAMELESS, "a.yaml:3: metadata.name: required, but missing"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_what_a_server_would_refuse_is_never_delivered(
    case: Refused, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One rule, the same for every command: it is left out and named, and the answer is no."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement=on_clusters("m"))
    repository.commit({**FLEET, "policy.yaml": policy, "a.yaml": case.template, "b.yaml": a_deployment(name="b")})
    field = case.said.partition(": ")
    left_out = f"warning: {field[0]}: {field[2].replace(': ', ': left out: ', 1)}".splitlines()[0]
    for command, code in (("render --bootstrap", 1), ("reconcile --bootstrap", 1), ("render", 1), ("reconcile", 1)):
        ended = argosy(repository, capsys, *command.split())
        assert (ended.code, left_out in ended.err) == (code, True), (command, ended.err)
        ended = argosy(repository, capsys, "validate")
        assert (ended.code, ended.out.startswith(case.said.splitlines()[0])) == (3, True), command
    paths = repository.files()
    assert "clusters/m/default/Deployment.apps/b.yaml" in paths
    assert "clusters/m/default/Deployment.apps/nginx.yaml" not in paths
    ended = argosy(repository, capsys, "reconcile", "-o", "json")
    assert len(json.loads(ended.out)["leftOut"]) == 1
    assert argosy(repository, capsys, "verify").code == 0
    repository.commit({"a.yaml": a_deployment()})
    assert argosy(repository, capsys, "validate").code == 0
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (0, "")
    assert "clusters/m/default/Deployment.apps/nginx.yaml" in repository.files()
    repository.commit({"a.yaml": case.template})
    for command in ("validate", "render", "reconcile"):
        assert argosy(repository, capsys, command).code == 3


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_what_was_never_delivered_is_left_out_however_often_its_file_changes(
    case: Refused, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One object that never was anywhere does not stop those of everybody else."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy(selectors=[{"apiVersion": "apps/v1", "kind": "Deployment"}], placement=on_clusters("m"))
    repository.commit({**FLEET, "policy.yaml": policy, "a.yaml": a_deployment(name="a")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    again = {**case.template, "metadata": {**case.template["metadata"], "labels": {"tier": "web"}}}
    for number, template in enumerate((case.template, again)):
        repository.commit({"new.yaml": template, f"right{number}.yaml": a_deployment(name=f"right-{number}")})
        ended = argosy(repository, capsys, "validate")
        assert (ended.code, ended.out.startswith("new.yaml:")) == (3, True)
        for command in ("render", "reconcile --dry-run", "reconcile"):
            ended = argosy(repository, capsys, *command.split())
            assert (ended.code, ended.err.count("warning: new.yaml:"), "left out: " in ended.err) == (1, 1, True)
        deployments = {path for path in repository.files() if path.startswith("clusters/m/default/Deployment.apps/")}
        names = ("a", *(f"right-{each}" for each in range(number + 1)))
        assert deployments == {f"clusters/m/default/Deployment.apps/{name}.yaml" for name in names}
    repository.commit({"a.yaml": case.template, "new.yaml": None})
    for command in ("validate", "render", "reconcile"):
        assert argosy(repository, capsys, command).code == 3, "what was delivered from the file would be gone"


def test_what_was_as_wrong_before_is_a_warning_until_it_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An upgrade that finds more must not stop a fleet that worked, and its objects stay where they are."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "a.yaml": WRONG, "argosy.yaml": settings(validation="Off")})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    repository.commit({"argosy.yaml": None, "b.yaml": a_config_map("b")})
    assert argosy(repository, capsys, "validate").code == 0
    ended = argosy(repository, capsys, "reconcile")
    assert (ended.code, ended.err) == (0, f"warning: {FIELD}")
    assert "clusters/m/default/Deployment.apps/nginx.yaml" in repository.files()
    repository.commit({"a.yaml": {**WRONG, "spec": {**WRONG["spec"], "replicas": 3}}})
    assert argosy(repository, capsys, "reconcile") == (3, "", FIELD + NOTHING_CHANGED)
    repository.commit({"a.yaml": WRONG, "argosy.yaml": settings(source={"strict": True})})
    assert argosy(repository, capsys, "reconcile") == (3, "", FIELD + NOTHING_CHANGED)


@pytest.mark.parametrize(("validation", "said"), [("Warn", f"warning: {FIELD}"), ("Off", "")])
def test_a_fleet_may_be_warned_only(
    validation: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({**FLEET, "a.yaml": WRONG, "argosy.yaml": settings(validation=validation)})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert (ended.code, ended.err) == (0, said)


def test_off_needs_no_quotes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """YAML reads it as false."""
    repository = Repository.create(tmp_path / "fleet")
    text = "apiVersion: argosy.dev/v1alpha1\nkind: Fleet\nspec: {validation: Off}\n"
    repository.commit({**FLEET, "a.yaml": WRONG, "argosy.yaml": text})
    assert argosy(repository, capsys, "validate").code == 0


def test_kinds_without_a_schema_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    objects = {
        f"{kind}.yaml": {
            "apiVersion": "example.com/v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": "default"},
        }
        for kind, name in (("Widget", "b"), ("Gadget", "a"))
    }
    repository.commit({**FLEET, "a.yaml": a_deployment(), **objects})
    ended = argosy(repository, capsys, "validate")
    said = (
        "warning: Gadget.yaml:2: kind: there is no schema of Gadget.example.com, Widget.example.com, so their fields"
        " are not checked\n  hint: add their CustomResourceDefinitions to the templates\n"
    )
    assert (ended.code, said in ended.out, ended.out.count("no schema")) == (0, True, 1)


def test_a_source_without_policies_is_only_warned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"a.yaml": WRONG})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    nothing = "warning: nothing is rendered of 1 template: the source has no cluster\n"
    assert (ended.code, ended.err.startswith(f"warning: {FIELD}{nothing}")) == (1, True)
    assert "left out" not in ended.err


VERSIONS = [
    ("v1.24.9", 0, "a version before all that are known may serve it"),
    ("v1.25.3", 3, "the last that served it is over"),
    ("v1.99.0", 0, "a version after all that are known may serve it again"),
    ("", 3, "a member of unknown version runs one that is known"),
]


@pytest.mark.parametrize(("version", "code", "why"), VERSIONS, ids=[why for *_, why in VERSIONS])
def test_members_that_may_run_anything_are_not_judged_for(
    version: str, code: int, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert why
    cluster = a_cluster("m")
    if version:
        cluster["status"] = {"kubernetesVersion": version}
    repository = Repository.create(tmp_path / "fleet")
    old = one_line("policy/v1beta1", "PodDisruptionBudget", "spec: {selector: {matchLabels: {a: b}}}")
    repository.commit({**FLEET, "clusters/m.yaml": cluster, "a.yaml": old})
    assert argosy(repository, capsys, "validate").code == code


def test_a_field_counts_from_the_version_that_has_it() -> None:
    schemas = KubernetesSchemas()
    assert schemas.minors("autoscaling/v2beta2", "HorizontalPodAutoscaler") == range(25, 26)
    assert schemas.minors("batch/v2", "Job") == range(0)
    assert schemas.api_versions("flowcontrol.apiserver.k8s.io", "FlowSchema") == [
        "flowcontrol.apiserver.k8s.io/v1beta1",
        "flowcontrol.apiserver.k8s.io/v1beta2",
        "flowcontrol.apiserver.k8s.io/v1beta3",
        "flowcontrol.apiserver.k8s.io/v1",
    ]
    assert schemas.check_of("policy/v1", "PodDisruptionBudget", 24) is None
    assert (schemas.oldest, schemas.newest) == (25, 37)


def test_one_check_tells_for_which_versions_an_object_is_right() -> None:
    """An object that the newest version takes is checked again for older ones only where a field changed since."""
    checks = SchemaChecks(lambda: ())
    resizing = a_deployment()
    container = resizing["spec"]["template"]["spec"]["containers"][0]
    container["resizePolicy"] = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = {"apiVersion": "autoscaling/v2beta2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    assert checks.verdict(a_deployment()).right == EVERY_MINOR
    assert checks.verdict(resizing).right == range(27, 38)
    assert checks.verdict({**scaler, "spec": {"maxReplicas": 2, "scaleTargetRef": target}}).right == range(25, 26)
    assert checks.verdict(WRONG).right == NO_MINOR


def test_a_version_that_is_told_to_take_an_object_takes_it() -> None:
    checks = SchemaChecks(lambda: ())
    table = Path(__file__).parent / "vectors" / "rich_objects.yaml"
    late = set()
    for document in parse_documents(table.read_bytes()):
        right = checks.verdict(document.value).right
        late |= set(range(25, 38)) - set(right)
        for minor in set(range(25, 38)) & set(right):
            assert checks.findings(document.value, minor).problems == []
    assert late
