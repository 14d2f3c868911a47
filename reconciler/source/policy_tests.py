"""PolicyTests of the source as values: the objects a test adds to the source, and its expectations."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct, field

from render.admission import admit_as_kind
from render.admission.kinds import render_kinds
from render.cluster import Cluster
from render.model import ARGOSY_API_VERSION, ARGOSY_GROUP, CLUSTER_API_VERSION, Manifest, ObjectRef, Template, group_of
from render.resilience.parsing import parse_losses
from render.resilience.policy import SurvivedLoss
from render.rollouts.policy import RolloutVerb
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet
from render.settings.trials import settings_that_trials_may_set
from render.timing import parse_instant

from .expected_backtests import ExpectedBacktest, parse_expected_backtest
from .karmada_objects import admitted_kind, load_karmada_objects
from .manifests import FieldProblem, LocatedManifest
from .templates import IsNamespaced, load_templates

KIND = "PolicyTest"
_FLEET = {"apiVersion": ARGOSY_API_VERSION, "kind": "Fleet"}
_CLUSTER = {"apiVersion": CLUSTER_API_VERSION, "kind": "Cluster"}


class FieldExpectation(Struct, frozen=True, kw_only=True):
    """The expected value of a field (a JSON pointer) in one cluster; ``is_absent``: it must not be there."""

    cluster: str
    path: str
    value: Any = None
    is_absent: bool = False


class Expectation(Struct, frozen=True, kw_only=True):
    """The expectation of one object; a field that is None expects nothing.

    ``replicas`` are by cluster, as are the filters that must refuse it (``refused``). ``message`` is part of the
    Scheduled condition's, ``message_matches`` a pattern that a part of it must match. ``is_absent``: it must be in no
    cluster; ``not_in`` are those it must not be in. ``survives`` and ``does_not_survive`` are losses of clusters.
    ``at`` is the time that it is about (None: that of the test).
    """

    ref: ObjectRef
    at: datetime | None = None
    policy: str | None = None
    is_absent: bool = False
    clusters: tuple[str, ...] | None = None
    not_in: tuple[str, ...] = ()
    replicas: Mapping[str, int] | None = None
    refused: Mapping[str, str] | None = None
    reason: str | None = None
    message: str | None = None
    message_matches: str | None = None
    survives: tuple[SurvivedLoss, ...] = ()
    does_not_survive: tuple[SurvivedLoss, ...] = ()
    fields: tuple[FieldExpectation, ...] = ()


class StartedReplicas(Struct, frozen=True):
    """The replicas of each workload that a cluster starts at most, from a time on."""

    cluster: str
    since: datetime
    ready: int = 0


class TriedChange(Struct, frozen=True, kw_only=True):
    """A change of the source at a time of a test: what is added or takes the place of others, and clusters that go."""

    at: datetime
    clusters: tuple[Cluster, ...] = ()
    templates: tuple[Template, ...] = ()
    without_clusters: tuple[str, ...] = ()


class RolloutRequest(Struct, frozen=True, kw_only=True):
    """The request of a person, at a time, about the change that a rollout policy (as text) lets out then.

    ``by`` is the person who signed it ("": nobody knows).
    """

    at: datetime
    verb: RolloutVerb
    policy: str
    wave: str = ""
    by: str = ""


class PolicyTest(Struct, frozen=True, kw_only=True):
    """A test: clusters and templates added to the source's (or put in their place), clusters lost, expectations.

    ``settings`` are fields of the Fleet to try, by their names there. ``now`` is the time it asks about (None: a first
    pass), ``since`` that of the first pass before; ``not_ready`` and ``unhealthy`` are the clusters that fail, or all
    in them, with the time since when. Agents of those ``reporting`` report meanwhile; ``unschedulable`` are those in
    which no more pods start, from when on. ``not_met`` are the checks of rollouts whose sources say no, with the time
    since when; all others say yes. ``not_looked_at`` are clusters that no pass looks at since a time. ``changes`` are
    those of the source on the way, and ``requests`` what people say about rollouts. ``backtest`` is about the recorded
    past of the fleet, and not about what the test is given.
    """

    name: str
    path: str
    document: int
    clusters: tuple[Cluster, ...] = ()
    templates: tuple[Template, ...] = ()
    without_clusters: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()
    now: datetime | None = None
    since: datetime | None = None
    not_ready: Mapping[str, datetime] = field(default_factory=dict)
    reporting: tuple[str, ...] = ()
    unhealthy: Mapping[str, datetime] = field(default_factory=dict)
    unschedulable: tuple[StartedReplicas, ...] = ()
    not_met: Mapping[str, datetime] = field(default_factory=dict)
    not_looked_at: Mapping[str, datetime] = field(default_factory=dict)
    changes: tuple[TriedChange, ...] = ()
    requests: tuple[RolloutRequest, ...] = ()
    backtest: ExpectedBacktest | None = None


def parse_expectation(spec: Manifest, *, namespace: str) -> Expectation:
    """Read an admitted expectation; ``namespace`` is the object's where it does not say."""
    clusters = spec.get("clusters")
    return Expectation(
        ref=ObjectRef(spec.get("group", ""), spec["kind"], spec.get("namespace") or namespace, spec["name"]),
        at=parse_instant(spec.get("at") or ""),
        policy=spec.get("policy"),
        is_absent=bool(spec.get("absent")),
        clusters=None if clusters is None else tuple(sorted(clusters)),
        not_in=tuple(spec.get("notIn") or ()),
        replicas=spec.get("replicas"),
        refused=spec.get("refused"),
        reason=spec.get("reason"),
        message=spec.get("message"),
        message_matches=spec.get("messageMatches"),
        survives=parse_losses(spec.get("survives")),
        does_not_survive=parse_losses(spec.get("doesNotSurvive")),
        fields=tuple(
            FieldExpectation(
                cluster=each["cluster"],
                path=each["path"],
                value=each.get("value"),
                is_absent=bool(each.get("absent")),
            )
            for each in spec.get("fields") or ()
        ),
    )


class PolicyTests(Struct):
    """The tests of a source, each with its place, and the problems and warnings of others."""

    tests: list[PolicyTest] = field(default_factory=list)
    admitted: list[tuple[str, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)


def load_tests(places: Iterable[LocatedManifest], *, is_namespaced: IsNamespaced, fleet: Fleet) -> PolicyTests:
    """Admit each test and load the clusters and templates it is given."""
    loaded = PolicyTests()
    for place in places:
        loaded.problems += place.problems_found_by_call(partial(_load_test, place, loaded, is_namespaced, fleet))
    return loaded


def _load_test(
    place: LocatedManifest, loaded: PolicyTests, is_namespaced: IsNamespaced, fleet: Fleet
) -> list[FieldProblem]:
    """Add a test that is admitted, and return what is wrong with it."""
    outcome = admit_as_kind(place.manifest, render_kinds()[KIND])
    loaded.warnings += (FieldProblem(place, warning) for warning in outcome.warnings)
    if outcome.object is not None:
        test = _parse_test(place, outcome.object, loaded, is_namespaced, fleet)
        loaded.tests.append(test)
        loaded.admitted.append((f"{KIND} {test.name}", place))
    return [FieldProblem(place, problem) for problem in outcome.problems]


def _parse_test(
    place: LocatedManifest, manifest: Any, loaded: PolicyTests, is_namespaced: IsNamespaced, fleet: Fleet
) -> PolicyTest:
    spec = manifest["spec"]
    given = spec.get("given") or {}
    reading = _GivenObjects(place=place, loaded=loaded, is_namespaced=is_namespaced, fleet=fleet)
    expected = spec.get("expect") or ()
    return PolicyTest(
        name=manifest["metadata"]["name"],
        path=place.file.path,
        document=place.number,
        clusters=reading.clusters_in(given, "spec.given"),
        templates=reading.templates_in(given, "spec.given"),
        without_clusters=tuple(given.get("withoutClusters") or ()),
        settings=_settings_given_to_test(place, given, loaded),
        now=parse_instant(given.get("now") or ""),
        since=parse_instant(given.get("since") or ""),
        not_ready=_instants_by_name(given.get("notReady")),
        reporting=tuple(given.get("reporting") or ()),
        unhealthy=_instants_by_name(given.get("unhealthy")),
        not_met=_instants_by_name(given.get("notMet")),
        not_looked_at=_instants_by_name(given.get("notLookedAt")),
        unschedulable=tuple(
            StartedReplicas(each["cluster"], since, each.get("ready") or 0)
            for each in given.get("unschedulable") or ()
            if (since := parse_instant(each["since"])) is not None
        ),
        changes=tuple(_changes_of_source(given, reading)),
        requests=tuple(_requests_about_rollouts(given)),
        backtest=parse_expected_backtest(spec.get("backtest")),
        expectations=tuple(
            parse_expectation(each, namespace=_namespace_of(each, is_namespaced, fleet)) for each in expected
        ),
    )


def _requests_about_rollouts(given: Any) -> Iterator[RolloutRequest]:
    """Yield what people say about rollouts; admission has refused times that are none."""
    for each in given.get("controls") or ():
        at, verb = parse_instant(each["at"]), RolloutVerb(each["verb"])
        if at is not None:
            wave, by = each.get("wave") or "", each.get("by") or ""
            yield RolloutRequest(at=at, verb=verb, policy=each["policy"], wave=wave, by=by)


class _GivenObjects(Struct, frozen=True, kw_only=True):
    """The reading of the objects that a test is given."""

    place: LocatedManifest
    loaded: PolicyTests
    is_namespaced: IsNamespaced
    fleet: Fleet

    def clusters_in(self, given: Any, path: str) -> tuple[Cluster, ...]:
        """Return the clusters in a part of the test."""
        places = _located_given_objects(self.place, given, f"{path}.clusters", self.loaded)
        found = load_karmada_objects(
            ((each, kind) for each in places if (kind := admitted_kind(each.manifest))),
            default_namespace=self.fleet.default_namespace,
        )
        self.loaded.problems += found.problems
        self.loaded.warnings += found.warnings
        return found.objects.clusters

    def templates_in(self, given: Any, path: str) -> tuple[Template, ...]:
        """Return the resource templates in a part of the test."""
        places = _located_given_objects(self.place, given, f"{path}.templates", self.loaded)
        found = load_templates(places, is_namespaced=self.is_namespaced, fleet=self.fleet)
        self.loaded.problems += found.problems
        self.loaded.warnings += found.warnings
        return tuple(template for template, _ in found.placed)


def _changes_of_source(given: Any, reading: _GivenObjects) -> Iterator[TriedChange]:
    for number, each in enumerate(given.get("changes") or ()):
        at, path = parse_instant(each["at"]), f"spec.given.changes[{number}]"
        if at is not None:
            yield TriedChange(
                at=at,
                clusters=reading.clusters_in(each, path),
                templates=reading.templates_in(each, path),
                without_clusters=tuple(each.get("withoutClusters") or ()),
            )


def _instants_by_name(plain: Mapping[str, str] | None) -> Mapping[str, datetime]:
    """Return times by cluster; admission has refused what is none."""
    found = ((name, parse_instant(text)) for name, text in (plain or {}).items())
    return {name: instant for name, instant in found if instant is not None}


def _settings_given_to_test(place: LocatedManifest, given: Any, loaded: PolicyTests) -> Mapping[str, Any]:
    """Return the settings of the Fleet a test is given, those that its compatibility implies included."""
    if "argosy" not in given:
        return {}
    inner = place._replace(manifest=given["argosy"], prefix=f"{place.prefix}spec.given.argosy.")
    if not isinstance(inner.manifest, dict) or {**inner.manifest, **_FLEET} != {**_FLEET, **inner.manifest}:
        loaded.problems.append(inner.problem("", "must be a Fleet"))
        return {}
    outcome = admit_as_kind({**_FLEET, **inner.manifest}, render_kinds()["Fleet"])
    loaded.problems += (FieldProblem(inner, problem) for problem in outcome.problems)
    if outcome.object is None:
        return {}
    tried_fields = settings_that_trials_may_set()
    for name in (each for each in outcome.object["spec"] if each not in tried_fields):
        message = "means nothing in a test, which reads by argosy.yaml and delivers nothing"
        loaded.warnings.append(inner.problem(f"spec.{name}", message))
    tried = parse_fleet(outcome.object)
    fields = {each for name in outcome.object["spec"] for each in tried_fields.get(name, ())}
    return {each: getattr(tried, each) for each in sorted(fields)}


def _namespace_of(expectation: Any, is_namespaced: IsNamespaced, fleet: Fleet) -> str:
    """Return the namespace of an expectation's object, where it names none."""
    has_none = is_namespaced(expectation.get("group", ""), expectation["kind"]) is False
    return "" if has_none else fleet.default_namespace


def _located_given_objects(
    place: LocatedManifest, given: Any, path: str, loaded: PolicyTests
) -> Iterator[LocatedManifest]:
    """Yield the manifests at a path of a test, each at its place in it; a cluster may omit apiVersion and kind."""
    key = path.rpartition(".")[2]
    for number, value in enumerate(given.get(key) or ()):
        inner = place._replace(manifest=value, prefix=f"{place.prefix}{path}[{number}].")
        fault = _fault_of_given_object(value, key)
        if fault:
            loaded.problems.append(inner.problem("", fault))
        else:
            yield inner._replace(manifest={**_CLUSTER, **value}) if key == "clusters" else inner


def _fault_of_given_object(value: Any, key: str) -> str:
    """Say why a value cannot be a cluster, or a template."""
    if not isinstance(value, dict):
        return "must be an object"
    if key == "clusters":
        return "" if {**value, **_CLUSTER} == {**_CLUSTER, **value} else "must be a Cluster"
    if not isinstance(value.get("apiVersion"), str) or not isinstance(value.get("kind"), str):
        return "must have apiVersion and kind"
    is_ours = group_of(value["apiVersion"]) == ARGOSY_GROUP or admitted_kind(value) is not None
    return "must be a resource template" if is_ours else ""
