"""The manifests of an agent: what stands in a cluster that pulls beside the rights of its account.

The key for Git is named and never read: a Secret that somebody makes in the cluster. What is pinned - host keys, and
who may sign - is public, and comes along in a ConfigMap.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from render.model import Manifest

NAMESPACE = "argosy-system"
LABEL = "argosy.dev/agent"
"""The label of everything that an agent consists of, by which it is taken back."""
_NAME = "argosy-agent"
_USER = 65532
_KEYS, _PINNED = "/etc/argosy/git", "/etc/argosy/pinned"
_KNOWN_HOSTS, _SIGNERS = "known_hosts", "allowed_signers"


class AgentPlan(Struct, frozen=True, kw_only=True):
    """An agent to be set up: its cluster and fleet, the repository's address, and the image it runs.

    ``secret`` is the name of the Secret with the key for Git: ``identity`` for an address of SSH, ``gitconfig`` for
    HTTPS. ``known_hosts`` and ``allowed_signers`` are the contents of these files. ``schedule`` makes it a CronJob
    ("": a Deployment).
    """

    cluster: str
    fleet: str
    repository: str
    account: str
    image: str
    secret: str
    known_hosts: str = ""
    allowed_signers: str = ""
    schedule: str = ""

    @property
    def is_ssh(self) -> bool:
        """True where Git is spoken to over SSH, whose host key has to be pinned."""
        return not self.repository.startswith("https://")


def manifests_of_agent(plan: AgentPlan, rights: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield everything that an agent needs in its cluster: the rights of its account, its settings and its workload."""
    for manifest in rights:
        yield _with_agent_label(manifest, plan) if manifest["kind"] != "Namespace" else manifest
    yield _with_agent_label(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _pod_metadata(),
            "data": dict(_names_and_contents_of_trusted_files(plan)),
        },
        plan,
    )
    yield _with_agent_label(_workload_of_plan(plan), plan)


def _pod_metadata() -> dict[str, Any]:
    return {"name": _NAME, "namespace": NAMESPACE}


def _with_agent_label(manifest: Manifest, plan: AgentPlan) -> Manifest:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**(metadata.get("labels") or {}), LABEL: plan.cluster}}}


def _names_and_contents_of_trusted_files(plan: AgentPlan) -> Iterator[tuple[str, str]]:
    for name, content in ((_KNOWN_HOSTS, plan.known_hosts), (_SIGNERS, plan.allowed_signers)):
        if content:
            yield name, content


def _workload_of_plan(plan: AgentPlan) -> Manifest:
    template = {"metadata": {"labels": {LABEL: plan.cluster}}, "spec": _pod_of_plan(plan)}
    if plan.schedule:
        job = {"backoffLimit": 0, "activeDeadlineSeconds": 1800, "template": template}
        schedule = {"schedule": plan.schedule, "concurrencyPolicy": "Forbid", "startingDeadlineSeconds": 120}
        spec = {**schedule, "jobTemplate": {"spec": job}}
        return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": _pod_metadata(), "spec": spec}
    selector = {"matchLabels": {LABEL: plan.cluster}}
    # Two at once would be distinguished by Git alone.
    spec = {"replicas": 1, "strategy": {"type": "Recreate"}, "selector": selector, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _pod_metadata(), "spec": spec}


def _pod_of_plan(plan: AgentPlan) -> dict[str, Any]:
    user = {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER}
    return {
        **({"restartPolicy": "Never"} if plan.schedule else {}),
        "serviceAccountName": plan.account,
        "terminationGracePeriodSeconds": 60,
        "securityContext": {**user, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [_container_of_plan(plan)],
        "volumes": [
            {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
            {"name": "git", "secret": {"secretName": plan.secret, "defaultMode": 0o440}},
            {"name": "pinned", "configMap": {"name": _NAME}},
        ],
    }


def _container_of_plan(plan: AgentPlan) -> dict[str, Any]:
    capabilities = {"drop": ["ALL"]}
    secure = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": capabilities}
    return {
        "name": "argosy",
        "image": plan.image,
        "args": list(_arguments_of_plan(plan)),
        "env": [_git_environment_of_agent(plan)],
        "securityContext": secure,
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "volumeMounts": [
            {"name": "cache", "mountPath": "/cache"},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a folder of the container's own
            {"name": "git", "mountPath": _KEYS, "readOnly": True},
            {"name": "pinned", "mountPath": _PINNED, "readOnly": True},
        ],
    }


def _arguments_of_plan(plan: AgentPlan) -> Iterator[str]:
    yield from ("agent", "--cluster", plan.cluster)
    yield from ("--fleet", plan.fleet) if plan.fleet != "default" else ()
    yield from ("--once",) if plan.schedule else ("--grace", "45s")
    yield from ("--allowed-signers", f"{_PINNED}/{_SIGNERS}") if plan.allowed_signers else ()
    yield plan.repository


def _git_environment_of_agent(plan: AgentPlan) -> Mapping[str, str]:
    if not plan.is_ssh:
        return {"name": "GIT_CONFIG_GLOBAL", "value": f"{_KEYS}/gitconfig"}
    known = f"-o StrictHostKeyChecking=yes -o UserKnownHostsFile={_PINNED}/{_KNOWN_HOSTS}"
    return {"name": "GIT_SSH_COMMAND", "value": f"ssh -i {_KEYS}/identity -o IdentitiesOnly=yes {known}"}


def command_to_remove_agent(cluster: str) -> str:
    """Return the command that takes an agent and its rights out of its cluster; what it applied stays there."""
    kinds = "deployment,cronjob,configmap,rolebinding,role,clusterrolebinding,clusterrole,serviceaccount"
    return f"kubectl delete {kinds} --all-namespaces -l {LABEL}={cluster}"
