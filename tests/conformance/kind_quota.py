"""FederatedResourceQuota: usage of bindings, enforcement of limits, shares of clusters, and the status made of them."""

from collections.abc import Mapping
from typing import Any

from render.parsing import parse_binding
from render.quantity import Amount
from render.quota.enforcement import answer_of_quotas, parse_federated_quota
from render.quota.shares import reported_quota, resource_quotas_by_cluster, sum_of_reported_usage
from render.quota.sums import difference_of_amounts, parse_amounts, sum_of_amounts, usage_of_binding

from . import Case

Plain = Mapping[str, Any]


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    found, wanted = _ANSWERS[given["mode"]](given, expected)
    return None if found == wanted else f"{found}, not {wanted}"


def _usage(given: Plain, expected: Plain) -> tuple[Any, Any]:
    each = [usage_of_binding(parse_binding(plain)) for plain in given["bindings"] or ()]
    overall = {name: amount for name, amount in sum_of_amounts(each).items() if name in given["overall"]}
    return (each, overall), (
        [parse_amounts(plain) for plain in expected["usage"] or ()],
        parse_amounts(expected["overallUsed"]),
    )


def _admitted(given: Plain, expected: Plain) -> tuple[Any, Any]:
    before: Mapping[str, Amount] = usage_of_binding(parse_binding(given["old"])) if given.get("old") else {}
    after = usage_of_binding(parse_binding(given["new"]))
    quotas = [parse_federated_quota(plain) for plain in given["federatedResourceQuotas"] or ()]
    answer = answer_of_quotas(quotas, difference_of_amounts(after, before))
    found = (not answer.refusals, {each.name: dict(each.used) for each in answer.quotas})
    return found, (expected["allowed"], {name: parse_amounts(used) for name, used in expected["overallUsed"].items()})


def _static(given: Plain, expected: Plain) -> tuple[Any, Any]:
    found = {} if given["quotaDeleted"] else dict(resource_quotas_by_cluster(given["quota"], given["clusters"] or ()))
    wanted = {
        work["namespace"].removeprefix("karmada-es-"): work["manifests"][0]
        for work in expected["works"] or ()
        if work["manifests"]
    }
    return {name: _hard(each) for name, each in found.items()}, {name: _hard(each) for name, each in wanted.items()}


def _hard(manifest: Plain) -> tuple[str, str, Mapping[str, Amount]]:
    metadata = manifest["metadata"]
    return metadata["namespace"], metadata["name"], parse_amounts(manifest["spec"].get("hard"))


def _status(given: Plain, expected: Plain) -> tuple[Any, Any]:
    reports = [
        reported_quota(work["cluster"], work["status"]["manifestStatuses"][0].get("status") or {})
        for work in sorted(given["works"] or (), key=lambda each: str(each["cluster"]))
        if _is_applied(work) and work["status"].get("manifestStatuses")
    ]
    is_enforced = given["gates"]["FederatedQuotaEnforcement"]
    status = expected["status"]
    wanted = [
        (each["clusterName"], parse_amounts(each.get("hard")), parse_amounts(each.get("used")))
        for each in status.get("aggregatedStatus") or ()
    ]
    found = [(each.cluster, each.hard, each.used) for each in reports]
    used = {} if is_enforced else sum_of_reported_usage(reports)
    return (found, used), (wanted, parse_amounts(status.get("overallUsed")))


def _is_applied(work: Plain) -> bool:
    conditions = work["status"].get("conditions") or ()
    return any(each["type"] == "Applied" and each["status"] == "True" for each in conditions)


_ANSWERS = {"usage": _usage, "admit": _admitted, "static": _static, "status": _status}
