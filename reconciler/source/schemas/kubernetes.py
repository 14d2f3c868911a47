"""The schemas of Kubernetes' own kinds in the versions that clusters run, from the table that ships with Argosy.

The table has each schema once for all versions that share it. It is made from the OpenAPI that Kubernetes publishes
(``tests/kubernetes/schema_table.py``). It is read when the first template is checked, and of its lines only those of
kinds in use are parsed.
"""

import json
from bisect import bisect_right
from functools import cache
from pathlib import Path

from render.expressions import lazy_expression
from render.schemas import Check, Schema, SchemaSet

TABLE = Path(__file__).with_name("kubernetes.txt")
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_VERSION = lazy_expression(r"v?1\.([0-9]{1,6})(?![0-9])")
_Entries = dict[str, list[tuple[int, int, str]]]
"""By name, what counts from one minor version to another."""


def minor_version(version: str) -> int | None:
    """Return the minor version of a cluster; None for a text that is no version of Kubernetes.

    >>> minor_version("v1.33.4-gke.100"), minor_version("")
    (33, None)
    """
    match = _VERSION.match(version)
    return int(match[1]) if match else None


class KubernetesSchemas:
    """The table, and the checks of the versions that were asked for."""

    def __init__(self) -> None:
        self._kinds: _Entries = {}
        self._schemas: _Entries = {}
        for line in TABLE.read_text().splitlines():
            if line.startswith("#"):
                continue
            span, name, text = line.split(" ", 2)
            first, _, last = span.partition("-")
            entries = self._kinds if name.startswith("=") else self._schemas
            entries.setdefault(name.removeprefix("="), []).append((int(first), int(last), text))
        self.oldest = min(first for found in self._kinds.values() for first, _, _ in found)
        self.newest = max(last for found in self._kinds.values() for _, last, _ in found)
        self.groups = frozenset(key.partition(":")[0].rpartition("/")[0] for key in self._kinds)
        self._sets: dict[int, SchemaSet] = {}

    def api_versions(self, group: str, kind: str) -> list[str]:
        """Return the versions of a group that have a kind, the best last."""
        versions = [key.partition(":")[0] for key in self._kinds if key.endswith(f":{kind}")]
        return sorted((each for each in versions if each.rpartition("/")[0] == group), key=_sort_key_by_stability)

    def minors(self, api_version: str, kind: str) -> range:
        """Return the minor versions of Kubernetes that serve a kind in a version of its group."""
        found = self._kinds.get(f"{api_version}:{kind}")
        return range(found[0][0], found[-1][1] + 1) if found else range(0)

    @property
    def metadata(self) -> Check:
        """The check of the metadata that objects of all kinds have."""
        return self._schemas_of_minor(self.newest).of_definition(_METADATA)

    def check_of(self, api_version: str, kind: str, minor: int) -> Check | None:
        """Return the check of a kind in a minor version; None where it is not served."""
        name = _entry_in_minor_version(self._kinds, f"{api_version}:{kind}", minor)
        if name is None:
            return None
        return self._schemas_of_minor(minor).of_definition(name)

    def _schemas_of_minor(self, minor: int) -> SchemaSet:
        if minor not in self._sets:
            self._sets[minor] = SchemaSet(lambda each: self._schema_named(each, minor))
        return self._sets[minor]

    def _schema_named(self, name: str, minor: int) -> Schema:
        text = _entry_in_minor_version(self._schemas, name, minor)
        return json.loads(text) if text is not None else {}


@cache
def load_shipped_schemas() -> KubernetesSchemas:
    """Return the table, read once in a process, for all the passes that it makes."""
    return KubernetesSchemas()


def _entry_in_minor_version(entries: _Entries, name: str, minor: int) -> str | None:
    """Return what counts for a name in a minor version."""
    found = entries.get(name, [])
    place = bisect_right(found, minor, key=lambda each: each[0]) - 1
    return found[place][2] if place >= 0 and minor <= found[place][1] else None


def _sort_key_by_stability(api_version: str) -> tuple[bool, bool, str]:
    """Return what sorts an alpha version before a beta before a stable one."""
    version = api_version.rpartition("/")[2]
    return "alpha" not in version, "beta" not in version, version
