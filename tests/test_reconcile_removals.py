"""What leaving Git means, each line of it: what is removed, what is said, and what clusters still hold."""

from pathlib import Path

import pytest

from .build import a_deployment, a_policy, on_clusters
from .stories import Run, Story, a_fleet, play, settings

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
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for 2 clusters\n"

STORIES = [
    Story(
        "what a policy held stays while it waits for an override, pass after pass",
        {"nginx.yaml": a_deployment(), "policy.yaml": a_policy(placement=ON_TWO)},
        {"policy.yaml": WAITING, "nginx.yaml": a_deployment(image="nginx:2")},
        (
            Run("reconcile", 1, COMMITTED, WAITS),
            Run("reconcile", 1, "unchanged: argosy/rendered <rendered> holds source <main>\n", WAITS),
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
        (Run("reconcile", 1, "unchanged: argosy/rendered <rendered> holds source <main>\n", WAITS),),
        (),
    ),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_what_leaves_the_source(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)
