"""``spec.rendered``: the place where the rendered branch is published."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from render.expressions import lazy_expression
from render.syntax import quoted_text

from .setting import NOT_DECIDED_BY_IT, OUTSIDE, FleetSetting, SettingFault, reach_of_switch


class PushMode(StrEnum):
    """The way of a new commit to the rendered branch: it is pushed there, or proposed for a person to merge."""

    BRANCH = "Branch"
    PULL_REQUEST = "PullRequest"


class ForgeKind(StrEnum):
    """The forges whose pull requests are known; Forgejo is asked as Gitea is."""

    GITHUB = "GitHub"
    GITLAB = "GitLab"
    GITEA = "Gitea"


# The rules of git check-ref-format; a leading dash would be an option to git.
_BRANCH = lazy_expression(r"(?!.*(\.\.|//|@\{|\.lock(/|$)|/\.|\.(/|$)))[A-Za-z0-9_][A-Za-z0-9_./+@-]*(?<!/)")


def _faults_of_remote(remote: str) -> Iterator[SettingFault]:
    if remote.startswith("-"):
        yield SettingFault("", "must not begin with '-'", "write a remote that git remote lists, or an address")


def branch_faults(branch: str) -> Iterator[SettingFault]:
    """Yield the fault of a name that git takes for no branch."""
    if branch and not _BRANCH.fullmatch(branch):
        yield SettingFault("", f"{quoted_text(branch)} is no name for a branch", "write one such as 'argosy/rendered'")


class RenderedSettings(Struct, frozen=True, kw_only=True):
    """The branch trees are pushed to ("": ``argosy/rendered``), and its remote's name or address ("": the source's).

    ``forge`` is the kind of the forge that the remote is on; None where its address tells.
    """

    remote: Annotated[
        str,
        FleetSetting(
            "remote",
            "A remote's name, or the address of another repository; empty means the remote of the source.",
            reach=OUTSIDE,
            shown="",
            faults=_faults_of_remote,
        ),
    ] = ""
    branch: Annotated[
        str,
        FleetSetting(
            "branch",
            "The rendered branch; empty means `argosy/rendered`.",
            reach=OUTSIDE,
            shown="",
            faults=branch_faults,
        ),
    ] = ""
    push: Annotated[
        PushMode,
        FleetSetting(
            "push",
            "The way of a new commit to the rendered branch. `Branch`: it is pushed there. `PullRequest`: it is pushed"
            " to `argosy/proposed`, and one pull request asks a person to merge it; only what is merged is applied.",
            reach=reach_of_switch(PushMode.BRANCH),
        ),
    ] = PushMode.BRANCH
    forge: Annotated[
        ForgeKind | None,
        FleetSetting(
            "forge",
            "The forge that pull requests are opened on: `GitHub`, `GitLab`, or `Gitea` (also for Forgejo); unset, the"
            " host in the remote's address says which.",
            reach=OUTSIDE,
        ),
    ] = None


RENDERED = FleetSetting("rendered", "The place where the rendered branch is published.", in_karmada=NOT_DECIDED_BY_IT)
