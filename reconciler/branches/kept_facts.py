"""The facts of the status branch, of which each file is parsed once, and what most clusters serve alike is kept once.

The APIs of a cluster are nearly all of its facts, and thousands of clusters serve the same ones. So their list is one
value here, however many clusters have it, and whoever reads or writes it does that once.
"""

from collections.abc import Mapping
from marshal import dumps
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import content_without_version
from reconciler.ledger.facts import APIS, ClusterFacts
from reconciler.repository import Repository
from reconciler.repository.cache import Cache
from reconciler.repository.trailers import engine_version
from render.gitobjects import git_object_id
from render.model import Manifest

_WITHOUT_REFERENCES = 2
"""The version of ``marshal`` in which equal values are equal bytes, whether or not a part of one is there twice."""


def read_facts(repository: Repository, files: Mapping[str, bytes]) -> dict[str, tuple[ClusterFacts, bytes]]:
    """Read files of facts, parsing those no pass has parsed before; each with the id it has in a rendered commit.

    Of equal APIs, each cluster has the same list.
    """
    path_by_id = {id_: path for path, id_ in files.items()}
    with Cache(repository.cache_dir, "facts", version=engine_version()) as cache:
        kept = _KeptFacts(cache)
        found = kept.read_before(path_by_id)
        contents = repository.read_blobs(path_by_id.keys() - found.keys())
        for id_, content in contents.items():
            facts = ClusterFacts.read(path_by_id[id_], content)
            found[id_] = kept.keep(id_, facts, git_object_id("blob", content_without_version(content)))
    return {path: found[id_] for path, id_ in files.items()}


class _KeptFacts(Struct, frozen=True):
    """Facts as plain data in a cache, by blob id; the APIs in them are values of their own, named by their id."""

    cache: Cache
    apis: dict[bytes, Any] = field(default_factory=dict)

    def read_before(self, ids: Mapping[bytes, str]) -> dict[bytes, tuple[ClusterFacts, bytes]]:
        """Return the facts that earlier passes read."""
        known = self.cache.get_many(ids)
        named = {status[APIS] for _, status, _, _ in known.values() if isinstance(status.get(APIS), bytes)}
        self.apis.update(self.cache.get_many(named))
        found = {}
        for id_, (name, status, observed_at, rendered_id) in known.items():
            apis = status.get(APIS)
            if isinstance(apis, bytes):
                if apis not in self.apis:  # the cache forgets what was not asked for longest
                    continue
                status[APIS] = self.apis[apis]
            found[id_] = ClusterFacts(name=name, status=status, observed_at=observed_at), rendered_id
        return found

    def keep(self, id_: bytes, facts: ClusterFacts, rendered_id: bytes) -> tuple[ClusterFacts, bytes]:
        """Remember facts that were read; return them with the list of APIs that others have as well."""
        kept, shared = self._with_shared_apis(facts.status)
        self.cache.put_many({id_: (facts.name, kept, facts.observed_at, rendered_id)})
        return replace(facts, status=shared), rendered_id

    def _with_shared_apis(self, status: Manifest) -> tuple[Manifest, Manifest]:
        """Return a status as it is kept, with an id in place of its APIs, and as others share these."""
        apis = status.get(APIS)
        if not apis:
            return status, status
        encoded = dumps(apis, _WITHOUT_REFERENCES)
        apis_id = git_object_id("blob", encoded)
        if apis_id not in self.apis:
            self.apis[apis_id] = apis
            self.cache.put_many({apis_id: apis})
        return {**status, APIS: apis_id}, {**status, APIS: self.apis[apis_id]}
