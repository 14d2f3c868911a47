"""The reports of one apply, recorded on the status branch: in one commit, or first those of all members but slow ones.

The files are made for whatever the status branch holds by then, because another pass may have been faster.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.status_branch import (
    Files,
    StatusBranch,
    merged_files,
    read_inventories,
)
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.deliver.results import ClusterReport, answer_digests_to_remember
from reconciler.ledger.holds import HoldRules
from reconciler.ledger.inventory import Inventory
from reconciler.pipeline.previous import Previous
from reconciler.record.recorded_status import read_recorded
from reconciler.record.status_changes import StatusInputs, ask_webhooks_ahead, status_files
from reconciler.record.status_messages import status_message
from render.words import counted_noun, first_few

from .observation import Observation
from .record_of_pass import PassRecord


class ReportRecording(Struct, kw_only=True):
    """The reports of an apply so far, and what of them is recorded.

    ``commit`` is the rendered commit that is applied, None where nothing is to be recorded; ``manager`` is the field
    manager, ``planned`` are the inventories by which it was planned. ``record`` is what a pass records beside the
    inventories. ``hold_rules`` are those that it goes by. ``say`` is told what is waited for, ``clock`` gives the time
    of the commits, and ``turn`` is held while the status branch is read and written. ``commits`` reads the rendered
    commits that others report as applied.
    """

    status: StatusBranch
    commit: Previous | None
    manager: str
    planned: Mapping[str, Inventory]
    record: PassRecord | None
    say: Callable[[str], None]
    clock: Callable[[], float]
    turn: threading.Lock
    hold_rules: HoldRules
    commits: RenderedCommits | None = None
    _reports: list[ClusterReport] = field(default_factory=list)
    _recorded: int = 0

    def add(self, report: ClusterReport) -> None:
        """Take in the report of one more member."""
        self._reports.append(report)

    def record_without(self, slow: Sequence[str]) -> None:
        """Record the members that are done, while slow ones are not."""
        if self.commit is None:
            return
        self._record(self.commit, self._reports, self.record.observation if self.record else None)
        self._recorded = len(self._reports)
        self.say(f"{counted_noun(self._recorded, 'cluster')} done and recorded; still waiting for {first_few(slow)}")

    def recorded_reports(self) -> tuple[ClusterReport, ...]:
        """Record what is not recorded yet, and return all reports by name."""
        if self.commit is not None:
            self._record(self.commit, self._reports[self._recorded :], self._unrecorded_observation())
        return tuple(sorted(self._reports, key=lambda report: report.cluster))

    def _unrecorded_observation(self) -> Observation | None:
        """Return what was observed and is not recorded yet."""
        if self.record is None:
            return None
        observation = self.record.observation
        if not (observation.late or self._recorded):
            return observation
        late = observation.late_observation()
        for warning in late.warnings:
            self.say(warning)
        return late if self._recorded else observation.combined_with_late(late)

    def _record(self, commit: Previous, reports: Sequence[ClusterReport], observation: Observation | None) -> None:
        inputs = None
        if self.record is not None and observation is not None:
            inputs = self.record.status_inputs(commit.commit, commit.bindings, observation)
            inputs = replace(inputs, commits=self.commits)
            ask_webhooks_ahead(reports, inputs.interpreter)
        with self.turn:
            self.status.commit(
                lambda tip: merged_files(
                    [self._status_files(inputs, reports, tip), self._inventory_files(reports, tip)]
                ),
                lambda files: status_message(inputs, reports, files) if inputs else f"Apply {commit.commit[:12]}",
                time=int(self.clock()),
            )

    def _status_files(self, inputs: StatusInputs | None, reports: Sequence[ClusterReport], tip: str | None) -> Files:
        if inputs is None or self.record is None:
            return {}
        known = self.record.recorded_folders
        is_known = known is not None and known == self.status.object_folders(tip)
        inputs = replace(inputs, has_recorded_bindings=is_known)
        recorded = read_recorded(self.status, tip, known=self.record.observation.recorded)
        files = status_files(recorded, inputs, reports)
        recorded.save_parsed_files()
        return files

    def _inventory_files(self, reports: Iterable[ClusterReport], tip: str | None) -> Files:
        inventories = read_inventories(self.status, tip)
        files: dict[str, bytes | None] = {}
        for report in reports:
            before = inventories.get(report.cluster)
            if report.applied is None or before is None:
                continue
            after = before.inventory_after_apply(
                report.applied.commit,
                report.applied.recorded_outcome,
                report.applied.left,
                manager=self.manager,
                known=self.planned.get(report.cluster, Inventory(cluster=report.cluster)),
            )
            hold = self.hold_rules.hold_after(report.cluster, before.hold)
            after = replace(after, answered=answer_digests_to_remember(report, before.answered), hold=hold)
            if after != before:
                files[Inventory.at(report.cluster)] = after.content()
        return files
