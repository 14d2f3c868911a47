"""The five states that a thing can be in, with the shape and colour that each has wherever it is shown.

They differ by shape as well as by colour, so that they are told apart without colours, and by people who see few of
them. A word that is not known here has neither: nothing is called well or unwell that nobody called so.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from render.interpretation.progress import REASONS_UNDER_WAY

from .styled_text import StyledText


class HealthState(StrEnum):
    """The states, the one first that counts most among several."""

    UNWELL = "unwell"
    WAITING = "waiting"
    PROGRESSING = "progressing"
    UNKNOWN = "unknown"
    WELL = "well"


class StateMark(Struct, frozen=True):
    """The shape of a state, that without Unicode, and the color."""

    shape: str
    plain_shape: str
    style: str


MARKS: Mapping[HealthState, StateMark] = {
    HealthState.UNWELL: StateMark("\u25b2", "!", "bold red"),
    HealthState.WAITING: StateMark("\u2016", "=", "yellow"),
    HealthState.PROGRESSING: StateMark("\u25d0", "~", "cyan"),
    HealthState.UNKNOWN: StateMark("\u25cc", "?", "magenta"),
    HealthState.WELL: StateMark("\u25cf", "+", "green"),
}
"""A triangle, bars of a pause, a half circle, a hollow dashed ring and a filled circle."""

_WORDS: Mapping[HealthState, str] = {
    HealthState.WELL: """
        Healthy Converged Success Successful Completed Scheduled Current EveryClusterThrough through met exact
        FullyApplied Attached ok Well
    """,
    HealthState.PROGRESSING: """
        Progressing InProgress ClustersUnderWay Behind NotAppliedYet NotRendered PlacementGoesOut MakeBeforeBreak
        Moving StorageInitializing NamespaceTerminating RollingBack Terminating under remedy
    """,
    HealthState.WAITING: """
        Suspended SuspendDispatching SuspendScheduling OtherScheduler LazyActivation WaitsForWave Waiting Paused Held
        ApprovalMissing OutsideWindow Frozen PausedByControl WaveEmpty ClusterHeld RemovalHeld StillNeeded NoPolicy
        WaitingForDependentOverrides WaitingForPriorityClass MovePaused EvictionBlocked waits kept held cordoned drained
        approximate warn
    """,
    HealthState.UNWELL: """
        Unwell Unhealthy Degraded Failed Incomplete Interrupted NoClusterFit Unschedulable SchedulerError QuotaExceeded
        OverrideFailed BuildFailed InterpreterFailed InNoCluster ClustersUnwell ClustersFailed
        TooManyUnreachable TooManyFailures CheckNotMet RolledBack AbortedByControl Refused MoveStopped NotReady failed
        conflict blocked unhealthy refused not FAIL went BadRequest Unauthorized Forbidden NamespaceMissing
        KindNotServed NotFound FieldManagerConflict Conflict Expired RequestTooLarge NotAcceptable Invalid Immutable
        ManifestRejected
        TooManyRequests WebhookFailed ConversionFailed FormerVersion RequestFailed ServerUnavailable Unreachable
        NameNotResolved ProxyFailed NotAnApiServer CertificateRejected NoCredentials WrongCluster OlderCommit
        OtherHistory DeadlineExceeded UnusableAnswer AnswerTooLarge Unexpected
    """,
    HealthState.UNKNOWN: """
        Unknown <unknown> NoAgent AgentSilent NotTold NotReached NotKnown NobodyReachable StatusTooOld ClockWrong
        ClusterUnseen OnlyRendered NotRecorded none Silent NeverSeen disconnected
    """,
}
STATE_BY_WORD = {
    **{word: state for state, words in _WORDS.items() for word in words.split()},
    **dict.fromkeys(REASONS_UNDER_WAY, HealthState.PROGRESSING),
}
"""The state of each word that begins a cell of a column of states, or a part of one after a comma."""

_TRUTHS = {"True": HealthState.WELL, "False": HealthState.UNWELL, "Unknown": HealthState.UNKNOWN}
_WORDS_BY_COLUMN: Mapping[str, Mapping[str, HealthState]] = {
    "READY": _TRUTHS,
    "APPLIED": _TRUTHS,
    **dict.fromkeys(("HEALTH", "STATE", "REASON", "ACTION", "ANSWER", "GRADE", "NOTE", "UNHEALTHY"), STATE_BY_WORD),
}
"""The columns whose cells are states."""
_STATE_BY_COUNT = {
    "FAILED": HealthState.UNWELL,
    "UNHEALTHY": HealthState.UNWELL,
    "NOTE": HealthState.UNWELL,
    "KEPT": HealthState.WAITING,
}
"""The state that a number above zero is in a column; in a note, so many objects are not built."""
_EXPLAINING = frozenset({"REASON", "STATE"})
"""A reason explains what stands beside it: what is suspended is not applied, and nothing is wrong."""
_SAME_IN_EACH_ROW = {"NOT WELL": HealthState.UNWELL, "PENDING": HealthState.WAITING}
"""Tables in which each row is in a state by standing there, by the title of their first column."""
_REMARK = "NOTE"
_JUDGED = {"Unwell": HealthState.UNWELL, "Unknown": HealthState.UNKNOWN, "Well": HealthState.WELL}
"""The words of a state that is judged already, so that its reason changes nothing about it."""


def state_of_cell(title: str, cell: str) -> HealthState | None:
    """Return the state that a cell of a table says; None where it says none.

    >>> state_of_cell("HEALTH", "Healthy"), state_of_cell("FAILED", "2"), state_of_cell("POLICY", "Failed")
    (<HealthState.WELL: 'well'>, <HealthState.UNWELL: 'unwell'>, None)
    """
    words, counted = _WORDS_BY_COLUMN.get(title, {}), _STATE_BY_COUNT.get(title)
    found = []
    for part in cell.split(", ") if words or counted else ():
        word = part.partition(" ")[0].rstrip(":")
        found.append(counted if word.isdigit() and int(word) else words.get(word))
    return _most_important(found)


def state_of_row(header: Sequence[str], cells: Sequence[str]) -> HealthState | None:
    """Return the state of the thing that a row is about, by its cells; None where these say none.

    Nothing is well beside a remark that is not understood here.
    """
    states = {title: state_of_cell(title, cell) for title, cell in zip(header, cells, strict=True)}
    if "STATE" in header and (judged := _JUDGED.get(cells[header.index("STATE")])):
        return judged
    explained = (states[title] for title in header if title in _EXPLAINING)
    reasons = [each for each in explained if each is not HealthState.WELL]
    state = _most_important(reasons) or _SAME_IN_EACH_ROW.get(header[0]) or _most_important(states.values())
    has_other_remark = _REMARK in header and states[_REMARK] is None and bool(cells[header.index(_REMARK)].strip())
    return None if state is HealthState.WELL and has_other_remark else state


def answer_in_style(word: str, *, width: int = 0) -> StyledText:
    """Return the word that answers a question, in so many columns, in the style of its state if it says one."""
    state = STATE_BY_WORD.get(word)
    return StyledText.of_pieces([(word, MARKS[state].style if state else ""), (" " * (width - len(word)), "")])


def _most_important(states: Iterable[HealthState | None]) -> HealthState | None:
    found = set(states)
    return next((state for state in HealthState if state in found), None)
