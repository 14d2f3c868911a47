"""Remedies: the actions that conditions of a cluster call for."""

from render.remedies import parse_remedy, remedy_actions

from . import Case


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    cluster = given["cluster"]
    conditions = (cluster.get("status") or {}).get("conditions") or ()
    found = list(remedy_actions(cluster["metadata"]["name"], conditions, map(parse_remedy, given["remedies"] or ())))
    wanted = expected["remedyActions"] or []
    return None if found == wanted else f"{found}, not {wanted}"
