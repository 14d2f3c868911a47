"""The outcome of a WorkloadRebalancer, in Karmada's form: that for each workload, and the time when it was over."""

from typing import ClassVar

from msgspec import Struct, convert

from render.rebalancers.rebalancing import NamedWorkload, ObservedWorkload, RebalancerStatus, RequestOutcome
from render.timing import instant_text, parse_instant

from .branch_file import BranchFile


class _Name(Struct, frozen=True, kw_only=True):
    name: str


class _RecordedWorkload(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    api_version: str
    kind: str
    namespace: str = ""
    name: str


class _RecordedOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    workload: _RecordedWorkload
    result: RequestOutcome = RequestOutcome.PENDING
    reason: str = ""


class _RecordedStatus(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    observed_workloads: tuple[_RecordedOutcome, ...]
    finish_time: str = ""


class RebalancerFile(BranchFile, frozen=True, kw_only=True):
    """The status of a WorkloadRebalancer."""

    PATH: ClassVar[str] = "rebalancers/{name}.yaml"
    API_VERSION: ClassVar[str] = "apps.karmada.io/v1alpha1"
    KIND: ClassVar[str] = "WorkloadRebalancer"
    ABOUT: ClassVar[str] = "What became of a WorkloadRebalancer, in Karmada's form."

    metadata: _Name
    status: _RecordedStatus

    @classmethod
    def of_status(cls, name: str, status: RebalancerStatus) -> "RebalancerFile":
        """Return the outcome of the rebalancer with this name as its file."""
        observed = tuple(
            _RecordedOutcome(
                workload=convert(each.workload, _RecordedWorkload, from_attributes=True),
                result=each.outcome,
                reason=each.reason,
            )
            for each in status.observed
        )
        finished = instant_text(status.finished) if status.finished else ""
        return cls(metadata=_Name(name=name), status=_RecordedStatus(observed_workloads=observed, finish_time=finished))

    @property
    def recorded(self) -> RebalancerStatus:
        """The outcome of the rebalancer."""
        observed = tuple(
            ObservedWorkload(
                workload=convert(each.workload, NamedWorkload, from_attributes=True),
                outcome=each.result,
                reason=each.reason,
            )
            for each in self.status.observed_workloads
        )
        return RebalancerStatus(observed=observed, finished=parse_instant(self.status.finish_time))
