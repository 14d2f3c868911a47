"""The status of a commit on a forge, in the words of each: whether what it asks for is so, in a line."""

from urllib.parse import quote

from msgspec import Struct

from reconciler.ledger.notices import CommitState
from render.errors import GitError
from render.settings.rendered import ForgeKind

from .address import Forge
from .calls import ForgeCall, send_call

_MOST_TEXT = 140


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
