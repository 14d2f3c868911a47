"""``python -m tests.kubernetes.supervisor FOLDER``: run servers until the test run that asked for them is gone.

It reads one JSON request a line from standard input (``{"start": NAME, "command": [...]}`` or ``{"stop": NAME}``) and
answers each with a line. The other end of that pipe belongs to the test run: when the run ends, however it ends, the
pipe closes, and the supervisor ends its servers by their process ids and removes FOLDER. Should the supervisor itself
be killed, the kernel ends its servers with it.
"""

import ctypes
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1


def main(folder: Path) -> None:
    """Serve requests until the pipe closes, then leave nothing behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin:
            print(json.dumps(_answer(json.loads(line), servers, folder)), flush=True)
    finally:
        for server in servers.values():
            server.kill()
        for server in servers.values():
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _answer(request: dict[str, Any], servers: dict[str, subprocess.Popen[bytes]], folder: Path) -> dict[str, Any]:
    if "start" in request:
        name = request["start"]
        servers[name] = _started(request["command"], folder / f"{name}.log")
        return {"pid": servers[name].pid}
    server = servers.pop(request["stop"])
    server.kill()
    return {"exit": server.wait()}


def _started(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    libc = ctypes.CDLL(None)
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509 - one thread here
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
