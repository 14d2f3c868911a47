"""Checks of a gate as values: the questions that a rollout asks somebody outside, and the answers that count.

1. A question is about a wave, or about a cluster, of one change, from one instant on: that at which the wave, or the
   cluster, came so far that the answer matters. An answer from before that instant is an answer to another question.
2. An answer is met, or it is not, since an instant; who gives none meets nothing.
3. A check is passed once its answer has been met for so long without a break as the check says.

Nobody is asked here: a step names its questions, and is given the answers that were recorded.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, convert, to_builtins
from msgspec import field as struct_field

from render.admission.rollout_checks import is_about_each_cluster
from render.model import Manifest
from render.notations import seconds_of_duration
from render.timing import Flip, instant_after, instant_text

_DIGEST_LENGTH = 16
_INTERVAL, _TIMEOUT = 60, 10


class PrometheusSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A Prometheus, a query, and the comparison that each sample of its result has to meet."""

    address: str
    query: str
    threshold: str = struct_field(name="is")


class HttpSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An address that is asked for by GET, the status that is good, and what a value of its JSON has to be."""

    url: str
    status: int = 200
    json_path: str = struct_field(name="jsonPath", default="")
    equals: str | None = None
    matches: str | None = None


class ObjectSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A live object of a cluster, and what a value of it has to be."""

    api_version: str = struct_field(name="apiVersion")
    kind: str
    namespace: str = ""
    name: str
    json_path: str = struct_field(name="jsonPath")
    equals: str | None = None
    matches: str | None = None


class JobSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A Job that runs in a cluster, in a namespace that is there, and has to succeed."""

    namespace: str
    spec: dict[str, Any]


class CommitStatusSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The status that the forge has of the newest commit of a change, by its context."""

    context: str


CheckSource = PrometheusSource | HttpSource | ObjectSource | JobSource | CommitStatusSource

_SOURCES: Mapping[str, type[CheckSource]] = {
    "prometheus": PrometheusSource,
    "http": HttpSource,
    "object": ObjectSource,
    "job": JobSource,
    "commitStatus": CommitStatusSource,
}


class GateCheck(Struct, frozen=True, kw_only=True):
    """A check: who is asked, how often and how long, and for how long its answer has to be met.

    ``is_before_wave``: it is asked before a wave begins, otherwise once all of it is through. ``is_of_cluster``: each
    cluster has to pass it by itself.
    """

    name: str
    source: CheckSource
    met_for: int = 0
    interval: int = _INTERVAL
    timeout: int = _TIMEOUT
    is_before_wave: bool = False
    is_of_cluster: bool = False


class CheckAnswer(Struct, frozen=True, kw_only=True):
    """The answer to a question: whether it is met, since when without a break, and what was said then, in a line.

    ``digest`` is that of all that was said then. ``is_answer`` is false where nobody said anything.
    """

    is_met: bool
    since: datetime
    value: str = ""
    digest: str = ""
    is_answer: bool = True


Answers = Mapping[str, CheckAnswer]
"""Answers by the ids of their questions."""


class CheckQuestion(Struct, frozen=True, kw_only=True):
    """A question of a rollout about one change: ``cluster`` is "" where it is about the wave.

    It matters since ``since``. ``commits`` are those that the change came by.
    """

    rollout: str
    change: str
    wave: str
    check: GateCheck
    since: datetime
    cluster: str = ""
    commits: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The digest of all that it asks; an answer to another question has another one."""
        # Whatever the order in which a file has its keys.
        check = json.dumps(plain_check(self.check), sort_keys=True)
        text = "\0".join((self.rollout, self.change, self.wave, self.cluster, instant_text(self.since), check))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]

    def is_final(self, answer: "CheckAnswer | None") -> bool:
        """Say whether an answer stays as it is: a Job that has ended is not run again."""
        return isinstance(self.check.source, JobSource) and answer is not None and answer.is_answer

    def __str__(self) -> str:
        return f"check {self.check.name} of {self.cluster or f'wave {self.wave}'}"


class ChecksLook(Struct, frozen=True, kw_only=True):
    """The findings of one look at the checks of a wave, or of a cluster.

    ``passes_at`` is when all of them are passed, if nothing changes (None: some answer is not met). ``unmet`` says in
    words which are not.
    """

    questions: tuple[CheckQuestion, ...] = ()
    passes_at: datetime | None = None
    unmet: tuple[str, ...] = ()

    def are_passed(self, now: datetime) -> bool:
        """Say whether all are passed now."""
        return self.passes_at is not None and self.passes_at <= now

    def flip(self, now: datetime) -> Flip | None:
        """Return when all will be passed that are met, but not for long enough yet."""
        if self.passes_at is None or self.passes_at <= now or not self.questions:
            return None
        return Flip(self.passes_at, f"{self.questions[0]} is passed")


def look_at_checks(questions: Iterable[CheckQuestion], answers: Answers, since: datetime) -> ChecksLook:
    """Return what the answers to some questions come to; without any, all are passed ``since`` then."""
    asked = tuple(questions)
    unmet, passes_at = [], since
    for question in asked:
        answer = answers.get(question.id)
        if answer is None or not answer.is_met:
            unmet.append(f"{question} ({answer.value if answer else 'not asked yet'})")
        else:
            passes_at = max(passes_at, instant_after(answer.since, question.check.met_for))
    return ChecksLook(questions=asked, passes_at=None if unmet else passes_at, unmet=tuple(unmet))


def parse_check(plain: Manifest) -> GateCheck:
    """Return the value of an admitted check."""
    name = next(each for each in _SOURCES if plain.get(each) is not None)
    written = {key: value for key, value in plain[name].items() if value is not None}
    source: CheckSource = convert(written, _SOURCES[name])
    return GateCheck(
        name=plain["name"],
        source=source,
        met_for=_seconds_of_field(plain, "for", 0),
        interval=_seconds_of_field(plain, "interval", _INTERVAL),
        timeout=_seconds_of_field(plain, "timeout", _TIMEOUT),
        is_before_wave=plain.get("beforeWave") or False,
        is_of_cluster=is_about_each_cluster(plain),
    )


def _seconds_of_field(plain: Manifest, name: str, default: int) -> int:
    found = seconds_of_duration(plain.get(name) or "")
    return default if found is None else int(found)


def plain_check(check: GateCheck) -> dict[str, object]:
    """Return a check as it is written."""
    name = next(each for each, kind in _SOURCES.items() if isinstance(check.source, kind))
    return {
        "name": check.name,
        **({"for": f"{check.met_for}s"} if check.met_for else {}),
        "interval": f"{check.interval}s",
        "timeout": f"{check.timeout}s",
        **({"beforeWave": True} if check.is_before_wave else {}),
        name: to_builtins(check.source),
    }


class Asking(Struct, frozen=True, kw_only=True):
    """The change that questions are about, and the answers that are known at a time.

    ``is_over``: nobody is asked any more, as nothing goes on by what is answered.
    """

    rollout: str
    change: str
    commits: tuple[str, ...] = ()
    answers: Answers = struct_field(default_factory=dict)
    now: datetime
    is_over: bool = False

    def look(self, checks: Iterable[GateCheck], wave: str, since: datetime, cluster: str = "") -> ChecksLook:
        """Return what the answers to some checks come to, of a wave or of a cluster of it."""
        questions = [
            CheckQuestion(
                rollout=self.rollout,
                change=self.change,
                wave=wave,
                cluster=cluster,
                check=check,
                since=since,
                commits=self.commits,
            )
            for check in checks
        ]
        return look_at_checks(questions, self.answers, since)
