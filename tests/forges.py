"""A forge on loopback: the pull requests of one project, told as GitHub, GitLab or Gitea tell them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from .build import Repository
from .waiting import joined

TOKEN = "glpat-secret-of-the-forge"
PROJECT = "team/fleet"


HEAD = "a" * 40
"""The last commit of every pull request that was merged."""


@dataclass
class Merged:
    """A pull request that was merged: its author, and the reviews with who, state and commit."""

    author: str
    reviews: list[tuple[str, str, str]]


@dataclass
class ForgeServer:
    """The pull requests of a bare repository, and everything that was asked: method, path, headers, body.

    ``merged`` has the pull requests that were merged as commits, with their reviews. With ``silence`` it says nothing
    about them before that is set.
    """

    kind: str
    hub: Repository
    requests: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    refusal: tuple[int, bytes] | None = None
    api: str = ""
    merged: dict[str, "Merged"] = field(default_factory=dict)
    silence: threading.Event | None = None

    @property
    def calls(self) -> list[str]:
        """The methods that were called, without those that only read."""
        return [method for method, *_ in self.asked if method != "GET"]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        parts = urlsplit(path)
        words = [unquote(word) for word in parts.path.split("/") if word]
        if "commits" in words or words[-1] in {"reviews", "approvals"}:
            if self.silence is not None:
                self.silence.wait(60)
            return self.answer_about_reviews(words, parse_qs(parts.query))
        if self.kind == "GitLab":
            assert words[:4] == ["api", "projects", PROJECT, "merge_requests"], words
        else:
            assert words[:5] == ["api", "repos", *PROJECT.split("/"), "pulls"], words
        number = words[4:] if self.kind == "GitLab" else words[5:]
        if method == "GET":
            return 200, [self.told(each) for each in self.requests if self.is_asked_for(each, parse_qs(parts.query))]
        if method == "POST":
            return 201, self.told(self.opened(body))
        found = self.requests[int(number[0]) - 1]
        if body.get("state") == "closed" or body.get("state_event") == "close":
            found["state"] = "closed"
        found |= {name: body[name] for name in ("title",) if name in body}
        found["body"] = body.get("description", body.get("body", found["body"]))
        return 200, self.told(found)

    def answer_about_reviews(self, words: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
        """The pull request of a commit, or the reviews of one, whose number is its place among those merged."""
        numbers = {each: number for number, each in enumerate(self.merged, 1)}
        if "commits" in words:
            commit = words[words.index("commits") + 1]
            told = self.told_as_merged(commit, numbers[commit]) if commit in self.merged else None
            if self.kind == "Gitea":
                return (404, {"message": "not found"}) if told is None else (200, told)
            return 200, [] if told is None else [told]
        merged = self.merged[list(self.merged)[int(words[-2]) - 1]]
        if self.kind == "GitLab":
            approved = {login: state == "APPROVED" for login, state, _ in merged.reviews}
            return 200, {"approved_by": [{"user": {"username": login}} for login, is_so in approved.items() if is_so]}
        size, page = int(query["per_page" if self.kind == "GitHub" else "limit"][0]), int(query["page"][0])
        listed = [{"user": {"login": who}, "state": state, "commit_id": of} for who, state, of in merged.reviews]
        return 200, listed[size * (page - 1) : size * page]

    def told_as_merged(self, commit: str, number: int) -> dict[str, Any]:
        author, merge = self.merged[commit].author, {"merge_commit_sha": commit}
        if self.kind == "GitLab":
            return {**merge, "iid": number, "state": "merged", "sha": HEAD, "author": {"username": author}}
        times = {"state": "closed", "merged_at": "2026-03-01T00:00:00Z"}
        return {**merge, **times, "number": number, "head": {"sha": HEAD}, "user": {"login": author}}

    def opened(self, body: Any) -> dict[str, Any]:
        head = body.get("source_branch") or body["head"]
        if any(each["state"] == "open" and each["head"] == head for each in self.requests):
            raise AssertionError("a second pull request of one branch")
        base = body.get("target_branch") or body["base"]
        text = body.get("description", body.get("body"))
        made = {"number": len(self.requests) + 1, "state": "open", "head": head, "base": base}
        self.requests.append({**made, "title": body["title"], "body": text, "sha": ""})
        return self.requests[-1]

    def is_asked_for(self, request: dict[str, Any], query: dict[str, list[str]]) -> bool:
        names = {"GitLab": ("source_branch", "target_branch"), "GitHub": ("head", "base")}.get(self.kind)
        if names is None:
            return True
        wanted = {"head": query[names[0]][0].rpartition(":")[2], "base": query[names[1]][0]}
        return all(request[name] == value for name, value in wanted.items())

    def told(self, request: dict[str, Any]) -> dict[str, Any]:
        """A pull request in the forge's words; one that is open stands where its branch stands."""
        if request["state"] == "open":
            request["sha"] = self.hub.git("rev-parse", "--verify", "-q", f"refs/heads/{request['head']}", check=False)
        number, url = request["number"], f"https://forge.example.com/{PROJECT}/{request['number']}"
        text = {"title": request["title"]}
        if self.kind == "GitLab":
            state = {"open": "opened"}.get(request["state"], request["state"])
            branches = {"source_branch": request["head"], "target_branch": request["base"], "sha": request["sha"]}
            return {**text, **branches, "iid": number, "state": state, "description": request["body"], "web_url": url}
        branches = {"head": {"ref": request["head"], "sha": request["sha"]}, "base": {"ref": request["base"]}}
        return {
            **text,
            **branches,
            "number": number,
            "state": request["state"],
            "body": request["body"],
            "html_url": url,
        }


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        forge, body = self.server.forge, json.loads(content) if content else None
        forge.asked.append((self.command, self.path, dict(self.headers.items()), body))
        if forge.refusal is not None:
            status, said = forge.refusal
        else:
            status, told = forge.answer(self.command, self.path, body)
            said = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_PATCH = do_POST = do_PUT = answer  # noqa: N815 - the library's names

    def log_message(self, *_words: Any) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    forge: ForgeServer


@contextmanager
def serving_forge(kind: str, hub: Repository) -> Iterator[ForgeServer]:
    """Serve a forge until the end of the block."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.forge = ForgeServer(kind=kind, hub=hub, api=f"http://127.0.0.1:{server.server_port}/api")
        thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
        thread.start()
        try:
            yield server.forge
        finally:
            server.shutdown()
            joined(thread)
