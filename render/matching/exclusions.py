"""Objects Karmada never propagates, whatever the policies say: its own, events, leases, those of system namespaces."""

import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from render.model import Template
from render.patterns import matches_whole
from render.settings.fleet import Fleet

CLAIMED_BY = "resourcetemplate.karmada.io/claimed-by"

# Karmada's detector ignores these whatever its flags say.
SKIPPED_GROUPS = frozenset(
    {
        "apps.karmada.io",
        "autoscaling.karmada.io",
        "cluster.karmada.io",
        "config.karmada.io",
        "events.k8s.io",
        "networking.karmada.io",
        "policy.karmada.io",
        "remedy.karmada.io",
        "work.karmada.io",
    }
)
SKIPPED_VERSIONS = frozenset({"coordination.k8s.io/v1"})
SKIPPED_KINDS = frozenset({("v1", "Event")})
SYSTEM_NAMESPACES = frozenset({"karmada-system", "karmada-cluster"})


class Exclusions(Struct, frozen=True, kw_only=True):
    """Exclusions beyond the fixed list: groups, ``group/version``, ``(apiVersion, kind)``, namespaces by regexp.

    The defaults are Karmada's of ``--skipped-propagating-apis`` and ``--skipped-propagating-namespaces``; a regexp
    must match the whole name.
    """

    groups: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()
    kinds: frozenset[tuple[str, str]] = frozenset()
    namespaces: tuple[str, ...] = ("kube-.*",)

    def reason_for_exclusion(self, template: Template) -> str:
        """Return the reason why a template is never propagated; empty if it may be."""
        ref, api_version = template.ref, template.api_version
        if ref.group in SKIPPED_GROUPS | self.groups:
            return f"objects of the group {ref.group} are never propagated"
        if api_version in SKIPPED_VERSIONS | self.versions:
            return f"objects of {api_version} are never propagated"
        if (api_version, ref.kind) in SKIPPED_KINDS | self.kinds:
            return f"{api_version} {ref.kind} is never propagated"
        if self._is_system_namespace(ref.namespace):
            return f"nothing in the namespace {ref.namespace} is propagated"
        holder = template.labels.get(CLAIMED_BY)
        return f"{holder} distributes it by itself (label {CLAIMED_BY})" if holder else ""

    def _is_system_namespace(self, namespace: str) -> bool:
        if not namespace:
            return False
        return _is_namespace_of_karmada(namespace) or _matches_any_pattern(namespace, self.namespaces)

    def is_by_skipped_namespaces(self, template: Template) -> bool:
        """Say whether a template is never propagated for no other reason than the namespaces that are skipped."""
        return bool(self.reason_for_exclusion(template)) and not replace(self, namespaces=()).reason_for_exclusion(
            template
        )


def _is_namespace_of_karmada(namespace: str) -> bool:
    return namespace in SYSTEM_NAMESPACES or namespace.startswith("karmada-es-")


@lru_cache(maxsize=1024)
def _matches_any_pattern(namespace: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a pattern matches all of a namespace's name, which many templates share."""
    return any(matches_whole(pattern, namespace) for pattern in patterns)


def exclusions_of(fleet: Fleet) -> Exclusions:
    """Return the exclusions of a fleet: those of its settings, beyond the fixed list."""
    parsed = parse_exclusions(";".join(fleet.skipped_apis))
    return replace(parsed, namespaces=fleet.skipped_namespaces)


def parse_exclusions(apis: str, namespaces: str = "kube-.*") -> Exclusions:
    """Return the exclusions in the texts of Karmada's two flags: ``group;group/version;group/version/Kind,Kind``.

    >>> sorted(parse_exclusions("batch;apps/v1/Deployment,DaemonSet;v1/Secret").kinds)
    [('apps/v1', 'DaemonSet'), ('apps/v1', 'Deployment'), ('v1', 'Secret')]
    """
    groups, versions, kinds = set(), set(), set()
    for entry in filter(None, (part.strip() for part in apis.split(";"))):
        api, slash, last = entry.rpartition("/")
        if not slash:
            groups.add(entry)
        elif re.fullmatch(r"v[0-9]+((alpha|beta)[0-9]+)?", last):
            versions.add(entry)
        else:
            kinds |= {(api, kind) for kind in last.split(",")}
    return Exclusions(
        groups=frozenset(groups),
        versions=frozenset(versions),
        kinds=frozenset(kinds),
        namespaces=tuple(filter(None, namespaces.split(","))),
    )
