"""The settings of an agent come back from their file; other files are refused, a newer Argosy's by its version."""

from typing import NamedTuple

import pytest

from reconciler.branches.agent_settings import parse_agent_settings
from render.errors import GitError
from render.model import ObjectRef

from .tables import each_row

COMMIT = "0123456789abcdef"
OWN = """\
apiVersion: argosy.dev/v1alpha1
beginning: "00ff"
kind: AgentSettings
metadata: {name: eu}
older: true
overwrite:
- {kind: ConfigMap, name: a, namespace: shop}
"""
CLUSTER = """\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
"""
FLEET = """\
apiVersion: argosy.dev/v1alpha1
kind: Fleet
metadata: {name: default}
spec: {}
"""
REFUSED = (
    ".argosy in mirror commit 0123456789ab is not the settings of 'eu''s agent\n"
    "  hint: see who pushes to the branch; 'argosy reconcile' mirrors the cluster again"
)


def file_of(own: str = OWN, cluster: str = CLUSTER, fleet: str = FLEET) -> bytes:
    return f"{own}---\n{cluster}---\n{fleet}".encode()


def test_settings_come_back_from_their_file() -> None:
    found = parse_agent_settings(file_of(), "eu", COMMIT)
    assert (found.beginning, found.cluster.name, found.fleet.name) == ("00ff", "eu", "default")
    assert found.rules.overwrite == {ObjectRef("", "ConfigMap", "shop", "a")}
    assert found.rules.is_older


class Damage(NamedTuple):
    why: str
    content: bytes


DAMAGES = [
    Damage("nothing", b""),
    Damage("no YAML", b"a: ["),
    Damage("settings alone", OWN.encode()),
    Damage("no objects", b"---\n".join((b"1\n", b"[]\n", b"a\n"))),
    Damage("another cluster's", file_of(own=OWN.replace("{name: eu}", "{name: us}"))),
    Damage("another kind", file_of(own=OWN.replace("AgentSettings", "Settings"))),
    Damage("another Cluster", file_of(cluster=CLUSTER.replace("{name: eu}", "{name: us}"))),
    Damage("a name that is a list", file_of(cluster=CLUSTER.replace("{name: eu}", "{name: [eu]}"))),
    Damage("a Fleet in place of the Cluster", file_of(cluster=FLEET.replace("default", "eu"))),
    Damage("a Cluster in place of the Fleet", file_of(fleet=CLUSTER)),
    Damage("a Cluster that is not admitted", file_of(cluster=CLUSTER.replace("Push", "Shove"))),
    Damage("a beginning that is no commit", file_of(own=OWN.replace("00ff", "main"))),
    Damage("rules about nothing", file_of(own=OWN.replace("name: a,", ""))),
    Damage("a version in words", file_of(own=f"{OWN}version: two\n")),
]


@each_row("case", DAMAGES, ids=lambda case: case.why)
def test_another_file_is_refused(case: Damage) -> None:
    with pytest.raises(GitError) as caught:
        parse_agent_settings(case.content, "eu", COMMIT)
    assert str(caught.value) == REFUSED


def test_the_file_of_a_newer_argosy_is_refused_by_its_version() -> None:
    with pytest.raises(GitError) as caught:
        parse_agent_settings(file_of(own=f"{OWN}version: 2\n"), "eu", COMMIT)
    assert str(caught.value) == (
        ".argosy in mirror commit 0123456789ab has version 2, and this Argosy knows 1 at most:"
        " a newer Argosy wrote it\n"
        "  hint: run that version of Argosy here as well, or a later one"
    )
