"""The pull request of a branch, in the words of each forge: a list of them, and opening, renewing and closing one."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from render.errors import GitError
from render.settings.rendered import ForgeKind
from render.values import DiscreetStruct

from .address import Forge
from .calls import ForgeCall, answer_of

_PAGE = 50
_Plain = Mapping[str, Any]


class PullRequest(DiscreetStruct, frozen=True, kw_only=True):
    """A pull request as a forge lists it; ``commit`` is what it asks to merge, or was asked to when it was closed."""

    UNSHOWN = ("body",)

    number: int
    is_open: bool
    commit: str
    title: str = ""
    body: str = ""
    url: str = ""


class Wanted(DiscreetStruct, frozen=True, kw_only=True):
    """A pull request as it should be: from one branch into another, with a title and a body."""

    UNSHOWN = ("body",)

    head: str
    base: str
    title: str = ""
    body: str = ""


def listed(forge: Forge, wanted: Wanted) -> tuple[PullRequest, ...]:
    """Return the pull requests from one branch into another, open and closed, the newest first."""
    if forge.kind is ForgeKind.GITLAB:
        query = {"state": "all", "source_branch": wanted.head, "target_branch": wanted.base, "per_page": _PAGE}
        answer = answer_of(forge, ForgeCall(method="GET", path=f"{_folder(forge)}?{urlencode(query)}"))
    else:
        # Gitea knows no filter by branches, and lists first what changed last.
        github = {"head": f"{forge.project.partition('/')[0]}:{wanted.head}", "base": wanted.base, "per_page": _PAGE}
        query = github if forge.kind is ForgeKind.GITHUB else {"sort": "recentupdate", "limit": _PAGE}
        answer = answer_of(
            forge, ForgeCall(method="GET", path=f"{_folder(forge)}?{urlencode({'state': 'all', **query})}")
        )
    try:
        found = [(_branches(forge, each), _pull_request(forge, each)) for each in answer]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(forge) from error
    ours = [request for branches, request in found if branches == (wanted.head, wanted.base)]
    return tuple(sorted(ours, key=lambda request: -request.number))


def opened(forge: Forge, wanted: Wanted) -> PullRequest:
    """Open a pull request."""
    body: dict[str, Any] = {"title": wanted.title, "head": wanted.head, "base": wanted.base, "body": wanted.body}
    if forge.kind is ForgeKind.GITLAB:
        body = {"title": wanted.title, "source_branch": wanted.head, "target_branch": wanted.base}
        # A squashed commit has another message, and with it no trailers, by which passes go on.
        body |= {"description": wanted.body, "squash": False}
    return _pull_request_answered(forge, ForgeCall(method="POST", path=_folder(forge), body=body))


def renewed(forge: Forge, number: int, wanted: Wanted) -> PullRequest:
    """Give a pull request another title and body."""
    is_gitlab = forge.kind is ForgeKind.GITLAB
    return _send_change(forge, number, {"title": wanted.title, "description" if is_gitlab else "body": wanted.body})


def closed(forge: Forge, number: int) -> PullRequest:
    """Close a pull request without merging it."""
    is_gitlab = forge.kind is ForgeKind.GITLAB
    return _send_change(forge, number, {"state_event": "close"} if is_gitlab else {"state": "closed"})


def _send_change(forge: Forge, number: int, body: dict[str, Any]) -> PullRequest:
    method = "PUT" if forge.kind is ForgeKind.GITLAB else "PATCH"
    return _pull_request_answered(forge, ForgeCall(method=method, path=f"{_folder(forge)}/{number}", body=body))


def _folder(forge: Forge) -> str:
    """Return the path of a project's pull requests."""
    if forge.kind is ForgeKind.GITLAB:
        return f"/projects/{quote(forge.project, safe='')}/merge_requests"
    return f"/repos/{quote(forge.project)}/pulls"


def _pull_request_answered(forge: Forge, call: ForgeCall) -> PullRequest:
    try:
        return _pull_request(forge, answer_of(forge, call))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _unreadable(forge) from error


def _unreadable(forge: Forge) -> GitError:
    return GitError(f"{forge.host} answers with what is no pull request", hint="see rendered.forge in argosy.yaml")


def _pull_request(forge: Forge, plain: _Plain) -> PullRequest:
    if forge.kind is ForgeKind.GITLAB:
        return PullRequest(
            number=int(plain["iid"]),
            is_open=plain["state"] == "opened",
            commit=str(plain.get("sha") or ""),
            title=str(plain.get("title") or ""),
            body=str(plain.get("description") or ""),
            url=str(plain.get("web_url") or ""),
        )
    return PullRequest(
        number=int(plain["number"]),
        is_open=plain["state"] == "open",
        commit=str((plain.get("head") or {}).get("sha") or ""),
        title=str(plain.get("title") or ""),
        body=str(plain.get("body") or ""),
        url=str(plain.get("html_url") or ""),
    )


def _branches(forge: Forge, plain: _Plain) -> tuple[str, str]:
    if forge.kind is ForgeKind.GITLAB:
        return str(plain["source_branch"]), str(plain["target_branch"])
    return str(plain["head"]["ref"]), str(plain["base"]["ref"])
