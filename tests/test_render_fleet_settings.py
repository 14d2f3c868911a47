"""Each setting of argosy.yaml says whether it reaches outside or limits changes, and which changes of it wait."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from render.admission import admit_as_kind
from render.admission.fleets import FLEET_SPEC
from render.admission.kinds import render_kinds
from render.admission.schema import ListOf, Node, Record
from render.fleet_settings import SETTINGS, fleet_with_stricter_limits_of, setting_changes
from render.settings.reading import parse_fleet
from render.settings.setting import SettingReach

from .tables import each_row

KARMADA_GUARDS = [
    ("spec.featureGates.FederatedQuotaEnforcement: true -> false", True),
    ("spec.featureGates.PropagationPolicyPreemption: true -> false", False),
    ("spec.featureGates.WorkloadAffinity: true -> false", False),
    ("spec.failover.massFailure: 33 -> 100", True),
    ("spec.failover.lastCopy: Keep -> Evict", True),
    ("spec.failover.repeatedMoves: Pause -> AtOnce", True),
    ("spec.failover.underWay: Follow -> Keep", False),
]


def a_fleet(spec: dict[str, Any], name: str = "default") -> Any:
    return parse_fleet({"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": name}, "spec": spec})


def fields(node: Node, path: str) -> Iterator[str]:
    """Yield the fields that hold values; a list whose items are looked at as wholes is one."""
    if path in SETTINGS:
        yield path
    elif isinstance(node, Record):
        for name, each in node.fields.items():
            yield from fields(each, f"{path}.{name.removesuffix('!')}")
    elif isinstance(node, ListOf) and isinstance(node.items, Record):
        yield from fields(node.items, f"{path}[]")
    else:
        yield path


def test_each_setting_is_classified() -> None:
    assert sorted(["metadata.name", *fields(FLEET_SPEC, "spec")]) == sorted(SETTINGS)


def test_what_names_something_outside_is_known_by_its_name() -> None:
    """A new field with such a name in it is not classified as a matter of the source by mistake."""
    words = ("remote", "kubeconfig", "context", "secret", "repository", "incluster", "address", "url")
    named = [field for field in SETTINGS if any(word in field.rpartition(".")[2].lower() for word in words)]
    named.remove("spec.secrets")  # whether there may be any
    named.remove("spec.featureGates.ContextualLogging")  # about a logger
    assert len(named) > 8
    assert {field: SETTINGS[field].reach.kind for field in named} == dict.fromkeys(named, SettingReach.OUTSIDE)


class Change(NamedTuple):
    why: str
    before: dict[str, Any]
    after: dict[str, Any]
    want: list[tuple[str, bool]]


IN_USE = {"clusters": [{"name": "one"}, {"name": "two", "kubeconfig": "~/two"}]}
CHANGES = [
    Change("nothing", {"secrets": "Refuse"}, {"secrets": "Refuse"}, []),
    Change("a default that is written", {}, {"secrets": "Allow", "validation": "Strict"}, []),
    Change("what is rendered", {}, {"namespaces": "All"}, [("spec.namespaces: Needed -> All", False)]),
    Change("a remote", {}, {"rendered": {"remote": "evil"}}, [("spec.rendered.remote: none -> evil", True)]),
    Change("a remote taken away", {"rendered": {"remote": "a"}}, {}, [("spec.rendered.remote: a -> none", True)]),
    Change("a branch", {}, {"rendered": {"branch": "x"}}, [("spec.rendered.branch: none -> x", True)]),
    Change(
        "a merge less", {"rendered": {"push": "PullRequest"}}, {}, [("spec.rendered.push: PullRequest -> Branch", True)]
    ),
    Change(
        "a merge more",
        {},
        {"rendered": {"push": "PullRequest"}},
        [("spec.rendered.push: Branch -> PullRequest", False)],
    ),
    Change("a weaker limit", {}, {"removalGuard": {"count": 90}}, [("spec.removalGuard.count: 10 -> 90", True)]),
    Change("a stronger limit", {}, {"removalGuard": {"count": 9}}, [("spec.removalGuard.count: 10 -> 9", False)]),
    Change(
        "a laxer limit of costs",
        {"maxCostIncrease": {"percent": 5, "amount": 100}},
        {"maxCostIncrease": {"percent": 6}},
        [
            ("spec.maxCostIncrease.percent: 5 -> 6", True),
            ("spec.maxCostIncrease.amount: 100 -> none", True),
        ],
    ),
    Change(
        "a stricter limit of costs",
        {"maxCostIncrease": {"percent": 5}},
        {"maxCostIncrease": {"percent": 4, "amount": 100}},
        [
            ("spec.maxCostIncrease.percent: 5 -> 4", False),
            ("spec.maxCostIncrease.amount: none -> 100", False),
        ],
    ),
    Change(
        "a limit taken away",
        {"movementGuard": {"fleet": {"percent": 5}}},
        {},
        [("spec.movementGuard.fleet.percent: 5 -> none", True)],
    ),
    Change("checks turned off", {}, {"validation": "Off"}, [("spec.validation: Strict -> Off", True)]),
    Change("checks turned on", {"validation": "Off"}, {}, [("spec.validation: Off -> Strict", False)]),
    Change(
        "a namespace that was skipped",
        {},
        {"skippedNamespaces": []},
        [("spec.skippedNamespaces: [kube-.*] -> []", True)],
    ),
    Change(
        "what Karmada's switch implies",
        {},
        {"compatibility": "Karmada"},
        [
            ("spec.compatibility: Argosy -> Karmada", False),
            ("spec.claims: Pure -> Sticky", False),
            ("spec.rescheduling: Source -> Karmada", False),
            ("spec.reserveCapacity: true -> false", False),
            ("spec.tieBreak: Identity -> Name", False),
            ("spec.requireRecordedAPIs: false -> true", False),
            ("spec.interpretScale: true -> false", False),
            *KARMADA_GUARDS,
        ],
    ),
    Change(
        "a pinned object less",
        {"movementGuard": {"pinned": [{"kind": "Deployment", "name": "web"}]}},
        {},
        [("spec.movementGuard.pinned: [Deployment/web@] -> []", True)],
    ),
    Change(
        "another address that a tool reads",
        {"emit": [{"for": "Flux", "repository": "https://good/a"}]},
        {"emit": [{"for": "Flux", "repository": "https://evil/a"}]},
        [("spec.emit[Flux].repository: https://good/a -> https://evil/a", True)],
    ),
    Change(
        "a tool less",
        {"emit": [{"for": "Flux", "repository": "a"}]},
        {},
        [
            ("spec.emit[Flux].for: Flux -> none", False),
            ("spec.emit[Flux].repository: a -> none", False),
            ("spec.emit[Flux].in: Hub -> none", False),
            ("spec.emit[Flux].as: ApplicationSet -> none", False),
        ],
    ),
    Change(
        "keys",
        {},
        {"decryption": {"secret": {"name": "x"}}},
        [
            ("spec.decryption.secret.namespace: none -> argosy-system", True),
            ("spec.decryption.secret.name: none -> x", True),
        ],
    ),
    Change(
        "a key service",
        {"decryption": {"keyServices": ["a", "b"]}},
        {"decryption": {"keyServices": ["a", "evil"]}},
        [("spec.decryption.keyServices: [a, b] -> [a, evil]", True)],
    ),
    Change(
        "a key service less",
        {"decryption": {"keyServices": ["a", "b"]}},
        {"decryption": {"keyServices": ["a"]}},
        [("spec.decryption.keyServices: [a, b] -> [a]", False)],
    ),
    Change("a folder of kubeconfigs", {}, {"kubeconfigs": "x"}, [("spec.kubeconfigs: none -> x", True)]),
    Change("nobody reached any more", {"kubeconfigs": "x"}, {}, [("spec.kubeconfigs: x -> none", False)]),
    Change(
        "a member that joins as others did",
        IN_USE,
        {"clusters": [*IN_USE["clusters"], {"name": "three"}]},
        [
            ("spec.clusters[three].name: none -> three", False),
            ("spec.clusters[three].context: none -> three", False),
        ],
    ),
    Change(
        "a member that joins with its own name for a context",
        IN_USE,
        {"clusters": [*IN_USE["clusters"], {"name": "three", "context": "three", "kubeconfig": "~/two"}]},
        [
            ("spec.clusters[three].name: none -> three", False),
            ("spec.clusters[three].context: none -> three", False),
            ("spec.clusters[three].kubeconfig: none -> ~/two", False),
        ],
    ),
    Change(
        "a member that joins by another's context",
        IN_USE,
        {"clusters": [*IN_USE["clusters"], {"name": "three", "context": "one"}]},
        [
            ("spec.clusters[three].name: none -> three", False),
            ("spec.clusters[three].context: none -> one", True),
        ],
    ),
    Change(
        "a member that joins by another file",
        IN_USE,
        {"clusters": [*IN_USE["clusters"], {"name": "three", "kubeconfig": "/evil"}]},
        [
            ("spec.clusters[three].name: none -> three", False),
            ("spec.clusters[three].context: none -> three", True),
            ("spec.clusters[three].kubeconfig: none -> /evil", True),
        ],
    ),
    Change(
        "the first member",
        {},
        {"clusters": [{"name": "one"}]},
        [
            ("spec.clusters[one].name: none -> one", False),
            ("spec.clusters[one].context: none -> one", True),
        ],
    ),
    Change(
        "a member that leaves",
        IN_USE,
        {"clusters": IN_USE["clusters"][1:]},
        [
            ("spec.clusters[one].name: one -> none", False),
            ("spec.clusters[one].context: one -> none", False),
        ],
    ),
    Change(
        "a member that is renamed and keeps its context",
        IN_USE,
        {"clusters": [{"name": "uno", "context": "one"}, IN_USE["clusters"][1]]},
        [
            ("spec.clusters[one].name: one -> none", False),
            ("spec.clusters[uno].name: none -> uno", False),
            ("spec.clusters[one].context: one -> none", False),
            ("spec.clusters[uno].context: none -> one", False),
        ],
    ),
    Change(
        "one that takes the way of a member, where all others are meant",
        {"clusters": [{"name": "*"}, {"name": "one", "context": "good"}]},
        {"clusters": [{"name": "*"}, {"name": "uno", "context": "good"}]},
        [
            ("spec.clusters[one].name: one -> none", False),
            ("spec.clusters[uno].name: none -> uno", False),
            ("spec.clusters[one].context: good -> none", True),
            ("spec.clusters[uno].context: none -> good", True),
        ],
    ),
    Change(
        "two members swapped",
        IN_USE,
        {"clusters": [{"name": "one", "context": "two"}, IN_USE["clusters"][1]]},
        [
            ("spec.clusters[one].context: one -> two", True),
        ],
    ),
    Change(
        "a member listed that was meant by *",
        {"clusters": [{"name": "*"}]},
        {"clusters": [{"name": "*"}, {"name": "one"}]},
        [
            ("spec.clusters[one].name: none -> one", False),
            ("spec.clusters[one].context: none -> one", False),
        ],
    ),
    Change(
        "a member whose own way is gone, so that * is its way",
        {"clusters": [{"name": "*"}, {"name": "one", "context": "good"}]},
        {"clusters": [{"name": "*"}]},
        [
            ("spec.clusters[one].name: one -> none", False),
            ("spec.clusters[one].context: good -> none", True),
        ],
    ),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_which_changes_wait(case: Change) -> None:
    found = setting_changes(a_fleet(case.before), a_fleet(case.after))
    assert [(str(each), each.waits) for each in found] == case.want


def test_another_name_waits() -> None:
    (found,) = setting_changes(a_fleet({}), a_fleet({}, "shop"))
    assert (str(found), found.waits) == ("metadata.name: default -> shop", True)


def test_what_is_weaker_is_judged_by_what_it_was_before() -> None:
    before = a_fleet({"validation": "Warn", "secrets": "Refuse", "removalGuard": {"count": 5}, "namespaces": "All"})
    weaker = a_fleet({"validation": "Off", "removalGuard": {"count": 500}, "movementGuard": {"minimumClusters": 1}})
    judged = fleet_with_stricter_limits_of(weaker, before)
    assert (judged.validation, judged.secrets, judged.removal_guard.count) == ("Warn", "Refuse", 5)
    assert (judged.movement_guard.minimum_clusters, judged.namespaces) == (1, "Needed")
    assert fleet_with_stricter_limits_of(before, a_fleet({"validation": "Off"})) == before


NONSENSE = {
    "notPropagated": ["/"],
    "mirrors": ["Not A Name"],
    "skippedNamespaces": ["("],
    "source": {"paths": ["../other"]},
    "defaultNamespace": "Not A Name",
    "rendered": {"branch": "a..b", "remote": "-x"},
    "removalGuard": {"percent": 200},
    "clusters": [{"name": "rome"}, {"name": "rome"}],
    "fieldRules": [{"rule": "Own", "path": "no path"}],
    "emit": [
        {"for": "Flux", "repository": "https://a:b@example.com/x", "interval": "often"},
        {"for": "Flux", "repository": "x"},
    ],
    "rollouts": {
        "freezes": [{"from": "2026-03-01T00:00:00Z", "until": "today", "reason": "audit", "clusterLabels": ["gold"]}],
        "windows": [{"from": "9", "to": "24:00", "timeZone": "Berlin"}],
        "signers": ["alice", "alice ssh-ed25519 AAAA", "bob ssh-ed25519 AAAA", "* ssh-ed25519 BBBB"],
        "reviewers": ["ada", "github:Ada", "github:ada"],
    },
}


def test_a_value_that_means_nothing_is_refused_with_what_to_write() -> None:
    manifest = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "eu"}, "spec": NONSENSE}
    problems = admit_as_kind(manifest, render_kinds()["Fleet"]).problems
    assert {each.field.split(".")[1].partition("[")[0] for each in problems} >= NONSENSE.keys()
    assert [f"{each.field}: {each.message}" for each in problems if not each.hint] == []


def test_a_reviewer_is_a_user_of_a_forge_and_named_once() -> None:
    """No signer has such a name, for theirs have no colon."""
    spec = {"rollouts": {"reviewers": ["ada", "github:Ada", "github:ada", "gitea:ada", "github:a b"]}}
    manifest = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "eu"}, "spec": spec}
    problems = admit_as_kind(manifest, render_kinds()["Fleet"]).problems
    assert [f"{each.field}: {each.message}" for each in problems] == [
        "spec.rollouts.reviewers[0]: 'ada' is no user of a forge",
        "spec.rollouts.reviewers[2]: is named twice",
        "spec.rollouts.reviewers[4]: 'github:a b' is no user of a forge",
    ]


def test_one_key_is_of_one_person() -> None:
    """Else one person could approve as two."""
    signers = ["alice ssh-ed25519 AAAA", "alice ssh-ed25519 BBBB", "bob ssh-ed25519 AAAA", "b,c ssh-ed25519 CCCC"]
    spec = {"rollouts": {"signers": signers}}
    manifest = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "eu"}, "spec": spec}
    problems = admit_as_kind(manifest, render_kinds()["Fleet"]).problems
    assert [f"{each.field}: {each.message}" for each in problems] == [
        "spec.rollouts.signers[2]: is the key of alice as well: one person would be two",
        "spec.rollouts.signers[3]: is no name with a public SSH key",
    ]
