"""Changes in all clusters at once beside a rollout, of objects that its objects name and no policy selects."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Repository, a_cluster, a_config_map, a_policy, argosy, on_clusters
from .rolling import WEB, a_rollout_policy, a_wave, web

CONFIG = {"apiVersion": "v1", "kind": "ConfigMap"}
WAVES = [a_wave("canary", "oslo"), a_wave("rest")]
NAMED = "ConfigMap default/settings changes in all clusters at once, and not by RolloutPolicy default/web"
WHY = "Deployment.apps default/web names it, and no rollout policy selects it"


def naming(version: int) -> dict[str, Any]:
    """The Deployment web, which reads the ConfigMap settings."""
    made = web(version)
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    return made


def a_fleet(folder: Path, capsys: pytest.CaptureFixture[str], **rollout: Any) -> Repository:
    repository = Repository.create(folder / "fleet")
    repository.commit(
        {
            "clusters.yaml": [a_cluster("oslo"), a_cluster("paris")],
            "web.yaml": naming(1),
            "settings.yaml": a_config_map("settings", a="1"),
            "other.yaml": a_config_map("other", a="1"),
            "policy.yaml": a_policy("web", selectors=[WEB, CONFIG], placement=on_clusters()),
            "rollout.yaml": a_rollout_policy(waves=WAVES, **rollout),
        }
    )
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    return repository


def said(repository: Repository, capsys: pytest.CaptureFixture[str]) -> tuple[bool, bool]:
    """Return whether the difference, and the pass, tell of the object that changes at once."""
    shown = argosy(repository, capsys, "diff", "HEAD~1", "HEAD").out
    passed = argosy(repository, capsys, "reconcile").err
    return f"      {NAMED}: {WHY}\n" in shown, f"warning: {NAMED}: {WHY}\n" in passed


def test_what_a_rolled_out_object_names_and_changes_with_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path, capsys)
    changed = {"settings.yaml": a_config_map("settings", a="2"), "other.yaml": a_config_map("other", a="2")}
    repository.commit({"web.yaml": naming(2), **changed})
    (planned,) = json.loads(argosy(repository, capsys, "diff", "HEAD~1", "HEAD", "-o", "json").out)["rollouts"]
    assert planned["atOnce"] == [{"object": "ConfigMap default/settings", "namedBy": "Deployment.apps default/web"}]
    assert said(repository, capsys) == (True, True)
    assert NAMED not in argosy(repository, capsys, "reconcile").err, "it is done"


def test_what_changes_without_the_rolled_out_object_or_is_new_or_goes_out_with_it_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = a_fleet(tmp_path, capsys)
    repository.commit({"settings.yaml": a_config_map("settings", a="2")})
    assert said(repository, capsys) == (False, False)
    repository.commit({"web.yaml": naming(2), "other.yaml": a_config_map("other", a="2")})
    assert said(repository, capsys) == (False, False)
    both = a_rollout_policy(waves=WAVES, selectors=[WEB, CONFIG])
    repository.commit({"rollout.yaml": both})
    argosy(repository, capsys, "reconcile")
    repository.commit({"web.yaml": naming(3), "settings.yaml": a_config_map("settings", a="3")})
    assert said(repository, capsys) == (False, False)


def test_a_change_that_has_to_wait_is_told_of_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, capsys, onNewChange="Wait")
    repository.commit({"web.yaml": naming(2)})
    argosy(repository, capsys, "reconcile")
    repository.commit({"web.yaml": naming(3), "settings.yaml": a_config_map("settings", a="2")})
    assert said(repository, capsys) == (True, True)
