"""A query of Prometheus, asked now: each sample of its result has to meet the threshold, and there has to be one."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import Struct, ValidationError, convert, field

from render.admission.rollout_checks import Threshold, threshold_of_text
from render.json_values import value_of_json_text
from render.rollouts.checks import PrometheusSource
from render.settings.rollout_sources import RolloutSource

from .answers import CheckReply, NoAnswer
from .web import content_at_address


class _Sample(Struct, frozen=True):
    """A sample of a vector: the time it is of, and its number as text."""

    value: tuple[float, str]


class _Data(Struct, frozen=True):
    kind: str = field(name="resultType")
    result: Any


class _Answer(Struct, frozen=True):
    status: str
    data: _Data | None = None
    error: str = ""


_OK = 200


def ask_prometheus(source: PrometheusSource, sources: Iterable[RolloutSource], until: float) -> CheckReply:
    """Return what a Prometheus says to a query; NoAnswer where it says nothing of it."""
    address = f"{source.address.rstrip('/')}/api/v1/query?query={quote(source.query, safe='')}"
    received = content_at_address(address, sources, until)
    answer = value_of_json_text(received.content, _Answer)
    if answer is None:
        raise NoAnswer(f"it answers with status {received.status}, and not as Prometheus does")
    if received.status != _OK or answer.status != "success" or answer.data is None:
        raise NoAnswer(f"the query is refused: {answer.error or f'status {received.status}'}")
    threshold = threshold_of_text(source.threshold)
    assert threshold is not None  # it was admitted
    return _said_by_samples(_numbers_of_result(answer.data), threshold, received.content)


def _said_by_samples(numbers: Sequence[str], threshold: Threshold, content: bytes) -> CheckReply:
    """Return what samples come to: the first that does not meet the threshold speaks for all."""
    if not numbers:
        raise NoAnswer("the query has no result")
    wrong = [text for text in numbers if not threshold.is_met_by(_number_of_text(text))]
    return CheckReply.of_content(content, (wrong or numbers)[0], is_met=not wrong)


def _number_of_text(text: str) -> float:
    """Return the number of a sample, which may be NaN or infinite.

    >>> _number_of_text("+Inf"), _number_of_text("0.5")
    (inf, 0.5)
    """
    try:
        return float(text)
    except ValueError as error:
        raise NoAnswer("the query has a result that is no number") from error


def _numbers_of_result(data: _Data) -> list[str]:
    """Return the numbers of a scalar or of a vector, as they were written."""
    try:
        if data.kind == "scalar":
            return [convert(data.result, tuple[float, str])[1]]
        if data.kind == "vector":
            return [each.value[1] for each in convert(data.result, list[_Sample])]
    except ValidationError as error:
        raise NoAnswer("it answers otherwise than Prometheus does") from error
    raise NoAnswer("the query has a result that is neither a scalar nor a vector")
