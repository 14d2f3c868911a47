"""Overriding of KubeFed: what a cluster is sent of a federated object."""

from render.federations.kubefed.federated_objects import TargetType
from tests.kubefed import NotSent, sent_to

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    kind = given["targetType"]
    target = TargetType(
        group=kind["group"], version=kind["version"], kind=kind["kind"], is_namespaced=kind["namespaced"]
    )
    sent = sent_to(given["cluster"], given["federatedObject"], target, given["liveObject"])
    if isinstance(sent, NotSent):
        want = expected.get("status") if expected.get("error") else "no error"
        if "panic" in expected:
            return None
        return None if sent.status == want else f"{sent}, want {expected}"
    if expected.get("error") or "panic" in expected:
        return f"{sent.manifest}, want {expected}"
    if list(sent.warnings) != (expected["events"] or []):
        return f"{sent.warnings}, want {expected['events']}"
    return None if sent.manifest == expected["object"] else f"{sent.manifest}, want {expected['object']}"
