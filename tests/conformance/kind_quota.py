"""FederatedResourceQuota: usage of bindings, enforcement of limits, shares of clusters, and the status made of them."""

from collections.abc import Mapping
from typing import Any

from render.parsing import binding
from render.quantity import Amount
from render.quota.enforcement import ask_quotas, quota
from render.quota.shares import overall_used, reported_quota, resource_quotas
from render.quota.sums import amounts, difference, sum_of_amounts, usage

from . import Case

Plain = Mapping[str, Any]


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    found, wanted = _ANSWERS[given["mode"]](given, expected)
    return None if found == wanted else f"{found}, not {wanted}"


def _usage(given: Plain, expected: Plain) -> tuple[Any, Any]:
    each = [usage(binding(plain)) for plain in given["bindings"] or ()]
    overall = {name: amount for name, amount in sum_of_amounts(each).items() if name in given["overall"]}
    return (each, overall), ([amounts(plain) for plain in expected["usage"] or ()], amounts(expected["overallUsed"]))


def _admitted(given: Plain, expected: Plain) -> tuple[Any, Any]:
    before: Mapping[str, Amount] = usage(binding(given["old"])) if given.get("old") else {}
    after = usage(binding(given["new"]))
    quotas = [quota(plain) for plain in given["federatedResourceQuotas"] or ()]
    answer = ask_quotas(quotas, difference(after, before))
    found = (not answer.refusals, {each.name: dict(each.used) for each in answer.quotas})
    return found, (expected["allowed"], {name: amounts(used) for name, used in expected["overallUsed"].items()})


def _static(given: Plain, expected: Plain) -> tuple[Any, Any]:
    found = {} if given["quotaDeleted"] else dict(resource_quotas(given["quota"], given["clusters"] or ()))
    wanted = {
        work["namespace"].removeprefix("karmada-es-"): work["manifests"][0]
        for work in expected["works"] or ()
        if work["manifests"]
    }
    return {name: _hard(each) for name, each in found.items()}, {name: _hard(each) for name, each in wanted.items()}


def _hard(manifest: Plain) -> tuple[str, str, Mapping[str, Amount]]:
    metadata = manifest["metadata"]
    return metadata["namespace"], metadata["name"], amounts(manifest["spec"].get("hard"))


def _status(given: Plain, expected: Plain) -> tuple[Any, Any]:
    reports = [
        reported_quota(work["cluster"], work["status"]["manifestStatuses"][0].get("status") or {})
        for work in sorted(given["works"] or (), key=lambda each: str(each["cluster"]))
        if _is_applied(work) and work["status"].get("manifestStatuses")
    ]
    is_enforced = given["gates"]["FederatedQuotaEnforcement"]
    status = expected["status"]
    wanted = [
        (each["clusterName"], amounts(each.get("hard")), amounts(each.get("used")))
        for each in status.get("aggregatedStatus") or ()
    ]
    found = [(each.cluster, each.hard, each.used) for each in reports]
    used = {} if is_enforced else overall_used(reports)
    return (found, used), (wanted, amounts(status.get("overallUsed")))


def _is_applied(work: Plain) -> bool:
    conditions = work["status"].get("conditions") or ()
    return any(each["type"] == "Applied" and each["status"] == "True" for each in conditions)


_ANSWERS = {"usage": _usage, "admit": _admitted, "static": _static, "status": _status}
