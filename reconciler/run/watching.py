"""File events of a repository's refs: whoever commits or pushes to it wakes its fleet.

Only HEAD, the packed refs and the folder of refs are watched, never the objects. Where the folder goes away, or the
system has no more watches to give, the fleet is woken every few seconds instead until it can be watched again.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from reconciler.console.log import Log
from reconciler.repository import GitFolder

_HEADS = frozenset({"HEAD", "packed-refs"})
_AGAIN = 5.0
_DEBOUNCE_MILLISECONDS, _STEP_MILLISECONDS = 200, 20


class RefWatch:
    """The watch over one repository's refs, in threads of its own until it is closed."""

    def __init__(self, folder: GitFolder, wake: Callable[[], None], log: Log) -> None:
        self._wake = wake
        self._log = log
        self._closed = threading.Event()
        self._is_warned = False
        # What HEAD is about stands in the work tree's own git folder; branches are shared with linked work trees.
        tables = folder.common_dir / "reftable"
        self._start_watching_in_thread(tables if tables.is_dir() else folder.common_dir / "refs", is_deep=True)
        for base in {folder.git_dir, folder.common_dir}:
            self._start_watching_in_thread(base, is_deep=False)

    def close(self) -> None:
        """End the watch."""
        self._closed.set()

    def _start_watching_in_thread(self, path: Path, *, is_deep: bool) -> None:
        threading.Thread(target=self._watch_path, args=(path, is_deep), daemon=True, name=f"watch {path}").start()

    def _watch_path(self, path: Path, is_deep: bool) -> None:
        from watchfiles import watch

        while not self._closed.is_set():
            try:
                for changes in watch(
                    path,
                    watch_filter=None,
                    debounce=_DEBOUNCE_MILLISECONDS,
                    step=_STEP_MILLISECONDS,
                    stop_event=self._closed,
                    rust_timeout=5000,
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    recursive=is_deep,
                ):
                    if any(_is_about_refs(Path(changed), is_deep=is_deep) for _, changed in changes):
                        self._wake()
                    if not path.exists():
                        break
            except (OSError, RuntimeError) as error:
                self._report_change_or_error(path, error)
            if not self._closed.wait(_AGAIN):
                self._wake()

    def _report_change_or_error(self, path: Path, error: Exception) -> None:
        if not self._is_warned:
            self._is_warned = True
            self._log.warning(f"{path} cannot be watched, and is looked at every {_AGAIN:g} s: {error}")


def _is_about_refs(path: Path, *, is_deep: bool) -> bool:
    """Return whether a changed file is a ref or names one; locks are on their way to become one.

    >>> [_is_about_refs(Path("/a.git") / name, is_deep=False) for name in ("HEAD", "index", "packed-refs.lock")]
    [True, False, False]
    """
    if is_deep:
        return path.suffix != ".lock"
    return path.name in _HEADS
