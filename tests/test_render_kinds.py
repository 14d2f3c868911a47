"""The built-in kinds: each is one value, which says all there is to say about it, as real API servers have it."""

from typing import Any

import pytest

from reconciler.plans.stages import is_kubernetes_own
from reconciler.source.kubernetes_schemas import TABLE
from render.kinds import BUILT_IN
from render.model import group_of

from .clusters import Member

Served = dict[tuple[str, str], dict[str, Any]]


def served_kinds(member: Member) -> Served:
    """Return the resources that a server serves of Kubernetes' own groups, by group and kind."""
    served: Served = {}
    versions = [each["groupVersion"] for group in member.read("/apis")["groups"] for each in group["versions"]]
    for path in ("/api/v1", *(f"/apis/{version}" for version in versions)):
        group = path.removeprefix("/apis/").rpartition("/")[0] if path != "/api/v1" else ""
        if "." in group and not group.endswith(".k8s.io"):
            continue
        # The definition of a custom group may be gone by now: other tests use the same members.
        for resource in (member.read(path) or {"resources": []})["resources"]:
            if "/" not in resource["name"]:
                served[group, resource["kind"]] = resource
    return served


NO_KINDS_OF_THEIR_OWN = {
    ("authentication.k8s.io", "TokenRequest"),
    ("autoscaling", "Scale"),
    ("lifecycle.k8s.io", "Eviction"),
    ("policy", "Eviction"),
}
"""The kinds of subresources, which are posted to an object and never stored; of one no server tells the scope yet."""


def kinds_with_schemas() -> set[tuple[str, str]]:
    """Return the kinds of Kubernetes in all versions that the table of schemas knows, by group and name."""
    entries = (line.split(" ", 2)[1] for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    names = (name.removeprefix("=").partition(":") for name in entries if name.startswith("="))
    return {(group_of(api_version), kind) for api_version, _, kind in names}


def test_every_kind_that_has_a_schema_is_built_in() -> None:
    known = kinds_with_schemas()
    assert known - BUILT_IN.keys() == NO_KINDS_OF_THEIR_OWN
    assert [group for group, _ in sorted(known) if not is_kubernetes_own(group)] == []


@pytest.mark.cluster
def test_a_real_api_server_agrees(members: tuple[Member, ...]) -> None:
    served = served_kinds(members[0])
    assert ("apps", "Deployment") in served
    told = {key: (each["namespaced"], tuple(each.get("shortNames", ()))) for key, each in served.items()}
    known = {key: BUILT_IN[key] for key in told if key in BUILT_IN}
    assert {key: (kind.is_namespaced, kind.short_names) for key, kind in known.items()} == told
