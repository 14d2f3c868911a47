"""The process that forks passes: it has imported what a pass needs, and never runs one itself.

A pass begins with half a second of imports, which is most of the time from a push to the first write. Here they are
made once, and each pass is a fork that shares their memory. Nothing of a pass comes back: a fork ends as a process of
its own does.

1. The controller sends one byte over its socket for each pass, with three descriptors: its stdin, its stdout, and a
   socket as its channel.
2. That socket gets the number of the process in a line and, once the process has ended, its code in another.
3. The process is reaped when the controller has closed that socket, so that its number belongs to nobody else before.

The end of the controller's socket ends this process; passes end by the end of their own stdin.
"""

import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from render.expressions import compile_expressions

from .pass_process import main as run_pass

DESCRIPTORS = 3
"""The descriptors that come with the request for a pass."""
NEEDED = (
    "reconciler.branches.place",
    "reconciler.console.cluster_lists",
    "reconciler.console.disk_errors",
    "reconciler.console.grouping",
    "reconciler.members.webhooks",
    "reconciler.passes.ending",
    "reconciler.passes.fresh_looks",
    "reconciler.passes.logged_apply",
    "reconciler.passes.members",
    "reconciler.passes.pass_lines",
    "reconciler.passes.reconcile_pass",
    "reconciler.passes.remembering",
    "reconciler.passes.repeated_report",
    "reconciler.pipeline.movements",
    "reconciler.repository.deltas",
    "reconciler.repository.opening",
    "reconciler.repository.pack",
    "reconciler.repository.worktree",
    "render.documents.building",
    "render.documents.parsing",
)
"""The modules that an ordinary pass imports on its way, beside those that these import."""


def main(control: int) -> None:
    """Import what passes need, and fork one for each request that comes over a socket, until that ends."""
    for name in NEEDED:
        import_module(name)
    compile_expressions()
    gc.collect()
    gc.freeze()
    gc.disable()
    # A signal to the group of a terminal is for the controller, which ends this process and its passes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    with socket.socket(fileno=control) as requests, woken, waking:
        _serve(requests, woken, waking)


def _serve(requests: socket.socket, woken: socket.socket, waking: socket.socket) -> None:
    passes: dict[int, socket.socket] = {}
    while True:
        ready = select.select([requests, woken, *passes.values()], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            _report_ended(passes)
        for pid in [pid for pid, channel in passes.items() if channel in ready]:
            _reap(pid, passes)
        if requests in ready and not _fork_next(requests, (woken, waking), passes):
            return


def _fork_next(requests: socket.socket, own: Iterable[socket.socket], passes: dict[int, socket.socket]) -> bool:
    """Fork the pass of the next request; False where there will be none any more."""
    message, descriptors, _, _ = socket.recv_fds(requests, 1, DESCRIPTORS)
    if not message or len(descriptors) != DESCRIPTORS:
        return False
    stdin, stdout, channel = descriptors
    pid = os.fork()
    if not pid:
        for each in (requests, *own, *passes.values()):
            each.close()
        os.close(channel)
        _become_pass(stdin, stdout)
    # Here as well as there: whoever knows of the process may end its group at once.
    with suppress(OSError):
        os.setpgid(pid, pid)
    os.close(stdin)
    os.close(stdout)
    passes[pid] = socket.socket(fileno=channel)
    with suppress(OSError):  # the controller may have ended meanwhile
        passes[pid].sendall(b"%d\n" % pid)
    return True


def _become_pass(stdin: int, stdout: int) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        for ordinary in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(ordinary, signal.SIG_DFL)
        with suppress(OSError):
            os.setpgid(0, 0)
        for number, stream in enumerate((stdin, stdout)):
            os.dup2(stream, number)
            os.close(stream)
        run_pass()
    except BaseException:  # noqa: BLE001 - as at the end of any program: it is shown, and nothing goes on from here
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def _report_ended(passes: Mapping[int, socket.socket]) -> None:
    """Tell the code of each pass that has ended, and keep its number until that is known."""
    for pid, channel in passes.items():
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            with suppress(OSError):
                channel.sendall(b"%d\n" % code)


def _reap(pid: int, passes: dict[int, socket.socket]) -> None:
    """Forget a pass whose end is known, or that nobody waits for any more."""
    passes.pop(pid).close()
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
