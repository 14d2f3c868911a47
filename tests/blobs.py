"""The ids of blobs, found from their whole content."""

from render.gitobjects import Blob, git_object_id


def blob_id(blob: Blob, algorithm: str = "sha1") -> bytes:
    """Return the raw id of a blob, plain or spliced."""
    return git_object_id("blob", blob if isinstance(blob, bytes) else blob.data(), algorithm)
