"""``spec.emit``: the objects of other tools that passes commit beside the trees."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Struct

from render.expressions import lazy_expression
from render.syntax import quoted_text

from .setting import NOT_DECIDED_BY_IT, OUTSIDE, FleetSetting, SettingFault


class Deployer(StrEnum):
    """A tool that applies folders of a Git branch to clusters."""

    ARGO_CD = "ArgoCD"
    FLUX = "Flux"


class Placing(StrEnum):
    """The place where such a tool runs: in one hub for all clusters, or in each member for itself."""

    HUB = "Hub"
    MEMBER = "Member"


class Grouping(StrEnum):
    """The objects of Argo CD: one ApplicationSet for all clusters, or Applications for each."""

    APPLICATION_SET = "ApplicationSet"
    APPLICATIONS = "Applications"


class ToolAccess(Struct, frozen=True, kw_only=True):
    """The way to where a tool runs, to read what it did: a kubeconfig context of a file, or the cluster we run in.

    ``{cluster}`` in ``context`` and ``kubeconfig`` stands for the name of a member, where the tool runs in each.
    """

    context: Annotated[
        str,
        FleetSetting(
            "context",
            "The kubeconfig context of the hub. Where the tool runs in each member, `{cluster}` in it stands for the"
            " cluster's name, and unset it is that name.",
            reach=OUTSIDE,
        ),
    ] = ""
    kubeconfig: Annotated[
        str,
        FleetSetting(
            "kubeconfig",
            "The kubeconfig it is in, from argosy.yaml's folder; `{cluster}` as above, unset the usual one. Without a"
            " context its current one is used.",
            reach=OUTSIDE,
        ),
    ] = ""
    is_in_cluster: Annotated[
        bool, FleetSetting("inCluster", "The hub is the cluster that passes run in.", reach=OUTSIDE)
    ] = False


class EmissionSettings(Struct, frozen=True, kw_only=True):
    """The objects that passes commit for a tool; empty texts are the defaults of ``argosy emit``.

    ``status`` is how passes read what the tool did (None: they do not).
    """

    deployer: Annotated[Deployer, FleetSetting("for", "The tool that delivers what is rendered.")]
    repository: Annotated[
        str,
        FleetSetting(
            "repository", "The address at which the tool reads the rendered branch.", reach=OUTSIDE, min_length=1
        ),
    ]
    placing: Annotated[Placing, FleetSetting("in", "Where it runs: in one hub, or in each member.")] = Placing.HUB
    grouping: Annotated[
        Grouping, FleetSetting("as", "Argo CD: one ApplicationSet, or Applications for each cluster.")
    ] = Grouping.APPLICATION_SET
    namespace: Annotated[
        str,
        FleetSetting("namespace", "The namespace of the objects; none means `flux-system` or `argocd`.", reach=OUTSIDE),
    ] = ""
    git_secret: Annotated[
        str, FleetSetting("gitSecret", "Flux: the Secret by which it reads the repository.", reach=OUTSIDE)
    ] = ""
    kubeconfig_secret: Annotated[
        str,
        FleetSetting(
            "kubeconfigSecret",
            "Flux: the Secret with the kubeconfig of a cluster, whose name stands for `{cluster}`.",
            reach=OUTSIDE,
            shown="{cluster}-kubeconfig",
        ),
    ] = ""
    interval: Annotated[str, FleetSetting("interval", "Flux: how often it asks for commits.", shown="1m")] = ""
    project: Annotated[
        str, FleetSetting("project", "Argo CD: the project of Applications.", reach=OUTSIDE, shown="default")
    ] = ""
    status: Annotated[
        ToolAccess | None,
        FleetSetting(
            "status",
            "How passes read what the tool did, of clusters that they do not reach by themselves: it is recorded on the"
            " status branch, as an agent's own account would be. Without it passes know nothing of these clusters.",
        ),
    ] = None


_INTERVAL = lazy_expression(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")


def _faults_of_emitted_tools(listed: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
    """Yield what is wrong with what is emitted: once for each tool, with nothing secret in it."""
    seen = set()
    for number, each in enumerate(listed):
        where = f"[{number}]"
        if each["for"] in seen:
            yield SettingFault(f"{where}.for", f"{each['for']} is listed twice", "keep one of them")
        seen.add(each["for"])
        if "://" in each["repository"] and ":" in each["repository"].split("://", 1)[1].rpartition("@")[0]:
            yield SettingFault(f"{where}.repository", "must not have a password in it", "name a Secret: gitSecret")
        if each.get("interval") and not _INTERVAL.fullmatch(each["interval"]):
            yield SettingFault(f"{where}.interval", f"{quoted_text(each['interval'])} is no time", "such as '1m'")
        if each.get("status") is not None and (fault := _fault_of_access(each["status"], each.get("in", "Hub"))):
            yield SettingFault(f"{where}.status", fault)


def _fault_of_access(access: Mapping[str, Any], placing: str) -> str:
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


EMIT = FleetSetting(
    "emit",
    "Objects of other tools, as `argosy emit` prints them, that passes commit to the folder `emit` of the rendered"
    " branch.",
    in_karmada=NOT_DECIDED_BY_IT,
    key=lambda each: str(each.deployer.value),
    faults=_faults_of_emitted_tools,
)
