"""``argosy test``: what a PolicyTest may say, how it fails, how it is written back, what it covers."""

import json
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from tests.build import (
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    as_bytes,
    on_clusters,
    weighted,
)
from tests.sources import source_of
from tests.tables import each_row

NGINX = {"group": "apps", "kind": "Deployment", "name": "nginx"}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "key", "namespace": "default"},
    "data": {"password": "c3dvcmRmaXNo"},
}


def a_test(*expect: dict[str, Any], name: str = "nginx", **given: Any) -> dict[str, Any]:
    spec = {**({"given": given} if given else {}), "expect": list(expect)}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "PolicyTest", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Six replicas at two to one over member1 and member2, a Secret everywhere, nobody's ConfigMap."""
    made = Repository.create(tmp_path / "fleet")
    split = on_clusters("member1", "member2", "member3", replicaScheduling=weighted(member1=2, member2=1))
    made.write(
        {
            **{f"clusters/member{number}.yaml": a_cluster(f"member{number}") for number in (1, 2)},
            "nginx.yaml": a_deployment(replicas=6),
            "secret.yaml": SECRET,
            "map.yaml": a_config_map("lonely"),
            "policies.yaml": [
                a_policy(placement=split),
                a_policy("secrets", selectors=[{"apiVersion": "v1", "kind": "Secret"}]),
            ],
        }
    )
    return made


class Expected(NamedTuple):
    """A test, and what of it does not come true."""

    why: str
    test: dict[str, Any]
    want: list[str]


IMAGE = "/spec/template/spec/containers/0/image"
MEMBER3 = {"metadata": {"name": "member3"}, "spec": {"syncMode": "Push"}}
PASSWORD = {"cluster": "member1", "path": "/data/password", "value": "x"}
ANYWHERE = {"member1": 4, "member2": 2}
EXPECTED = [
    Expected("replicas as divided", a_test({**NGINX, "replicas": ANYWHERE}), []),
    Expected(
        "other replicas",
        a_test({**NGINX, "replicas": {"member1": 6}}),
        ["spec.expect[0].replicas: want member1:6, got member1:4 member2:2"],
    ),
    Expected("the clusters in any order", a_test({**NGINX, "clusters": ["member2", "member1"]}), []),
    Expected(
        "one cluster too many",
        a_test({**NGINX, "clusters": ["member1"]}),
        ["spec.expect[0].clusters: want member1, got member1 member2"],
    ),
    Expected("the policy by its name", a_test({**NGINX, "policy": "PropagationPolicy default/nginx"}), []),
    Expected(
        "another policy",
        a_test({**NGINX, "policy": "PropagationPolicy default/secrets"}),
        [("spec.expect[0].policy: want PropagationPolicy default/secrets, got PropagationPolicy default/nginx")],
    ),
    Expected("an object nobody holds", a_test({"kind": "ConfigMap", "name": "lonely", "clusters": []}), []),
    Expected(
        "an object that is not there",
        a_test({**NGINX, "name": "ngnix", "clusters": []}),
        ["spec.expect[0].name: the source has no Deployment.apps default/ngnix; did you mean 'nginx'?"],
    ),
    Expected(
        "a cluster lost",
        a_test({**NGINX, "replicas": {"member1": 6}}, withoutClusters=["member2"]),
        [],
    ),
    Expected(
        "a cluster more, which the weights leave out",
        a_test(
            {**NGINX, "replicas": ANYWHERE}, clusters=[{"metadata": {"name": "member3"}, "spec": {"syncMode": "Push"}}]
        ),
        [],
    ),
    Expected(
        "a template in another's place",
        a_test({**NGINX, "replicas": {"member1": 2, "member2": 1}}, templates=[a_deployment(replicas=3)]),
        [],
    ),
    Expected(
        "no cluster at all",
        a_test(
            {**NGINX, "reason": "NoClusterFit", "message": "0/0 clusters", "clusters": []},
            withoutClusters=["member1", "member2"],
        ),
        [],
    ),
    Expected(
        "another reason and another message",
        a_test({**NGINX, "reason": "Unschedulable", "message": "not enough"}),
        [
            "spec.expect[0].message: want not enough, got Binding has been scheduled successfully.",
            "spec.expect[0].reason: want Unschedulable, got Success",
        ],
    ),
    Expected("clusters it is not in", a_test({**NGINX, "notIn": ["member3"]}, clusters=[MEMBER3]), []),
    Expected(
        "a cluster it is in against expectation",
        a_test({**NGINX, "notIn": ["member3", "member1"]}, clusters=[MEMBER3]),
        ["spec.expect[0].notIn: want it not in member1, but it is"],
    ),
    Expected(
        "an object that is in no cluster",
        a_test({"kind": "ConfigMap", "name": "lonely", "absent": True}, {"kind": "Pod", "name": "x", "absent": True}),
        [],
    ),
    Expected(
        "an object that is somewhere against expectation",
        a_test({**NGINX, "absent": True}),
        ["spec.expect[0].absent: want it in no cluster, got member1 member2"],
    ),
    Expected(
        "an absent object with a typo",
        a_test({**NGINX, "name": "ngnix", "absent": True}),
        ["spec.expect[0].name: the source has no Deployment.apps default/ngnix; did you mean 'nginx'?"],
    ),
    Expected(
        "a pattern of the message",
        a_test(
            {**NGINX, "messageMatches": "^[0-9]+/0 clusters? are available"}, withoutClusters=["member1", "member2"]
        ),
        [],
    ),
    Expected(
        "another message than the pattern's",
        a_test({**NGINX, "messageMatches": "^scheduled"}),
        [("spec.expect[0].messageMatches: want a match of ^scheduled, got Binding has been scheduled successfully.")],
    ),
    Expected(
        "a fleet to try",
        a_test({**NGINX, "reason": "NoClusterFit", "absent": True}, argosy={"spec": {"compatibility": "Karmada"}}),
        [],
    ),
    Expected(
        "a setting that takes back what compatibility implies",
        a_test(
            {**NGINX, "replicas": ANYWHERE},
            argosy={"kind": "Fleet", "spec": {"compatibility": "Karmada", "requireRecordedAPIs": False}},
        ),
        [],
    ),
    Expected(
        "a cluster refused by a filter",
        a_test(
            {**NGINX, "refused": {"member4": "ClusterAffinity", "member1": "TaintToleration"}},
            clusters=[{"metadata": {"name": "member4"}, "spec": {"syncMode": "Push"}}],
        ),
        ["spec.expect[0].refused.member1: want TaintToleration to refuse it, got nothing"],
    ),
    Expected(
        "fields of a cluster's manifest",
        a_test(
            {
                **NGINX,
                "fields": [
                    {"cluster": "member2", "path": "/spec/replicas", "value": 2},
                    {"cluster": "member2", "path": "/spec/paused", "absent": True},
                    {"cluster": "member1", "path": IMAGE, "value": "nginx:2"},
                    {"cluster": "member1", "path": "/spec/replicas", "absent": True},
                ],
            }
        ),
        [
            f'spec.expect[0].fields[2].value: {IMAGE} in member1: want "nginx:2", got "nginx:1.29"',
            "spec.expect[0].fields[3].value: /spec/replicas in member1: want nothing, got 4",
        ],
    ),
    Expected(
        "the value of a Secret is not told",
        a_test(
            {
                "kind": "Secret",
                "name": "key",
                "fields": [{"cluster": "member1", "path": "/data/password", "value": "x"}],
            }
        ),
        ["spec.expect[0].fields[0].value: /data/password in member1: want (hidden), got (hidden)"],
    ),
]


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.why)
def test_expectations(case: Expected, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"tests/one_test.yaml": case.test})
    ended = argosy(repository, capsys, "test", "-o", "json")
    found = json.loads(ended.out)["tests"][0]["mismatches"]
    assert (ended.code, sorted(f"{each['field']}: {each['message']}" for each in found)) == (
        int(bool(case.want)),
        case.want,
    )


class Refusal(NamedTuple):
    """A test that cannot be used, and what is said about it."""

    why: str
    test: dict[str, Any]
    want: list[str]


REFUSALS = [
    Refusal("nothing is expected", a_test(), ["t.yaml:6: spec.expect: must have at least 1 item"]),
    Refusal(
        "a field that does not exist",
        a_test({**NGINX, "replica": {}}),
        ["t.yaml:10: spec.expect[0].replica: unknown field\n  hint: did you mean 'replicas'?"],
    ),
    Refusal(
        "no JSON pointer, and nothing expected there",
        a_test({**NGINX, "fields": [{"cluster": "a", "path": "spec.replicas"}]}),
        [
            "t.yaml:8: spec.expect[0].fields[0]: expect either a value or 'absent: true'",
            "t.yaml:9: spec.expect[0].fields[0].path: is no JSON pointer\n  hint: write it as '/spec/replicas'",
        ],
    ),
    Refusal(
        "a cluster that is wrong is told at its place in the test",
        a_test(NGINX, clusters=[{"metadata": {"name": "member.1"}, "spec": {"syncMode": "Shove"}}]),
        [
            "t.yaml:13: metadata.name: 'member.1'",
            "t.yaml:15: spec.syncMode: unknown value 'Shove'",
        ],
    ),
    Refusal(
        "a policy is no template",
        a_test(NGINX, templates=[a_policy()]),
        ["t.yaml:12: must be a resource template"],
    ),
    Refusal(
        "an object that is absent and somewhere",
        a_test({**NGINX, "absent": True, "notIn": ["member1"], "replicas": {"member1": 1}}),
        [
            (
                "t.yaml:7: spec.expect[0].absent: is expected beside notIn, replicas\n"
                "  hint: an object that is absent goes nowhere: keep one of them"
            )
        ],
    ),
    Refusal(
        "a pattern that is none",
        a_test({**NGINX, "messageMatches": "(a"}),
        ["t.yaml:9: spec.expect[0].messageMatches: is no pattern that can be used: missing )"],
    ),
    Refusal(
        "a pattern that cannot be matched in time",
        a_test({**NGINX, "messageMatches": r"(a)\1"}),
        ["t.yaml:9: spec.expect[0].messageMatches: is no pattern that can be used: groupref is not supported"],
    ),
    Refusal(
        "a setting that is wrong is told at its place in the test",
        a_test(NGINX, argosy={"spec": {"claims": "Clear"}}),
        ["t.yaml:13: spec.claims: unknown value 'Clear'\n  hint: write 'Pure' or 'Sticky'"],
    ),
    Refusal("a fleet that is none", a_test(NGINX, argosy=[1]), ["t.yaml:11: must be a Fleet"]),
    Refusal("a fleet of another kind", a_test(NGINX, argosy={"kind": "Flet"}), ["t.yaml:11: must be a Fleet"]),
    Refusal(
        "a version there never was",
        {**a_test(NGINX), "apiVersion": "argosy.dev/v1"},
        ["t.yaml:1: apiVersion: there is no PolicyTest in 'argosy.dev/v1'\n  hint: write 'argosy.dev/v1alpha1'"],
    ),
]


@each_row("case", REFUSALS, ids=lambda case: case.why)
def test_a_test_is_admitted_as_everything_else(case: Refusal) -> None:
    source = source_of({"t.yaml": as_bytes(case.test)})
    got = [str(problem) for problem in load_source(source.files, SourceReading(source.read)).problems]
    assert [text[: len(want)] for text, want in zip(got, case.want, strict=True)] == case.want


def test_a_setting_that_means_nothing_in_a_test_is_pointed_out() -> None:
    source = source_of({"t.yaml": as_bytes(a_test(NGINX, argosy={"spec": {"claims": "Sticky", "secrets": "Refuse"}}))})
    assert [str(each) for each in load_source(source.files, SourceReading(source.read)).warnings] == [
        "t.yaml:14: spec.secrets: means nothing in a test, which reads by argosy.yaml and delivers nothing"
    ]


def test_two_tests_of_one_name_are_a_problem() -> None:
    source = source_of({"t.yaml": as_bytes([a_test(NGINX), a_test(NGINX)])})
    assert [str(problem) for problem in load_source(source.files, SourceReading(source.read)).problems] == [
        "t.yaml:11: PolicyTest nginx is defined twice, also at t.yaml:1\n  hint: keep one"
    ]


def test_a_test_is_never_propagated(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"tests/one_test.yaml": a_test(NGINX)})
    assert "PolicyTest" not in argosy(repository, capsys, "render", "-o", "json").out


def test_results_in_every_form(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    tests = [a_test({**NGINX, "replicas": ANYWHERE}, name="good"), a_test({**NGINX, "clusters": []}, name="bad")]
    repository.write({"tests/two_test.yaml": tests})
    mismatch = "tests/two_test.yaml:20: spec.expect[0].clusters: want nothing, got member1 member2"
    text = argosy(repository, capsys, "test")
    tap = argosy(repository, capsys, "test", "-o", "tap")
    junit = ET.fromstring(argosy(repository, capsys, "test", "-o", "junit").out)
    assert text == (
        1,
        (
            "FAIL  bad  tests/two_test.yaml\n"
            f"      {mismatch}\n"
            "ok    good  tests/two_test.yaml\n"
            "1 passed, 1 failed; exercised 1 of 2 propagation policies, 0 of 0 override rules\n"
            "  not exercised: PropagationPolicy default/secrets\n"
        ),
        "",
    )
    assert tap.out == (
        "TAP version 14\n1..2\nnot ok 1 - bad\n  ---\n  mismatches:\n"
        f'    - "{mismatch}"\n'
        "  ...\nok 2 - good\n"
        "# 1 passed, 1 failed; exercised 1 of 2 propagation policies, 0 of 0 override rules\n"
        "# not exercised: PropagationPolicy default/secrets\n"
    )
    assert (junit.attrib, junit.findtext(".//failure")) == ({"tests": "2", "failures": "1"}, mismatch)


def test_paths_choose_tests(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({f"tests/{name}/x_test.yaml": a_test(NGINX, name=name) for name in ("one", "two")})
    assert argosy(repository, capsys, "test", "tests/one").out.splitlines()[:1] == ["ok    one  tests/one/x_test.yaml"]
    assert argosy(repository, capsys, "test", "tests/two/x_test.yaml", "tests/one").out.count("ok    ") == 2
    ended = argosy(repository, capsys, "test", "tests/three")
    known = "tests/one/x_test.yaml, tests/two/x_test.yaml"
    assert (ended.code, ended.err) == (
        2,
        f"argosy: there is no PolicyTest at 'tests/three'\n  hint: known here: {known}\n",
    )


COMMENTED = """\
# Two to one.
apiVersion: argosy.dev/v1alpha1
kind: PolicyTest
metadata:
  name: nginx
spec:
  expect:
  - group: apps
    kind: Deployment
    name: nginx
    # What the weights say.
    replicas:
      member1: 1  # too few
    clusters:
    - member9

    # The image is ours.
    fields:
    - cluster: member1
      path: /spec/template/spec/containers/0/image
      value: nginx:0  # old
    - {cluster: member2, path: /spec/paused, absent: true}
"""


def test_update_writes_what_is_so_and_keeps_the_rest(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"one_test.yaml": COMMENTED})
    assert argosy(repository, capsys, "test", "--update") == (0, "updated one_test.yaml: 3 expectations\n", "")
    text = (repository.path / "one_test.yaml").read_text()
    assert text == (
        COMMENTED.replace("      member1: 1  # too few\n", "      member1: 4\n      member2: 2\n")
        .replace("    - member9\n", "    - member1\n    - member2\n")
        .replace("nginx:0", "nginx:1.29")
    )
    assert argosy(repository, capsys, "test").code == 0


class Update(NamedTuple):
    """A test before and after what is so was written into it."""

    why: str
    before: str
    after: str


FLOW = """\
apiVersion: argosy.dev/v1alpha1
kind: PolicyTest
metadata: {name: nginx}
spec:
  expect:
  - {group: apps, kind: Deployment, name: nginx, %s}  # ours
"""
AS_JSON = json.dumps(a_test({**NGINX, "clusters": []}), indent=2)
LISTED = """\
apiVersion: v1
kind: List
items:
- apiVersion: argosy.dev/v1alpha1
  kind: PolicyTest
  metadata:
    name: nginx
  spec:
    expect:
    - group: apps
      kind: Deployment
      name: nginx
      %s
"""
PAUSED = "fields: [{cluster: member1, path: /spec/paused, %s}]"
REPLICAS = "fields: [{cluster: member1, path: /spec/replicas, %s}]"
UPDATES = [
    Update("braces", FLOW % "replicas: {member1: 1}", FLOW % "replicas: {member1: 4, member2: 2}"),
    Update("brackets", FLOW % "clusters: [member2]", FLOW % "clusters: [member1, member2]"),
    Update("JSON", AS_JSON, AS_JSON.replace('"clusters": []', '"clusters": ["member1", "member2"]')),
    Update("a value that is not there", FLOW % (PAUSED % "value: true"), FLOW % (PAUSED % "absent: true")),
    Update("a value that is there", FLOW % (REPLICAS % "absent: true"), FLOW % (REPLICAS % "value: 4")),
    Update(
        "a filter that refuses nothing",
        FLOW % "refused: {member1: TaintToleration, member2: APIEnablement}, reason: Success",
        FLOW % "reason: Success",
    ),
    Update("a list of objects", LISTED % "clusters: []", LISTED % "clusters: [member1, member2]"),
]


@pytest.mark.parametrize("case", UPDATES, ids=lambda case: case.why)
def test_update_keeps_the_style(case: Update, repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.write({"one_test.yaml": case.before})
    assert argosy(repository, capsys, "test", "--update").code == 0
    assert (repository.path / "one_test.yaml").read_text() == case.after
    assert argosy(repository, capsys, "test").code == 0


def test_what_cannot_be_edited_is_told_at_its_line(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    anchored = FLOW % "clusters: &all [member2], replicas: {member1: 1}"
    good = a_test({**NGINX, "clusters": []}, name="other")
    repository.write({"one_test.yaml": anchored, "two_test.yaml": good})
    ended = argosy(repository, capsys, "test", "--update")
    problem = "one_test.yaml:6: an anchor, an alias or a tag stands here\n  hint: change it by hand\n"
    assert ended == (3, "updated two_test.yaml: 1 expectation\n", f"{problem}1 test could not be updated\n")
    assert (repository.path / "one_test.yaml").read_text() == anchored


def test_what_is_not_there_is_not_written(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    test = a_test({**NGINX, "name": "ngnix", "clusters": []})
    repository.write({"one_test.yaml": test})
    said = "the source has no Deployment.apps default/ngnix; did you mean 'nginx'?; --update leaves it"
    ended = argosy(repository, capsys, "test", "--update")
    assert ended == (1, "", f"warning: one_test.yaml: spec.expect[0].name: {said}\n")
    assert (repository.path / "one_test.yaml").read_bytes() == as_bytes(test)


def test_a_secrets_value_is_never_written_into_a_test(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.write({"one_test.yaml": a_test({"kind": "Secret", "name": "key", "fields": [PASSWORD]})})
    assert argosy(repository, capsys, "test", "--update").code == 1
    assert "c3dvcmRmaXNo" not in (repository.path / "one_test.yaml").read_text()
