"""Answers of servers and tools, deliveries, and files from outside of a repository, edited at random.

Registries, repositories of charts, forges, webhooks of the interpreter and plugins for credentials answer here in the
same process or as programs of one line. Each answer is first right and then edited, its headers as well.
"""

import base64
import contextlib
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from reconciler.building.builder import SourceBuilder
from reconciler.console.log import Log
from reconciler.edit.importing import import_of_folder
from reconciler.forge import calls, pull_requests
from reconciler.forge.address import Forge
from reconciler.gitops.tools import GitOpsTools
from reconciler.guards.accepted_settings import Acceptance
from reconciler.locked.content import Files
from reconciler.locked.credentials import read_credentials
from reconciler.locked.download import Downloaded, Downloads
from reconciler.locked.fetching import Fetcher
from reconciler.locked.model import ExternalSource
from reconciler.locked.store import ContentStore
from reconciler.members.bounded_reading import Received
from reconciler.members.exec_plugins import credential_of_exec_plugin
from reconciler.members.kubeconfig import Context
from reconciler.repository.command import GitCommand
from reconciler.run.web.signatures import Provider, hmac_sha256
from reconciler.run.web.webhooks import Webhooks, WebhookSecret
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.boundary import INTERNAL
from render.documents import emit
from render.errors import GitError
from render.interpretation.operations import InterpreterError, Operation
from render.interpreter.webhooks import Call, Webhook, operation_by_webhook
from render.settings.rendered import ForgeKind
from tests.build import a_config_map, a_deployment
from tests.sources import Content, source_of
from tests.test_building_charts import CHART, a_chart
from tests.test_import_hostile import documents

from .mutating import mutated, mutated_text, mutated_value

_URL = "https://example.com"
_CHALLENGE = f'Bearer realm="{_URL}/token",service="x",scope="repository:charts/web:pull"'
_SECRET = b"sixteen bytes..."
_ANSWERS = 200
_DENIED = 401
_REDIRECT = 302


def encoded(value: Any, rng: Random) -> bytes:
    """Return JSON of a value that is edited, or whose text is."""
    text = json.dumps(mutated_value(value, rng) if rng.random() < 0.8 else value).encode("utf-8", "surrogatepass")
    return mutated_text(text, rng) if rng.random() < 0.1 else text


def an_archive(files: Files, rng: Random) -> bytes:
    """Return a packed archive, now and then with an odd member or bytes that are others."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(mutated_text(path.encode(), rng).decode("utf-8", "replace")[:90])
            member.name = path if rng.random() < 0.8 else member.name
            member.type = rng.choice((tarfile.REGTYPE,) * 9 + (tarfile.SYMTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    data = made.getvalue()
    place = rng.randrange(len(data))
    return data if rng.random() < 0.7 else data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]


class _Answering(Downloads):
    """Downloads from servers that answer as a case says."""

    def __init__(self, rng: Random) -> None:
        super().__init__(read_credentials({}), 5.0)
        self.rng, self.known = rng, dict[str, Downloaded]()
        chart = an_archive({"web/Chart.yaml": b"name: web\nversion: 1.0.0\n", "web/values.yaml": b"a: 1\n"}, rng)
        self.blob, digest = chart, f"sha256:{hashlib.sha256(chart).hexdigest()}"
        media = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
        layers = [{"mediaType": media, "digest": digest, "size": len(chart)}]
        self.manifest = {"schemaVersion": 2, "layers": layers, "config": {"digest": digest}}
        entry = {"version": "1.0.0", "urls": ["web-1.0.0.tgz"], "digest": digest[7:], "created": "2026-01-01T00:00:00Z"}
        self.index = {"apiVersion": "v1", "entries": {"web": [entry, {**entry, "version": "1.1.0-rc.1"}]}}

    def _download_once(self, url: str, headers: Mapping[str, str], *_: Any) -> Downloaded:
        if url not in self.known or self.rng.random() < 0.1:
            self.known[url] = self._made(url, bool(headers.get("Authorization")))
        found = self.known[url]
        if found.status == _DENIED and headers.get("Authorization"):
            found = self.known[url] = self._made(url, True)
        return found

    def _made(self, url: str, is_known: bool) -> Downloaded:
        rng, path = self.rng, urlsplit(url).path
        if "/v2/" in path and not is_known and rng.random() < 0.3:
            return Downloaded(_DENIED, {"www-authenticate": _header(_CHALLENGE, rng)}, b"", url)
        if rng.random() < 0.1:
            return Downloaded(_REDIRECT, {"location": _header(f"{_URL}/other", rng)}, b"", url)
        link = {"link": _header("</v2/charts/web/tags/list?last=1>; rel=next", rng)} if rng.random() < 0.2 else {}
        return Downloaded(_ANSWERS, link, self._content(path), url)

    def _content(self, path: str) -> bytes:
        if path.endswith("/token"):
            return encoded({"token": "t", "expires_in": 60}, self.rng)
        if path.endswith("/tags/list"):
            return encoded({"tags": ["1.0.0", "1.1.0", "latest"]}, self.rng)
        if path.endswith("index.yaml"):
            return mutated(emit(self.index), self.rng)
        return self._manifest() if "/manifests/" in path else self.blob

    def _manifest(self) -> bytes:
        found = [each.content for url, each in self.known.items() if "/manifests/" in url and each.content]
        return found[0] if found else encoded(self.manifest, self.rng)


def _header(text: str, rng: Random) -> str:
    return mutated_text(text.encode(), rng).decode("latin-1") if rng.random() < 0.7 else text


class Registries:
    """Registries of artifacts, repositories of charts and files, and the cache of what they answered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "sources"

    def __call__(self, rng: Random) -> str | None:
        store = ContentStore(self.folder)
        fetcher = Fetcher(git=GitCommand(folder=self.folder.parent), downloads=_Answering(rng), store=store)
        place: dict[str, Any] = rng.choice(
            (
                {"oci": {"url": "oci://example.com/charts/web", "semver": "1.x"}},
                {"oci": {"url": "oci://example.com/charts/web", "tag": "1.0.0"}},
                {"helm": {"url": f"{_URL}/charts", "chart": "web", "version": ">=1.0.0"}},
                {"http": {"url": f"{_URL}/crds.yaml"}},
            )
        )
        locked = fetcher.resolved(ExternalSource(name="web", spec=place))
        for path in [each for each in self.folder.rglob("*") if each.is_file()]:
            path.write_bytes(mutated_text(path.read_bytes(), rng))
        store.files(locked.content)
        return None


class Forges:
    """Forges, asked for pull requests."""

    def __init__(self, folder: Path) -> None:
        self.token = folder / "forge-token"
        self.token.write_text("token", encoding="utf-8")

    def __call__(self, rng: Random) -> str | None:
        kind = rng.choice(list(ForgeKind))
        ends = {"head": {"ref": "a", "sha": "0" * 40}, "base": {"ref": "b"}, "source_branch": "a", "target_branch": "b"}
        request = {"number": 1, "iid": 1, "state": "open", "title": "x", "body": "y", "sha": "0" * 40, **ends}
        forge = Forge(kind=kind, api=_URL, project="a/b", token_file=self.token)
        wanted = pull_requests.Wanted(head="a", base="b")

        def received(*_: object) -> Received:
            answer = rng.choice(([request, request], request, {"message": "no"}))
            return Received(status=rng.choice((200, 200, 200, 201, 401, 422, 500)), content=encoded(answer, rng))

        with patch.object(calls, "_send_over_new_connection", received):
            for ask in (pull_requests.list_pull_requests, pull_requests.open_pull_request):
                with contextlib.suppress(GitError):
                    ask(forge, wanted)
            pull_requests.close_pull_request(forge, 1)
        return None


class Deliveries:
    """Webhooks that a forge or anybody else delivers, signed or not."""

    def __init__(self, folder: Path) -> None:
        file = folder / "webhook-secret"
        file.write_bytes(_SECRET)
        secrets = [WebhookSecret(provider=each, file=str(file)) for each in Provider]
        self.application = Webhooks(
            secrets=lambda: secrets,
            wake=lambda fleet: not fleet,
            count=lambda *_: None,
            clock=lambda: 1_700_000_000.0,
            log=Log(stream=io.StringIO()),
        )

    def __call__(self, rng: Random) -> str | None:
        provider = rng.choice(list(Provider))
        body = encoded({"ref": "refs/heads/main", "repository": {"clone_url": _URL}}, rng)
        signature = hmac_sha256(_SECRET, body).hex()
        headers = {
            "HTTP_X_HUB_SIGNATURE_256": f"sha256={signature}",
            "HTTP_X_HUB_SIGNATURE": f"sha256={signature}",
            "HTTP_X_GITEA_SIGNATURE": signature,
            "HTTP_X_FORGEJO_SIGNATURE": signature,
            "HTTP_X_ARGOSY_SIGNATURE": f"sha256={signature}",
            "HTTP_X_GITLAB_TOKEN": _SECRET.decode(),
            "HTTP_WEBHOOK_ID": "1",
            "HTTP_WEBHOOK_TIMESTAMP": "1700000000",
            "HTTP_WEBHOOK_SIGNATURE": f"v1,{base64.b64encode(bytes.fromhex(signature)).decode()}",
            "HTTP_X_GITHUB_DELIVERY": "1",
            "CONTENT_TYPE": "application/json",
            "REQUEST_METHOD": "POST",
            "REMOTE_ADDR": f"192.0.2.{rng.randrange(250)}",
            "PATH_INFO": f"/webhook/{provider}{rng.choice(('', '/', '/team', '/a/b'))}",
        }
        chosen = rng.sample(list(headers), rng.randrange(4))
        environ: dict[str, Any] = {**headers, **{name: _header(headers[name], rng) for name in chosen}}
        environ["wsgi.input"] = io.BytesIO(body)
        said: list[str] = []
        self.application(environ, lambda status, _: said.append(status))
        return None if said and said[0][:3].isdigit() else f"answered {said}"


class Plugins:
    """Programs that print credentials for members, and the file with those for registries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, rng: Random) -> str | None:
        status = {"token": "t", "expirationTimestamp": "2026-01-01T00:00:00Z", "clientCertificateData": "a"}
        version = "client.authentication.k8s.io/v1"
        answer = {"apiVersion": version, "kind": "ExecCredential", "status": status}
        said, auths = self.folder / "credential.json", self.folder / "auths.json"
        said.write_bytes(encoded(answer, rng))
        user = {"exec": {"apiVersion": version, "command": "/bin/cat", "args": [str(said)]}}
        credential_of_exec_plugin(Context(name="a", cluster={"server": _URL}, user=user), dict(os.environ), 5.0)
        auth = {"auth": base64.b64encode(b"a:b").decode()}
        auths.write_bytes(encoded({"auths": {"example.com": auth, "a.example.com": {"username": "a"}}}, rng))
        read_credentials({}, str(auths))
        return None


class Interpreters:
    """Webhooks of the resource interpreter."""

    def __init__(self, _folder: Path) -> None:
        self.webhook = Webhook(name="w", rules=(), client_config={})

    def __call__(self, rng: Random) -> str | None:
        patches = base64.b64encode(json.dumps([{"op": "add", "path": "/spec/a", "value": 1}]).encode()).decode()
        right = {"successful": True, "patchType": "JSONPatch", "patch": patches, "replicas": 2, "healthy": True}
        more = {"replicaRequirements": {"resourceRequest": {"cpu": "1"}}, "rawStatus": {"a": 1}}
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "a", "name": "b"}
        response = {**right, **more, "dependencies": [reference], "components": [{"name": "a", "replicas": 1}]}

        def send(_webhook: Webhook, asked: Mapping[str, Any]) -> Any:
            answer = mutated_value({"response": {**response, "uid": asked["request"]["uid"]}}, rng)
            return answer if isinstance(answer, dict) else {}

        made = a_deployment()
        questions: Mapping[Operation, tuple[Any, ...]] = {
            Operation.INTERPRET_REPLICA: (made,),
            Operation.INTERPRET_COMPONENT: (made,),
            Operation.INTERPRET_DEPENDENCY: (made,),
            Operation.INTERPRET_HEALTH: (made,),
            Operation.INTERPRET_STATUS: (made,),
            Operation.AGGREGATE_STATUS: (made, []),
            Operation.REVISE_REPLICA: (made, 2),
            Operation.RETAIN: (made, made),
        }
        operation = rng.choice(list(questions))
        call = Call(webhook=self.webhook, operation=operation, send=send)
        with contextlib.suppress(InterpreterError):
            operation_by_webhook(call)(*questions[operation])
        return None


class Tools:
    """kustomize and helm, which print something else than they should."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "printed"
        programs = folder / "programs"
        programs.mkdir()
        for name in ("kustomize", "helm"):
            program = programs / name
            program.write_text(
                f'#!/bin/sh\nif [ "$1" = version ]; then echo v9.9.9; exit; fi\nexec /bin/cat {self.output}\n',
                encoding="utf-8",
            )
            program.chmod(0o755)
        self.path = str(programs)

    def __call__(self, rng: Random) -> str | None:
        objects = [a_config_map("a"), a_deployment("b")]
        self.output.write_bytes(mutated(b"---\n".join(map(emit, objects)), rng))
        overlay: Mapping[str, Content] = {
            "o/kustomization.yaml": "namePrefix: a-\nresources: [../a.yaml]\n",
            "a.yaml": emit(a_config_map("c")),
        }
        files = rng.choice(({**CHART, "shop.yaml": a_chart()}, overlay))
        source = source_of(files)
        loaded = load_source(
            source.files, SourceReading(source.read, other_tools=GitOpsTools(SourceBuilder(path=self.path)))
        )
        return next((str(each) for each in loaded.problems if each.kind == INTERNAL), None)


class Outsides:
    """Files that stand outside of a repository: accepted settings, and manifests of other federations to import."""

    def __init__(self, folder: Path) -> None:
        self.accepted, self.folder = folder / "accepted.yaml", folder / "imported"
        self.folder.mkdir()
        self.federations = documents()
        self.fleet = {
            "apiVersion": "argosy.dev/v1alpha1",
            "kind": "Fleet",
            "metadata": {"name": "a"},
            "spec": {"rendered": {"remote": "origin"}, "clusters": [{"name": "member1", "context": "a"}]},
        }

    def __call__(self, rng: Random) -> str | None:
        if rng.random() < 0.5:
            self.accepted.write_bytes(mutated(emit(self.fleet), rng))
            Acceptance.read(str(self.accepted))
            return None
        chosen = rng.choice(list(self.federations))
        made = self.federations[chosen]
        (self.folder / "a.yaml").write_bytes(
            mutated(b"---\n".join(map(emit, rng.sample(made, min(8, len(made))))), rng)
        )
        import_of_folder(self.folder, rng.choice((None, chosen)))
        return None


OUTSIDE: Mapping[str, Callable[[Path], Callable[[Random], str | None]]] = {
    "registries": Registries,
    "forges": Forges,
    "deliveries": Deliveries,
    "plugins": Plugins,
    "interpreters": Interpreters,
    "tools": Tools,
    "outsides": Outsides,
}
"""The answers and files from outside, by kind."""
