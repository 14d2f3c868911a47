"""The rules by which this code answers otherwise than Karmada on purpose: at most ten, never a list of cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from render.documents import parse_documents


@dataclass(frozen=True, slots=True)
class Difference:
    """A rule that explains failures of one kind: what it covers, and why the answer differs."""

    kind: str
    name: str
    why: str
    covers: Callable[[dict[str, Any], str], bool]


def _renames(case: dict[str, Any], message: str) -> bool:
    """Say whether Karmada's object has another identity than its template, and that is what was refused."""
    template, wanted = case["input"]["template"], case["expected"].get("object")
    return "an override never renames or moves an object" in message and _identity(template) != _identity(wanted)


def _identity(manifest: dict[str, Any]) -> tuple[Any, ...]:
    metadata = manifest["metadata"]
    return manifest.get("apiVersion"), manifest.get("kind"), metadata.get("namespace"), metadata.get("name")


def _builds_renamed(case: dict[str, Any], _message: str) -> bool:
    """Say whether Karmada built an object of another identity than its template somewhere."""
    template = _identity(case["input"]["template"])
    made = (manifest for work in case["expected"]["works"] for manifest in work["manifests"])
    return any(_identity(manifest) != template for manifest in made)


def _has_fields_unknown_to_pods(case: dict[str, Any], _message: str) -> bool:
    """Say whether Pod retention agrees but for fields of the spec that Karmada's answer has not."""
    from .kind_interpret import check

    given, expected = case["input"], case["expected"]
    if given["operation"] != "Retain" or given["object"]["kind"] != "Pod" or expected["error"]:
        return False
    spec = {key: value for key, value in given["object"]["spec"].items() if key in expected["object"]["spec"]}
    return check({**case, "input": {**given, "object": {**given["object"], "spec": spec}}}) is None


def _is_unstably_sorted(case: dict[str, Any], _message: str) -> bool:
    return "unstable-sort" in case["expected"].get("flags", ())


def _overflowed(case: dict[str, Any], _message: str) -> bool:
    """Say whether a sum of Karmada's became negative, as sums of a few "unlimited" do."""
    errors = [attempt["error"] or "" for attempt in case["expected"]["attempts"]]
    return any("Clusters available replicas -" in error for error in errors)


def _has_departed_target(case: dict[str, Any], _message: str) -> bool:
    """Say whether a target is no cluster at all and Karmada, which was not told of its deletion, did nothing."""
    clusters = {cluster["metadata"]["name"] for cluster in case["input"]["clusters"]}
    targets = {target["name"] for target in case["input"]["binding"]["spec"].get("clusters") or ()}
    return case["expected"]["trigger"] == "None" and not targets <= clusters


def _has_no_dependencies(case: dict[str, Any], message: str) -> bool:
    """Say whether a script of Karmada's fails for want of anything to return, where we return nothing."""
    got_nil = "expect the returned requires type is table but got nil" in (case["expected"]["error"] or "")
    return got_nil and message.startswith("no error, but")


def _is_another_dialect(_case: dict[str, Any], message: str) -> bool:
    from .kind_cron import ADMISSION

    return message.startswith(ADMISSION)


def _is_in_newer_winter(case: dict[str, Any], message: str) -> bool:
    """Say whether times lie where Cuba's clocks were changed after the recording: the winter of 2026."""
    return case["input"].get("timeZone") == "America/Havana" and message.startswith("next: ")


def _is_yaml_of_one_meaning(case: dict[str, Any], _message: str) -> bool:
    """Say whether both answers are equal but for the way in which YAML in the fields of a ConfigMap is written."""
    from .kind_clusternet_override import sent

    got, want = sent(case["input"]), case["expected"]
    if got["error"] or want["error"] or "object" not in want:
        return False
    both = [each["object"].get("data") or {} for each in (got, want)]
    rest = [{**each["object"], "data": None} for each in (got, want)]
    return (
        rest[0] == rest[1]
        and both[0].keys() == both[1].keys()
        and all(both[0][key] == text or _read(both[0][key]) == _read(text) for key, text in both[1].items())
    )


def _read(text: Any) -> list[Any]:
    return [each.value for each in parse_documents(str(text).encode())]


def _differs_in_schedules_alone(case: dict[str, Any], _message: str) -> bool:
    """Say whether the complaints are the same but for schedules."""
    found, wanted = _complaints_of(case)
    return {field for field in found if not field.endswith(".schedule")} == {
        field for field in wanted if not field.endswith(".schedule")
    }


def _differs_in_flags_alone(case: dict[str, Any], _message: str) -> bool:
    """Say whether the complaints are the same but for taints that a flag of Karmada's forbids."""
    found, wanted = _complaints_of(case)
    others = {field: kinds - {"Forbidden"} for field, kinds in wanted.items()}
    return found == {field: kinds for field, kinds in others.items() if kinds}


def _complaints_of(case: dict[str, Any]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    from overrides.admission import admit

    from .kind_admit import complaints, found

    return found(admit(case["input"]["document"])), complaints(case["expected"]["errors"])


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "interpret",
        "no dependencies",
        "a pod template that refers to nothing has no dependencies; Karmada's bundled rules for some kinds fail on it",
        _has_no_dependencies,
    ),
    Difference(
        "divide",
        "more than 12 equal clusters",
        "Karmada sorts clusters with equal room unstably once they are more than 12; our sort keeps them in order",
        _is_unstably_sorted,
    ),
    Difference(
        "schedule",
        "overflow",
        "Karmada adds up room in 32 bits: a fresh division of 0 replicas over several clusters fails; ours succeeds",
        _overflowed,
    ),
    Difference(
        "schedule",
        "departed target",
        "a target that is no cluster counts as one being deleted: in Git a cluster leaves without being seen to leave",
        _has_departed_target,
    ),
    Difference(
        "interpret",
        "unknown fields of a Pod",
        "Karmada drops what its Pod type does not know; we leave it in, for the member's API server to judge",
        _has_fields_unknown_to_pods,
    ),
    Difference(
        "override",
        "identity",
        "an override that changes apiVersion, kind, namespace or name is an error: Karmada loses track of the object",
        _renames,
    ),
    Difference(
        "clusternet_override",
        "quotes in YAML",
        "YAML in a field is written anew by our emitter, which puts text beyond ASCII in quotes; it reads the same",
        _is_yaml_of_one_meaning,
    ),
    Difference(
        "work",
        "identity",
        "as for overrides: where a rule renames an object, that cluster gets an error and keeps what it has",
        _builds_renamed,
    ),
    Difference(
        "cron",
        "one dialect",
        "Karmada admits by one library's dialect and clock, and runs by another's; here what cannot run is refused",
        _is_another_dialect,
    ),
    Difference(
        "cron",
        "newer time zones",
        "time zones are those of the installed database; Cuba keeps its summer time in the winter of 2026, as it says",
        _is_in_newer_winter,
    ),
    Difference(
        "admit_time",
        "one dialect",
        "as for cron: a schedule that can be run is admitted, whatever the clock says, and no other",
        _differs_in_schedules_alone,
    ),
    Difference(
        "admit_time",
        "no flag for NoExecute",
        "a ClusterTaintPolicy may set NoExecute taints: nothing is evicted unless a policy's failover asks",
        _differs_in_flags_alone,
    ),
)
