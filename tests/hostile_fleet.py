"""A fleet in which everything that people and members may write as they like is hostile, and that has a Secret."""

from pathlib import Path

from msgspec.structs import replace

from .build import Repository, a_config_map, a_deployment, a_policy, on_clusters
from .memory_fleet import MemoryFleet, settle
from .paged import ROOMY, break_web

SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"
SVG = "<svg/onload=alert(3)>"
QUOTED = "\"' onmouseover=alert(4) x='"
TEMPLATE = "{{ 7 * 7 }}{% include 'base.html' %}"
BIDI = "safe\u202eexe.txt\u2066\u200b"
LONG = "A" * 5000
HOSTILE = f"{SCRIPT}{IMAGE}{SVG}{QUOTED}{TEMPLATE}{BIDI} javascript:alert(5) {LONG}"
CANARY = "c4n4ry-0f-4-s3cr3t"
UNSAFE = ("<script>alert", "<img src=x", "<svg/onload", "\u202e", "\u2066", "\u200b", "'javascript:", '"javascript:')


def a_hostile_fleet(path: Path) -> Repository:
    """The fleet, after passes in which one member is unwell, one silent, and a source is refused."""
    web = a_deployment("web", replicas=3, namespace="shop")
    web["metadata"]["annotations"] = {"argosy.dev/owner": HOSTILE, "note": HOSTILE}
    secret = {**a_config_map("login", namespace="shop"), "kind": "Secret", "stringData": {"password": CANARY}}
    kinds = (("apps/v1", "Deployment"), ("v1", "ConfigMap"), ("v1", "Secret"))
    selectors = [{"apiVersion": version, "kind": kind} for version, kind in kinds]
    files = {
        "web.yaml": web,
        f"{IMAGE} '\".yaml": a_config_map("texts", namespace="shop", text="before", **{"a.b": HOSTILE}),
        "secret.yaml": secret,
        "policy.yaml": a_policy("all", namespace="shop", selectors=selectors, placement=on_clusters("a", "b")),
    }
    fleet = MemoryFleet.create(path, dict.fromkeys("ab", (1, ROOMY)), files)
    fleet.run()
    for member in fleet.members.values():
        settle(member)
    fleet.run(60)
    break_web(fleet.members["a"], HOSTILE)
    fleet.down.add("b")
    fleet.down_failure = replace(fleet.down_failure, message=HOSTILE)
    fleet.run(600)
    secret["stringData"]["password"] = f"{CANARY}-again"
    changed = {f"{IMAGE} '\".yaml": a_config_map("texts", namespace="shop", text=HOSTILE, **{"a.b": SCRIPT})}
    fleet.repository.commit({**changed, "secret.yaml": secret}, f"{SCRIPT}{BIDI}\n\n{HOSTILE}")
    fleet.run(60)
    fleet.repository.git("branch", "-q", "evil'branch")
    fleet.repository.commit({"broken.yaml": f"apiVersion: v1\nkind: '{SCRIPT}'\nmetadata: {{name: x}}\n"}, HOSTILE)
    return fleet.repository
