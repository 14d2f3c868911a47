"""Messages of JSON-RPC, one a line, read from a pipe and written to one; each is bounded."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import IO, Any

from msgspec import Struct

MOST_BYTES = 16 << 20
"""A longer line is no message; whoever sent it is told so."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
BUSY, UNSUPPORTED_VERSION = -32000, -32022

Message = dict[str, Any]
RequestId = str | int | None


class ProtocolError(Exception):
    """A request that cannot be answered, with the code that the protocol has for the reason."""

    def __init__(self, code: int, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, details

    def reply(self, request_id: RequestId) -> Message:
        """Return the message that says so."""
        more = {"data": self.details} if self.details else {}
        return {"jsonrpc": "2.0", "id": request_id, "error": {"code": self.code, "message": self.message, **more}}


class AskedMethod(Struct, frozen=True, kw_only=True):
    """A message that asks for something; a notification has no id, and is not answered."""

    method: str
    params: Mapping[str, Any]
    id: RequestId = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The part in which a message speaks of itself."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def request_of_message(message: object) -> AskedMethod | None:
    """Return a message as a request; None for an answer to one of ours, of which there are none."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'a message is an object with "jsonrpc": "2.0"')
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params, request_id = message.get("method"), message.get("params", {}), message.get("id")
    if not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, "method is not a text")
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_REQUEST, "params is not an object")
    if "id" in message and (isinstance(request_id, bool) or not isinstance(request_id, str | int)):
        raise ProtocolError(INVALID_REQUEST, "id is neither a text nor a whole number")
    return AskedMethod(method=method, params=params, id=request_id)


def id_of_message(message: object) -> RequestId:
    """Return the id that an error about a message is to have; None where it has none that can be used."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def messages_of_stream(stream: IO[bytes]) -> Iterator[object]:
    """Yield what stands in each line of a stream until its end; an error for a line that is no JSON.

    A line that is too long is read to its end and kept by nobody. Several messages in one array come one by one.
    """
    while line := stream.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MOST_BYTES)
            yield ProtocolError(INVALID_REQUEST, f"a message has at most {MOST_BYTES} bytes")
            continue
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            yield ProtocolError(PARSE_ERROR, "a line is not JSON in UTF-8")
            continue
        if isinstance(found, list) and found:
            yield from found
        else:
            yield found


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


class MessageWriter:
    """The pipe that answers go to, whole lines, whichever thread has one; a reader that went away is written nothing.

    Everything beyond ASCII is escaped, so that no line end of Unicode divides a message.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._is_open = True

    def write(self, message: Mapping[str, Any]) -> None:
        """Write one message."""
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            if not self._is_open:
                return
            try:
                self._stream.write(line)
                self._stream.flush()
            except (OSError, ValueError):
                self._is_open = False
