"""Locked Sources: what argosy.lock says, files from the cache and from the repository, and every refusal."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.locked.content import checked_files, content_digest
from reconciler.locked.lock_file import lock_as_bytes, parse_lock
from reconciler.locked.model import Lock, LockedSource, UnavailableSource
from reconciler.locked.store import ContentStore
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from render.errors import InputError
from tests.sources import Content, source_of
from tests.tables import each_row

CHART = {"Chart.yaml": b"name: web\n", "templates/web.yaml": b"kind: Service\n"}
SPEC = {"helm": {"url": "https://charts.example.com", "chart": "web", "version": "1.x"}}
DOCUMENT = """\
apiVersion: argosy.dev/v1alpha1
kind: Source
metadata: {name: web}
spec:
  helm: {url: https://charts.example.com, chart: web, version: 1.x}
"""
LOCK = """\
# Written by argosy lock. Commit it: a render reads exactly these versions.
apiVersion: argosy.dev/v1alpha1
kind: Lock
sources:
- content: {content}
  name: web
  resolved:
    digest: sha256:aa
    version: "1.4.0"
  spec:
    helm:
      chart: web
      url: https://charts.example.com
      version: "1.x"
"""


def a_lock(*, content: str = content_digest(CHART), vendored: str = "") -> Lock:
    resolved = {"version": "1.4.0", "digest": "sha256:aa"}
    source = LockedSource(name="web", spec=SPEC, resolved=resolved, content=content, vendored=vendored)
    return Lock(sources={"web": source})


def loaded(lock: Lock | None, store: ContentStore | None = None, more: dict[str, Content] | None = None) -> Loaded:
    contents: dict[str, Content] = {"web.yaml": DOCUMENT, **(more or {})}
    if lock is not None:
        contents["argosy.lock"] = lock_as_bytes(lock)
    source = source_of(contents)
    return load_source(source.files, SourceReading(source.read, caches=Caches(contents=store)))


def files_of(found: Loaded, name: str = "web") -> dict[str, bytes]:
    assert found.locked is not None
    return dict(found.locked.files(name))


def test_a_lock_reads_as_it_was_written() -> None:
    assert lock_as_bytes(a_lock()).decode() == LOCK.format(content=content_digest(CHART))
    assert parse_lock(lock_as_bytes(a_lock(vendored="vendor/web"))) == a_lock(vendored="vendor/web")


def test_the_files_of_a_locked_source_come_from_the_cache(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "sources")
    assert store.put(CHART) == content_digest(CHART)
    found = loaded(a_lock(), store)
    assert (found.problems, found.warnings, files_of(found)) == ((), (), CHART)


def test_vendored_files_are_read_from_the_repository_and_are_no_templates() -> None:
    vendored: dict[str, Content] = {f"vendor/web/{path}": content for path, content in CHART.items()}
    more = {**vendored, "vendor/web/.argosy-source": ""}
    found = loaded(a_lock(vendored="vendor/web"), more=more)
    assert (found.problems, files_of(found), found.desired.templates) == ((), CHART, ())


class Refusal(NamedTuple):
    why: str
    lock: Lock | None
    kept: bool
    want: str


OLD = LockedSource(name="web", spec={"helm": {}}, resolved={"version": "1.0.0"}, content=content_digest(CHART))
REFUSALS = [
    Refusal("not locked", None, True, "Source 'web' is not in argosy.lock\n  hint: lock it: argosy lock"),
    Refusal(
        "locked as it was written before",
        Lock(sources={"web": OLD}),
        True,
        "Source 'web' changed since it was locked\n  hint: lock it anew: argosy lock --update web",
    ),
    Refusal(
        "not in the cache",
        a_lock(),
        False,
        "Source 'web' (1.4.0) is not in the cache\n  hint: fetch it: argosy lock --fetch",
    ),
    Refusal(
        "vendored, but not there",
        a_lock(vendored="vendor/web"),
        True,
        "vendor/web, the content of Source 'web', is not there\n  hint: write it anew: argosy vendor web",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_files_that_cannot_be_had_are_refused(case: Refusal, tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "sources")
    if case.kept:
        store.put(CHART)
    with pytest.raises(UnavailableSource) as refused:
        files_of(loaded(case.lock, store))
    assert str(refused.value) == case.want


def test_a_source_that_is_not_locked_is_a_warning_where_it_is_written() -> None:
    assert [str(each) for each in loaded(None).warnings] == [
        "web.yaml:1: Source 'web' is not in argosy.lock\n  hint: lock it: argosy lock"
    ]


def test_vendored_files_that_were_changed_are_refused() -> None:
    more: dict[str, Content] = {f"vendor/web/{path}": content for path, content in CHART.items()}
    more["vendor/web/Chart.yaml"] = b"name: other\n"
    with pytest.raises(UnavailableSource) as refused:
        files_of(loaded(a_lock(vendored="vendor/web"), more=more))
    assert refused.value.message == "vendor/web, the content of Source 'web', was changed"


def test_a_source_nobody_wrote_is_refused() -> None:
    with pytest.raises(UnavailableSource) as refused:
        files_of(loaded(a_lock()), "wep")
    assert str(refused.value) == "there is no Source 'wep'\n  hint: known here: web"


def test_a_cached_file_that_was_changed_counts_as_none(tmp_path: Path) -> None:
    store = ContentStore(tmp_path)
    store.put(CHART)
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"name: web", b"name: bad"))
    assert store.files(content_digest(CHART)) is None


def test_the_cache_forgets_what_was_not_asked_for_longest(tmp_path: Path) -> None:
    store = ContentStore(tmp_path, most_bytes=250)
    first, second = store.put({"a": b"x" * 100}), store.put({"b": b"x" * 100})
    for age, digest in enumerate((second, first)):
        os.utime(tmp_path / f"{digest.removeprefix('sha256:')}.files", (1000 - age, 1000 - age))
    assert store.files(first) is not None
    store.put({"c": b"x" * 100})
    assert (store.has(first), store.has(second)) == (True, False)


def test_another_lock_is_another_source() -> None:
    """The incremental path asks this digest whether anything but ordinary templates changed."""
    assert loaded(a_lock()).desired.source_digest != loaded(None).desired.source_digest


class Damage(NamedTuple):
    why: str
    text: str
    want: str


FAULTY = "apiVersion: argosy.dev/v1alpha1\nkind: Lock\nsources:\n- "
DAMAGES = [
    Damage("another kind", "kind: Fleet\n", "argosy.lock: must be one document of kind Lock"),
    Damage("no YAML", "a: [\n", "argosy.lock:2: no value where one must stand"),
    Damage("no list", FAULTY[:-2] + "  a: 1\n", "argosy.lock: sources: must be a list"),
    Damage("no name", f"{FAULTY}spec: {{}}\n", "argosy.lock: sources[0]: must have a name"),
    Damage("no spec", f"{FAULTY}name: web\n", "argosy.lock: sources[0]: must have the spec of the Source"),
    Damage(
        "nothing resolved",
        f"{FAULTY}{{name: web, spec: {{}}}}\n",
        "argosy.lock: sources[0]: must say what was resolved",
    ),
    Damage(
        "no digest",
        f"{FAULTY}{{name: web, spec: {{}}, resolved: {{}}, content: abc}}\n",
        "argosy.lock: sources[0]: must have the digest of the content: sha256: and 64 hexadecimal digits",
    ),
    Damage(
        "vendored outside",
        f"{FAULTY}{{name: web, spec: {{}}, resolved: {{}}, content: sha256:{'0' * 64}, vendored: ../web}}\n",
        "argosy.lock: sources[0]: vendored must be a folder beside argosy.lock",
    ),
]


@each_row("case", DAMAGES, ids=lambda case: case.why)
def test_a_damaged_lock_is_a_problem_and_locks_nothing(case: Damage) -> None:
    source = source_of({"web.yaml": DOCUMENT, "argosy.lock": case.text})
    found = load_source(source.files, SourceReading(source.read))
    assert [str(each).partition("\n")[0] for each in found.problems] == [case.want]
    with pytest.raises(InputError):
        parse_lock(case.text.encode())


PATHS = [
    ("../values.yaml", "leads out of its folder"),
    ("/etc/passwd", "leads out of its folder"),
    ("a/./b", "is no plain path"),
    ("a\\b", "is no plain path"),
    ("a/\x1b[2J", "is no plain path"),
    (".GIT/config", "is inside a .git folder"),
    ("a" * 1025, "is too long"),
]


@each_row(("path", "want"), PATHS)
def test_paths_that_could_lead_elsewhere_are_refused(path: str, want: str) -> None:
    with pytest.raises(UnavailableSource) as refused:
        checked_files({path: b""}, "the archive")
    assert refused.value.message == f"the archive has a path that {want}: {path[:100]!a}"


# Manifests of a Source

INCLUDING = DOCUMENT.replace("spec:\n", "spec:\n  manifests: Include\n")
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: default}}\n"
POLICY = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: x, namespace: default}\n"

LISTED = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "default"}}'


def including(content: dict[str, bytes], folder: Path, *, document: str = INCLUDING) -> Loaded:
    store = ContentStore(folder)
    lock = a_lock(content=store.put(content))
    source = source_of({"web.yaml": f"{CONFIG.format(name='own')}---\n{document}", "argosy.lock": lock_as_bytes(lock)})
    return load_source(source.files, SourceReading(source.read, caches=Caches(contents=store)))


def test_manifests_of_a_source_are_templates_where_it_includes_them(tmp_path: Path) -> None:
    content = {
        "a.yaml": CONFIG.format(name="a").encode(),
        "deep/b.json": b'{"kind": "List", "apiVersion": "v1", "items": [%s]}' % LISTED.encode(),
        "notes.md": b"no manifest\n",
    }
    found = including(content, tmp_path)
    assert (found.problems, found.warnings) == ((), ())
    named = [(template.ref.name, template.path, template.origin) for template in found.desired.templates]
    assert named == [
        ("a", "web.yaml", "web:a.yaml"),
        ("b", "web.yaml", "web:deep/b.json"),
        ("own", "web.yaml", ""),
    ]
    assert [each.ref.name for each in including(content, tmp_path, document=DOCUMENT).desired.templates] == ["own"]


def test_another_repository_does_not_say_where_objects_go(tmp_path: Path) -> None:
    content = {"policy.yaml": POLICY.encode(), "a.yaml": CONFIG.format(name="a").encode()}
    found = including(content, tmp_path)
    assert found.desired.policies == ()
    assert [str(each) for each in found.warnings] == [
        "web.yaml:5: 1 object of its content decide on others, and are left out"
    ]


def test_a_broken_file_of_a_source_is_a_problem_where_it_is_named(tmp_path: Path) -> None:
    found = including({"a.yaml": b"apiVersion: v1\nkind: [\n"}, tmp_path)
    assert [str(each).partition("\n")[0] for each in found.problems] == [
        "web.yaml:5: a.yaml:3: no value where one must stand"
    ]


def test_a_source_that_is_included_and_not_there_is_a_problem() -> None:
    source = source_of({"web.yaml": INCLUDING, "argosy.lock": lock_as_bytes(a_lock())})
    found = load_source(source.files, SourceReading(source.read))
    assert [str(each) for each in found.problems] == [
        "web.yaml:1: Source 'web' (1.4.0) is not in the cache\n  hint: fetch it: argosy lock --fetch"
    ]
