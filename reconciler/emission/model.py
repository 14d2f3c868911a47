"""The values of emission: where other tools find the rendered commit, and what they must know of a tree."""

import hashlib
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from render.documents import emit
from render.model import Manifest, ObjectRef
from render.settings.emission import Grouping, Placing

_LONGEST_LABEL = 63
_HASH_DIGITS = 8


class Stage(StrEnum):
    """A part of a cluster's tree that is applied as one, in this order.

    ``KEPT`` are objects that are never pruned; ``INTERCEPTORS`` are those that intercept writes, which wait until what
    answers for them is healthy.
    """

    KEPT = "kept"
    OBJECTS = "objects"
    INTERCEPTORS = "interceptors"


class RenderedPlace(Struct, frozen=True, kw_only=True):
    """The rendered branch as other tools reach it; ``folder`` is that of a cluster's tree ("": the root)."""

    address: str
    branch: str
    folder: str = ""


class EmissionOptions(Struct, frozen=True, kw_only=True):
    """The choices about emitted objects.

    ``prefix`` begins their names. ``namespace`` is that of the tool. ``git_secret`` is the Secret by which the tool
    reads the repository ("": none), ``kubeconfig_secret`` the one by which a hub reaches a member, with ``{cluster}``
    for its name. ``decryption_secret`` has the keys of SOPS ("": none).
    """

    placing: Placing = Placing.HUB
    grouping: Grouping = Grouping.APPLICATION_SET
    prefix: str = "argosy"
    namespace: str = ""
    git_secret: str = ""
    kubeconfig_secret: str = "{cluster}-kubeconfig"  # noqa: S105 - the pattern of a name
    decryption_secret: str = ""
    interval: str = "1m"
    project: str = "default"


class IgnoredField(Struct, frozen=True, kw_only=True, order=True):
    """A field of one object that is left to others after its creation, as a JSON pointer."""

    ref: ObjectRef
    pointer: str


class ClusterTree(Struct, frozen=True, kw_only=True):
    """A cluster's tree as far as it decides what is emitted.

    ``kept`` are the objects that are never pruned, though their kind is, each with its API version; ``kept_kinds`` and
    ``interceptors`` are the kinds in it that are never pruned, or that intercept writes, with one of their versions.
    ``misread`` are objects whose file kustomize takes for its own.
    """

    cluster: str
    place: RenderedPlace
    kept: tuple[tuple[str, ObjectRef], ...] = ()
    kept_kinds: tuple[tuple[str, str], ...] = ()
    interceptors: tuple[tuple[str, str], ...] = ()
    ignored: tuple[IgnoredField, ...] = ()
    is_encrypted: bool = False
    misread: tuple[ObjectRef, ...] = ()


class Emission(Struct, frozen=True, kw_only=True):
    """Emitted objects by the file each belongs in, and notes of what has no counterpart in them."""

    files: tuple[tuple[str, tuple[Manifest, ...]], ...]
    notes: tuple[str, ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All objects, in the order in which they can be made."""
        return tuple(each for _, manifests in self.files for each in manifests)


def file_contents(emission: Emission) -> Iterator[tuple[str, bytes]]:
    """Yield each file with its bytes."""
    for path, manifests in emission.files:
        yield path, b"---\n".join(map(emit, manifests))


def name_fit_for_label(*parts: str) -> str:
    """Return a name that may also be the value of a label: one that is too long is cut and ends in a hash.

    >>> name_fit_for_label("argosy", "member1"), len(name_fit_for_label("argosy", "m" * 80))
    ('argosy-member1', 63)
    """
    name = "-".join(filter(None, parts))
    if len(name) <= _LONGEST_LABEL:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{name[: _LONGEST_LABEL - _HASH_DIGITS - 1].rstrip('-.')}-{digest}"
