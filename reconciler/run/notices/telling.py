"""Telling people what a pass changed: recorded on the status branch, sent, and recorded as sent.

The record moves by compare-and-swap like everything on that branch: of two processes that saw the same, the one whose
commit stands sends it. What a channel does not take is tried again, later each time, for about a day.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.status_branch import Files, StatusBranch
from reconciler.console.log import Log
from reconciler.ledger.notices import MOST_TRIES, Notice, NoticeRecord, Unsent
from reconciler.run.pass_job import PassReport
from render.errors import ReconcileError

from .channels import FORGES, Channel
from .conditions import (
    Message,
    conditions_after_pass,
    notices_of_changed_conditions,
    notices_of_healed_drift,
    verdict_on_source,
)

Send = Callable[[Channel, Message], bool]
_EVERYBODY = 8


class Telling(Struct, frozen=True, kw_only=True):
    """The telling of one fleet: its name, its status branch, the address of its source ("": none), and the channels."""

    fleet: str
    status: StatusBranch
    remote: str
    channels: Sequence[Channel]
    log: Log
    send: Send
    clock: Callable[[], float] = time.time

    def report_after_sending(self, report: PassReport) -> PassReport:
        """Tell people what a pass changed, and what waits for another try; return its report with what was sent.

        A failure here is none of the pass.
        """
        try:
            record, mine = self._record_notices(report)
            if mine:
                faults = self._faults_of_sending(mine)
                record = self._record_outcome_of_sending(mine, faults)
                report = replace(report, notified=self._count_messages_by_result(mine, faults))
        except ReconcileError as error:
            self.log.warning(f"nobody was notified of what changed: {error.message}")
            return report
        return replace(report, next_notice=record.next_try)

    def _record_notices(self, report: PassReport) -> tuple[NoticeRecord, tuple[Unsent, ...]]:
        """Record what there is to tell, and return the record with what is ours to send."""
        now, found = int(self.clock()), [(NoticeRecord(), tuple[Unsent, ...]())]

        def files_with_record(tip: str | None) -> Files:
            before = self._read_record(tip)
            record = self._record_with_news(before, report, tip or "")
            found[0] = record.record_with_claims_and_claimed(now, (each.name for each in self.channels))
            return {NoticeRecord.PATH: found[0][0].content()} if found[0][0] != before else {}

        self.status.commit(files_with_record, lambda _files: _commit_subject("Tell", found[0][1]), time=now)
        return found[0]

    def _record_with_news(self, before: NoticeRecord, report: PassReport, tip: str) -> NoticeRecord:
        """Return the record with what a pass found; one that found nothing new is not looked at."""
        if report.is_unchanged:
            return before
        after = conditions_after_pass(before.conditions, report)
        changed = notices_of_changed_conditions(before.conditions, after, report.ended_holds, report.rollouts)
        notices = (*changed, *notices_of_healed_drift(report))
        verdict, verdicts, new = verdict_on_source(report), dict(before.verdicts), list[Unsent]()
        for channel in self.channels:
            if channel.kind in FORGES:
                if verdict is not None and verdicts.get(channel.name) != (said := f"{report.source} {verdict}"):
                    verdicts[channel.name] = said
                    new.append(replace(self._message_for_channel(channel, report, tip, ()), verdict=verdict))
            elif notices:
                new.append(self._message_for_channel(channel, report, tip, notices))
        # A text alone that differs, such as by a count in it, is told to nobody and recorded by nobody.
        return replace(before, conditions=after if changed else before.conditions, verdicts=verdicts).record_with_new(
            new
        )

    def _message_for_channel(
        self, channel: Channel, report: PassReport, tip: str, notices: tuple[Notice, ...]
    ) -> Unsent:
        """Return a message for a channel; its id is that of no other, whoever makes it."""
        made_of = "\n".join([self.fleet, channel.name, tip, report.source, *map(str, notices)])
        id_ = hashlib.sha256(made_of.encode()).hexdigest()[:40]
        return Unsent(
            channel=channel.name,
            id=id_,
            source=report.source,
            rendered=report.rendered,
            notices=notices,
            tries=0,
            next_try=0,
        )

    def _faults_of_sending(self, mine: Sequence[Unsent]) -> dict[str, str]:
        """Send messages, all at once, and return why the others were not taken, by their ids."""
        by_name = {each.name: each for each in self.channels}

        def fault_of_sending(message: Unsent) -> str:
            text = Message(
                id=message.id,
                fleet=self.fleet,
                remote=self.remote,
                source=message.source,
                rendered=message.rendered,
                notices=message.notices,
                verdict=message.verdict,
            )
            try:
                return "" if self.send(by_name[message.channel], text) else "the address does not take them"
            except ReconcileError as error:
                return f"{error.message} ({error.hint})" if error.hint else error.message

        with ThreadPoolExecutor(max_workers=_EVERYBODY) as pool:
            faults = list(pool.map(fault_of_sending, mine))
        return {message.id: fault for message, fault in zip(mine, faults, strict=True) if fault}

    def _record_outcome_of_sending(self, mine: Sequence[Unsent], faults: Mapping[str, str]) -> NoticeRecord:
        """Record what was taken, and the others' next try, which the log names the first time and the last."""
        now, record, is_any_taken = int(self.clock()), [NoticeRecord()], len(faults) < len(mine)
        for message in mine:
            if message.id in faults and message.tries in {1, MOST_TRIES}:
                what = "given up" if message.tries == MOST_TRIES else "not taken, and tried again later"
                self.log.warning(f"{message.channel} notifications are {what}: {faults[message.id]}")

        def files_with_record(tip: str | None) -> Files:
            before = self._read_record(tip)
            record[0] = before.record_after_tries(mine, lambda each: each.id not in faults, now)
            return {NoticeRecord.PATH: record[0].content()} if record[0] != before else {}

        self.status.commit(
            files_with_record,
            lambda _files: _commit_subject("Told" if is_any_taken else "Could not tell", mine),
            time=now,
        )
        return record[0]

    def _read_record(self, tip: str | None) -> NoticeRecord:
        return NoticeRecord.read_or_none(self.status.files(tip, {NoticeRecord.PATH}).get(NoticeRecord.PATH, b""))

    def _count_messages_by_result(self, mine: Iterable[Unsent], faults: Mapping[str, str]) -> dict[str, int]:
        kinds = {each.name: each.kind for each in self.channels}
        counts: dict[str, int] = {}
        for message in mine:
            result = "ok" if message.id not in faults else "dropped" if message.tries >= MOST_TRIES else "failed"
            what = f"{kinds[message.channel]} {result}"
            counts[what] = counts.get(what, 0) + 1
        return counts


def _commit_subject(verb: str, messages: Iterable[Unsent]) -> str:
    """Return the subject of a status commit: what is told, or how much."""
    texts = dict.fromkeys(
        str(each.verdict or notice) for each in messages for notice in each.notices or (each.verdict,)
    )
    found = [text.partition("\n")[0][:200] for text in texts]
    return f"{verb} {found[0]}" if len(found) == 1 else f"{verb} {len(found)} changes"
