"""What leaving Git means, each line of it: what is removed, what is said, and what clusters still hold."""

from pathlib import Path

import pytest

from .build import NGINX, a_deployment, a_policy, argosy, on_clusters
from .stories import Run, Story, a_fleet, check_runs, play, settings

NGINX_ON_TWO = (
    "member1 default/Deployment.apps/nginx 2 nginx:1.29",
    "member2 default/Deployment.apps/nginx 2 nginx:1.29",
)
ON_TWO = on_clusters("member1", "member2")
WAITING = a_policy(placement=ON_TWO, dependentOverrides=["tuned"])
WAITS = (
    "warning: Deployment.apps default/nginx: WaitingForDependentOverrides:"
    " PropagationPolicy default/nginx waits for dependent overrides: tuned\n"
)
ANY_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for 2 clusters\n"

UNCHANGED = "unchanged: argosy/rendered <rendered> holds source <main>\n"
RELEASED = "Deployment.apps default/nginx is released: no policy selects it, so member1, member2 keep it as it is"
TABLE = """\
NAMESPACE   OBJECT                  CLUSTERS              POLICY
default     Deployment.apps/nginx   member1:2 member2:2   NoPolicy
"""
OUTDATED = f"{RELEASED}, though its template or its overrides have changed"

STATUS = """\
argosy/rendered <rendered> holds source <main>

CLUSTER   OBJECTS   REPLICAS   NOTE
member1   1         2
member2   1         2
member3   0         0

bindings: 1 NoPolicy

BINDING                         REASON     MESSAGE
Deployment.apps default/nginx   NoPolicy   no policy selects it
"""


def checked(warning: str, *, policies: str, files: int) -> str:
    """What validate says of a source with one released object."""
    hint = "  hint: write a policy that selects it, or delete its template to remove it\n"
    counted = f"0 problems, 1 warning: 1 template, {policies}, 0 override policies, 3 clusters in {files} files\n"
    return f"warning: {warning}\n{hint}{counted}"


STORIES = [
    Story(
        "a policy that is deleted releases what it held, and every command says so",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None},
        (
            Run("validate", 0, checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4)),
            Run(
                "diff main~1 main",
                1,
                "<main~1>..<main>: 1 object changes hands\n"
                "\nPOLICIES\n  Deployment.apps default/nginx: PropagationPolicy default/nginx -> no policy\n"
                f"\nRELEASED\n  {RELEASED}\n",
            ),
            Run("render", 0, TABLE, f"warning: {RELEASED}\n"),
            Run("reconcile", 0, COMMITTED, f"warning: {RELEASED}\n"),
            Run("reconcile", 0, UNCHANGED, f"warning: {RELEASED}\n"),
            Run("validate", 0, checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4)),
            Run(
                "validate --strict",
                1,
                checked(f"nginx.yaml:1: {RELEASED}", policies="0 propagation policies", files=4).replace(
                    "warning:", "error:", 1
                ),
            ),
            Run("diff main main", 0, "<main>..<main>: no difference\n"),
            Run("status", 0, STATUS),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a released object keeps every byte while its template changes, and every command says so",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("validate", 0, checked(f"nginx.yaml:1: {OUTDATED}", policies="0 propagation policies", files=4)),
            Run("reconcile", 0, COMMITTED, f"warning: {OUTDATED}\n"),
            Run("reconcile", 0, UNCHANGED, f"warning: {OUTDATED}\n"),
            Run("render --commit", 0, "", f"unchanged branch=argosy/rendered\nwarning: {OUTDATED}\n"),
            Run("validate", 0, checked(f"nginx.yaml:1: {OUTDATED}", policies="0 propagation policies", files=4)),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a released object that would be scaled is told of like any other change",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": None, "nginx.yaml": a_deployment(replicas=5)},
        (Run("reconcile", 0, COMMITTED, f"warning: {OUTDATED}\n"),),
        NGINX_ON_TWO,
    ),
    Story(
        "a policy that selects its object no longer releases it as well",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": a_policy(selectors=[{**NGINX, "name": "other"}], placement=ON_TWO)},
        (Run("reconcile", 0, COMMITTED, f"warning: {RELEASED}\n"),),
        NGINX_ON_TWO,
    ),
    Story(
        "where another policy selects it, an object is not released but changes hands",
        {
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
            "spare.yaml": a_policy("spare", selectors=[ANY_DEPLOYMENT], placement=ON_TWO),
        },
        {"policy.yaml": None},
        (Run("reconcile", 0, COMMITTED),),
        NGINX_ON_TWO,
    ),
    Story(
        "what a policy held stays while it waits for an override, pass after pass",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": WAITING, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("reconcile", 1, COMMITTED, WAITS),
            Run("reconcile", 1, UNCHANGED, WAITS),
            Run("render --commit", 1, "", f"unchanged branch=argosy/rendered\n{WAITS}"),
        ),
        NGINX_ON_TWO,
    ),
    Story(
        "a policy that waits is not gone, so that nothing it held is removed with onPolicyRemoval: Remove",
        {
            "argosy.yaml": settings(onPolicyRemoval="Remove"),
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=ON_TWO),
        },
        {"policy.yaml": WAITING},
        (Run("reconcile", 1, COMMITTED, WAITS),),
        NGINX_ON_TWO,
    ),
    Story(
        "a template whose first policy waits goes nowhere, and that is said",
        {"nginx.yaml": a_deployment(), "policy.yaml": WAITING},
        {"README.md": "# fleet\n"},
        (Run("reconcile", 1, UNCHANGED, WAITS),),
        (),
    ),
]


def test_what_would_change_a_released_object_is_told_as_a_difference_that_makes_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path / "fleet")
    repository.commit({"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)})
    argosy(repository, capsys, "reconcile", "--bootstrap")
    repository.commit({"policy.yaml": None})
    argosy(repository, capsys, "reconcile")
    repository.commit({"nginx.yaml": a_deployment(image="nginx:2")})
    repository.commit({"other.yaml": a_deployment("other")})
    runs = (
        Run("diff main~2 main~1", 0, f"<main~2>..<main~1>: no difference\n\nRELEASED\n  {OUTDATED}\n"),
        Run("diff main~1 main", 0, "<main~1>..<main>: no difference\n"),
        Run("reconcile", 0, UNCHANGED, f"warning: {OUTDATED}\n"),
    )
    check_runs(runs, repository, capsys)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_what_leaves_the_source(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)
