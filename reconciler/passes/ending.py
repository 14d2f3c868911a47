"""The end of a pass: its exit code and its error, decided once for the command and the controller."""

from typing import TYPE_CHECKING

from msgspec import Struct

from reconciler.rendering.guarded_outcome import check_removals_held_back
from reconciler.rendering.problems import problems_by_object, reason_for_empty_outcome
from render.errors import ReconcileError

from .result import PassResult

if TYPE_CHECKING:  # what speaks to clusters is only imported for fleets whose members are reached
    from .refused_pass import RefusedPass


class PassEnd(Struct, frozen=True, kw_only=True):
    """The end of a pass. ``error`` is the one that it ends with, whose exit code is ``code`` (None: there is none).

    Without an error, the code is 1 where something could not be placed, built or applied, or nothing
    at all is rendered of what is there, 7 where a member could not be reached and no other failed, and 0 otherwise.
    """

    code: int
    error: ReconcileError | None = None


def end_of_pass(result: "PassResult | RefusedPass") -> PassEnd:
    """Return the end of a pass; of several errors the one counts that kept most from happening.

    A refused source is the first; then a proposal that could not be made, a fault of the pass, clusters that a guard
    holds back, and clusters that could not be asked.
    """
    if not isinstance(result, PassResult):
        return PassEnd(code=result.error.exit_code, error=result.error)
    try:
        return PassEnd(code=_exit_code_of_result(result))
    except ReconcileError as error:
        return PassEnd(code=error.exit_code, error=error)


def _exit_code_of_result(result: PassResult) -> int:
    """Return the exit code of a pass without an error; raise the error of one that ends with it."""
    if result.proposal is not None and result.proposal.error is not None:
        raise result.proposal.error
    if result.fault is not None:
        raise result.fault
    check_removals_held_back(result.outcome)
    outcome = result.outcome
    is_no = problems_by_object(outcome) or outcome.source.objects_left_out or reason_for_empty_outcome(outcome)
    if result.reports is None:
        return 1 if is_no else 0
    from reconciler.deliver.reports import exit_code_of_reports

    return exit_code_of_reports(result.reports) or (1 if is_no else 0)
