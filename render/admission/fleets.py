"""argosy.yaml, a Fleet of argosy.dev/v1alpha1: its schema and rules. The defaults are those of ``render.fleet``.

Names that become folders, branches and arguments must be harmless.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from render.fleet import OTHERS
from render.patterns import UnusablePattern, check_pattern

from .findings import Findings
from .schema import INT32, ListOf, Record, Text, Whole
from .shared_schema import POINTER_FLAG, TEXT, TEXTS
from .syntax import dns_label_fault, quoted, subdomain_fault
from .template_annotations import check_field_rules

NAME_LIMIT = 108
"""The longest name of a fleet: servers take field managers of 128 bytes, and its own has 20 beside the name."""
_COUNT = Whole(INT32, minimum=0, keep=True)
_BUDGET = Record({"replicas": _COUNT, "percent": _COUNT})
_PERMISSION = Text(choices=("Allow", "Refuse"))

FLEET_SPEC = Record(
    {
        "source": Record(
            {
                "paths": TEXTS,
                "ignore": TEXTS,
                "strict": POINTER_FLAG,
                "render": ListOf(Text(choices=("HelmRelease", "Application", "Kustomization", "ApplicationSet"))),
                "federations": ListOf(Text(choices=("KubeFed", "KubeSphere", "Clusternet", "FederationV1", "Liqo"))),
            }
        ),
        "rendered": Record(
            {
                "remote": TEXT,
                "branch": TEXT,
                "push": Text(choices=("Branch", "PullRequest")),
                "forge": Text(choices=("GitHub", "GitLab", "Gitea")),
            }
        ),
        "mirrors": TEXTS,
        "emit": ListOf(
            Record(
                {
                    "for!": Text(choices=("ArgoCD", "Flux")),
                    "repository!": Text(min_length=1),
                    "in": Text(choices=("Hub", "Member")),
                    "as": Text(choices=("ApplicationSet", "Applications")),
                    "namespace": TEXT,
                    "gitSecret": TEXT,
                    "kubeconfigSecret": TEXT,
                    "interval": TEXT,
                    "project": TEXT,
                    "status": Record({"context": TEXT, "kubeconfig": TEXT, "inCluster": POINTER_FLAG}),
                }
            )
        ),
        "defaultNamespace": TEXT,
        "kinds": ListOf(Record({"group": TEXT, "kind!": TEXT, "scope!": Text(choices=("Namespaced", "Cluster"))})),
        "namespaces": Text(choices=("Needed", "All", "Explicit")),
        "skippedAPIs": TEXTS,
        "skippedNamespaces": TEXTS,
        "compatibility": Text(choices=("Argosy", "Karmada")),
        "claims": Text(choices=("Pure", "Sticky")),
        "rescheduling": Text(choices=("Source", "Karmada")),
        "reserveCapacity": POINTER_FLAG,
        "tieBreak": Text(choices=("Identity", "Name")),
        "requireRecordedAPIs": POINTER_FLAG,
        "onPolicyRemoval": Text(choices=("Keep", "Remove")),
        "secrets": _PERMISSION,
        "validation": Text(choices=("Strict", "Warn", "Off")),
        "removalGuard": Record(
            {"count": _COUNT, "percent": _COUNT, "whole": _COUNT, "scope": Text(choices=("Fleet", "Cluster"))}
        ),
        "movementGuard": Record(
            {
                "fleet": _BUDGET,
                "workload": _BUDGET,
                "minimumClusters": _COUNT,
                "minimumRegions": _COUNT,
                "pinned": ListOf(
                    Record({"group": TEXT, "kind": TEXT, "namespace": TEXT, "name": TEXT, "clusters": TEXTS})
                ),
            }
        ),
        "featureGates": Record(
            {
                "Failover": POINTER_FLAG,
                "GracefulEviction": POINTER_FLAG,
                "StatefulFailoverInjection": POINTER_FLAG,
                "FederatedQuotaEnforcement": POINTER_FLAG,
            }
        ),
        "failover": Record(
            {
                "noExecuteEviction": Text(choices=("Policy", "Always")),
                "purgeMode": Text(choices=("Gracefully", "Directly")),
                "gracefulEvictionTimeoutSeconds": _COUNT,
                "massFailure": _COUNT,
                "evictionsPerMinute": Whole(INT32, minimum=1),
                "lastCopy": Text(choices=("Keep", "Evict")),
                "repeatedMoves": Text(choices=("Pause", "AtOnce")),
                "underWay": Text(choices=("Follow", "Keep")),
            }
        ),
        "descheduler": Record(
            {"enabled": POINTER_FLAG, "unschedulableThresholdSeconds": _COUNT, "intervalSeconds": _COUNT}
        ),
        "cron": Record({"startingDeadlineSeconds": _COUNT}),
        "fieldRules": ListOf(
            Record(
                {
                    "rule!": Text(choices=("Ignore", "Yield", "Own")),
                    "path!": TEXT,
                    "group": TEXT,
                    "kind": TEXT,
                    "namespace": TEXT,
                    "name": TEXT,
                    "manager": TEXT,
                }
            )
        ),
        "decryption": Record(
            {
                "keyServices": ListOf(Text(min_length=1)),
                "secret": Record({"namespace": TEXT, "name!": Text(min_length=1)}),
            }
        ),
        "clusters": ListOf(Record({"name!": TEXT, "context": TEXT, "kubeconfig": TEXT})),
        "kubeconfigs": TEXT,
    }
)


# The rules of git check-ref-format; a leading dash would be an option to git.
_BRANCH = re.compile(r"(?!.*(\.\.|//|@\{|\.lock(/|$)|/\.|\.(/|$)))[A-Za-z0-9_][A-Za-z0-9_./+@-]*(?<!/)")


def fleet_name_fault(name: str) -> str:
    """Say what is wrong with the name of a fleet, which is part of a field manager and of branches."""
    if fault := subdomain_fault(name):
        return fault
    if len(name) > NAME_LIMIT:
        return f"{quoted(name)} is longer than {NAME_LIMIT} characters"
    return (
        f"{quoted(name)} is no such name: Git has no branches that end with '.lock'" if name.endswith(".lock") else ""
    )


def set_fleet_name(fleet: dict[str, Any], _findings: Findings) -> None:
    """Give a fleet without a name the name ``default``."""
    fleet["metadata"].setdefault("name", "default")


_INTERVAL = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")


def _check_emission(listed: Iterable[Mapping[str, Any]], findings: Findings) -> None:
    """Check what is emitted: once for each tool, with nothing secret in it."""
    seen = set()
    for number, each in enumerate(listed):
        where = f"spec.emit[{number}]"
        if each["for"] in seen:
            findings.problem(f"{where}.for", f"{each['for']} is listed twice")
        seen.add(each["for"])
        if "://" in each["repository"] and ":" in each["repository"].split("://", 1)[1].rpartition("@")[0]:
            findings.problem(f"{where}.repository", "must not have a password in it", hint="name a Secret: gitSecret")
        if each.get("interval") and not _INTERVAL.fullmatch(each["interval"]):
            findings.problem(f"{where}.interval", f"{quoted(each['interval'])} is no time", hint="such as '1m'")
        if each.get("status") is not None and (fault := _tool_access_fault(each["status"], each.get("in", "Hub"))):
            findings.problem(f"{where}.status", fault)


def _tool_access_fault(access: Mapping[str, Any], placing: str) -> str:
    """Return why nobody knows by this where the tool runs; empty for a way that is plain."""
    named = [access[part] for part in ("context", "kubeconfig") if access.get(part)]
    if access.get("inCluster"):
        if placing == "Member":
            return "inCluster is for a tool in a hub"
        return "either names a context, or is in the cluster that passes run in" if named else ""
    if placing == "Member":
        is_shared = bool(named) and not any("{cluster}" in each for each in named)
        return "must have {cluster} in it, the name of a member" if is_shared else ""
    return "" if named else "must name a context or a kubeconfig of the hub, or say inCluster"


def check_fleet(fleet: Mapping[str, Any], findings: Findings) -> None:
    """Report mistakes that the schema cannot express."""
    spec = fleet["spec"]
    if (namespace := spec.get("defaultNamespace")) and (fault := dns_label_fault(namespace)):
        findings.problem("spec.defaultNamespace", fault)
    _check_each(spec.get("source", {}).get("paths", ()), "spec.source.paths", _path_fault, findings)
    _check_emission(spec.get("emit", ()), findings)
    _check_each(spec.get("mirrors", ()), "spec.mirrors", _mirror_fault, findings)
    _check_each(spec.get("skippedNamespaces", ()), "spec.skippedNamespaces", _pattern_fault, findings)
    rendered = spec.get("rendered", {})
    if rendered.get("remote", "").startswith("-"):
        findings.problem("spec.rendered.remote", "must not begin with '-'")
    if (branch := rendered.get("branch")) and not _BRANCH.fullmatch(branch):
        findings.problem("spec.rendered.branch", f"{quoted(branch)} is no name for a branch")
    _check_guards(spec, findings)
    check_field_rules(spec.get("fieldRules", ()), findings)
    if (percent := spec.get("failover", {}).get("massFailure", 0)) > 100:
        findings.problem("spec.failover.massFailure", f"must be at most 100, not {percent}")
    _check_unique(spec.get("kinds", ()), ("group", "kind"), "spec.kinds", findings)
    _check_unique(spec.get("clusters", ()), ("name",), "spec.clusters", findings)
    for index, access in enumerate(spec.get("clusters", ())):
        if access["name"] == OTHERS and access.get("context"):
            message = "'*' stands for many clusters, each reached by the context named like it"
            findings.problem(f"spec.clusters[{index}].context", message)


def _check_guards(spec: Mapping[str, Any], findings: Findings) -> None:
    movement = spec.get("movementGuard", {})
    for path, guard in (
        ("spec.removalGuard", spec.get("removalGuard", {})),
        ("spec.movementGuard.fleet", movement.get("fleet", {})),
        ("spec.movementGuard.workload", movement.get("workload", {})),
    ):
        if guard.get("percent", 0) > 100:
            findings.problem(f"{path}.percent", f"must be at most 100, not {guard['percent']}")


def _check_each(values: Iterable[str], path: str, fault_of: Callable[[str], str], findings: Findings) -> None:
    for index, value in enumerate(values):
        if fault := fault_of(value):
            findings.problem(f"{path}[{index}]", fault)


def _check_unique(entries: Iterable[Mapping[str, Any]], parts: Iterable[str], path: str, findings: Findings) -> None:
    seen = set()
    for index, entry in enumerate(entries):
        identity = tuple(entry.get(part, "") for part in parts)
        if identity in seen:
            findings.problem(f"{path}[{index}]", f"{'/'.join(filter(None, identity))} stands above", kind="Duplicate")
        seen.add(identity)


def _path_fault(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        return f"{quoted(path)} leads out of the folder of argosy.yaml"
    return "" if path else "must not be empty"


def _mirror_fault(name: str) -> str:
    return "" if name == "*" else dns_label_fault(name)


def _pattern_fault(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except UnusablePattern as error:
        return f"{quoted(pattern)} is no regular expression: {error}"
    return ""
