"""The leader among several controllers: who holds a Lease of a cluster, renewed while it lives.

The Lease keeps two controllers from doing the same work twice; it is not what keeps them from harm. One that was
stopped for a minute and goes on as if it still led can write no branch: each moves by compare-and-swap from where a
pass read it, and a commit older than the one a cluster holds is refused there.

A holder's time counts on the clock of whoever waits for it, from when it saw the Lease change last: no two clocks are
compared. A leader that could not renew in time stops leading before anybody else begins.
"""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.console.log import Log
from reconciler.members.exchange import Answer, Client, Expected, Failure, FailureKind, Request

LEASE_SECONDS = 15.0
RENEW_SECONDS = 10.0
"""The time after which a leader that could not renew its Lease stops leading."""
RETRY_SECONDS = 2.0
_REQUEST_SECONDS = 5.0

OpenLeaseCluster = Callable[[float], Client | Failure]
"""Open a client of the cluster that has the Lease, which gives up after so many seconds."""


class LeaseName(Struct, frozen=True, kw_only=True):
    """The Lease to hold: the cluster it is in, by context, and its name there."""

    cluster: str
    namespace: str = "argosy-system"
    name: str = "argosy-run"

    @property
    def collection(self) -> str:
        """The path of the Leases of its namespace."""
        return f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases"


class LeaderState(Struct, frozen=True, kw_only=True):
    """The knowledge of one controller about the Lease.

    ``version`` is the Lease as it was last seen, and ``changed`` when that was; ``renewed`` is when this process last
    held it (None: it does not).
    """

    holder: str
    version: str = ""
    changed: float = 0.0
    renewed: float | None = None
    fault: str = ""

    def is_leading(self, now: float) -> bool:
        """Return whether this process leads: it holds the Lease, and renewed it not too long ago."""
        return self.renewed is not None and now - self.renewed < RENEW_SECONDS


def take_or_renew_lease(state: LeaderState, client: Client, lease: LeaseName, now: float) -> LeaderState:
    """Try to take or renew the Lease, and return what is known then."""
    path = f"{lease.collection}/{lease.name}"
    answer = client.send(Request(method="GET", path=path, expects=Expected.OBJECT, tries=1, timeout=_REQUEST_SECONDS))
    if isinstance(answer, Failure):
        if answer.kind is not FailureKind.NOT_FOUND:
            return replace(state, fault=answer.message)
        metadata = {"name": lease.name, "namespace": lease.namespace}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
        return _state_after_writing_lease(
            state, client, ("POST", lease.collection), {**body, "spec": _lease_spec_of_holder(state.holder, {})}, now
        )
    spec: Mapping[str, Any] = answer.body.get("spec") or {}
    version, holder = str((answer.body.get("metadata") or {}).get("resourceVersion")), spec.get("holderIdentity")
    if version != state.version:
        state = replace(state, version=version, changed=now)
    seconds = spec.get("leaseDurationSeconds")
    span = float(seconds) if isinstance(seconds, int) else LEASE_SECONDS
    if holder and holder != state.holder and now - state.changed < span:
        return replace(state, renewed=None, fault="")
    return _state_after_writing_lease(
        state, client, ("PUT", path), {**answer.body, "spec": _lease_spec_of_holder(state.holder, spec)}, now
    )


def _state_after_writing_lease(
    state: LeaderState, client: Client, where: tuple[str, str], body: Mapping[str, Any], now: float
) -> LeaderState:
    """Write the Lease, unless somebody else changed it since it was read: then that one leads."""
    method, path = where
    request = Request(method=method, path=path, expects=Expected.OBJECT, body=body, tries=1, timeout=_REQUEST_SECONDS)
    answer = client.send(request)
    if isinstance(answer, Answer):
        version = str(answer.body["metadata"]["resourceVersion"])
        return replace(state, version=version, changed=now, renewed=now, fault="")
    is_lost = answer.kind is FailureKind.RACE
    return replace(state, renewed=None if is_lost else state.renewed, fault="" if is_lost else answer.message)


def release_lease(state: LeaderState, client: Client, lease: LeaseName) -> None:
    """Give the Lease back if this process holds it, so that nobody has to wait until it runs out."""
    path = f"{lease.collection}/{lease.name}"
    answer = client.send(Request(method="GET", path=path, expects=Expected.OBJECT, tries=1, timeout=_REQUEST_SECONDS))
    if isinstance(answer, Answer) and (answer.body.get("spec") or {}).get("holderIdentity") == state.holder:
        body = {**answer.body, "spec": {**answer.body["spec"], "holderIdentity": ""}}
        client.send(Request(method="PUT", path=path, expects=Expected.OBJECT, body=body, tries=1))


def _lease_spec_of_holder(holder: str, before: Mapping[str, Any]) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    is_new = before.get("holderIdentity") != holder
    turns = before.get("leaseTransitions")
    return {
        "holderIdentity": holder,
        "leaseDurationSeconds": int(LEASE_SECONDS),
        "acquireTime": now if is_new else before.get("acquireTime") or now,
        "renewTime": now,
        "leaseTransitions": (turns if isinstance(turns, int) else 0) + (1 if is_new and before else 0),
    }


class Leadership:
    """The Lease held, or waited for, in a thread of its own until it is closed."""

    def __init__(
        self, lease: LeaseName, holder: str, open_cluster: OpenLeaseCluster, tell: Callable[[bool], None], log: Log
    ) -> None:
        self._lease = lease
        self._open_cluster = open_cluster
        self._tell = tell
        self._log = log
        self._state = LeaderState(holder=holder)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._keep_lease, daemon=True, name="leadership")
        self._thread.start()

    def close(self) -> None:
        """Lead no more, and give the Lease back."""
        self._closed.set()
        self._thread.join(2 * _REQUEST_SECONDS)

    def _keep_lease(self) -> None:
        # Also what is found first is told: whoever asks may have led by another Lease.
        was_leading: bool | None = None
        while not self._closed.is_set():
            before, self._state = self._state, self._try_lease()
            if self._state.fault and self._state.fault != before.fault:
                self._log.warning(f"the Lease {self._lease.name} cannot be had: {self._state.fault}")
            is_leading = self._state.is_leading(time.monotonic())
            if is_leading != was_leading:
                was_leading = is_leading
                self._tell(is_leading)
            self._closed.wait(RETRY_SECONDS)
        client = self._open_cluster(_REQUEST_SECONDS)
        if self._state.renewed is not None and not isinstance(client, Failure):
            release_lease(self._state, client, self._lease)

    def _try_lease(self) -> LeaderState:
        client = self._open_cluster(_REQUEST_SECONDS)
        if isinstance(client, Failure):
            return replace(self._state, fault=client.message)
        return take_or_renew_lease(self._state, client, self._lease, time.monotonic())
