"""An object of a rendered commit, read back from its file; whoever may push to the branch may have changed that."""

from render.documents import DocumentErrors, parse_documents
from render.errors import GitError
from render.model import Manifest, ref_of_plain_value

_HINT = "the rendered branch is Argosy's to write; restore its last good commit"


def object_of_rendered_file(content: bytes, path: str) -> Manifest:
    """Return the object of a file of a rendered commit's ``clusters``; GitError where it holds none."""
    manifest = mapping_of_rendered_file(content, path)
    if ref_of_plain_value(manifest) is None:
        raise GitError(f"{path} on the rendered branch holds no object", hint=_HINT)
    return manifest


def mapping_of_rendered_file(content: bytes, path: str = "a file") -> Manifest:
    """Return what such a file says, by whatever name; GitError where it is no mapping."""
    try:
        manifest = parse_documents(content)[0].value
    except (DocumentErrors, IndexError):
        manifest = None
    if not isinstance(manifest, dict):
        raise GitError(f"{path} on the rendered branch holds no object", hint=_HINT)
    return manifest
