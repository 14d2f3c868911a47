"""A sentence for every field of the checks of a gate."""

from collections.abc import Mapping

from .fields import Field

CHECK_FIELDS: Mapping[str, Field] = {
    "checks": Field(
        "What somebody outside has to answer, too. A source that gives no answer meets nothing; what was answered, and"
        " since when, is recorded in `facts/_checks.yaml` of the branches.",
        [],
    ),
    "checks[].name": Field("The name of the check; each of a gate has its own."),
    "checks[].for": Field("The answer has to be good for so long without a break.", "0s"),
    "checks[].interval": Field("How long an answer counts before the source is asked again.", "1m"),
    "checks[].timeout": Field("How long the source has for an answer, at most `30s`.", "10s"),
    "checks[].beforeWave": Field(
        "True if it is asked before a wave begins. Otherwise it is asked from then on when all of the wave is through,"
        " before the next one begins; with the gate's deadline, the wave has failed if it is not met by then.",
        False,
    ),
    "checks[].prometheus": Field(
        "A query of Prometheus. Each sample of its result has to meet `is`, and there has to be one."
    ),
    "checks[].prometheus.address": Field(
        "Where it is asked, without `/api/v1/query`. `rollouts.sources` of argosy.yaml has to name the address."
    ),
    "checks[].prometheus.query": Field(
        "The query. With `$(cluster)` in it, which stands for the name of a cluster, the check is about each cluster by"
        " itself, and a part of its gate."
    ),
    "checks[].prometheus.is": Field("A comparison with a number, such as `< 0.01`."),
    "checks[].http": Field("An address that is asked by GET; redirects are not followed."),
    "checks[].http.url": Field(
        "The address, which `rollouts.sources` of argosy.yaml has to name. `$(cluster)` is as in a query."
    ),
    "checks[].http.status": Field("The status that is good.", 200),
    "checks[].http.jsonPath": Field("A value of the JSON that is answered, such as `{.status}`."),
    "checks[].http.equals": Field("The value that it has to be."),
    "checks[].http.matches": Field("A regular expression that has to match all of it."),
    "checks[].object": Field("A value of a live object, of each cluster by itself; a pass has to reach it."),
    "checks[].object.apiVersion": Field("Its `apiVersion`."),
    "checks[].object.kind": Field("Its kind; of a Secret nothing can be asked."),
    "checks[].object.namespace": Field("Its namespace, where it is in one.", "default"),
    "checks[].object.name": Field("Its name."),
    "checks[].object.jsonPath": Field("The value, such as `{.status.phase}`."),
    "checks[].object.equals": Field("The value that it has to be."),
    "checks[].object.matches": Field("A regular expression that has to match all of it."),
    "checks[].job": Field(
        "A Job that runs in each cluster and has to succeed. It is begun once the cluster is well by the change, and"
        " removed when it has succeeded; one that failed stays for a day. It has an hour, unless its spec says."
    ),
    "checks[].job.namespace": Field("The namespace that it runs in, which has to be there."),
    "checks[].job.spec": Field("The spec of the Job. What it runs must be able to run twice."),
    "checks[].commitStatus": Field(
        "The status that the forge has of the commit that the change came by; GitHub's check runs count as well. It is"
        " asked with the token of `ARGOSY_FORGE_TOKEN_FILE`."
    ),
    "checks[].commitStatus.context": Field("The name of the status."),
}


def fields_of_checks(start: str) -> dict[str, Field]:
    """Return the fields of the checks of the gate at a path."""
    return {f"{start}.{name}": each for name, each in CHECK_FIELDS.items()}


def fields_of_checks_as_above(start: str, above: str) -> dict[str, Field]:
    """Return the fields of the checks of a gate that are as those of another gate."""
    return {f"{start}.{name}": Field(f"As `{above}.{name}`, for this wave.") for name in CHECK_FIELDS}
