"""The observed schemas that a commit of the status branch records: an index for each member, and each schema once."""

from collections.abc import Iterable, Mapping

from reconciler.ledger.branch_file import error_of_damaged_file
from reconciler.ledger.member_schemas import MemberSchemas
from reconciler.pipeline.renames import new_names_of_clusters, values_by_new_names
from reconciler.repository import Repository
from reconciler.source.schemas.observed import ObservedSchemas, digest_of_schema
from render.cluster import Cluster

FOLDER = "schemas"
_INDEX, _SCHEMA = ".yaml", ".json"


def schema_path(digest: str) -> str:
    """Return the path of a schema."""
    return f"{FOLDER}/{digest}{_SCHEMA}"


def recorded_schemas(repository: Repository, commit: str | None) -> ObservedSchemas:
    """Read what a commit records; the schemas themselves are read when they are asked for."""
    if commit is None:
        return ObservedSchemas()
    root = repository.commit_info(commit).tree
    folder = next((entry.id for entry in repository.read_trees([root])[root] if entry.name == FOLDER.encode()), None)
    if folder is None:
        return ObservedSchemas()
    ids = {entry.text: entry.id for entry in repository.read_trees([folder])[folder]}
    indexes = {name.removesuffix(_INDEX): id_ for name, id_ in ids.items() if name.endswith(_INDEX)}
    contents = repository.read_blobs(set(indexes.values()))
    path_by_id = {id_: MemberSchemas.at(name) for name, id_ in indexes.items()}
    # A version of which a schema is missing is read anew by the next pass.
    known = {name.removesuffix(_SCHEMA) for name in ids if name.endswith(_SCHEMA)}
    parsed = {
        id_: _parse_member_schemas(path, contents[id_]).schemas_with_digests(known) for id_, path in path_by_id.items()
    }

    def content(digest: str) -> bytes:
        id_ = ids.get(f"{digest}{_SCHEMA}")
        found = repository.read_blobs([id_])[id_] if id_ else b""
        if id_ and digest_of_schema(found) != digest:
            raise error_of_damaged_file(schema_path(digest), "its content is not what its name says")
        return found

    return ObservedSchemas(by_cluster={name: parsed[id_] for name, id_ in indexes.items()}, recorded=content)


def _parse_member_schemas(path: str, content: bytes) -> MemberSchemas:
    return MemberSchemas.read(path, content)


def schemas_by_new_names(schemas: ObservedSchemas, clusters: Iterable[Cluster]) -> ObservedSchemas:
    """Return schemas by the names that the source gives the clusters now."""
    known: Mapping[str, MemberSchemas] = schemas.by_cluster
    names = {old: new for old, new in new_names_of_clusters(clusters, known).items() if old in known}
    if not names:
        return schemas
    return ObservedSchemas(by_cluster=values_by_new_names(known, names), new=schemas.new, recorded=schemas.recorded)
