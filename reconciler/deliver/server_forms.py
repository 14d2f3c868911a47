"""The objects that a cluster keeps in a form of its own, remembered so that they are not applied again in every pass.

A mutating webhook that rewrites a value leaves an object different from what is wanted however often it is applied.
What is remembered is a digest of what was wanted and what came of it, per cluster; a change of either is news. It is a
cache: without it each such object costs a request that changes nothing. Nothing is remembered of Secrets.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from reconciler.plans.model import Action
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.model import ObjectRef

from .results import ClusterReport

_ENTRY = b"forms"


def known_server_forms(directory: Path, uid: str) -> Mapping[ObjectRef, str]:
    """Return the digests remembered of a cluster's objects; ``uid`` is the cluster's identity."""
    with _cache(directory, uid) as cache:
        known = cache.get_many([_ENTRY]).get(_ENTRY, {})
    return {ObjectRef(*parts): digest for parts, digest in known.items()}


def remember_server_forms(directory: Path, report: ClusterReport) -> None:
    """Remember the objects that an apply left in a form of the server's own.

    An object that was only just created is applied once more: some webhooks rewrite objects at creation alone.
    """
    if report.applied is None or report.plan is None or not report.plan.uid:
        return
    before = report.plan.options.server_forms
    results = [result for result in report.applied.results if result.action is not Action.CREATED]
    after = {result.ref: result.server_form for result in results if result.server_form}
    after |= {item.ref: before[item.ref] for item in report.plan.objects if item.reason == "Settled"}
    after = {ref: digest for ref, digest in after.items() if ref.group_kind != "Secret"}
    if after == dict(before):
        return
    with _cache(directory, report.plan.uid) as cache:
        plain = {(ref.group, ref.kind, ref.namespace, ref.name): after[ref] for ref in sorted(after)}
        cache.put_many({_ENTRY: plain})


def _cache(directory: Path, uid: str) -> Cache:
    name = hashlib.sha256(uid.encode()).hexdigest()[:16]
    return Cache(directory, f"forms-{name}", version=engine_version())
