"""Admission of the kinds that act on time: quotas, autoscalers, taint policies, rebalancers, remedies; as ``admit``."""

from . import Case, kind_admit


def check(case: Case) -> str | None:
    return kind_admit.check({**case, "input": case["input"]["document"]})
