"""Documents that SOPS encrypted, built by kustomize: what can still be decrypted, and what is left out and said."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.source.loading import Loaded
from tests import sops
from tests.sources import Content
from tests.test_building_kustomize import loaded, objects_of, said
from tests.test_source_loading import Memory
from tests.waiting import SECONDS

SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: own\n"
    "stringData:\n  user: me\n  password: hidden\n  a: x\n"
)
KEPT = (
    "resources: [s.yaml]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n"
    "generatorOptions: {disableNameSuffixHash: true}\n"
)


def decrypted(found: Loaded, folder: Path) -> str:
    """The only Secret of a source, as sops decrypts what would be delivered."""
    (template,) = (each for each in found.desired.templates if each.ref.kind == "Secret")
    assert template.text, "SOPS signed a text"
    path = folder / "delivered.yaml"
    path.write_bytes(template.text)
    environment = {"SOPS_AGE_KEY": sops.KEY.text, "PATH": os.defpath, "HOME": str(folder)}
    command = [str(sops.PROGRAM), "decrypt", str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    return done.stdout or done.stderr


def built(text: str, kustomization: str, cache: Memory | None = None) -> Loaded:
    files: Mapping[str, Content] = {"a/kustomization.yaml": kustomization, "a/s.yaml": f"# Encrypted.\n{text}"}
    return loaded(files, cache)


def test_a_document_that_is_otherwise_unchanged_is_delivered_byte_for_byte(tmp_path: Path) -> None:
    cache = Memory()
    for _ in range(2):
        found = built(sops.encrypted(SECRET, tmp_path), KEPT, cache)
        assert (objects_of(found), said(found)) == (["ConfigMap default/c", "Secret own/db"], "")
        assert decrypted(found, tmp_path) == f"# Encrypted.\n{SECRET}".replace("  ", "    ")


def test_what_is_not_signed_may_be_changed(tmp_path: Path) -> None:
    text = sops.encrypted(SECRET, tmp_path, mac_only=True)
    found = built(text, f"{KEPT}namespace: shop\nlabels: [{{pairs: {{team: a}}}}]\n")
    assert (objects_of(found), said(found)) == (["ConfigMap shop/c", "Secret shop/db"], "")
    assert "hidden" in decrypted(found, tmp_path)


class Changed(NamedTuple):
    why: str
    change: str
    fields: str


CHANGED = [
    Changed("a namespace", "namespace: shop", "metadata.namespace"),
    Changed("labels", "labels: [{pairs: {team: a}}]", "metadata.labels"),
    Changed("a name", "namePrefix: a-", "metadata.name"),
]


@pytest.mark.parametrize("case", CHANGED, ids=lambda case: case.why)
def test_what_sops_signed_as_a_whole_is_left_out_when_it_changes(case: Changed, tmp_path: Path) -> None:
    cache = Memory()
    text = sops.encrypted(SECRET, tmp_path)
    for _ in range(2):
        found = built(text, f"{KEPT}{case.change}\n", cache)
        name = "a-db" if "Prefix" in case.change else "db"
        assert said(found) == (
            f"a/s.yaml:2: Secret {name} is signed by SOPS, and the build changes {case.fields}\n"
            "  hint: write into the file what the kustomization changes, or encrypt it with mac_only_encrypted: true"
        )
        assert [each for each in objects_of(found) if "Secret" in each] == []
        assert found.problems_that_block == ()


def test_a_patch_of_ciphertext_is_left_out(tmp_path: Path) -> None:
    patch = "patches: [{patch: '- {op: remove, path: /stringData/a}', target: {kind: Secret}}]\n"
    found = built(sops.encrypted(SECRET, tmp_path, mac_only=True), KEPT + patch)
    assert said(found).startswith("a/s.yaml:2: Secret db is signed by SOPS, and the build changes stringData.a\n")


def test_a_secret_that_is_generated_from_an_encrypted_file_is_left_out(tmp_path: Path) -> None:
    text = sops.encrypted("a: b\n", tmp_path, regex="^a$")
    found = loaded(
        {"a/kustomization.yaml": "secretGenerator: [{name: s, files: [values.yaml]}]\n", "a/values.yaml": text}
    )
    assert objects_of(found) == []
    (line, hint) = said(found).splitlines()
    assert line.startswith("a/kustomization.yaml: Secret s-")
    assert line.endswith(" has a file that SOPS encrypted, and nobody decrypts: data.values.yaml")
    assert hint == "  hint: encrypt a manifest instead, and list it under resources"


def test_a_kustomization_that_only_lists_it_needs_no_tool(tmp_path: Path) -> None:
    text = sops.encrypted(SECRET, tmp_path)
    found = loaded({"a/kustomization.yaml": "resources: [s.yaml]\n", "a/s.yaml": text})
    assert "hidden" in decrypted(found, tmp_path)
