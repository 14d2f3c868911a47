"""``argosy mcp`` with a client that knows nothing of it but the protocol: a session from its beginning to its end.

Each message of the server is held to what the specification says about its kind, by a checker of our own.
"""

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.assistants import a_fleet
from tests.waiting import SECONDS, running

VERSION = "2025-06-18"


class StrictClient:
    """A client that reads line by line, and takes no message that is not as the protocol has it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert isinstance(process.stdin, io.TextIOWrapper)
        assert isinstance(process.stdout, io.TextIOWrapper)
        self.input, self.output = process.stdin.buffer, process.stdout.buffer
        self.asked: dict[int, str] = {}
        self.progress: list[Mapping[str, Any]] = []

    def send(self, message: Mapping[str, Any] | str) -> None:
        text = message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})
        self.input.write(text.encode() + b"\n")
        self.input.flush()

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        number = len(self.asked) + 1
        self.asked[number] = method
        self.send({"id": number, "method": method, **({} if params is None else {"params": params})})
        return number

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The answer to a request; notifications before it are kept."""
        number = self.begin(method, params)
        while "id" not in (message := self.next()):
            self.progress.append(message)
        assert message["id"] == number
        return message

    def next(self) -> Mapping[str, Any]:
        line = self.output.readline()
        assert line.endswith(b"\n"), "one message a line"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            assert (message["method"], "id" in message) == ("notifications/progress", False)
            assert message.keys() == {"jsonrpc", "method", "params"}
            assert isinstance(message["params"]["progress"], int | float)
        elif "error" in message:
            assert message.keys() == {"jsonrpc", "id", "error"}
            assert isinstance(message["error"]["code"], int)
            assert isinstance(message["error"]["message"], str)
        else:
            assert message.keys() == {"jsonrpc", "id", "result"}
            assert message["id"] in self.asked, "an answer to nothing that was asked"
        return message

    def result(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        message = self.ask(method, params)
        assert "result" in message, message
        result: Mapping[str, Any] = message["result"]
        return result

    def fault(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        message = self.ask(method, params)
        assert "error" in message, message
        return int(message["error"]["code"])

    def call(self, name: str, **arguments: Any) -> Mapping[str, Any]:
        """The result of a call of a tool, which is made of parts that are text."""
        result = self.result("tools/call", {"name": name, "arguments": arguments})
        assert result["content"]
        assert all(part["type"] == "text" and isinstance(part["text"], str) for part in result["content"])
        assert isinstance(result.get("isError", False), bool)
        return result


@pytest.fixture
def client(tmp_path: Path) -> Iterator[StrictClient]:
    """A session that is begun as the protocol says."""
    command = [sys.executable, "-m", "reconciler", "-C", str(a_fleet(tmp_path / "fleet").path), "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with running(command, seconds=4 * SECONDS, **pipes) as process:
        client = StrictClient(process)
        asked = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "strict", "version": "1"}}
        begun = client.result("initialize", asked)
        assert begun["protocolVersion"] == VERSION
        assert isinstance(begun["capabilities"]["tools"], dict)
        assert all(isinstance(begun["serverInfo"][name], str) for name in ("name", "version"))
        client.send({"method": "notifications/initialized"})
        yield client
        client.input.close()
        assert process.wait(timeout=SECONDS) == 0
        assert client.output.read() == b"", "nothing is said after the last answer"


def arguments_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a tool, made of its schema alone: what it requires, of the type that it says."""
    samples = {"string": "web", "integer": 1, "boolean": True}
    found: dict[str, Any] = {}
    for name in schema.get("required", ()):
        field = schema["properties"][name]
        item = samples.get(field.get("items", {}).get("type"), "web")
        found[name] = field.get("enum", [[item] if field["type"] == "array" else samples.get(field["type"], {})])[0]
    return found


def test_every_tool_is_described_by_a_schema_and_answers_what_the_schema_allows(client: StrictClient) -> None:
    tools = client.result("tools/list")["tools"]
    assert len(tools) == len({tool["name"] for tool in tools}) > 5
    for tool in tools:
        schema = tool["inputSchema"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert (schema["type"], isinstance(tool["description"], str)) == ("object", True)
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] != "propose")
        if tool["annotations"]["readOnlyHint"]:
            arguments = arguments_of(schema)
            jsonschema.validate(arguments, schema)
            result = client.call(tool["name"], **arguments)
            assert "the arguments are not right" not in result["content"][0]["text"], (tool["name"], arguments)
    assert client.result("ping") == {}


def test_what_is_wrong_gets_the_code_of_the_protocol_and_the_session_goes_on(client: StrictClient) -> None:
    assert client.fault("nosuch/method") == -32601
    assert client.fault("resources/list") == -32601
    assert client.fault("tools/call", {"name": "nosuch", "arguments": {}}) == -32602
    assert client.fault("tools/call", {"name": "search", "arguments": []}) == -32602
    assert client.fault("tools/list", {"cursor": "another"}) == -32602
    assert client.call("search", nosuch=1)["isError"]
    for text, code in (("{", -32700), ('{"jsonrpc": "1.0", "method": "ping", "id": 7}', -32600)):
        client.send(text)
        assert client.next()["error"]["code"] == code
    client.send({"method": "notifications/nobody-knows-it"})
    assert client.result("ping") == {}


def test_a_cancelled_call_gets_no_answer_and_progress_is_told_by_its_token(client: StrictClient) -> None:
    """A call that takes its time says so; once it is cancelled nothing more is said of it."""
    params = {"name": "simulate", "arguments": {"n_minus": 2}, "_meta": {"progressToken": "mine"}}
    cancelled = client.begin("tools/call", params)
    client.send({"method": "notifications/cancelled", "params": {"requestId": cancelled, "reason": "enough"}})
    client.send({"method": "notifications/cancelled", "params": {"requestId": 4711}})
    assert client.result("ping") == {}
    assert client.call("problems")["isError"] is False
    assert {each["params"]["progressToken"] for each in client.progress} <= {"mine"}


WORDS = ("web", "oslo", "paris", "settings", "all")


def test_answers_of_calls_side_by_side_are_told_apart(client: StrictClient) -> None:
    asked = {client.begin("tools/call", {"name": "search", "arguments": {"words": [word]}}): word for word in WORDS}
    answers: dict[int, str] = {}
    while len(answers) < len(asked):
        message = client.next()
        answers[message["id"]] = message["result"]["content"][0]["text"]
    assert {number for number, word in asked.items() if word in answers[number]} == asked.keys()
