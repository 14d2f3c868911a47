"""An option that would do nothing where it stands is refused: nobody is left to believe that it did something."""

from typing import NamedTuple

import pytest

from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy

CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
PLAIN, WORK_TREE, COMMIT = "goes with --commit", "goes with neither --worktree nor --watch", "goes without --commit"
WHOLE = f"{COMMIT}: a commit holds the whole fleet"
SILENT = f"{COMMIT}, which shows nothing"
FOLDER = "goes without --output-dir, which writes manifests"
LIVE = "goes with --live: without it no cluster is asked"
ONE = "goes without --live, which compares clusters with one rendered commit"
UPDATE = "goes without --update, which writes the files as they stand"
OBJECT = "goes with an object: KIND/NAME"
REACHED = (
    "goes with clusters that are reached: clusters or kubeconfigs in argosy.yaml, --kubeconfig, --kubeconfigs or"
    " --in-cluster say how"
)
KEEPING = "goes without --no-prune, which deletes nothing"


class Idle(NamedTuple):
    line: str
    said: str


IDLE = [
    Idle("render --worktree --rev HEAD", f"--rev {WORK_TREE}"),
    Idle("render --worktree --commit", f"--commit {WORK_TREE}"),
    Idle("render --watch --rev HEAD", f"--rev {WORK_TREE}"),
    Idle("render --commit --cluster member1", f"--cluster {WHOLE}"),
    Idle("render --commit -n default", f"--namespace {WHOLE}"),
    Idle("render --commit -o yaml", f"--output {SILENT}"),
    Idle("render --commit --as works", f"--as {SILENT}"),
    Idle("render --output-dir out -o yaml", f"--output {FOLDER}"),
    Idle("render --output-dir out --as bindings", f"--as {FOLDER}"),
    Idle("render --allow-removal member1=1", f"--allow-removal {PLAIN}"),
    Idle("render --allow-movement *=1", f"--allow-movement {PLAIN}"),
    Idle("render --allow-cost 1", f"--allow-cost {PLAIN}"),
    Idle("render --as works -o table", "--output table is of manifests; -o yaml or json show works"),
    Idle("render --as bindings -o name", "--output name is of manifests; -o yaml or json show bindings"),
    Idle("render -n default -A", "-A means every namespace and -n one: choose one"),
    Idle("diff --cluster member1", f"--cluster {LIVE}"),
    Idle("diff HEAD HEAD -l env=test", f"--selector {LIVE}"),
    Idle("diff --kubeconfigs there", f"--kubeconfigs {LIVE}"),
    Idle("diff --timeout 5m", f"--timeout {LIVE}"),
    Idle("diff --allow-removal member1=1", "--allow-removal goes with --check, which asks the guards"),
    Idle("diff --allow-movement *=1", "--allow-movement goes with --check, which asks the guards"),
    Idle("diff --allow-cost 1", "--allow-cost goes with --check, which asks the guards"),
    Idle("diff --allow-fragile *", "--allow-fragile goes with --check, which asks the guards"),
    Idle("diff --max-bytes 9000", "--max-bytes goes with -o markdown"),
    Idle("diff --stat -o json", "--stat goes with -o text"),
    Idle("diff --stat -o markdown", "--stat goes with -o text"),
    Idle("diff HEAD HEAD --watch", "HEAD goes without --watch, which compares the work tree"),
    Idle("diff --live HEAD HEAD", f"HEAD {ONE}"),
    Idle("diff --live --stat", f"--stat {ONE}"),
    Idle("diff --live --max-bytes 9000", f"--max-bytes {ONE}"),
    Idle("diff --live --bootstrap", f"--bootstrap {ONE}"),
    Idle("diff --live -o markdown", "--live tells as -o text or json"),
    Idle("explain cm/one --rev HEAD --worktree", "--rev goes without --worktree"),
    Idle("explain cluster member1 -n default", "--namespace goes with an object or a policy"),
    Idle("explain cluster member1 --cluster member1", "--cluster goes with an object or a policy"),
    Idle("explain cm/one -n default -A", "-A means every namespace and -n one: choose one"),
    Idle("validate --rev HEAD --watch", "--rev goes without --watch, which checks the files as they stand"),
    Idle("test --update --rev HEAD", f"--rev {UPDATE}"),
    Idle("test --update -o json", f"--output {UPDATE}"),
    Idle("reconcile --cluster member1", f"--cluster {REACHED}"),
    Idle("reconcile --no-prune", f"--no-prune {REACHED}"),
    Idle("reconcile --kubeconfigs there --no-prune --orphans", f"--orphans {KEEPING}"),
    Idle("apply --yes", "--yes goes with --orphans, which asks"),
    Idle("apply --no-prune --confirm Namespace/a", f"--confirm {KEEPING}"),
    Idle("apply --no-prune --confirm-all", f"--confirm-all {KEEPING}"),
    Idle("apply --dry-run server --rehearse", "--rehearse goes without --dry-run server, which is all it does"),
    Idle("apply --as-group admins", "--as-group goes with --as, as for kubectl"),
    Idle("diff --live --as-group admins", "--as-group goes with --as, as for kubectl"),
    Idle("status -n default", f"--namespace {OBJECT}"),
    Idle("status cluster/member1 -n default", f"--namespace {OBJECT}"),
    Idle("wait -n default", f"--namespace {OBJECT}"),
    Idle("verify -n 0", "Invalid value for '-n' / '--number': 0 is not in the range x>=1."),
    Idle(
        "cluster unjoin member1 --drain --disconnect",
        "--drain empties the cluster, --disconnect leaves it as it is: choose one",
    ),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository.create(tmp_path_factory.mktemp("fleet"))
    objects = [a_cluster("member1"), a_config_map("one"), a_policy("all", selectors=[CONFIG_MAPS])]
    made.commit({"fleet.yaml": objects})
    return made


@pytest.fixture(autouse=True)
def rendered(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    argosy(repository, capsys, "reconcile", "--bootstrap")


@pytest.mark.parametrize("case", IDLE, ids=lambda case: case.line)
def test_an_option_that_would_do_nothing_is_refused(
    case: Idle, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, *case.line.split())
    assert (ended.code, ended.out, ended.err.splitlines()[-1]) == (2, "", f"Error: {case.said}")


class Honoured(NamedTuple):
    line: str
    out: str
    err: str = ""


NO_OBJECT = "warning: no objects in namespace 'defalt'; did you mean 'default'?\n"
ROW = """\
NAMESPACE   OBJECT          CLUSTERS   POLICY
default     ConfigMap/one   member1    PropagationPolicy default/all
"""
HONOURED = [
    Honoured("render -A", ROW),
    Honoured("render -n default --cluster member1", ROW),
    Honoured("render -n defalt", "", NO_OBJECT),
    Honoured("render -n defalt -o yaml", "", NO_OBJECT),
    Honoured("render -n defalt -o name", "", NO_OBJECT),
    Honoured("render -n defalt --as works", "", NO_OBJECT),
    Honoured("render -n nowhere", "", "warning: no objects in namespace 'nowhere'\n"),
    Honoured("render -n default -o name", "member1 default/ConfigMap/one.yaml\n"),
    Honoured("test --update", "", "warning: the source has no PolicyTest\n"),
]


@pytest.mark.parametrize("case", HONOURED, ids=lambda case: case.line)
def test_what_leaves_nothing_to_show_says_so(
    case: Honoured, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert argosy(repository, capsys, *case.line.split()) == (0, case.out, case.err)


@pytest.mark.parametrize("shape", ["works", "bindings"])
def test_works_and_bindings_are_shown_as_yaml_unless_said_otherwise(
    shape: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = argosy(repository, capsys, "render", "--as", shape)
    assert shown.out.startswith("---\napiVersion: work.karmada.io/v1alpha")
    assert shown == argosy(repository, capsys, "render", "--as", shape, "-o", "yaml")
    assert argosy(repository, capsys, "render", "--as", shape, "-n", "default") == shown
