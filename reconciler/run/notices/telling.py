"""Telling people what a pass changed: recorded first on the status branch, then sent, so that each is told once.

The record moves by compare-and-swap like everything on that branch: of two processes that saw the same, the one whose
commit stands sends it. A channel that takes nothing is tried three times, and said in the log.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from reconciler.console.log import Log
from reconciler.publish.status_branch import Files, StatusBranch
from reconciler.run.pass_job import PassReport
from render.documents import DocumentErrors, emit, parse_documents
from render.errors import ReconcileError
from render.model import ARGOSY_API_VERSION

from .channels import Channel, Message, sent
from .conditions import Notice, conditions_after, drift_notices, notices_between

TOLD_PATH = "told.yaml"
_TRIES = 3
_PAUSE = 1.0

Send = Callable[[Channel, Message], bool]


def told_pass(report: PassReport, name: str, status: StatusBranch, channels: Iterable[Channel], log: Log) -> PassReport:
    """Tell people what a pass changed, and return its report with what was sent; a failure here is none of the pass."""
    try:
        commit, notices = recorded_notices(status, report, int(time.time()))
    except ReconcileError as error:
        log.warning(f"nobody was told what changed: {error.message}")
        return report
    if not notices:
        return report
    message = Message(id=commit, fleet=name, source=report.source, rendered=report.rendered, notices=notices)
    counts: dict[str, int] = {}
    for channel in channels:
        is_taken = was_sent(channel, message, sent)
        result = f"{channel.kind} {'ok' if is_taken else 'failed'}"
        counts[result] = counts.get(result, 0) + 1
        if not is_taken:
            log.warning(f"{channel.kind} notifications are not taken")
    return replace(report, notified=counts)


def was_sent(channel: Channel, message: Message, send: Send, pause: Callable[[float], None] = time.sleep) -> bool:
    """Send a message, again after a pause where it is not taken."""
    for attempt in range(_TRIES):
        try:
            if send(channel, message):
                return True
        except ReconcileError:
            return False
        if attempt < _TRIES - 1:
            pause(_PAUSE * 2**attempt)
    return False


def recorded_notices(status: StatusBranch, report: PassReport, now: int) -> tuple[str, tuple[Notice, ...]]:
    """Record what there is to tell, and return the commit with what is ours to tell: nothing where it was told."""
    found: list[Notice] = []

    def made(tip: str | None) -> Files:
        told = told_conditions(status.files(tip, {TOLD_PATH}).get(TOLD_PATH, b""))
        after = conditions_after(told, report)
        found[:] = notices_between(told, after)
        document = {"apiVersion": ARGOSY_API_VERSION, "kind": "Told", "conditions": dict(sorted(after.items()))}
        return {TOLD_PATH: emit(document)} if found else {}

    commit = status.commit(made, lambda _files: _subject(found), time=now)
    return commit or report.rendered, (*(found if commit else ()), *drift_notices(report))


def told_conditions(content: bytes) -> Mapping[str, str]:
    """Return the conditions that were told; none where the file is not as passes write it."""
    try:
        value = parse_documents(content)[0].value if content else {}
    except (DocumentErrors, IndexError):
        return {}
    conditions = value.get("conditions") if isinstance(value, dict) else None
    if not isinstance(conditions, dict):
        return {}
    return {key: text for key, text in conditions.items() if isinstance(key, str) and isinstance(text, str)}


def _subject(notices: Iterable[Notice]) -> str:
    texts = [str(notice).partition("\n")[0][:200] for notice in notices]
    return f"Tell {texts[0]}" if len(texts) == 1 else f"Tell {len(texts)} changes"
