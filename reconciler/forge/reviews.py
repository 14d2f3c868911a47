"""The reviews of the pull request by which a commit was merged, in the words of each forge.

The pull request is the one that the forge says was merged as this very commit. A review counts that approves of what
was merged: on GitHub and Gitea it names the commit that it is of, and on GitLab the project has to take approvals away
when commits are added.
"""

import time
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from render.errors import GitError
from render.settings.rendered import ForgeKind

from .address import Forge
from .calls import ForgeCall, send_call

_MOST_PAGES, _PAGE, _LONGEST_NAME = 10, 50, 100
_JUDGING = frozenset({"APPROVED", "CHANGES_REQUESTED", "REQUEST_CHANGES", "DISMISSED"})
"""The states of reviews that take the place of an earlier one of the same person; a comment does not."""
_NOT_FOUND = (404, 422)
_READING = "read its pull requests and their reviews"


class MergedRequest(Struct, frozen=True, kw_only=True):
    """A pull request that was merged: its author, and who approved of what was merged, as ``github:NAME``."""

    author: str = ""
    reviewers: tuple[str, ...] = ()


def request_merged_as(forge: Forge, commit: str, until: float) -> MergedRequest | None:
    """Return the pull request that was merged as a commit; None where there is none.

    ``until`` is a time of the monotonic clock. GitError says what the forge had to say against it.
    """
    if forge.kind is ForgeKind.GITLAB:
        return _gitlab_request(forge, commit, until)
    project = f"/repos/{quote(forge.project)}"
    path = f"{project}/commits/{commit}/pull{'s' if forge.kind is ForgeKind.GITHUB else ''}"
    answer = _read(forge, path, until)
    listed = answer if isinstance(answer, list) else [answer]
    found = [each for each in listed if _is_merged_as(each, commit)]
    if len(found) != 1:
        return None
    request = found[0]
    author, head = _person(forge, request.get("user"), "login"), _text(_part(request, "head"), "sha")
    reviews = _pages(forge, f"{project}/pulls/{_number(request, 'number')}/reviews", until)
    return _merged_request(author, _approving_reviewers(forge, reviews, head))


def _is_merged_as(request: Any, commit: str) -> bool:
    is_merged = isinstance(request, dict) and bool(request.get("merged_at"))
    return is_merged and request.get("merge_commit_sha") == commit


def _approving_reviewers(forge: Forge, reviews: list[Any], head: str) -> set[str]:
    """Return who approves of a commit by the last judgement that each has made."""
    last: dict[str, bool] = {}
    for each in reviews:
        person = _person(forge, _part(each, "user"), "login")
        if person and _text(each, "state") in _JUDGING:
            is_gone = bool(each.get("dismissed") or each.get("stale"))
            is_approval = _text(each, "state") == "APPROVED" and not is_gone
            last[person] = is_approval and bool(head) and _text(each, "commit_id") == head
    return {person for person, approves in last.items() if approves}


def _gitlab_request(forge: Forge, commit: str, until: float) -> MergedRequest | None:
    project = f"/projects/{quote(forge.project, safe='')}"
    listed = _read(forge, f"{project}/repository/commits/{commit}/merge_requests", until)
    names = ("merge_commit_sha", "squash_commit_sha", "sha")
    found = [
        each
        for each in (listed if isinstance(listed, list) else ())
        if _text(each, "state") == "merged" and commit in {_text(each, name) for name in names}
    ]
    if len(found) != 1:
        return None
    path = f"{project}/merge_requests/{_number(found[0], 'iid')}/approvals"
    approved = _part(_read(forge, path, until), "approved_by")
    persons = [_person(forge, _part(each, "user"), "username") for each in approved or () if isinstance(each, dict)]
    return _merged_request(_person(forge, found[0].get("author"), "username"), {*persons})


def _merged_request(author: str, reviewers: set[str]) -> MergedRequest:
    if not author:
        raise GitError("the forge does not say who opened the pull request", hint="the next pass tries again")
    mine = author.casefold()
    return MergedRequest(
        author=author, reviewers=tuple(sorted(each for each in reviewers if each and each.casefold() != mine))
    )


def _pages(forge: Forge, path: str, until: float) -> list[Any]:
    """Return all entries of a list; GitError where it is longer than anybody reads."""
    size = "per_page" if forge.kind is ForgeKind.GITHUB else "limit"
    found: list[Any] = []
    for page in range(1, _MOST_PAGES + 1):
        answer = _read(forge, f"{path}?{urlencode({size: _PAGE, 'page': page})}", until)
        if not isinstance(answer, list) or not all(isinstance(each, dict) for each in answer):
            raise GitError(f"{forge.host} answers with what are no reviews", hint="see rendered.forge in argosy.yaml")
        if not answer:
            return found
        found += answer
    raise GitError(f"{forge.host} has more reviews of a pull request than are read")


def _read(forge: Forge, path: str, until: float) -> Any:
    """Return an answer; None where the forge has no such thing."""
    seconds = max(0.0, until - time.monotonic())
    call = ForgeCall(method="GET", path=path, right=_READING, seconds=seconds, missing=_NOT_FOUND)
    return send_call(forge, call)


def _person(forge: Forge, user: Any, name: str) -> str:
    """Return a user as people write it; "" for what is none."""
    found = _text(user, name)[:_LONGEST_NAME]
    return f"{str(forge.kind).lower()}:{quote(found, safe='')}" if found else ""


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any, name: str) -> str:
    found = _part(value, name)
    return found if isinstance(found, str) else ""


def _number(value: Any, name: str) -> int:
    found = _part(value, name)
    if not isinstance(found, int):
        raise GitError("the forge answers with what is no pull request", hint="see rendered.forge in argosy.yaml")
    return found
