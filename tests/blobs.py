"""The ids of blobs, found from their whole content."""

from render.gitobjects import Blob, content_of_blob, git_object_id


def blob_id(blob: Blob, algorithm: str = "sha1") -> bytes:
    """Return the raw id of a blob, whatever it is made of."""
    return git_object_id("blob", content_of_blob(blob), algorithm)
