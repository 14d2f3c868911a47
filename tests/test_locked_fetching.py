"""Content fetched from other repositories: Git, Helm and OCI on this machine, and everything that is refused."""

import gzip
import hashlib
import io
import json
import socket
import tarfile
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.locked import fetching
from reconciler.locked.archives import unpacked_archive
from reconciler.locked.credentials import Credentials, read_credentials
from reconciler.locked.download import Downloads, address_meant_by_server
from reconciler.locked.fetching import Fetcher, fetch_missing
from reconciler.locked.model import ExternalSource, LockedSource, UnavailableSource
from reconciler.locked.store import ContentStore
from reconciler.repository.command import GitCommand
from render.errors import ConfigError
from tests.artifact_servers import ArtifactServer, Reply, a_tar, an_archive, serving_artifacts
from tests.build import Repository
from tests.tables import each_row
from tests.waiting import SECONDS, joined

CHART = {"Chart.yaml": b"name: web\n", "templates/web.yaml": b"kind: Service\n"}
SERVICE = b"kind: Service\n"
PASSWORD = f"Basic {b64encode(b'me:hidden').decode()}"


@pytest.fixture
def server() -> Iterator[ArtifactServer]:
    with serving_artifacts() as server:
        yield server


@pytest.fixture
def fetcher(tmp_path: Path) -> Fetcher:
    git = GitCommand(folder=Path("/"))
    return Fetcher(git=git, downloads=Downloads(seconds=5), store=ContentStore(tmp_path / "sources"))


def with_credentials(fetcher: Fetcher, **headers: str) -> Fetcher:
    return replace(fetcher, downloads=Downloads(Credentials(headers)))


def a_source(**spec: Any) -> ExternalSource:
    return ExternalSource(name="web", spec=spec)


def refusal(fetcher: Fetcher, source: ExternalSource) -> str:
    with pytest.raises(UnavailableSource) as refused:
        fetcher.resolved(source)
    return str(refused.value)


# Helm


def test_a_chart_is_resolved_to_the_newest_version_in_its_range(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.add_chart("web", "1.2.0", CHART)
    digest = server.add_chart("web", "1.10.0", {**CHART, "values.yaml": b"a: 1\n"})
    server.add_chart("web", "2.0.0", CHART)
    locked = fetcher.resolved(a_source(helm={"url": f"{server.url}/charts", "chart": "web", "version": "1.x"}))
    url = f"{server.url}/charts/web-1.10.0.tgz"
    assert locked.resolved == {"version": "1.10.0", "url": url, "digest": digest}
    assert fetcher.files(locked) == {**CHART, "values.yaml": b"a: 1\n"}


def test_what_is_in_the_cache_is_asked_for_no_more(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.add_chart("web", "1.0.0", CHART)
    locked = fetcher.resolved(a_source(helm={"url": f"{server.url}/charts", "chart": "web"}))
    server.asked.clear()
    assert (fetcher.files(locked), server.asked) == (CHART, [])


def test_content_that_was_replaced_after_it_was_locked_is_refused(
    server: ArtifactServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    server.add_chart("web", "1.0.0", CHART)
    locked = fetcher.resolved(a_source(helm={"url": f"{server.url}/charts", "chart": "web"}))
    server.replies["/charts/web-1.0.0.tgz"] = Reply(an_archive({"web/Chart.yaml": b"name: evil\n"}))
    elsewhere = replace(fetcher, store=ContentStore(tmp_path / "other"))
    with pytest.raises(UnavailableSource) as refused:
        elsewhere.files(locked)
    digest = locked.resolved["digest"]
    assert refused.value.message == f"{server.url}/charts/web-1.0.0.tgz does not match its locked digest {digest[:19]}"
    assert not elsewhere.store.has(locked.content)


def test_a_chart_that_is_not_what_its_index_says_is_refused(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.add_chart("web", "1.0.0", CHART, digest="0" * 64)
    assert refusal(fetcher, a_source(helm={"url": f"{server.url}/charts", "chart": "web"})) == (
        f"{server.url}/charts/web-1.0.0.tgz does not match the digest in {server.url}/charts/index.yaml"
    )


def test_no_version_in_the_range_names_those_there_are(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.add_chart("web", "1.0.0", CHART)
    assert refusal(fetcher, a_source(helm={"url": f"{server.url}/charts", "chart": "web", "version": ">=2"})) == (
        f"{server.url}/charts/index.yaml has no version of 'web' in '>=2'\n  hint: the first it lists: 1.0.0"
    )


def test_a_folder_of_a_chart_is_what_is_locked(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.add_chart("web", "1.0.0", CHART)
    place = {"url": f"{server.url}/charts", "chart": "web"}
    assert fetcher.files(fetcher.resolved(a_source(helm=place, path="templates"))) == {"web.yaml": b"kind: Service\n"}
    assert refusal(fetcher, a_source(helm=place, path="crds")) == "Source 'web' has no folder 'crds'"


# OCI


def test_a_chart_of_a_registry_is_locked_by_its_digest(server: ArtifactServer, fetcher: Fetcher) -> None:
    data = an_archive({f"web/{path}": content for path, content in CHART.items()})
    server.push("charts/web", "1.0.0", an_archive({"web/Chart.yaml": b"old\n"}))
    digest = server.push("charts/web", "1.1.0", data)
    locked = fetcher.resolved(a_source(oci={"url": f"oci://{server.host}/charts/web", "semver": "^1"}))
    assert (locked.resolved, fetcher.files(locked)) == ({"tag": "1.1.0", "digest": digest}, CHART)


def test_files_of_another_artifact_keep_their_folders(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.push("web", "latest", an_archive(CHART), media_type="application/vnd.cncf.flux.content.v1.tar+gzip")
    assert fetcher.files(fetcher.resolved(a_source(oci={"url": f"oci://{server.host}/web"}))) == CHART


def test_a_tag_that_moved_changes_nothing_that_is_locked(
    server: ArtifactServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    kind = "application/vnd.cncf.flux.content.v1.tar+gzip"
    server.push("web", "v1", an_archive(CHART), media_type=kind)
    locked = fetcher.resolved(a_source(oci={"url": f"oci://{server.host}/web", "tag": "v1"}))
    server.push("web", "v1", an_archive({"other.yaml": b"other\n"}), media_type=kind)
    assert replace(fetcher, store=ContentStore(tmp_path / "other")).files(locked) == CHART


def test_a_registry_that_answers_with_something_else_is_refused(server: ArtifactServer, fetcher: Fetcher) -> None:
    digest = server.push("web", "v1", an_archive({"web/a": b""}))
    server.replies[f"/v2/web/manifests/{digest}"] = Reply(b'{"layers": []}')
    assert refusal(fetcher, a_source(oci={"url": f"oci://{server.host}/web", "digest": digest})) == (
        f"oci://{server.host}/web does not match the digest {digest[:19]}"
    )


def test_a_registry_gives_everybody_a_token(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.token = "a-token"
    server.push("web", "v1", an_archive({"web/a": b"1"}))
    locked = fetcher.resolved(a_source(oci={"url": f"oci://{server.host}/web", "tag": "v1"}))
    assert fetcher.files(locked) == {"a": b"1"}
    assert {each.authorization for each in server.asked} == {"", "Bearer a-token"}


def test_a_registry_gives_a_token_for_a_password(server: ArtifactServer, fetcher: Fetcher) -> None:
    server.token, server.password = "a-token", PASSWORD
    server.push("web", "v1", an_archive({"web/a": b"1"}))
    source = a_source(oci={"url": f"oci://{server.host}/web", "tag": "v1"})
    assert with_credentials(fetcher, **{server.host: PASSWORD}).resolved(source).version == "v1"
    hint = "credentials for 127.0.0.1 come from the file that ARGOSY_CREDENTIALS names"
    assert refusal(fetcher, source) == f"{server.url}/token answered with 403\n  hint: {hint}"


# One file


def test_a_file_is_locked_by_its_digest(server: ArtifactServer, fetcher: Fetcher, tmp_path: Path) -> None:
    server.replies["/v1/crds.yaml"] = Reply(SERVICE)
    url = f"{server.url}/v1/crds.yaml"
    locked = fetcher.resolved(a_source(http={"url": url}))
    digest = f"sha256:{hashlib.sha256(SERVICE).hexdigest()}"
    assert (locked.resolved, fetcher.files(locked)) == ({"digest": digest}, {"crds.yaml": SERVICE})
    server.replies["/v1/crds.yaml"] = Reply(b"kind: Other\n")
    with pytest.raises(UnavailableSource) as refused:
        replace(fetcher, store=ContentStore(tmp_path / "other")).files(locked)
    wanted = f"{url} does not match its locked digest {digest[:19]}"
    assert refused.value.message == wanted
    assert refusal(fetcher, a_source(http={"url": url, "digest": digest})) == wanted
    assert fetcher.resolved(a_source(http={"url": url})).version == hashlib.sha256(b"kind: Other\n").hexdigest()[:12]


# Git


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "upstream")
    repository.commit({"deploy/web.yaml": "kind: Service\n", "README.md": "hello\n"})
    (repository.path / "deploy/link.yaml").symlink_to("/etc/passwd")
    repository.commit({}, "link")
    return repository


class Wanted(NamedTuple):
    why: str
    place: dict[str, str]
    found_by: dict[str, str]


WANTED = [
    Wanted("the branch that HEAD names", {}, {"branch": "main"}),
    Wanted("a branch", {"branch": "main"}, {"branch": "main"}),
    Wanted("an annotated tag", {"tag": "v1.0.0"}, {"tag": "v1.0.0"}),
    Wanted("a ref that is a tag", {"ref": "v2.0.0"}, {"tag": "v2.0.0"}),
    Wanted("a ref that is a tag and a branch", {"ref": "both"}, {"tag": "both"}),
    Wanted("a ref that is a branch", {"ref": "main"}, {"branch": "main"}),
    Wanted("a ref of another kind", {"ref": "refs/pull/1/head"}, {"ref": "refs/pull/1/head"}),
    Wanted("the newest tag in a range", {"semver": "^1"}, {"tag": "v1.2.0"}),
]


@pytest.mark.parametrize("case", WANTED, ids=lambda case: case.why)
def test_a_repository_is_locked_by_its_commit(case: Wanted, upstream: Repository, fetcher: Fetcher) -> None:
    upstream.git("tag", "-a", "-m", "one", "v1.0.0")
    upstream.git("tag", "v1.2.0")
    upstream.git("tag", "v2.0.0")
    upstream.git("tag", "both")
    upstream.git("branch", "both", "HEAD~1")
    upstream.git("update-ref", "refs/pull/1/head", "HEAD")
    commit = upstream.git("rev-parse", "HEAD")
    locked = fetcher.resolved(a_source(git={"url": upstream.path.as_uri(), **case.place}, path="deploy"))
    assert locked.resolved == {"commit": commit, **case.found_by}
    assert fetcher.files(locked) == {"web.yaml": b"kind: Service\n"}


def test_a_commit_that_no_branch_points_to_any_more_is_fetched(upstream: Repository, fetcher: Fetcher) -> None:
    commit = upstream.git("rev-parse", "HEAD")
    upstream.commit({"deploy/web.yaml": "kind: Deployment\n"})
    locked = fetcher.resolved(a_source(git={"url": upstream.path.as_uri(), "revision": commit}, path="deploy"))
    assert (locked.version, fetcher.files(locked)) == (commit[:12], {"web.yaml": b"kind: Service\n"})


def test_versions_that_a_repository_lacks_are_refused(upstream: Repository, fetcher: Fetcher) -> None:
    url = upstream.path.as_uri()
    assert refusal(fetcher, a_source(git={"url": url, "branch": "no"})) == f"{url} has no branch 'no'"
    assert refusal(fetcher, a_source(git={"url": url, "semver": "1"})) == f"{url} has no tag in '1'"
    missing = refusal(fetcher, a_source(git={"url": url, "revision": "0" * 40}))
    assert missing.startswith(f"{url} does not have commit 000000000000")
    gone = f"{url}-gone"
    assert refusal(fetcher, a_source(git={"url": gone})).startswith(f"{gone} cannot be read: ")


# Credentials


def test_credentials_go_to_their_host_and_not_where_it_redirects(fetcher: Fetcher) -> None:
    with serving_artifacts() as first, serving_artifacts() as second:
        first.password = PASSWORD
        second.add_chart("web", "1.0.0", CHART)
        first.add_chart("web", "1.0.0", CHART)
        target = f"{second.url}/charts/web-1.0.0.tgz"
        first.replies["/charts/web-1.0.0.tgz"] = Reply(status=302, headers={"Location": target})
        known = with_credentials(fetcher, **{first.host: PASSWORD})
        known.resolved(a_source(helm={"url": f"{first.url}/charts", "chart": "web"}))
        assert {each.authorization for each in first.asked} == {PASSWORD}
        assert {each.authorization for each in second.asked} == {""}


def test_a_token_does_not_follow_a_redirect(fetcher: Fetcher) -> None:
    """Registries send clients to storage elsewhere for blobs."""
    with serving_artifacts() as registry, serving_artifacts() as storage:
        registry.token = "a-token"
        data = an_archive({"web/a": b"1"})
        registry.push("web", "v1", data)
        blob = next(path for path in registry.replies if "/blobs/" in path)
        registry.replies[blob] = Reply(status=307, headers={"Location": f"{storage.url}/blob"})
        storage.replies["/blob"] = Reply(data)
        fetcher.resolved(a_source(oci={"url": f"oci://{registry.host}/web", "tag": "v1"}))
        assert [each.authorization for each in storage.asked] == [""]


class CredentialsFile(NamedTuple):
    why: str
    text: str
    want: dict[str, str]


def an_entry(place: str, **entry: str) -> str:
    return json.dumps({"auths": {place: entry}})


FILES = [
    CredentialsFile(
        "name and password", an_entry("a.example.com", username="me", password="hidden"), {"a.example.com": PASSWORD}
    ),
    CredentialsFile(
        "both in base64", an_entry("A.example.com:5000", auth=PASSWORD[6:]), {"a.example.com:5000": PASSWORD}
    ),
    CredentialsFile(
        "a host by its address", an_entry("https://a.example.com/v1/", auth=PASSWORD[6:]), {"a.example.com": PASSWORD}
    ),
    CredentialsFile("kept elsewhere", an_entry("a.example.com"), {}),
]


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.why)
def test_a_file_of_credentials(case: CredentialsFile, tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    path.write_text(case.text)
    assert read_credentials({"ARGOSY_CREDENTIALS": str(path)}).headers == case.want
    assert "hidden" not in repr(read_credentials({}, str(path)))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"auths": {"a": {"auth": "%"}}}', '{"auths": {"a": 1}}'])
def test_a_file_that_holds_no_credentials_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_credentials({}, str(path))
    hint = 'write {"auths": {"HOST": {"username": "...", "password": "..."}}}'
    assert str(refused.value) == f"{path} is no file of credentials\n  hint: {hint}"


# Hostile servers


def test_only_https_is_spoken_to_other_machines() -> None:
    with pytest.raises(UnavailableSource) as refused:
        Downloads().get("http://charts.example.com/index.yaml", most_bytes=1)
    assert refused.value.message == (
        "http://charts.example.com/index.yaml is not asked: only https is, and http on this machine"
    )


def test_a_redirect_to_something_else_than_a_server_is_refused(server: ArtifactServer) -> None:
    server.replies["/a"] = Reply(status=302, headers={"Location": "file:///etc/passwd"})
    with pytest.raises(UnavailableSource) as refused:
        Downloads().get(f"{server.url}/a", most_bytes=1)
    assert refused.value.message == "file:///etc/passwd is not asked: only https is, and http on this machine"


DIGEST = f"sha256:{'0' * 64}"
NO_ADDRESS = "https://[::1"
TAGS, INDEX = "/v2/web/tags/list", "/charts/index.yaml"
MISLEADING = {
    "a redirect": ("/a", Reply(status=302, headers={"Location": NO_ADDRESS})),
    "a redirect to a port that is none": ("/a", Reply(status=302, headers={"Location": "https://a:b"})),
    "the next page of tags, and tags that are no list": (
        TAGS,
        Reply(b'{"tags": 3}', headers={"Link": f"<{NO_ADDRESS}>; rel=next"}),
    ),
    "where tokens come from": (TAGS, Reply(status=401, headers={"WWW-Authenticate": f'Bearer realm="{NO_ADDRESS}"'})),
    "a chart": (INDEX, Reply(f'entries: {{web: [{{version: 1.0.0, urls: ["{NO_ADDRESS}"]}}]}}'.encode())),
}


@pytest.mark.parametrize("why", MISLEADING)
def test_an_answer_that_leads_to_what_is_no_address_is_refused(
    why: str, server: ArtifactServer, fetcher: Fetcher
) -> None:
    path, reply = MISLEADING[why]
    server.replies[path] = reply
    places: dict[str, dict[str, Any]] = {
        "/a": {"http": {"url": f"{server.url}/a"}},
        TAGS: {"oci": {"url": f"oci://{server.url.removeprefix('http://')}/web", "semver": "1.x"}},
        INDEX: {"helm": {"url": f"{server.url}/charts", "chart": "web"}},
    }
    with pytest.raises(UnavailableSource) as refused:
        fetcher.resolved(ExternalSource(name="web", spec=places[path]))
    assert refused.value.message.endswith(" leads to what is no address")


def dripping(head: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """Send the rest of an answer a little at a time, and no end of it."""

    def answer(client: socket.socket) -> None:
        client.sendall(head)
        never = threading.Event()
        while not never.wait(0.05):
            client.sendall(drop)

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SLOW = {
    "interim answers without end": dripping(b"", b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"),
    "the line of the status": dripping(b"HTTP/1.1 200 ", b"O"),
    "a header": dripping(b"HTTP/1.1 200 OK\r\nA: ", b"x"),
    "content": dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x"),
    "the size of a chunk": dripping(CHUNKED, b"0"),
    "trailers": dripping(CHUNKED + b"0\r\n", b"a: b\r\n"),
}


@pytest.mark.parametrize("why", SLOW)
def test_an_answer_that_comes_little_by_little_has_one_limit_of_time(why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                listener.settimeout(SECONDS)
                client, _ = listener.accept()
                with client:
                    client.settimeout(SECONDS)
                    client.recv(1 << 16)
                    SLOW[why](client)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/a"
        with pytest.raises(UnavailableSource) as refused:
            Downloads(seconds=0.5).get(url, most_bytes=10_000_000)
        assert refused.value.message == f"{url} takes too long"
        joined(thread)


def test_sources_that_cannot_be_had_have_one_limit_of_time_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that holds each request up does not do so for one Source after another, in every pass."""
    monkeypatch.setattr(fetching, "SECONDS", 0.2)
    git = GitCommand(folder=Path("/"))
    fetcher = Fetcher(git=git, downloads=Downloads(), store=ContentStore(tmp_path / "sources"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a"
        entry = LockedSource(name="a", spec={"http": {"url": url}}, resolved={"digest": DIGEST}, content=DIGEST)
        refused = fetch_missing(fetcher, [replace(entry, name=name) for name in ("a", "b", "c")])
    assert refused[0].message == f"{url} takes too long"
    assert refused[-1].message == (
        "Source 'c' was not asked for: no time is left, for other Sources took it and could not be had"
    )


@pytest.mark.parametrize("target", ["http://127.0.0.1:8080/a", "https://localhost/a", "//[::1]:443/a", "//LOCALHOST/"])
def test_no_server_elsewhere_leads_to_this_machine(target: str) -> None:
    """Redirects, next pages, places of tokens and archives are all read by this."""
    with pytest.raises(UnavailableSource) as refused:
        address_meant_by_server("https://charts.example.com/a?signature=x", target)
    assert refused.value.message == "https://charts.example.com/a leads to this machine"
    assert (
        address_meant_by_server("https://charts.example.com/a", "//files.example.com/b")
        == "https://files.example.com/b"
    )
    assert address_meant_by_server("http://127.0.0.1:1/a", "http://127.0.0.1:2/b") == "http://127.0.0.1:2/b"


def test_redirects_end(server: ArtifactServer) -> None:
    server.replies["/a"] = Reply(status=302, headers={"Location": "/a"})
    with pytest.raises(UnavailableSource) as refused:
        Downloads().get(f"{server.url}/a", most_bytes=1)
    assert (refused.value.message, len(server.asked)) == (f"{server.url}/a answered with 302", 6)


def test_an_answer_that_is_too_large_is_left(server: ArtifactServer) -> None:
    server.replies["/a"] = Reply(b"x" * 2000)
    with pytest.raises(UnavailableSource) as refused:
        Downloads().get(f"{server.url}/a", most_bytes=1000)
    assert refused.value.message == f"{server.url}/a has more than 1000 bytes"


def test_an_answer_that_takes_too_long_is_left(server: ArtifactServer) -> None:
    server.replies["/a"] = Reply(b"x" * 2000)
    with pytest.raises(UnavailableSource) as refused:
        Downloads(seconds=-1).get(f"{server.url}/a", most_bytes=10_000)
    assert refused.value.message == f"{server.url}/a takes too long"


def test_a_server_that_is_not_there_is_named(server: ArtifactServer) -> None:
    url = server.url
    server.server_close()
    with pytest.raises(UnavailableSource) as refused:
        Downloads().get(f"{url}/a", most_bytes=1)
    assert refused.value.message.startswith(f"{url}/a cannot be reached: ")


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


class Archive(NamedTuple):
    why: str
    data: bytes
    want: str


def zeros(size: int) -> bytes:
    """An archive that unpacks to so many bytes."""
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as packed:
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
    return target.getvalue()


OUTSIDE, LINK = "has a path that leads out of its folder: ", "has a link or a device: 'a'"
IN_GIT = "has a path that is inside a .git folder: "
ARCHIVES = [
    Archive("out of the folder", an_archive({"web/../../x": b""}), f"{OUTSIDE}'web/../../x'"),
    Archive("an absolute path", an_archive({"/etc/passwd": b""}), f"{OUTSIDE}'/etc/passwd'"),
    Archive("a symbolic link", a_tar([(member("a", tarfile.SYMTYPE, "/etc/passwd"), b"")]), LINK),
    Archive("a hard link", a_tar([(member("a", tarfile.LNKTYPE, "b"), b"")]), LINK),
    Archive("a device", a_tar([(member("a", tarfile.CHRTYPE), b"")]), LINK),
    Archive("a file twice", a_tar([(member("a"), b"1"), (member("./a"), b"2")]), "has a file twice: 'a'"),
    Archive("a hook of git", an_archive({".git/hooks/x": b""}), f"{IN_GIT}'.git/hooks/x'"),
    Archive("no archive", b"hello", "is no archive that can be read"),
    Archive("half an archive", an_archive({"a": b"x" * 5000})[:60], "is no archive that can be read"),
]


@each_row("case", ARCHIVES, ids=lambda case: case.why)
def test_a_hostile_archive_is_refused(case: Archive) -> None:
    with pytest.raises(UnavailableSource) as refused:
        unpacked_archive(case.data, "the archive")
    assert refused.value.message == f"the archive {case.want}"


def test_a_bomb_is_left_where_it_passes_the_bound() -> None:
    with pytest.raises(UnavailableSource) as refused:
        unpacked_archive(zeros(120 << 20), "the archive")
    assert refused.value.message == "the archive unpacks to more than 67108864 bytes"


@pytest.mark.parametrize(
    "spec", [{"git": {"url": "https://[x]/a"}}, {"oci": {"url": "oci://[x]/a"}}, {"http": {"url": "https://[::1"}}]
)
def test_half_an_address_is_asked_for_nothing(spec: dict[str, Any], fetcher: Fetcher) -> None:
    with pytest.raises(UnavailableSource) as refused:
        fetcher.resolved(ExternalSource(name="web", spec=spec))
    assert str(refused.value).startswith("Source 'web' names no address that can be read")
