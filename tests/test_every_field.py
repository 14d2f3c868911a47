"""Objects of Karmada's kinds with every field that its definitions have: none is refused that a real server takes."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from render.admission import admit_as_kind
from tests.build import Repository, argosy

from .clusters import Member
from .full_objects import Definition, Steps, definitions_in, objects_of
from .karmada_documents import refusals_of
from .test_printed_objects import KINDS, WEBHOOK_CONFIGURATION, said_of

BY_WEBHOOKS = {
    "spec.metrics[0].type: unknown value 'External'",
    "spec.overrideRules[0].overriders.fieldOverrider[0].json[0].value: means nothing with operator remove",
    "spec.overrideRules[0].overriders.fieldOverrider[0].yaml[0].value: means nothing with operator remove",
    "spec.placement.spreadConstraints: one constraint must spread by cluster, to say how many clusters are chosen",
}
"""The refusals of Karmada's webhooks, beside those of its definitions."""


def is_admitted(definition: Definition) -> bool:
    return definition.kind in KINDS or definition.kind == WEBHOOK_CONFIGURATION


def test_an_object_with_any_field_of_its_definition_is_taken(karmada: Path) -> None:
    kinds, refused = 0, set[tuple[str, Steps, str]]()
    for definition in filter(is_admitted, definitions_in(karmada)):
        kinds += 1
        for steps, each in objects_of(definition):
            lines = (problem.splitlines()[0] for problem in said_of(each).problems)
            refused |= {(definition.kind, steps, line) for line in lines if line not in BY_WEBHOOKS}
    assert (refused, kinds) == (set(), 14)


def test_objects_of_kinds_that_nothing_acts_on_are_no_problem(
    karmada: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files: dict[str, Any] = {}
    for definition in definitions_in(karmada):
        for number, (_, each) in enumerate(() if is_admitted(definition) else objects_of(definition)):
            metadata = {**each["metadata"], "name": f"web-{number}"}
            files[f"{definition.kind}/{number}.yaml"] = {**each, "metadata": metadata}
    repository = Repository.create(tmp_path / "fleet")
    repository.commit(files)
    ended = argosy(repository, capsys, "validate")
    assert (ended.code, len({name.split("/")[0] for name in files})) == (0, 5), ended.out


@pytest.mark.cluster
def test_a_server_with_karmadas_definitions_takes_these_objects(members: tuple[Member, ...], karmada: Path) -> None:
    refused = []
    with Member("hub", beside=members[0]) as server:
        server.kubectl("apply", "--server-side", "-R", "-f", str(karmada))
        server.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        server.kubectl("create", "namespace", "shop")
        for definition in definitions_in(karmada):
            for steps, each in objects_of(definition):
                address = f"{server.path_of(each)}?dryRun=All&fieldValidation=Strict"
                status, answer = server.request("POST", address, each)
                if status != HTTPStatus.CREATED:
                    refused.append((definition.kind, steps, answer["message"]))
    assert refused == []


FORMER = [("Immediately", "Directly"), ("Graciously", "Gracefully")]


@pytest.mark.parametrize(("former", "word"), FORMER)
def test_a_former_word_for_a_purge_mode_is_taken_as_the_one_of_today(former: str, word: str) -> None:
    """Karmada takes both up to version 1.16."""
    application = {"decisionConditions": {"tolerationSeconds": 60}, "purgeMode": former}
    spec = {
        "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
        "placement": {},
        "propagateDeps": True,
        "failover": {"application": application},
    }
    kind = KINDS["PropagationPolicy"]
    policy = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "p"}, "spec": spec}
    outcome = admit_as_kind(policy, kind)
    assert outcome.object is not None
    assert outcome.object["spec"]["failover"]["application"]["purgeMode"] == word
    assert [str(each) for each in outcome.warnings] == [
        f"spec.failover.application.purgeMode: is the former word for {word!r}\n  hint: write {word!r}"
    ]


def test_objects_are_found_in_documents_and_what_is_refused_is_named() -> None:
    guide = """
Apply a policy:

   ```yaml
   apiVersion: policy.karmada.io/v1alpha1
   kind: OverridePolicy
   metadata: {name: p}
   spec: {overrideRules: []}
   ```

```yml
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p}
spec: {placement: {}}
---
apiVersion: v1
kind: ConfigMap
```

```yaml
...
```

```console
kind: PropagationPolicy
```
"""
    assert list(refusals_of(guide)) == [
        (4, "OverridePolicy", []),
        (11, "PropagationPolicy", ["spec.resourceSelectors: required, but missing"]),
    ]
