"""The path of an object in the rendered tree: folders and file names that are injective, case-safe and harmless.

A name keeps ``[a-z0-9.-]``; every other byte is percent-encoded, so that no name can leave its folder or collide with
another one on a file system that ignores case. Over 200 bytes it is cut and ends in ``_`` and a hash: ``_`` is never
left bare by the encoding, so a cut name equals no other.

The folder of a kind keeps its capitals, for people know kinds by them. One in capitals alone that is too long for an
acronym has them encoded: ``WIDGET`` stands beside ``Widget``. Other kinds of a group whose letters are the same have
one folder where case is ignored; a source may not have both.
"""

import hashlib
import re
from functools import lru_cache

from .expressions import lazy_expression
from .model import ObjectRef

CLUSTER_SCOPED = "_cluster"
_LONGEST_ACRONYM = 4
_LIMIT = 200
_MOST_PATHS = 1 << 14
"""The paths that are remembered: a pass asks for that of each object half a dozen times."""
_HASH_DIGITS = 32
_HARMLESS = lazy_expression(rf"[a-z0-9-][a-z0-9.-]{{0,{_LIMIT - 1}}}")
_UNSAFE = lazy_expression(rb"[^a-z0-9.-]")
_ESCAPE = lazy_expression(rb"%([0-9A-F]{2})")
_UNSAFE_KIND = lazy_expression(rb"[^A-Za-z0-9.-]")


def file_name_of_object(name: str) -> str:
    """Return the file name (without suffix) of an object's name.

    >>> file_name_of_object("system:node"), file_name_of_object("Web"), file_name_of_object("..")
    ('system%3Anode', '%57eb', '%2E%2E')
    """
    return name if _HARMLESS.fullmatch(name) else _file_name_of_name(name, _UNSAFE)


def kind_folder(ref: ObjectRef) -> str:
    """Return ``<Kind>`` or ``<Kind>.<group>``.

    >>> [kind_folder(ObjectRef("a.io", kind, "", "x")) for kind in ("APIService", "VPC", "WIDGET")]
    ['APIService.a.io', 'VPC.a.io', '%57%49%44%47%45%54.a.io']
    """
    return _kind_folder_name(ref.kind, ref.group)


@lru_cache(maxsize=1024)
def _kind_folder_name(kind: str, group: str) -> str:
    is_shouted = kind.isupper() and len(kind) > _LONGEST_ACRONYM
    return _file_name_of_name(f"{kind}.{group}" if group else kind, _UNSAFE if is_shouted else _UNSAFE_KIND)


def object_folder(ref: ObjectRef) -> tuple[str, str]:
    """Return the namespace folder and the kind folder an object stands in."""
    return file_name_of_object(ref.namespace) if ref.namespace else CLUSTER_SCOPED, kind_folder(ref)


@lru_cache(maxsize=_MOST_PATHS)
def object_path(ref: ObjectRef) -> tuple[str, str, str]:
    """Return the path of an object below its cluster's folder (or below ``bindings/``).

    >>> object_path(ObjectRef("apps", "Deployment", "shop", "web"))
    ('shop', 'Deployment.apps', 'web.yaml')
    """
    return (*object_folder(ref), f"{file_name_of_object(ref.name)}.yaml")


def ref_of_object_path(path: str) -> ObjectRef:
    """Return the object a path below a cluster's folder names; a name that was cut stays cut.

    >>> ref_of_object_path("_cluster/ClusterRole.rbac.authorization.k8s.io/system%3Aweb.yaml").name
    'system:web'
    """
    namespace, kind, name = path.split("/", 2)
    kind_name, _, group = kind.partition(".")
    place = "" if namespace == CLUSTER_SCOPED else _name_of_file_name(namespace)
    return ObjectRef(group, _name_of_file_name(kind_name), place, _name_of_file_name(name.removesuffix(".yaml")))


def _name_of_file_name(text: str) -> str:
    return _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), text.encode()).decode("utf-8", "replace")


def _file_name_of_name(name: str, unsafe: re.Pattern[bytes]) -> str:
    raw = name.encode()
    text = unsafe.sub(lambda match: b"%%%02X" % match.group()[0], raw)
    if not text.strip(b"."):
        text = text.replace(b".", b"%2E")
    if len(text) > _LIMIT:
        text = text[: _LIMIT - _HASH_DIGITS - 1] + b"_" + hashlib.sha256(raw).hexdigest()[:_HASH_DIGITS].encode()
    return text.decode()
