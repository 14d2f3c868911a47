"""Input that is made to cost time: each budget of .github/SECURITY.md, as something to be timed.

``tests/attack/test_budgets.py`` sets a limit for a large input, ``python -m tests.bench growth`` measures how the time
grows with it.
"""

import base64
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reconciler.console.cleaning import safe_for_terminal
from reconciler.repository.commits import parse_commit
from reconciler.source.ignoring import predicate_of_ignored_paths
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.documents import DocumentErrors, emit, parse_documents
from render.errors import GitError
from render.interpretation.operations import Operation
from render.interpreter import InterpreterError
from render.interpreter.webhooks import Call, Webhook
from render.matching.exclusions import parse_exclusions
from render.model import ObjectRef, Template
from render.patterns import matches_whole
from render.quantity import parse_quantity
from render.selectors import ClusterAffinity, LabelSelector, Requirement, matches_labels
from tests.build import a_config_map
from tests.growth_of_builds import BUILDS
from tests.growth_of_fleets import FLEETS
from tests.sources import source_of

Work = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An input that may be large: its row in SECURITY.md, a size to begin at, and what is done with one of a size."""

    row: str
    size: int
    work: Callable[[int], Work]


def seconds_of(work: Work) -> float:
    """Return the processor's seconds that something takes, the refusal of its input included."""
    begun = time.process_time()
    with suppress(DocumentErrors, GitError, ValueError, InterpreterError):
        work()
    return time.process_time() - begun


def _pattern(size: int) -> Work:
    return lambda: matches_whole("(a+)+b", "a" * size)


def _ignored(size: int) -> Work:
    stars, folders = predicate_of_ignored_paths(["*a" * 20 + "b"]), predicate_of_ignored_paths(["**/a/" * 20 + "b"])
    return lambda: (stars("a" * size), folders("a/" * size + "c"))


def _ignore_lines(size: int) -> Work:
    return lambda: predicate_of_ignored_paths([f"/folder/{number}/" for number in range(size)])("folder/x/y.yaml")


def _skipped(size: int) -> Work:
    exclusions = parse_exclusions("", "|".join(["(a*)*b"] * 20))
    template = Template(ref=ObjectRef("", "ConfigMap", "a" * size, "x"), manifest={"apiVersion": "v1", "metadata": {}})
    return lambda: exclusions.reason_for_exclusion(template)


def _selector(size: int) -> Work:
    values = tuple(f"v{number}" for number in range(size))
    selector = LabelSelector(match_expressions=(Requirement(key="a", operator="NotIn", values=values),) * 5)
    affinity = ClusterAffinity(label_selector=selector, cluster_names=values, exclude=values)
    clusters = [Cluster(name=f"c{number}", labels={"a": "x"}) for number in range(20)]
    return lambda: (matches_labels(selector, {"a": "x"}), ClusterIndex(clusters).clusters_matching_affinity(affinity))


def _number(size: int) -> Work:
    digits = "1" * size
    texts = [f"a: {digits}\n", f"a: 1.{digits}\n", f"a: 1e{digits}\n", f'{{"a": {digits}}}']

    def work() -> None:
        for text in texts:
            with suppress(DocumentErrors):
                parse_documents(text.encode())
        parse_quantity(digits)

    return work


def _commit(author: str, message: str) -> Work:
    text = f"tree {'0' * 40}\nauthor {author}\ncommitter A <a@b> 1 +0000\n\n{message}\n"
    return lambda: parse_commit("0" * 40, text.encode())


def _author(size: int) -> Work:
    return _commit("< " * size, "x")


def _trailers(size: int) -> Work:
    return _commit("A <a@b> 1 +0000", "x\n\n" + "A: b\n c\n" * size)


def _directives(size: int) -> Work:
    text = "".join(f"%TAG !a{number}! tag:x,2000:\n" for number in range(size)) + "---\na: 1\n"
    return lambda: parse_documents(text.encode())


def _aliases(size: int) -> Work:
    text = "a: &a [1, 2, 3]\n" + "".join(f"k{number}: *a\n" for number in range(size))
    return lambda: parse_documents(text.encode())


def _patch(size: int) -> Work:
    patch = [{"op": "copy", "from": "/spec", "path": f"/spec/x{number}"} for number in range(size)]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    webhook = Webhook(name="w", rules=(), client_config={})

    def send(_webhook: Webhook, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = {"uid": asked["request"]["uid"], "successful": True, "patchType": "JSONPatch", "patch": encoded}
        return {"response": answer}

    manifest = {"apiVersion": "example.com/v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"a": ["b"] * 1000}}
    return lambda: Call(webhook=webhook, operation=Operation.RETAIN, send=send).patched_manifest(manifest)


def _objects(size: int) -> Work:
    text = b"---\n".join(emit(a_config_map(f"c{number}")) for number in range(size))
    source = source_of({"all.yaml": text})
    return lambda: load_source(source.files, SourceReading(source.read))


def _problems(size: int) -> Work:
    text = "---\n".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: 'no {number}'}}\n" for number in range(size)
    )
    source = source_of({"all.yaml": text})
    return lambda: load_source(source.files, SourceReading(source.read))


def _absent(size: int) -> Work:
    listed = [{"name": f"absent-{number:06}"} for number in range(size)]
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"clusters": listed}}
    cluster = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {{name: c{}}}\n"
    clusters = "---\n".join(cluster.format(number) for number in range(1_000))
    source = source_of({"argosy.yaml": emit(fleet), "clusters.yaml": clusters})
    return lambda: load_source(source.files, SourceReading(source.read))


def _unknown_fields(size: int) -> Work:
    fields = "".join(f"  clusterAffinity{number}: x\n" for number in range(size))
    head = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\nspec:\n"
    source = source_of({"policy.yaml": head + fields})
    return lambda: load_source(source.files, SourceReading(source.read))


def _text(size: int) -> Work:
    text = "\x1b[2K::error::https://a:b" * size
    return lambda: safe_for_terminal(text)


BUDGETS = (
    Budget(row="regular expressions of people", size=2_000, work=_pattern),
    Budget(row="a line of files to ignore", size=5_000, work=_ignored),
    Budget(row="lines of files to ignore", size=20_000, work=_ignore_lines),
    Budget(row="`skippedNamespaces`", size=500, work=_skipped),
    Budget(row="selectors and lists of clusters", size=5_000, work=_selector),
    Budget(row="digits of a number", size=10_000, work=_number),
    Budget(row="an author line", size=20_000, work=_author),
    Budget(row="trailers", size=10_000, work=_trailers),
    Budget(row="`%TAG` lines", size=5_000, work=_directives),
    Budget(row="aliases", size=2_000, work=_aliases),
    Budget(row="copies in a JSON patch", size=1_000, work=_patch),
    Budget(row="objects in a file", size=500, work=_objects),
    Budget(row="problems in a file", size=500, work=_problems),
    Budget(row="clusters listed that are not there", size=500, work=_absent),
    Budget(row="fields that nobody knows", size=500, work=_unknown_fields),
    Budget(row="text that is printed", size=5_000, work=_text),
    *(Budget(row=row, size=size, work=work) for row, size, work in (*FLEETS, *BUILDS)),
)
