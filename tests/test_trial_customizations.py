"""``argosy interpret``: customizations checked, shown and tried without a repository or a cluster."""

from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.cli import run
from tests.build import a_deployment, as_bytes

EXAMPLE = Path(__file__).parent.parent / "examples" / "customization"
SCRIPTS = str(EXAMPLE / "interpreter" / "crawler.yaml")
CRAWLER = str(EXAMPLE / "apps" / "crawler.yaml")


def interpret(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run(["interpret", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_customizations_are_listed_with_what_they_customize(capsys: pytest.CaptureFixture[str]) -> None:
    assert interpret(capsys, "-f", SCRIPTS, "--check") == (
        0,
        (
            "CUSTOMIZATION   TARGET                          OPERATIONS\n"
            "crawler         search.example.com/v1 Crawler   InterpretReplica, ReviseReplica, InterpretHealth\n"
        ),
        "",
    )


def test_a_script_answers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-f", SCRIPTS, "--operation", "interpretreplica", "--desired-file", CRAWLER)
    assert interpret(capsys, *words) == (0, "replicas: 6\nrequirements: null\n", "answered layer=customization\n")


def test_replicas_are_written_back(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-f", SCRIPTS, "--operation", "ReviseReplica", "--desired-replica", "4", "--desired-file", CRAWLER)
    code, out, _ = interpret(capsys, *words)
    assert (code, out.splitlines()[-1]) == (0, "  workers: 4")


def test_what_argosy_knows_itself_needs_no_customization(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workload = tmp_path / "web.yaml"
    workload.write_bytes(as_bytes(a_deployment("web", replicas=3)))
    words = ("--operation", "InterpretReplica", "--desired-file", str(workload), "-o", "json")
    assert interpret(capsys, *words) == (
        0,
        '{\n  "replicas": 3,\n  "requirements": null\n}\n',
        "answered layer=native\n",
    )


def test_a_script_that_does_not_compile_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(Path(SCRIPTS).read_text().replace("return desiredObj.spec.workers, nil", "return return"))
    code, out, err = interpret(capsys, "-f", str(broken), "--check")
    assert (code, out) == (3, "")
    assert err.startswith(f"{broken}:12: spec.customizations.replicaResource.luaScript: ")


class Words(NamedTuple):
    why: str
    words: tuple[str, ...]
    want: str


OBSERVED, DESIRED = ("--observed-file", CRAWLER), ("--desired-file", CRAWLER)
REFUSED = [
    Words(
        "no file, no operation",
        (),
        "there is nothing to look at: name customizations with -f FILE, or an --operation to try",
    ),
    Words(
        "nothing to check",
        ("--check",),
        "there is nothing to look at: name customizations with -f FILE, or an --operation to try",
    ),
    Words("Retain of one", ("--operation", "Retain", *DESIRED), "Retain needs --observed-file"),
    Words("Retain of the other", ("--operation", "Retain", *OBSERVED), "Retain needs --desired-file"),
    Words(
        "no object",
        ("--operation", "InterpretHealth"),
        "InterpretHealth needs --desired-file or --observed-file",
    ),
    Words(
        "two objects",
        ("--operation", "AggregateStatus", *DESIRED, *OBSERVED),
        "AggregateStatus takes one object: --desired-file or --observed-file",
    ),
    Words("no number", ("--operation", "ReviseReplica", *DESIRED), "ReviseReplica needs --desired-replica"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_what_is_missing_is_named(case: Words, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = interpret(capsys, *case.words)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"Error: {case.want}")


@pytest.mark.parametrize("option", ["--desired-file", "--observed-file"])
def test_either_file_will_do_where_one_is_enough(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As for karmadactl, whose own examples give observed objects alone."""
    answers = {
        operation: interpret(capsys, "-f", SCRIPTS, "--operation", operation, option, CRAWLER, *more)[::2]
        for operation, more in (
            ("InterpretReplica", ()),
            ("ReviseReplica", ("--desired-replica", "2")),
            ("InterpretHealth", ()),
            ("InterpretStatus", ()),
            ("InterpretDependency", ()),
            ("AggregateStatus", ()),
        )
    }
    layers = {operation: (code, err.split("=")[-1].strip()) for operation, (code, err) in answers.items()}
    assert layers == {
        "InterpretReplica": (0, "customization"),
        "ReviseReplica": (0, "customization"),
        "InterpretHealth": (0, "customization"),
        "InterpretStatus": (0, "native"),
        "InterpretDependency": (0, "none"),
        "AggregateStatus": (0, "none"),
    }


def test_webhooks_are_not_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hooks = tmp_path / "hooks.yaml"
    hooks.write_text(
        "apiVersion: config.karmada.io/v1alpha1\n"
        "kind: ResourceInterpreterWebhookConfiguration\n"
        "metadata: {name: hooks}\n"
        "webhooks: []\n"
    )
    assert interpret(capsys, "-f", str(hooks)) == (
        3,
        "",
        (
            f"{hooks}:1: kind: not a ResourceInterpreterCustomization\n"
            "  hint: webhooks are asked by 'argosy reconcile' and 'argosy apply', where they reach clusters\n"
            "1 problem; nothing was changed\n"
        ),
    )


def test_a_failing_script_is_an_answer_not_a_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    observed = tmp_path / "observed.yaml"
    observed.write_text(Path(CRAWLER).read_text())
    failing = tmp_path / "failing.yaml"
    failing.write_text(Path(SCRIPTS).read_text().replace("return observedObj.status ~= nil and", "error('no')"))
    failing.write_text(failing.read_text().replace(" observedObj.status.running == observedObj.spec.workers", ""))
    words = ("-f", str(failing), "--operation", "InterpretHealth", "--observed-file", str(observed))
    code, out, err = interpret(capsys, *words)
    assert (code, out, "Crawler search/news" in err) == (1, "", True)


def test_the_documentation_names_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = interpret(capsys, "--show-doc")
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "InterpretReplica",
        "InterpretComponent",
        "ReviseReplica",
        "Retain",
        "AggregateStatus",
        "InterpretDependency",
        "InterpretStatus",
        "InterpretHealth",
    ]
