"""The pull request of a branch, in the words of each forge: a list of them, and opening, renewing and closing one."""

from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct, ValidationError, convert

from render.errors import GitError
from render.settings.rendered import ForgeKind
from render.values import DiscreetStruct

from .address import Forge
from .calls import ForgeCall, send_call

_PAGE = 50


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


def list_pull_requests(forge: Forge, wanted: Wanted) -> tuple[PullRequest, ...]:
    """Return the pull requests from one branch into another, open and closed, the newest first."""
    if forge.kind is ForgeKind.GITLAB:
        query = {"state": "all", "source_branch": wanted.head, "target_branch": wanted.base, "per_page": _PAGE}
        answer = send_call(forge, ForgeCall(method="GET", path=f"{_pull_requests_path(forge)}?{urlencode(query)}"))
    else:
        # Gitea knows no filter by branches, and lists first what changed last.
        github = {"head": f"{forge.project.partition('/')[0]}:{wanted.head}", "base": wanted.base, "per_page": _PAGE}
        query = github if forge.kind is ForgeKind.GITHUB else {"sort": "recentupdate", "limit": _PAGE}
        answer = send_call(
            forge, ForgeCall(method="GET", path=f"{_pull_requests_path(forge)}?{urlencode({'state': 'all', **query})}")
        )
    found = [_parse_pull_request(forge, each) for each in (answer if isinstance(answer, list) else [None])]
    ours = [each.pull_request for each in found if each.branches == (wanted.head, wanted.base)]
    return tuple(sorted(ours, key=lambda request: -request.number))


def open_pull_request(forge: Forge, wanted: Wanted) -> PullRequest:
    """Open a pull request."""
    body: dict[str, Any] = {"title": wanted.title, "head": wanted.head, "base": wanted.base, "body": wanted.body}
    if forge.kind is ForgeKind.GITLAB:
        body = {"title": wanted.title, "source_branch": wanted.head, "target_branch": wanted.base}
        # A squashed commit has another message, and with it no trailers, by which passes go on.
        body |= {"description": wanted.body, "squash": False}
    return _pull_request_after_call(forge, ForgeCall(method="POST", path=_pull_requests_path(forge), body=body))


def update_pull_request(forge: Forge, number: int, wanted: Wanted) -> PullRequest:
    """Give a pull request another title and body."""
    is_gitlab = forge.kind is ForgeKind.GITLAB
    return _change_pull_request(
        forge, number, {"title": wanted.title, "description" if is_gitlab else "body": wanted.body}
    )


def close_pull_request(forge: Forge, number: int) -> PullRequest:
    """Close a pull request without merging it."""
    is_gitlab = forge.kind is ForgeKind.GITLAB
    return _change_pull_request(forge, number, {"state_event": "close"} if is_gitlab else {"state": "closed"})


def _change_pull_request(forge: Forge, number: int, body: dict[str, Any]) -> PullRequest:
    method = "PUT" if forge.kind is ForgeKind.GITLAB else "PATCH"
    return _pull_request_after_call(
        forge, ForgeCall(method=method, path=f"{_pull_requests_path(forge)}/{number}", body=body)
    )


def _pull_requests_path(forge: Forge) -> str:
    """Return the path of a project's pull requests."""
    if forge.kind is ForgeKind.GITLAB:
        return f"/projects/{quote(forge.project, safe='')}/merge_requests"
    return f"/repos/{quote(forge.project)}/pulls"


def _pull_request_after_call(forge: Forge, call: ForgeCall) -> PullRequest:
    return _parse_pull_request(forge, send_call(forge, call)).pull_request


def _parse_pull_request(forge: Forge, answer: Any) -> "_GitLabRequest | _GitHubRequest":
    """Return a pull request of an answer; GitError where it is none."""
    try:
        if forge.kind is ForgeKind.GITLAB:
            return convert(answer, _GitLabRequest)
        return convert(answer, _GitHubRequest)
    except ValidationError as error:
        raise GitError(
            f"{forge.host} answers with what is no pull request", hint="see rendered.forge in argosy.yaml"
        ) from error


class _GitLabRequest(Struct, frozen=True, kw_only=True):
    iid: int
    state: str
    sha: str | None = None
    title: str | None = None
    description: str | None = None
    web_url: str | None = None
    source_branch: str
    target_branch: str

    @property
    def branches(self) -> tuple[str, str]:
        return self.source_branch, self.target_branch

    @property
    def pull_request(self) -> PullRequest:
        return PullRequest(
            number=self.iid,
            is_open=self.state == "opened",
            commit=self.sha or "",
            title=self.title or "",
            body=self.description or "",
            url=self.web_url or "",
        )


class _Branch(Struct, frozen=True, kw_only=True):
    ref: str
    sha: str | None = None


class _GitHubRequest(Struct, frozen=True, kw_only=True):
    """A pull request as GitHub and Gitea answer with it."""

    number: int
    state: str
    head: _Branch
    base: _Branch
    title: str | None = None
    body: str | None = None
    html_url: str | None = None

    @property
    def branches(self) -> tuple[str, str]:
        return self.head.ref, self.base.ref

    @property
    def pull_request(self) -> PullRequest:
        return PullRequest(
            number=self.number,
            is_open=self.state == "open",
            commit=self.head.sha or "",
            title=self.title or "",
            body=self.body or "",
            url=self.html_url or "",
        )
