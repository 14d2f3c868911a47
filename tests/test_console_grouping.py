"""Lines that are alike are one with their count; a line that differs stands for itself, and -v names all."""

from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.console.grouping import lines_grouped_by_wording, number_of_kinds
from render.documents import parse_documents

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .tables import each_row


class Case(NamedTuple):
    why: str
    lines: list[str]
    want: list[str]


CASES = [
    Case("two are told apart", ["a.yaml:1: is odd", "b.yaml:2: is odd"], ["a.yaml:1: is odd", "b.yaml:2: is odd"]),
    Case(
        "three are one, with its hint",
        [f"{name}.yaml:1: is odd\n  hint: mend it" for name in "abc"],
        ["a.yaml:1: is odd (and 2 like it: b.yaml:1, c.yaml:1)\n  hint: mend it"],
    ),
    Case(
        "of many, some are named",
        [f"{number}.yaml: is odd" for number in range(1, 119)],
        ["1.yaml: is odd (and 117 like it: 2.yaml, 3.yaml, 4.yaml and 114 more; -v names all)"],
    ),
    Case("what stands there twice is said once", ["a.yaml:1: is odd", "a.yaml:1: is odd"], ["a.yaml:1: is odd"]),
    Case(
        "a repeated one counts once",
        ["a.yaml: is odd", "a.yaml: is odd", "b.yaml: is odd"],
        ["a.yaml: is odd", "b.yaml: is odd"],
    ),
    Case(
        "objects of any kind, and items of any list",
        [
            "a.yaml:1: Secret shop/a: spec.x[0]: is odd",
            "b.yaml:1: ConfigMap bank/b: spec.x[7]: is odd",
            "c.yaml:1: ClusterRole c: spec.x[12]: is odd",
        ],
        ["a.yaml:1: Secret shop/a: spec.x[0]: is odd (and 2 like it: b.yaml:1, c.yaml:1)"],
    ),
    Case(
        "what each is about stands after one word for all",
        [f"ignored: of eu: inventory/{name}.yaml is not ours" for name in "abc"],
        ["ignored: of eu: inventory/a.yaml is not ours (and 2 like it: inventory/b.yaml, inventory/c.yaml)"],
    ),
    Case(
        "objects without a file",
        [f"Deployment.apps shop/{name} is evicted from rome" for name in "abc"],
        ["Deployment.apps shop/a is evicted from rome (and 2 like it: Deployment.apps shop/b, Deployment.apps shop/c)"],
    ),
    Case(
        "objects of clusters without a file",
        [f"ClusterRole {name} is evicted from rome" for name in "abc"],
        ["ClusterRole a is evicted from rome (and 2 like it: ClusterRole b, ClusterRole c)"],
    ),
    Case(
        "clusters",
        [f"{name}: its capacity is not known: a timeout" for name in ("oslo", "paris", "rome")],
        ["oslo: its capacity is not known: a timeout (and 2 like it: paris, rome)"],
    ),
    Case(
        "several objects of each kind, and those that follow by their names",
        [
            (
                "a/ks.yaml:2: no policy selects Job.batch s/a, Job.batch s/b, Job.batch s/c and 4 more, so that"
                " they go nowhere\n  hint: select them, or name their kind"
            ),
            "a/k.yaml:2: no policy selects Secret shop/a, so that it goes nowhere\n  hint: select it, or name its kind",
            (
                "b: no policy selects Role.rbac.authorization.k8s.io shop/a and Role.rbac.authorization.k8s.io s/b,"
                " so that they go nowhere\n  hint: select them, or name their kind"
            ),
            (
                "c.yaml: no policy selects ClusterIssuer.certs.io all, so that it goes nowhere\n  hint: select it,"
                " or name its kind"
            ),
        ],
        [
            (
                "a/ks.yaml:2: no policy selects Job.batch s/a, Job.batch s/b, Job.batch s/c and 4 more, so that"
                " they go nowhere (and 3 like it: Secret shop/a, Role.rbac.authorization.k8s.io shop/a,"
                " ClusterIssuer.certs.io all)\n  hint: select them, or name their kind"
            ),
        ],
    ),
    Case(
        "files that are named in them, one or several",
        [
            "a/b: not read: x.yaml, y.yml and 2 more: in the folder of a kustomization that does not list it",
            "c/d: not read: z.json: in the folder of a kustomization that does not list it",
            "e/f.yaml: not read: z.yaml and v.yaml: in the folder of a kustomization that does not list it",
        ],
        [
            (
                "a/b: not read: x.yaml, y.yml and 2 more: in the folder of a kustomization that does not list it"
                " (and 2 like it: c/d, e/f.yaml)"
            )
        ],
    ),
    Case(
        "what builds an object, and where else it stands",
        [
            f"{each}.yaml:3: Secret s/{each} is left out, as apps/{each}/kustomization.yaml builds it at {each}.yml:4"
            for each in "abc"
        ],
        [
            (
                "a.yaml:3: Secret s/a is left out, as apps/a/kustomization.yaml builds it at a.yml:4"
                " (and 2 like it: b.yaml:3, c.yaml:3)"
            )
        ],
    ),
    Case(
        "addresses, and hints with files",
        [
            f"{each}.yaml:1: https://example.com/{each}?ref=v1 is not in argosy.lock\n  hint: it would be {each}/x.yaml"
            for each in "abc"
        ],
        [
            (
                "a.yaml:1: https://example.com/a?ref=v1 is not in argosy.lock (and 2 like it: b.yaml:1, c.yaml:1)"
                "\n  hint: it would be a/x.yaml"
            )
        ],
    ),
    Case("other annotations", *[[f"a.yaml:1: example.com/{name}: is odd" for name in "abc"]] * 2),
    Case("other fields", *[[f"a.yaml:1: spec.{name}: unknown" for name in "abc"]] * 2),
    Case("other kinds that are asked about", *[[f"a.yaml:1: kind: nothing says what {name} is" for name in "ABC"]] * 2),
    Case("other hints", *[[f"a.yaml:1: is odd\n  hint: write {name}" for name in "abc"]] * 2),
    Case(
        "they stand where the first does",
        ["a.yaml: is odd", "x.yaml: is new", "b.yaml: is odd", "c.yaml: is odd"],
        ["a.yaml: is odd (and 2 like it: b.yaml, c.yaml)", "x.yaml: is new"],
    ),
]


@each_row("case", CASES)
def test_lines_that_are_alike_are_one(case: Case) -> None:
    assert list(lines_grouped_by_wording(case.lines)) == case.want


def test_lines_that_are_alike_are_of_one_kind() -> None:
    lines = ["a.yaml:1: is odd", "b.yaml:7: is odd", "a.yaml:1: is new", "a.yaml:1: is odd\n  hint: mend it"]
    assert number_of_kinds(lines) == 3


JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "migrate-", "namespace": "shop"}}
LEFT_OUT = "nothing in the namespace kube-system is propagated"


@pytest.fixture
def fleet(tmp_path: Path) -> Repository:
    """A fleet that renders, five objects of which are left out for one reason."""
    repository = Repository.create(tmp_path / "fleet")
    policy = a_policy("all", selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters("rome"))
    files = {f"c{number}.yaml": a_config_map(f"c{number}", namespace="kube-system") for number in range(5)}
    repository.commit({"rome.yaml": a_cluster("rome"), "p.yaml": policy, "a.yaml": a_config_map("a"), **files})
    return repository


@pytest.mark.parametrize("command", ["validate", "reconcile --bootstrap", "reconcile", "render"])
def test_a_warning_about_many_objects_is_one_line_and_v_names_each(
    fleet: Repository, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    if command == "reconcile":
        assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    for words, lines in ((command.split(), 1), (["-v", *command.split()], 5)):
        ended = argosy(fleet, capsys, *words)
        said = [line for line in (ended.out + ended.err).splitlines() if LEFT_OUT in line]
        assert len(said) == lines, said
        assert ("c0.yaml:1: ConfigMap kube-system/c0 is left out" in said[0], "(and 4 like it: " in said[0]) == (
            True,
            lines == 1,
        )


def test_counts_and_documents_are_of_each(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert argosy(fleet, capsys, "validate").out.splitlines()[-1].startswith("0 problems, 5 warnings: ")
    listed = parse_documents(argosy(fleet, capsys, "validate", "-o", "json").out.encode())[0].value["warnings"]
    assert [each["path"] for each in listed] == [f"c{number}.yaml" for number in range(5)]
    logged = argosy(fleet, capsys, "--log-format", "json", "reconcile", "--bootstrap").err
    assert logged.count(LEFT_OUT) == 5


def test_problems_that_are_alike_are_one_line_and_v_names_each(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    policies = {f"p{number}.yaml": a_policy(f"p{number}", placement={"nowhere": {}}) for number in range(4)}
    fleet.commit(policies)
    for command in (["validate"], ["reconcile"]):
        for words, lines in ((command, 1), (["-v", *command], 4)):
            ended = argosy(fleet, capsys, *words)
            said = [line for line in (ended.out + ended.err).splitlines() if "spec.placement.nowhere: " in line]
            assert (ended.code, len(said)) == (3, lines), said
            assert "4 problems" in ended.out + ended.err


def test_objects_never_delivered_that_are_alike_are_left_out_in_one_line(
    fleet: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(fleet, capsys, "reconcile", "--bootstrap").code == 0
    fleet.commit({f"j{number}.yaml": JOB for number in range(4)})
    for command, code in (["validate"], 3), (["reconcile"], 1):
        for words, lines in ((command, 1), (["-v", *command], 4)):
            ended = argosy(fleet, capsys, *words)
            said = [line for line in (ended.out + ended.err).splitlines() if "metadata.name: " in line]
            assert (ended.code, len(said)) == (code, lines), said
