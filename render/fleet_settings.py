"""The parts of a Fleet: where templates are read, where trees are written, scopes of kinds, ways to clusters."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Which files are read: below ``paths`` (relative to argosy.yaml's folder), minus ``ignore`` (gitignore syntax)."""

    paths: tuple[str, ...] = (".",)
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """Where trees are pushed: a remote's name or address ("": the source's), a branch ("": ``argosy/rendered``)."""

    remote: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScope:
    """A kind of any version, and whether its objects live in namespaces."""

    group: str
    kind: str
    is_namespaced: bool


OTHERS = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """How to reach a member: a kubeconfig context ("": named like the cluster) of a file ("": the usual one).

    The name ``*`` stands for every member that is not listed by its own.
    """

    name: str
    context: str = ""
    kubeconfig: str = ""
