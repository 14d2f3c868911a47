"""Scopes of kinds: whether their objects live in namespaces.

Six places tell the scope of a kind, the best first:

1. the kinds of Kubernetes, Karmada and Argosy, which are built in;
2. the CustomResourceDefinitions of the source, also in files that are not rendered;
3. the facts of members: the APIs they serve;
4. the table of well-known kinds;
5. ``metadata.namespace`` of the objects themselves: who writes one knows that the kind is namespaced;
6. ``spec.kinds`` of argosy.yaml.

A kind that neither of the first two tells is *fact-scoped*. A pass that observes its members meets a circle there: it
has to load the source to learn how members are reached, and needs their facts to load templates of such a kind. So it
loads the source without facts first, in which a scope that nothing tells is no problem yet; it observes the members,
and loads the source again with their facts, if there is a template of a fact-scoped kind at all
(``Desired.fact_scoped_kinds``). Other commands take the facts that the status branch recorded, and load once.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from msgspec import Struct, field

from reconciler.ledger.facts import Facts
from reconciler.ledger.member_schemas import KindVersion
from reconciler.source.desired import Desired, interpreter_of_source
from render.interpreter import Interpreter, Operation
from render.kinds import BUILT_IN, SCOPES, GroupKind
from render.model import Manifest, group_of
from render.settings.fleet import Fleet

from .definitions import scopes_by_defined_kind


def _no_scopes() -> Mapping[GroupKind, bool]:
    return {}


class Scopes(Struct, frozen=True, kw_only=True):
    """The known scopes of kinds, by the place that tells them.

    ``defined`` in the files that are read and ``elsewhere`` in the source, ``observed`` in members, ``written`` as
    namespaces of objects, ``declared`` in argosy.yaml. Every version of a kind has the same scope, so versions do not
    matter here. ``elsewhere`` and ``observed`` are only called for a kind that nothing better tells, because looking
    takes time.
    """

    defined: Mapping[GroupKind, bool] = field(default_factory=dict)
    elsewhere: Callable[[], Mapping[GroupKind, bool]] = _no_scopes
    observed: Callable[[], Mapping[GroupKind, bool]] = _no_scopes
    written: frozenset[GroupKind] = frozenset()
    declared: Mapping[GroupKind, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        manifests: Iterable[Manifest],
        facts: Callable[[], Facts],
        fleet: Fleet,
        elsewhere: Callable[[], Mapping[GroupKind, bool]] = _no_scopes,
    ) -> "Scopes":
        """Return the scopes that manifests, files beside them, members' facts and argosy.yaml tell."""
        known = tuple(manifests)
        return cls(
            defined=scopes_by_defined_kind(known),
            elsewhere=cache(elsewhere),
            observed=cache(lambda: _observed_scopes(facts())),
            written=frozenset(filter(None, map(_kind_if_namespaced, known))),
            declared={(each.group, each.kind): each.is_namespaced for each in fleet.kinds},
        )

    def is_namespaced(self, group: str, kind: str) -> bool | None:
        """Say whether objects of a kind live in namespaces; None where nothing says."""
        known = self._scope_defined_by_source(group, kind)
        if known is not None:
            return known
        return True if (group, kind) in self.written else self.declared.get((group, kind))

    def is_known(self, group: str, kind: str) -> bool:
        """Say whether something defines or declares a kind; that objects of it have a namespace proves nothing."""
        return self._scope_defined_by_source(group, kind) is not None or (group, kind) in self.declared

    def _scope_defined_by_source(self, group: str, kind: str) -> bool | None:
        key = group, kind
        for table in (SCOPES, self.defined):
            if key in table:
                return table[key]
        for look in (self.elsewhere, self.observed, _scopes_of_known_kinds):
            scope = look().get(key)
            if scope is not None:
                return scope
        return None

    def is_fact_scoped(self, group: str, kind: str) -> bool:
        """Say whether neither Kubernetes nor the source tells the scope of a kind."""
        key = group, kind
        return key not in BUILT_IN and key not in self.defined and key not in self.elsewhere()


def _scopes_of_known_kinds() -> Mapping[GroupKind, bool]:
    from .well_known_kinds import WELL_KNOWN  # most sources have no use for it

    return WELL_KNOWN


def _kind_if_namespaced(manifest: Manifest) -> GroupKind | None:
    """Return the kind of an object that names its namespace."""
    metadata = manifest.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    is_named = isinstance(namespace, str) and bool(namespace)
    return (group_of(manifest["apiVersion"]), manifest["kind"]) if is_named else None


def _observed_scopes(facts: Facts) -> dict[GroupKind, bool]:
    """Return the scopes of the APIs that members serve; where members disagree, a scope is not known."""
    observed: dict[GroupKind, set[bool]] = {}
    for each in facts.values():
        for enablement in each.status.get("apiEnablements") or ():
            group = enablement["groupVersion"].rpartition("/")[0]
            for resource in enablement.get("resources") or ():
                _add_observed_scope(resource, group, observed)
    return {kind: scopes.pop() for kind, scopes in observed.items() if len(scopes) == 1}


def _add_observed_scope(resource: Mapping[str, Any], group: str, observed: dict[GroupKind, set[bool]]) -> None:
    # ``namespaced`` is ours: Karmada's own status does not record it.
    if isinstance(resource.get("namespaced"), bool):
        observed.setdefault((group, resource["kind"]), set()).add(resource["namespaced"])


def kinds_to_observe(desired: Desired) -> frozenset[KindVersion]:
    """Return the kinds that a source has or selects, and that neither Kubernetes nor the source defines."""
    selectors = chain.from_iterable(policy.resource_selectors for policy in desired.policies)
    used = {
        *(template.versioned_kind for template in desired.templates),
        *((selector.api_version, selector.kind) for selector in selectors),
    }
    defined = BUILT_IN.keys() | scopes_by_defined_kind(each.manifest for each in desired.crds).keys()
    return frozenset(each for each in used if (group_of(each[0]), each[1]) not in defined)


def kinds_to_scale(desired: Desired) -> frozenset[KindVersion]:
    """Return the kinds of which only a scale subresource could tell the replicas, or take a share of them."""
    if not desired.fleet.interprets_scale:
        return frozenset()
    interpreter = interpreter_of_source(desired)
    return frozenset(each for each in kinds_to_observe(desired) if _is_without_replica_rules(each, interpreter))


def _is_without_replica_rules(kind: KindVersion, interpreter: Interpreter) -> bool:
    stub = {"apiVersion": kind[0], "kind": kind[1]}
    is_whole = interpreter.has(Operation.INTERPRET_REPLICA, stub) and interpreter.has(Operation.REVISE_REPLICA, stub)
    return not is_whole and not interpreter.has(Operation.INTERPRET_COMPONENT, stub)
