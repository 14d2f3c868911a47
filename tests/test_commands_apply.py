"""The commit that ``argosy apply`` applies, and the parts of the source that it goes by."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reconciler.branches.fleet_context import context_and_source_of_commit
from reconciler.cli import run
from reconciler.repository import open_repository
from render.errors import InputError

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .waiting import SECONDS
from .wires import a_certificate

FLEET = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    files = {"web.yaml": a_deployment("web"), "policy.yaml": a_policy(placement=on_clusters("member1"))}
    made.commit({"clusters/member1.yaml": a_cluster("member1"), **files})
    assert argosy(made, capsys, "render", "--commit", "--bootstrap").code == 0
    return made


def test_what_is_rendered_is_applied_whatever_has_become_of_the_source_since(repository: Repository) -> None:
    """Settings that reach outside wait until a pass accepts them; others count as they are now."""
    tip = repository.git("rev-parse", "argosy/rendered")
    repository.commit({"web.yaml": "a: [", "argosy.yaml": {**FLEET, "spec": {"mirrors": ["member1"]}}})
    with open_repository(str(repository.path)) as opened:
        context, desired, commit = context_and_source_of_commit(opened, "")
    assert (commit, context.fleet.mirrors, context.waiting) == (tip, ("member1",), ())
    repository.commit({"argosy.yaml": {**FLEET, "spec": {"kubeconfigs": "clusters"}}})
    with open_repository(str(repository.path)) as opened:
        context, desired, commit = context_and_source_of_commit(opened, "")
    assert (commit, context.fleet.kubeconfigs) == (tip, "")
    assert [str(each) for each in context.waiting] == ["spec.kubeconfigs: none -> clusters"]
    assert [template.ref.name for template in desired.templates] == ["web"]


def test_a_dry_run_is_a_servers_without_saying_so(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reconcile pass has --dry-run without a value, and so it was written here, and refused without the choices."""
    nowhere = ("--kubeconfig", str(tmp_path / "nowhere"))
    said = argosy(repository, capsys, "apply", "--dry-run", "server", *nowhere)
    assert (said.code, said.out.startswith("member1: not known: ")) == (5, True)
    assert argosy(repository, capsys, "apply", "--dry-run", *nowhere) == said
    assert argosy(repository, capsys, "apply", *nowhere, "--dry-run") == said


def test_how_members_are_reached_must_be_readable(repository: Repository) -> None:
    repository.commit({"argosy.yaml": {**FLEET, "spec": {"kubeconfig": "clusters"}}})
    with open_repository(str(repository.path)) as opened, pytest.raises(InputError) as refused:
        context_and_source_of_commit(opened, "")
    assert [str(problem) for problem in refused.value.problems] == [
        "argosy.yaml:6: spec.kubeconfig: unknown field\n  hint: it belongs under spec.clusters[]"
    ]


def test_no_file_of_a_credential_outlives_the_command(repository: Repository, tmp_path: Path) -> None:
    """An expired token of an oidc provider: renewing it takes the issuer's certificate, which is put into a file."""
    claims = base64.urlsafe_b64encode(b'{"exp": 946684800}').decode().rstrip("=")
    authority = base64.b64encode((a_certificate(tmp_path).parent / "server.crt").read_bytes()).decode()
    config = {
        "idp-issuer-url": "https://127.0.0.1:1",
        "idp-certificate-authority-data": authority,
        "client-id": "kubernetes",
        "client-secret": "secret",
        "refresh-token": "refresh",
        "id-token": f"{claims}.{claims}.x",
    }
    kubeconfig = {
        "clusters": [{"name": "it", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "it", "user": {"auth-provider": {"name": "oidc", "config": config}}}],
        "contexts": [{"name": "member1", "context": {"cluster": "it", "user": "it"}}],
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "reconciler", "-C", str(repository.path)]
    run = subprocess.run(
        [*command, "apply", "--kubeconfig", str(tmp_path / "kubeconfig")],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert "the auth provider 'oidc' of context 'member1' gave no token (MaxRetryError)" in run.stdout
    assert run.returncode == 5
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("line", ["apply", "reconcile", "run", "agent --cluster member1"])
def test_a_tool_that_nothing_is_taken_from_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*line.split(), "--take-from", "nonsense"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "'nonsense' is not one of 'helm', 'argocd', 'flux', 'applyset'" in said
