"""The built-in kinds: each is one value, which says all there is to say about it, as real API servers have it."""

from typing import Any

import pytest

from render.kinds import BUILT_IN

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


@pytest.mark.cluster
def test_a_real_api_server_agrees(members: tuple[Member, ...]) -> None:
    served = served_kinds(members[0])
    assert ("apps", "Deployment") in served
    told = {key: (each["namespaced"], tuple(each.get("shortNames", ()))) for key, each in served.items()}
    known = {key: BUILT_IN[key] for key in told if key in BUILT_IN}
    assert {key: (kind.is_namespaced, kind.short_names) for key, kind in known.items()} == told
