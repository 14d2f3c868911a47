"""A pass as it is handed to its process, and as that reports it: plain data, one line of JSON each way."""

import json
from collections.abc import Mapping
from math import inf
from typing import Self

from msgspec import Struct, convert, field

from reconciler.members.options import DeliveryOptions
from render.json_values import json_text, value_of_json_text

from .pacing import Ending, PassEnded

KILLED = 137
"""The code of a pass whose process ended without a report."""
_INCOMPLETE = frozenset({1, 5, 7})
_FAILED = frozenset({4, 70, 130, KILLED})


class PassJob(Struct, frozen=True, kw_only=True):
    """One pass to run: the repository, by path or address, and the options it runs with.

    ``channels`` are the fields of each notification's channel, and ``has_unsent`` says that some messages may wait for
    another try. ``fleet`` stands before each of its log lines, which
    have the level and the format of the process that hands it out.
    """

    fleet: str
    repository: str
    bootstrap: bool = False
    accepted_settings: str = ""
    delivery: DeliveryOptions = field(default_factory=DeliveryOptions)
    channels: tuple[Mapping[str, str], ...] = ()
    has_unsent: bool = False
    log_level: int = 0
    log_format: str = "text"
    is_colored: bool = False

    def to_json(self) -> str:
        """Return the job as one line."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read it back."""
        return convert(json.loads(text), cls)


class ClusterEnd(Struct, frozen=True, kw_only=True):
    """The end of a pass in one cluster.

    ``drifted`` counts objects of a commit that stood already and were not as it says. ``actions`` counts all objects by
    what was done. ``unseen`` is the reason why nobody could see how the cluster is, which is no sign of ill health.
    """

    state: str
    is_reached: bool = True
    is_converged: bool = True
    unseen: str = ""
    drifted: int = 0
    seconds: float = 0.0
    actions: Mapping[str, int] = field(default_factory=dict)


class RolloutEnd(Struct, frozen=True, kw_only=True):
    """The state of a rollout after a pass: its change, how far it is, and what comes next.

    Of its ``clusters`` so many were ``given`` the change, and so many are ``through`` their gates. ``is_of_calendar``:
    the calendar of argosy.yaml holds the change back, and no policy lets it out.
    """

    change: str
    phase: str
    reason: str
    next_step: str
    wave: str = ""
    clusters: int = 0
    given: int = 0
    through: int = 0
    is_of_calendar: bool = False


class PassReport(Struct, frozen=True, kw_only=True):
    """The report of a pass: its exit code and, where it failed, why; and what it did, where it got so far.

    ``source`` and ``rendered`` are its commits ("": not known). ``is_committed``: the rendered commit is its own.
    ``is_unchanged``: nothing was new, and the end in each cluster is that of the pass before. ``members`` are those
    that passes apply to (None: not known), of which ``clusters`` may lack some. ``unplaced`` are objects that could not
    be placed or built, ``held`` says of clusters that they stay at an earlier commit, by whom and why (None: not
    known), and ``ended_holds`` that they do so no longer, and what ended that. ``moved`` counts replicas that went to
    another cluster, ``refused`` is the reason why the source was refused. ``steps`` are the seconds of each step,
    ``failed_steps`` those that failed. ``notified`` counts notifications by kind and result, ``conflicts`` how often
    somebody else moved a branch first. ``next_wall`` is the time of day at which a time rule asks for the next pass,
    ``next_notice`` the one at which a notification is tried again. ``waits_for_clusters``: a rollout or a move
    goes on by what the next pass sees of members. ``has_written``: it wrote to members, and ``has_unwell``: workloads
    there are not as they should be yet. ``rollouts`` are all of the fleet, by name (None: not known).
    ``emergencies`` counts those that nobody has confirmed, by whether there is time left for it (None: not known).
    """

    code: int
    message: str = ""
    hint: str = ""
    source: str = ""
    rendered: str = ""
    is_committed: bool = False
    is_unchanged: bool = False
    unplaced: tuple[str, ...] = ()
    held: Mapping[str, str] | None = None
    ended_holds: Mapping[str, str] = field(default_factory=dict)
    moved: int = 0
    refused: str = ""
    seconds: float = 0.0
    steps: Mapping[str, float] = field(default_factory=dict)
    failed_steps: tuple[str, ...] = ()
    conflicts: int = 0
    members: tuple[str, ...] | None = None
    clusters: Mapping[str, ClusterEnd] = field(default_factory=dict)
    notified: Mapping[str, int] = field(default_factory=dict)
    next_wall: float | None = None
    next_notice: float | None = None
    waits_for_clusters: bool = False
    has_written: bool = False
    has_unwell: bool = False
    rollouts: Mapping[str, RolloutEnd] | None = None
    emergencies: Mapping[str, int] | None = None

    @property
    def ended_event(self) -> PassEnded:
        """The event that the end of this pass is."""
        ending = Ending.DONE
        if self.code in _INCOMPLETE:
            ending = Ending.INCOMPLETE
        elif self.code in _FAILED:
            ending = Ending.FAILED
        walls = [each for each in (self.next_wall, self.next_notice) if each is not None]
        return PassEnded(
            ending=ending,
            source=self.source,
            next_wall=min(walls, default=inf),
            waits_for_clusters=self.waits_for_clusters,
            has_written=self.has_written,
            has_unwell=self.has_unwell,
            seconds=self.seconds,
        )

    def to_json(self) -> str:
        """Return the report as one line."""
        return json_text(self)

    @classmethod
    def from_json(cls, text: str) -> "PassReport":
        """Read it back; a process that was killed has said nothing."""
        return value_of_json_text(text, cls) or cls(
            code=KILLED, message="the process of the pass ended without a report"
        )


def line_telling_source(source: str) -> str:
    """Return the line by which a process says which source its pass has read, before its report."""
    return json.dumps({"reading": source})


def source_named_in_line(line: str) -> str:
    """Return the source that such a line names; empty for any other.

    >>> source_named_in_line(line_telling_source("abc")), source_named_in_line('{"code": 0}')
    ('abc', '')
    """
    return str(json.loads(line)["reading"]) if line.startswith('{"reading": "') else ""
