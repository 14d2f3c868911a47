"""The status of a commit on a forge, in the words of each: whether what it asks for is so, in a line."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from reconciler.ledger.notices import CommitState
from render.errors import GitError
from render.settings.rendered import ForgeKind

from .address import Forge
from .calls import ForgeCall, send_call

_MOST_TEXT = 140
_PAGE = 100


class CommitStatus(Struct, frozen=True, kw_only=True):
    """A status: its commit, its state, the name under which a later one replaces it, and a line for people."""

    commit: str
    state: CommitState
    context: str
    text: str


def set_status(forge: Forge, status: CommitStatus) -> None:
    """Set the status of a commit; GitError says what the forge had to say against it."""
    text = status.text if len(status.text) <= _MOST_TEXT else f"{status.text[: _MOST_TEXT - 1]}…"
    if forge.kind is ForgeKind.GITLAB:
        state = "failed" if status.state is CommitState.FAILURE else str(status.state)
        path = f"/projects/{quote(forge.project, safe='')}/statuses/{status.commit}"
        body = {"state": state, "name": status.context, "description": text}
    else:
        path = f"/repos/{quote(forge.project)}/statuses/{status.commit}"
        body = {"state": str(status.state), "context": status.context, "description": text}
    try:
        send_call(forge, ForgeCall(method="POST", path=path, body=body, right="set the statuses of its commits"))
    except GitError as error:
        # GitLab refuses a state that a commit has already, whatever its text.
        if not (forge.kind is ForgeKind.GITLAB and "Cannot transition status" in error.message):
            raise


def state_of_commit(forge: Forge, commit: str, context: str, *, seconds: float) -> CommitState | None:
    """Return the state that a forge has of a commit by the name of a status; None where nobody has set it.

    ``seconds`` are those that each call may take. On GitHub a check run of that name counts as well: it is how GitHub's
    own workflows tell of themselves.
    """
    if forge.kind is ForgeKind.GITLAB:
        path = f"/projects/{quote(forge.project, safe='')}/repository/commits/{commit}/statuses"
        listed = _listed_statuses(
            forge, f"{path}?{urlencode({'name': context, 'sort': 'desc', 'per_page': _PAGE})}", seconds
        )
        return _newest_state(listed, "name", "status", context)
    path = f"/repos/{quote(forge.project)}/commits/{commit}"
    size = {"per_page": _PAGE} if forge.kind is ForgeKind.GITHUB else {"limit": _PAGE, "sort": "recentupdate"}
    state = _newest_state(
        _listed_statuses(forge, f"{path}/statuses?{urlencode(size)}", seconds),
        "context",
        "state" if forge.kind is ForgeKind.GITHUB else "status",
        context,
    )
    if state is not None or forge.kind is not ForgeKind.GITHUB:
        return state
    query = urlencode({"check_name": context, "filter": "latest", "per_page": _PAGE})
    answer = send_call(
        forge, ForgeCall(method="GET", path=f"{path}/check-runs?{query}", right=_READING, seconds=seconds)
    )
    runs = answer.get("check_runs") if isinstance(answer, dict) else None
    return _newest_state(runs if isinstance(runs, list) else [], "name", "conclusion", context)


def _listed_statuses(forge: Forge, path: str, seconds: float) -> list[Any]:
    answer = send_call(forge, ForgeCall(method="GET", path=path, right=_READING, seconds=seconds))
    return answer if isinstance(answer, list) else []


def _newest_state(listed: Iterable[Any], name: str, state: str, context: str) -> CommitState | None:
    """Return the state of the first status of this name in a list whose first one is the newest."""
    for each in listed:
        if isinstance(each, dict) and each.get(name) == context:
            return _STATES.get(str(each.get(state)), CommitState.PENDING)
    return None


_READING = "read the statuses of its commits"
_STATES = {
    "success": CommitState.SUCCESS,
    **dict.fromkeys(
        (
            "failure",
            "failed",
            "error",
            "warning",
            "canceled",
            "cancelled",
            "timed_out",
            "action_required",
            "neutral",
            "skipped",
        ),
        CommitState.FAILURE,
    ),
}
"""The states of all forges that are over; every other one may still become either."""
