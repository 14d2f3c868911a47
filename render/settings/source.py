"""``spec.source``: the files of the repository that are read."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from render.syntax import quoted_text

from .rendered import branch_faults
from .setting import NOT_DECIDED_BY_IT, FleetSetting, ReachRule, SettingReach, faults_of_each_value, reach_of_switch


class RenderedRelease(StrEnum):
    """A kind of another tool whose chart, folder or Applications may be rendered."""

    HELM_RELEASE = "HelmRelease"
    APPLICATION = "Application"
    KUSTOMIZATION = "Kustomization"
    APPLICATION_SET = "ApplicationSet"


class OtherFederation(StrEnum):
    """Another federation whose objects may be rendered as they stand."""

    KUBEFED = "KubeFed"
    KUBESPHERE = "KubeSphere"
    CLUSTERNET = "Clusternet"
    FEDERATION_V1 = "FederationV1"
    LIQO = "Liqo"


_ANOTHER_BRANCH = ReachRule(SettingReach.OUTSIDE, lambda before, after: bool(before and after))
"""The reach of the branch of the source: naming one where none is known yet limits what is rendered."""


def _fault_of_path(path: str) -> str:
    if path.startswith("/") or ".." in path.split("/"):
        return f"{quoted_text(path)} leads out of the folder of argosy.yaml"
    return "" if path else "must not be empty"


class SourceSettings(Struct, frozen=True, kw_only=True):
    """The files to read: those below ``paths`` (from argosy.yaml's folder), minus ``ignore`` (gitignore syntax).

    ``is_strict``: a file that cannot be used is a problem, also where no object was ever delivered from it.
    ``rendered``: the kinds whose charts and folders are rendered, instead of delivering them as they are.
    ``federations``: those whose objects are rendered as policies and templates. ``branch``: the one whose commits are
    rendered ("": the one that is remembered).
    """

    paths: Annotated[
        tuple[str, ...],
        FleetSetting(
            "paths",
            "The files and folders that are read, relative to the folder of argosy.yaml.",
            is_default_empty=True,
            faults=faults_of_each_value(
                _fault_of_path, "write a folder or file below argosy.yaml, such as 'apps'; '.' is all of them"
            ),
        ),
    ] = (".",)
    branch: Annotated[
        str,
        FleetSetting(
            "branch",
            "The branch that the fleet is rendered from. A source commit that is not in its history at the remote is"
            " refused. Empty means the branch that the first pass stood on, which the rendered branch remembers.",
            reach=_ANOTHER_BRANCH,
            shown="",
            faults=branch_faults,
        ),
    ] = ""
    ignore: Annotated[tuple[str, ...], FleetSetting("ignore", "The files that are not read, in gitignore syntax.")] = ()
    is_strict: Annotated[
        bool,
        FleetSetting(
            "strict",
            "A file that cannot be used is a problem, even one that nothing was ever delivered from; otherwise that is"
            " a warning, until it changes.",
            reach=reach_of_switch(weak=False),
        ),
    ] = False
    rendered: Annotated[
        tuple[RenderedRelease, ...],
        FleetSetting(
            "render",
            "The kinds of other tools that are rendered, instead of delivering them as they are: the charts of a"
            " `HelmRelease` of Flux, the folders of a `Kustomization` of Flux, either of an `Application` of Argo CD,"
            " the Applications that an `ApplicationSet` makes.",
        ),
    ] = ()
    federations: Annotated[
        tuple[OtherFederation, ...],
        FleetSetting(
            "federations",
            "The federations whose objects are rendered, as templates and policies made of them in memory, instead of"
            " delivering them as they are. `FederationV1` takes every plain object for one that it divides or copies.",
        ),
    ] = (OtherFederation.KUBEFED, OtherFederation.KUBESPHERE, OtherFederation.CLUSTERNET)


SOURCE = FleetSetting("source", "The files that are read.", in_karmada=NOT_DECIDED_BY_IT)
