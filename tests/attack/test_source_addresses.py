"""An address of argosy.lock that a change adds: nobody asks there before a person has accepted it.

Every address leads to a port of this machine that counts who comes, or to a repository on its disk.
"""

from pathlib import Path
from typing import Any

import pytest

from reconciler.locked.content import content_digest
from reconciler.locked.credentials import Credentials
from reconciler.locked.download import Downloads
from reconciler.locked.fetching import Fetcher
from reconciler.locked.model import LockedSource, UnavailableSource
from reconciler.locked.store import ContentStore
from reconciler.repository.command import GitCommand
from reconciler.repository.location import checked_address
from render.errors import GitError
from tests.build import Repository, a_cluster, a_config_map, a_policy, on_clusters

from .doors import Door, listening
from .test_settings import Fleet, settings

DIGEST = f"sha256:{'a' * 64}"
CONTENT = {"a.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\n"}
REFUSED = "settings that reach outside of the repository or weaken a guard are to change; nothing was committed\n"
MAPS = [{"apiVersion": "v1", "kind": "ConfigMap"}]


def a_source(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": name}, "spec": spec}


def an_entry(name: str, spec: dict[str, Any], content: str = DIGEST, **resolved: str) -> dict[str, Any]:
    return {"name": name, "spec": spec, "resolved": resolved, "content": content}


def a_lock(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Lock", "sources": list(entries)}


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Another repository, from which the fleet takes a Source."""
    made = Repository.create(tmp_path / "upstream")
    made.commit({name: content.decode() for name, content in CONTENT.items()})
    return made


def good(upstream: Repository, revision: str = "HEAD") -> tuple[dict[str, Any], dict[str, Any]]:
    """The Source of the fleet, and its entry at a revision."""
    spec = {"git": {"url": upstream.path.as_uri()}}
    commit = upstream.git("rev-parse", revision)
    path = upstream.git("ls-tree", "--name-only", revision)
    content = {path: (upstream.git("show", f"{revision}:{path}") + "\n").encode()}
    return a_source("good", spec), an_entry("good", spec, content_digest(content), commit=commit)


@pytest.fixture
def fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str], upstream: Repository) -> Fleet:
    made = Fleet(tmp_path, capsys)
    source, entry = good(upstream)
    made.push(
        {
            "argosy.yaml": settings(),
            "clusters/one.yaml": a_cluster("one"),
            "policy.yaml": a_policy(selectors=MAPS, placement=on_clusters("one")),
            "a.yaml": a_config_map("a"),
            "good.yaml": source,
            "argosy.lock": a_lock(entry),
        }
    )
    ended = made.run("reconcile", "--bootstrap")
    assert ended.code == 0, ended.err
    assert len(kept(made)) == 1
    return made


def kept(fleet: Fleet) -> list[str]:
    """The contents that the runner has fetched."""
    return sorted(path.name for path in (fleet.runner.path / ".git/argosy/sources").glob("*.files"))


def places(port: int, evil: Repository) -> dict[str, tuple[dict[str, Any], dict[str, str], str]]:
    """Return by scheme a spec, its resolved place, and the address that is told."""
    here, commit = f"127.0.0.1:{port}", "a" * 40
    chart = {"url": f"http://{here}/charts", "chart": "web"}
    archive = {"version": "1.0.0", "url": f"http://{here}/charts/web-1.0.0.tgz", "digest": DIGEST}
    found: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
        "http": ({"http": {"url": f"http://{here}/a.yaml"}}, {"digest": DIGEST}, f"http://{here}/a.yaml"),
        "helm": ({"helm": chart}, archive, f"http://{here}/charts"),
        "oci": ({"oci": {"url": f"oci://{here}/web"}}, {"digest": DIGEST}, f"oci://{here}/web"),
    }
    for url in (f"https://{here}/a", f"ssh://{here}/a", f"git@127.0.0.1:{port}/a.git", evil.path.as_uri()):
        found[f"git {url.partition(':')[0]}"] = ({"git": {"url": url}}, {"commit": commit}, url)
    return found


SCHEMES = ["http", "helm", "oci", "git https", "git ssh", "git git@127.0.0.1", "git file"]


ATTACKS = [
    *((scheme, False, True) for scheme in SCHEMES),
    *((scheme, True, True) for scheme in ("http", "git file")),
    *((scheme, False, False) for scheme in ("http", "git file")),
]


@pytest.mark.parametrize(
    ("scheme", "is_fresh", "is_named"),
    ATTACKS,
    ids=lambda value: value if isinstance(value, str) else "yes" if value else "no",
)
def test_a_new_address_waits(scheme: str, door: Door, fleet: Fleet, *, is_fresh: bool, is_named: bool) -> None:
    """In a fresh clone as well, and for an entry that no Source names."""
    theirs = Repository.create(fleet.folder / "theirs")
    commit = theirs.commit({"b.yaml": "b: 1\n"})
    spec, resolved, told = places(door.port, theirs)[scheme]
    if scheme == "git file":
        resolved = {"commit": commit}
    entry = an_entry("web", spec, content_digest({"b.yaml": b"b: 1\n"}) if scheme == "git file" else DIGEST, **resolved)
    _, ours = good_of(fleet)
    fleet.push({"argosy.lock": a_lock(ours, entry), **({"web.yaml": a_source("web", spec)} if is_named else {})})
    if is_fresh:
        fleet.runner = fleet.clone("runner")
    before, known = fleet.tips(), kept(fleet)
    ended = fleet.run("reconcile")
    assert ended.code == 6
    field = next(iter(spec))
    assert f"{REFUSED}  argosy.lock: Source web: {field}.url: none -> {told}\n" in ended.err
    assert (fleet.tips(), kept(fleet), door.came) == (before, known, 0)
    assert fleet.run("reconcile", "--dry-run").code == 6
    assert fleet.run("render", "--commit").code in {3, 4, 6}
    assert (kept(fleet), door.came) == (known, 0)
    accepted = fleet.run("reconcile", "--accept-settings")
    assert accepted.code in {0, 3}
    is_asked = door.came > 0 or len(kept(fleet)) > len(known) + is_fresh
    assert is_asked == (is_named and scheme != "git git@127.0.0.1")


def good_of(fleet: Fleet) -> tuple[dict[str, Any], dict[str, Any]]:
    return good(Repository(fleet.folder / "upstream"))


def test_a_known_source_that_moves_elsewhere_waits(door: Door, fleet: Fleet) -> None:
    """Its name was accepted with another address."""
    spec = {"http": {"url": f"http://127.0.0.1:{door.port}/a.yaml"}}
    fleet.push({"good.yaml": a_source("good", spec), "argosy.lock": a_lock(an_entry("good", spec, digest=DIGEST))})
    ended = fleet.run("reconcile")
    assert (ended.code, door.came) == (6, 0)
    assert f"Source good: http.url: none -> {spec['http']['url']}" in ended.err


def test_a_newer_revision_of_a_known_address_needs_nobody(fleet: Fleet, upstream: Repository) -> None:
    upstream.commit({"a.yaml": CONTENT["a.yaml"].decode().replace("theirs", "newer")})
    _, entry = good(upstream)
    fleet.push({"argosy.lock": a_lock(entry)})
    fleet.runner = fleet.clone("runner")
    ended = fleet.run("reconcile")
    assert ended.code == 0, ended.err
    assert kept(fleet) == [f"{entry['content'].removeprefix('sha256:')}.files"]


def test_a_second_source_of_a_known_address_needs_nobody(fleet: Fleet, upstream: Repository) -> None:
    _, entry = good(upstream)
    fleet.push({"argosy.lock": a_lock(entry, {**entry, "name": "second"}), "b.yaml": a_source("second", entry["spec"])})
    assert fleet.run("reconcile").code == 0


def test_an_entry_that_no_source_names_as_it_is_written_is_not_fetched(fleet: Fleet, upstream: Repository) -> None:
    _, entry = good(upstream)
    upstream.commit({"a.yaml": "a: 1\n"})
    _, newer = good(upstream)
    other = {**newer, "spec": {**newer["spec"], "path": "elsewhere"}}
    fleet.push({"argosy.lock": a_lock(other)})
    before = kept(fleet)
    fleet.run("reconcile")
    fleet.push({"argosy.lock": a_lock(entry, {**newer, "name": "nobody"})})
    fleet.run("reconcile")
    assert kept(fleet) == before


def test_an_archive_at_another_host_than_its_charts_waits(door: Door, fleet: Fleet, upstream: Repository) -> None:
    """The address of the repository is in force, that of the archive is of the change's making."""
    _, ours = good(upstream)
    with listening() as charts:
        theirs = f"http://127.0.0.1:{charts.port}"
        spec = {"helm": {"url": f"{theirs}/charts", "chart": "web"}}
        place = {"version": "1.0.0", "url": f"{theirs}/charts/web-1.0.0.tgz", "digest": DIGEST}
        files = {"web.yaml": a_source("web", spec)}
        fleet.push({"argosy.lock": a_lock(ours, an_entry("web", spec, **place)), **files})
        assert fleet.run("reconcile", "--accept-settings").code == 0
        newer = {**place, "version": "1.1.0", "url": f"{theirs}/files/web-1.1.0.tgz"}
        fleet.push({"argosy.lock": a_lock(ours, an_entry("web", spec, **newer)), **files})
        came = charts.came
        assert (fleet.run("reconcile").code, charts.came > came) == (0, True)
        elsewhere = {**place, "url": f"http://127.0.0.1:{door.port}/web-1.0.0.tgz"}
        fleet.push({"argosy.lock": a_lock(ours, an_entry("web", spec, **elsewhere))})
        ended = fleet.run("reconcile")
    assert (ended.code, door.came) == (6, 0)
    assert f"Source web: resolved.url: {theirs} -> http://127.0.0.1:{door.port}\n" in ended.err


def test_vendored_content_needs_nobody_until_it_is_fetched(door: Door, fleet: Fleet, upstream: Repository) -> None:
    """A vendored address is not one that anybody has accepted to be asked."""
    _, ours = good(upstream)
    spec = {"http": {"url": f"http://127.0.0.1:{door.port}/a.yaml"}}
    entry = an_entry("web", spec, content_digest(CONTENT), digest=DIGEST)
    files = {"web.yaml": a_source("web", spec), "vendor/web/a.yaml": CONTENT["a.yaml"].decode()}
    fleet.push({"argosy.lock": a_lock(ours, {**entry, "vendored": "vendor/web"}), **files})
    ended = fleet.run("reconcile")
    assert (ended.code, door.came) == (0, 0), ended.err
    fleet.push({"argosy.lock": a_lock(ours, entry), "vendor/web/a.yaml": None})
    assert (fleet.run("reconcile").code, door.came) == (6, 0)


@pytest.mark.parametrize("broken", ["argosy.yaml", "argosy.lock of before", "a source commit that is gone"])
def test_nothing_is_fetched_where_the_settings_in_force_are_not_known(
    broken: str, door: Door, fleet: Fleet, upstream: Repository
) -> None:
    """An error elsewhere opens no door."""
    _, ours = good(upstream)
    spec = {"http": {"url": f"http://127.0.0.1:{door.port}/a.yaml"}}
    files: dict[str, Any] = {
        "argosy.lock": a_lock(ours, an_entry("web", spec, digest=DIGEST)),
        "web.yaml": a_source("web", spec),
    }
    if broken == "argosy.yaml":
        files["argosy.yaml"] = settings(nonsense=1)
    elif broken == "argosy.lock of before":
        fleet.push({"argosy.lock": "sources: 5\n"})
        assert fleet.run("reconcile").code == 3
    else:
        fleet.author.git("checkout", "-q", "--orphan", "other")
        fleet.author.git("branch", "-D", "main")
        fleet.author.git("checkout", "-q", "-b", "main")
    fleet.author.commit(files)
    fleet.author.git("push", "-q", "--force", "origin", "HEAD:main")
    fleet.runner = fleet.clone("runner")
    ended = fleet.run("reconcile")
    assert (ended.code != 0, door.came) == (True, 0)


def test_a_file_outside_of_the_repository_accepts_addresses(door: Door, fleet: Fleet, upstream: Repository) -> None:
    """It has the Sources as they are meant; settings of a Fleet alone accept no address, and no webhook."""
    _, ours = good(upstream)
    spec = {"http": {"url": f"http://127.0.0.1:{door.port}/a.yaml"}}
    fleet.push({"argosy.lock": a_lock(ours, an_entry("web", spec, digest=DIGEST)), "web.yaml": a_source("web", spec)})
    file = fleet.folder / "accepted"
    accepting = Repository(fleet.folder)
    accepting.write({"accepted": settings()})
    assert (fleet.run("reconcile", "--accepted-settings", str(file)).code, door.came) == (6, 0)
    accepting.write({"accepted": [settings(), a_source("web", {"http": {"url": "https://other.example.com/a.yaml"}})]})
    assert (fleet.run("reconcile", "--accepted-settings", str(file)).code, door.came) == (6, 0)
    accepting.write({"accepted": [settings(), a_source("any", spec)]})
    ended = fleet.run("reconcile", "--accepted-settings", str(file))
    assert (ended.code, door.came > 0) == (0, True), ended.err
    log = fleet.origin.git("log", "-1", "--format=%B", "argosy/rendered")
    assert f"settings: Source web: http.url: none -> {spec['http']['url']}" in log
    assert fleet.run("reconcile").code == 0


TEXTS = {
    "an option": "--upload-pack=touch${IFS}owned",
    "a short option": "-e",
    "a branch": "refs/heads/main",
    "a name of git's": "HEAD",
    "an order to write": f"{'a' * 40}:refs/heads/main",
    "a range": f"{'a' * 40}..",
    "half a commit": "a" * 12,
    "nothing": "",
    "digits of other scripts": "\u0661" * 40,
    "a line of its own": f"{'a' * 40}\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_the_lock_says_of_a_commit_is_no_argument_for_git(
    text: str, upstream: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is what it says of a ref, or of a digest to a server."""
    asked: list[Any] = []
    monkeypatch.setattr(GitCommand, "run", lambda _git, *words, **_: asked.append(words))
    monkeypatch.setattr(Downloads, "get", lambda _downloads, url, **_: asked.append(url))
    fetcher = Fetcher(git=GitCommand(folder=Path("/")), downloads=Downloads(), store=ContentStore(tmp_path / "kept"))
    git, here = {"git": {"url": upstream.path.as_uri()}}, "https://localhost:1"
    for spec, resolved in (
        (git, {"commit": text}),
        (git, {"commit": "a" * 40, "ref": text if text not in {"HEAD", "refs/heads/main"} else "refs/heads/a..b"}),
        ({"http": {"url": f"{here}/a.yaml"}}, {"digest": text}),
        ({"oci": {"url": "oci://localhost:1/web"}}, {"digest": text or "../../../other"}),
        ({"helm": {"url": here, "chart": "web"}}, {"url": f"{here}/web.tgz", "digest": text}),
        ({"helm": {"url": here, "chart": "web"}}, {"url": "https://other\\@localhost:1/web.tgz", "digest": DIGEST}),
    ):
        with pytest.raises(UnavailableSource, match="has no entry by which"):
            fetcher.files(LockedSource(name="web", spec=spec, resolved=resolved, content=DIGEST))
    assert asked == []


def test_a_backslash_gives_no_other_host_the_credentials() -> None:
    """The host would end there for what connects, and not for what looks up credentials."""
    with listening() as door:
        downloads = Downloads(Credentials({"good.example.com": "Basic hidden"}))
        with pytest.raises(UnavailableSource, match="it has a backslash"):
            downloads.get(f"http://127.0.0.1:{door.port}\\@good.example.com/", most_bytes=10)
        assert door.came == 0


@pytest.mark.parametrize("address", ["ssh://-oProxyCommand=x@host/a", "ssh://me@-oProxyCommand=x/a", "-x@host:a"])
def test_no_part_of_an_address_is_an_option_of_ssh(address: str) -> None:
    with pytest.raises(GitError):
        checked_address(address)


def test_ci_fetches_nothing_from_where_its_base_did_not(door: Door, fleet: Fleet, upstream: Repository) -> None:
    """Nor does it where a change is compared; both say what they left out, and what is known is fetched."""
    upstream.commit({"a.yaml": "a: 2\n"})
    _, newer = good(upstream)
    spec = {"http": {"url": f"http://127.0.0.1:{door.port}/a.yaml"}}
    base = fleet.author.git("rev-parse", "HEAD")
    fleet.push({"argosy.lock": a_lock(newer, an_entry("web", spec, digest=DIGEST)), "web.yaml": a_source("web", spec)})
    told = f"Source web: http.url: none -> {spec['http']['url']}\n"
    compared = fleet.run("diff", "--check", base, "HEAD")
    assert (compared.code, f"argosy.lock: {told}" in compared.err) == (6, True)
    fetched = fleet.run("lock", "--fetch", "--base", base)
    assert (fetched.code, f"argosy.lock: {told}" in fetched.err, door.came) == (6, True, 0)
    assert f"{newer['content'].removeprefix('sha256:')}.files" in kept(fleet)
    accepted = fleet.run("diff", "--check", "--accept-settings", base, "HEAD")
    assert (accepted.code, door.came) == (0, 0), accepted.err
    assert fleet.run("lock", "--base", base).code == 2
    included = {**a_source("web", spec), "spec": {**spec, "manifests": "Include"}}
    fleet.push({"web.yaml": included})
    compared = fleet.run("diff", base, "HEAD")
    assert (compared.code, f"argosy.lock: {told}" in compared.err, door.came) == (6, True, 0)
    fleet.push({"broken.yaml": "kind: [\n", "p.yaml": {**a_policy(), "spec": {"resourceSelectors": 5}}})
    compared = fleet.run("diff", base, "HEAD")
    assert (compared.code, f"argosy.lock: {told}" in compared.err, "p.yaml" in compared.err) == (3, True, True)
    assert (fleet.run("lock", "--fetch").code, door.came > 0) == (3, True)
