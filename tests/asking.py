"""The asking side of ``tests.prepared``; as a program, it stands for ``argosy`` in scripts.

It imports as little as possible, for it is started where a whole ``argosy`` would cost too much.
"""

import marshal
import os
import socket
import sys
from collections.abc import Mapping, Sequence

SECONDS = 120.0
"""The time for a command."""
CODE = 8
"""The bytes of a number as it is told: a process id, and later an exit code."""


def ask(
    address: str, arguments: list[str], folder: str, environment: Mapping[str, str], streams: Sequence[int]
) -> tuple[socket.socket, int]:
    """Ask for a command; return the connection on which its exit code comes, and its process id."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(SECONDS)
    connection.connect(address)
    asked = marshal.dumps((arguments, folder, dict(environment)))
    connection.sendall(len(asked).to_bytes(4, "big"))
    socket.send_fds(connection, [asked[:1]], streams)
    connection.sendall(asked[1:])
    return connection, int(connection.recv(CODE, socket.MSG_WAITALL))


def main() -> None:
    """Run the command of this command line, and end as it does."""
    address, *arguments = sys.argv[1:]
    connection, _ = ask(address, arguments, os.getcwd(), os.environ, (0, 1, 2))  # noqa: PTH109 - pathlib costs its import
    code = int(connection.recv(CODE, socket.MSG_WAITALL))
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
