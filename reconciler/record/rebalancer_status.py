"""The status of WorkloadRebalancers on the status branch, in Karmada's form: what became of each workload, and when."""

from collections.abc import Collection, Iterator
from datetime import datetime

from reconciler.ledger.rebalancer import RebalancerFile
from reconciler.source.desired import Desired
from render.binding import Binding
from render.layout import object_path
from render.model import ObjectRef
from render.rebalancers.rebalancing import (
    RebalancerPass,
    RebalancerStatus,
)
from render.rescheduling.requests import RescheduleRequest, pass_of_reschedule_request

from .recorded_status import RecordedStatus


def path_of_rebalancer_status(request: RescheduleRequest) -> str:
    """Return the path of a rebalancer's status."""
    named = object_path(ObjectRef("apps.karmada.io", RebalancerFile.KIND, "", request.name))[-1]
    return RebalancerFile.at(named.removesuffix(".yaml"))


def rebalancers_with_passes(
    desired: Desired, bindings: Collection[Binding], recorded: RecordedStatus, now: datetime
) -> Iterator[tuple[RescheduleRequest, RebalancerPass]]:
    """Yield what became of each rebalancer of the source."""
    for request in desired.reschedule_requests:
        file = recorded.file(RebalancerFile, path_of_rebalancer_status(request))
        yield request, pass_of_reschedule_request(request, file.recorded if file else RebalancerStatus(), bindings, now)


def rebalancer_status_file(request: RescheduleRequest, done: RebalancerPass) -> RebalancerFile:
    """Return a rebalancer's status as its file."""
    return RebalancerFile.of_status(request.name, done.status)
