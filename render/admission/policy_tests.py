"""PolicyTest of argosy.dev/v1alpha1: its schema, and the rules for the fields it expects."""

from typing import Any

from .findings import Findings
from .schema import INT32, Anything, Flag, ListOf, MapOf, Struct, Text, Whole
from .shared_schema import TEXT, TEXTS

POLICY_TEST_SPEC = Struct(
    {
        "given": Struct(
            {
                "clusters": ListOf(Anything()),
                "templates": ListOf(Anything()),
                "withoutClusters": TEXTS,
            }
        ),
        "expect!": ListOf(
            Struct(
                {
                    "kind!": Text(min_length=1),
                    "group": TEXT,
                    "namespace": TEXT,
                    "name!": Text(min_length=1),
                    "policy": TEXT,
                    "clusters": TEXTS,
                    "replicas": MapOf(Whole(INT32, minimum=0, keep=True)),
                    "refused": MapOf(TEXT),
                    "reason": TEXT,
                    "message": TEXT,
                    "fields": ListOf(
                        Struct({"cluster!": TEXT, "path!": TEXT, "value": Anything(), "absent": Flag(keep=True)})
                    ),
                }
            ),
            min_items=1,
        ),
    }
)


def check_policy_test(test: dict[str, Any], findings: Findings) -> None:
    """Report paths that are no JSON pointers, and fields of which nothing, or two things, are expected."""
    for number, expectation in enumerate(test["spec"].get("expect") or ()):
        for position, field in enumerate(expectation.get("fields") or ()):
            path = f"spec.expect[{number}].fields[{position}]"
            if field["path"] and not field["path"].startswith("/"):
                findings.problem(f"{path}.path", "is no JSON pointer", hint="write it as '/spec/replicas'")
            if ("value" in field) == bool(field.get("absent")):
                findings.problem(path, "expect either a value or 'absent: true'")
