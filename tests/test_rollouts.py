"""Whole rollouts in memory: each row is what happens to a fleet step by step, and the commits that its passes make.

A commit is told by the version that each cluster has, in the order of their names (berlin, which joins, is the first),
and the phase of the rollout. Of a cluster that has left the commit keeps what it had, though nobody applies that.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from msgspec import Struct, field

from render.model import ObjectRef

from .build import a_cluster, a_config_map, a_policy, on_clusters, weighted
from .rolling import WEB, RollingFleet, a_control, a_rollout_policy, a_wave, web

CLUSTERS = ("oslo", "paris", "rome", "tokyo")
CANARY = (a_wave("canary", "oslo"), a_wave("rest"))
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
AUTOSCALER = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
CONF, CONF2 = (ObjectRef("", "ConfigMap", "default", name) for name in ("conf", "conf2"))
HPA = ObjectRef("autoscaling", "HorizontalPodAutoscaler", "default", "web")


class Step(Struct, kw_only=True):
    """Something that happens, and the commits of it. ``control`` is said about the change that is under way.

    ``is_health_lost``: nothing is known of any cluster until it is seen again, as when the status branch is lost.
    """

    commits: Sequence[str]
    files: Mapping[str, Any] = field(default_factory=dict)
    unwell: Collection[str] | None = None
    down: Collection[str] | None = None
    seconds: int = 0
    control: Mapping[str, Any] | None = None
    is_health_lost: bool = False


class Situation(Struct, kw_only=True):
    """A fleet with a rollout policy, and what happens to it."""

    why: str
    steps: Sequence[Step]
    policy: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)


def changed(*commits: str, to: int = 2, unwell: Collection[str] = (), **files: Any) -> Step:
    """The Deployment gets another version."""
    return Step(commits=commits, files={"web": web(to), **files}, unwell=unwell)


def well(*commits: str) -> Step:
    """Every cluster becomes healthy, and answers."""
    return Step(commits=commits, unwell=(), down=())


def placed(**spec: Any) -> dict[str, Any]:
    return a_policy("web", selectors=[WEB], **{"placement": on_clusters(), **spec})


def labelled(name: str, *waves: str, **spec: Any) -> dict[str, Any]:
    """A cluster that a wave takes by its label."""
    return a_cluster(name, labels={"wave": waves[0]} if waves else None, **spec)


def by_label(name: str) -> dict[str, Any]:
    return a_wave(name, clusterAffinity={"labelSelector": {"matchLabels": {"wave": name}}})


def an_override(value: str, *clusters: str, path: str = "/metadata/annotations") -> dict[str, Any]:
    added = {"path": path, "operator": "add", "value": {"by": value}}
    rule = {"overriders": {"plaintext": [added]}} | (
        {"targetCluster": {"clusterNames": list(clusters)}} if clusters else {}
    )
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"resourceSelectors": [WEB], "overrideRules": [rule]},
    }


def a_quota(cpu: str) -> dict[str, Any]:
    """A limit of what the namespace may request in the whole fleet."""
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "FederatedResourceQuota",
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"overall": {"cpu": cpu}},
    }


def requesting(version: int, cpu: str, **spec: Any) -> dict[str, Any]:
    """A version of the Deployment that requests so much for each pod."""
    made = web(version, **spec)
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made


def edited(*waves: Any, **spec: Any) -> dict[str, Any]:
    return a_rollout_policy(waves=waves, **spec)


GATED = {"waves": [a_wave("canary", "oslo", gate={"healthyFor": "10m"}), a_wave("rest")]}
HURRIED = {"gate": {"deadline": "10m"}}
APPROVED = {"waves": [a_wave("canary", "oslo"), a_wave("rest", approval=True)]}
BACKWARDS = {
    **HURRIED,
    "onFailure": "Rollback",
    "rollback": "ReverseWaves",
    "waves": [a_wave("canary", "oslo"), a_wave("second", "paris"), a_wave("rest")],
}
BY_LABEL = {"waves": [by_label("canary"), a_wave("rest")]}
CANARY_BY_LABEL = {"oslo": labelled("oslo", "canary")}
THREE = {"waves": [a_wave("first", "oslo"), a_wave("second", "paris"), a_wave("rest")]}
AT_NIGHT = {"windows": [{"from": "00:00", "to": "02:00"}]}
LIMITED = {
    "argosy": {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "metadata": {"name": "default"},
        "spec": {"featureGates": {"FederatedQuotaEnforcement": True}},
    }
}

SITUATIONS = (
    Situation(
        why="a change reaches one wave after the other, and so many at once",
        policy={"waves": [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=2)]},
        steps=[
            changed("2111 Progressing", "2122 Progressing", "2222 Progressing", "2222 Completed"),
            Step(commits=[], seconds=3600),
        ],
    ),
    Situation(
        why="clusters that no wave takes are the last",
        policy={"waves": [a_wave("canary", "oslo"), a_wave("second", "rome")]},
        steps=[changed("2111 Progressing", "2121 Progressing", "2222 Progressing", "2222 Completed")],
    ),
    Situation(
        why="waves take a part of what is left, in an order that has nothing to do with names",
        policy={"waves": [a_wave("first", size="25%"), a_wave("second", size=2), a_wave("rest")]},
        steps=[changed("1112 Progressing", "2122 Progressing", "2222 Progressing", "2222 Completed")],
    ),
    Situation(
        why="a cluster that joins has the completed version until its wave is due",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["12111 Progressing"], files={"berlin": a_cluster("berlin")}),
            well("22222 Progressing", "22222 Completed"),
        ],
    ),
    Situation(
        why="a cluster that joins a wave which has begun gets the change at once, and is waited for",
        policy=BY_LABEL,
        files=CANARY_BY_LABEL,
        steps=[
            changed("2111 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(
                commits=["22222 Progressing"],
                files={"berlin": labelled("berlin", "canary")},
                unwell=["berlin", "rome"],
            ),
            well("22222 Completed"),
        ],
    ),
    Situation(
        why="a cluster that is relabelled moves to its wave; one that has the change keeps it",
        policy=BY_LABEL,
        files=CANARY_BY_LABEL,
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2211 Progressing", "2211 Progressing"], files={"paris": labelled("paris", "canary")}),
            Step(
                commits=["2222 Progressing", "2222 Completed"],
                files={"oslo": a_cluster("oslo")},
                unwell=[],
            ),
        ],
    ),
    Situation(
        why="a cluster that leaves is waited for by nobody, and nobody else changes waves",
        policy={"waves": [a_wave("first", size="25%"), a_wave("second", size=2), a_wave("rest")]},
        steps=[
            changed("1112 Progressing", unwell=["tokyo"]),
            Step(commits=["1112 Progressing"], files={"rome": None}),
            Step(commits=["2112 Progressing", "2212 Progressing", "2212 Completed"], files={"tokyo": None}),
        ],
    ),
    Situation(
        why="a rollout that has failed waits for somebody, also when the cluster leaves that it failed in",
        policy=HURRIED,
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Failed"], seconds=600),
            Step(commits=["2111 Failed"], files={"oslo": None}),
            Step(commits=["2222 Progressing", "2222 Completed"], control={"verb": "Retry"}),
        ],
    ),
    Situation(
        why="a cordoned cluster takes part",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=[], files={"paris": a_cluster("paris", taints=[{"key": "cordon", "effect": "NoSchedule"}])}),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a cluster to which dispatching is suspended is passed over, and gets the change once that is over",
        steps=[
            Step(
                commits=["1111"],
                files={"policy": placed(suspension={"dispatchingOnClusters": {"clusterNames": ["rome"]}})},
            ),
            changed("2111 Progressing", "2212 Progressing", "2212 Completed"),
            Step(commits=["2222 Completed"], files={"policy": placed()}),
        ],
    ),
    Situation(
        why="a wave of which nobody answers proves nothing",
        steps=[
            Step(commits=["1111 Waiting"], files={"web": web(2)}, down=["oslo"]),
            well("2111 Progressing", "2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a silent cluster holds up nobody else, and gets the newest change it is due when it is back",
        steps=[
            Step(
                commits=["2111 Progressing", "2221 Progressing", "2222 Completed"],
                files={"web": web(2)},
                down=["tokyo"],
            ),
            changed("3222 Progressing", "3332 Progressing", "3333 Completed", to=3),
            well(),
        ],
    ),
    Situation(
        why="a cluster that dies in its wave holds up nobody else",
        steps=[
            changed("2111 Progressing", "2222 Progressing", "2222 Progressing", unwell=["tokyo"]),
            Step(commits=["2222 Completed"], down=["tokyo"]),
        ],
    ),
    Situation(
        why="too many silent clusters keep the change from starting anywhere",
        policy={"maxUnreachable": 0},
        steps=[
            Step(commits=["1111 Waiting"], files={"web": web(2)}, down=["tokyo"]),
            well("2111 Progressing", "2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a gate asks for health without a break",
        policy=GATED,
        steps=[
            changed("2111 Progressing"),
            Step(commits=[], seconds=599),
            Step(commits=[], seconds=1, unwell=["oslo"]),
            Step(commits=[], seconds=1, unwell=[]),
            Step(commits=[], seconds=599),
            Step(commits=["2222 Progressing", "2222 Completed"], seconds=1),
        ],
    ),
    Situation(
        why="a cluster that was through and is unwell counts as under way again",
        steps=[
            changed("2111 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["2222 Progressing"], unwell=["oslo", "rome"]),
            Step(commits=["2222 Progressing"], unwell=["oslo"]),
            well("2222 Completed"),
        ],
    ),
    Situation(
        why="a cluster whose deadline has passed has failed, and the rest waits for somebody",
        policy=HURRIED,
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=[], seconds=599),
            Step(commits=["2111 Failed"], seconds=1),
            Step(commits=["2222 Progressing", "2222 Completed"], unwell=[], control={"verb": "Retry"}),
        ],
    ),
    Situation(
        why="a rollback takes everybody back to the completed version, which a joiner has as well, until a retry",
        policy={**HURRIED, "onFailure": "Rollback"},
        steps=[
            changed("2111 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["1111 Held"], seconds=600),
            Step(commits=["11111 Held"], files={"berlin": a_cluster("berlin")}, unwell=[]),
            Step(commits=[], seconds=3600),
            Step(commits=["12111 Progressing", "22222 Progressing", "22222 Completed"], control={"verb": "Retry"}),
        ],
    ),
    Situation(
        why="a rollback of the second of two changes goes back to the one that was completed, from three versions",
        policy={
            **HURRIED,
            "onFailure": "Rollback",
            "waves": [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)],
        },
        steps=[
            changed("2111 Progressing", "2112 Progressing", unwell=["tokyo"]),
            changed("3112 Progressing", to=3, unwell=["oslo"]),
            Step(commits=["1111 Held"], seconds=600),
            changed("4111 Progressing", to=4, unwell=["oslo"]),
        ],
    ),
    Situation(
        why="a rollback by reverse waves takes a wave back when those after it are well again",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["2211 Held", "2211 Held"], seconds=600),
            Step(commits=["12211 Held"], files={"berlin": a_cluster("berlin")}, seconds=60),
            Step(commits=["12111 Held", "11111 Held", "11111 Held"], unwell=[]),
            Step(commits=[], seconds=3600),
            Step(
                commits=["12111 Progressing", "12211 Progressing", "22222 Progressing", "22222 Completed"],
                control={"verb": "Retry"},
            ),
        ],
    ),
    Situation(
        why="a cluster that is not well again by its deadline keeps nobody at a version that failed",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["2211 Held", "2211 Held"], seconds=600),
            Step(commits=[], seconds=599),
            Step(commits=["2111 Held", "1111 Held", "1111 Held"], seconds=1),
        ],
    ),
    Situation(
        why="a rollback by reverse waves waits for no cluster that is silent, which goes back with its wave",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["2211 Held", "2211 Held"], seconds=600),
            Step(commits=["2111 Held", "1111 Held", "1111 Held"], down=["rome"]),
            well(),
        ],
    ),
    Situation(
        why="a rollback by reverse waves takes so many back at once as may be under way, from three versions",
        policy={**BACKWARDS, "waves": [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)]},
        steps=[
            changed("2111 Progressing", "2112 Progressing", "2122 Progressing", unwell=["rome"]),
            changed("3122 Progressing", to=3, unwell=["oslo", "rome"]),
            Step(commits=["3121 Held", "3111 Held"], seconds=600),
            well("1111 Held", "1111 Held"),
        ],
    ),
    Situation(
        why="a rollout that is retried on its way back goes on from there",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["rome"]),
            Step(commits=["2211 Held", "2211 Held"], seconds=600),
            Step(commits=["2222 Progressing", "2222 Completed"], control={"verb": "Retry"}, unwell=[]),
        ],
    ),
    Situation(
        why="what waits goes out when all have gone back, and not from a version that failed",
        policy={**BACKWARDS, "onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            changed("2211 Progressing", to=3, unwell=["paris"]),
            Step(commits=["2111 Held"], seconds=600),
            well(
                "1111 Held", "1111 Held", "3111 Progressing", "3311 Progressing", "3333 Progressing", "3333 Completed"
            ),
        ],
    ),
    Situation(
        why="an abort takes back by reverse waves as well",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            Step(commits=["2111 Held"], control={"verb": "Abort"}),
            well("1111 Held", "1111 Held"),
        ],
    ),
    Situation(
        why="a newer change takes the place of one that goes back",
        policy=BACKWARDS,
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            Step(commits=["2111 Held"], seconds=600),
            changed("3111 Progressing", "3311 Progressing", "3333 Progressing", "3333 Completed", to=3),
        ],
    ),
    Situation(
        why="an abort takes back where a failure would",
        policy={"onFailure": "Rollback"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["1111 Held"], control={"verb": "Abort"}, unwell=[]),
            Step(commits=[], seconds=3600),
        ],
    ),
    Situation(
        why="a newer change takes the place of one that has failed",
        policy=HURRIED,
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Failed"], seconds=600),
            changed("3111 Progressing", "3333 Progressing", "3333 Completed", to=3),
        ],
    ),
    Situation(
        why="a hotfix supersedes the change in its first wave",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("3111 Progressing", to=3, unwell=["oslo"]),
            well("3333 Progressing", "3333 Completed"),
        ],
    ),
    Situation(
        why="a hotfix supersedes the change in its last wave, from a fleet with two versions",
        policy={"waves": [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)]},
        steps=[
            changed("2111 Progressing", "2112 Progressing", unwell=["tokyo"]),
            changed("3112 Progressing", "3113 Progressing", to=3, unwell=["tokyo"]),
            well("3133 Progressing", "3333 Progressing", "3333 Completed"),
        ],
    ),
    Situation(
        why="a hotfix supersedes a change in the first of three waves",
        policy=THREE,
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("3111 Progressing", "3311 Progressing", "3333 Progressing", "3333 Completed", to=3),
        ],
    ),
    Situation(
        why="a hotfix supersedes a change in the second of three waves, and begins in the first again",
        policy=THREE,
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            changed("3211 Progressing", to=3, unwell=["oslo"]),
            well("3311 Progressing", "3333 Progressing", "3333 Completed"),
        ],
    ),
    Situation(
        why="a hotfix supersedes a change in the last of three waves, and begins in the first again",
        policy=THREE,
        steps=[
            changed("2111 Progressing", "2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["tokyo"]),
            changed("3222 Progressing", "3322 Progressing", to=3, unwell=["paris"]),
            well("3333 Progressing", "3333 Completed"),
        ],
    ),
    Situation(
        why="a change that comes back is not taken for well where it was not",
        policy=THREE,
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            changed("3211 Progressing", to=3, unwell=["oslo", "paris"]),
            changed("2211 Progressing", "2211 Progressing", to=2, unwell=["paris"]),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a change that comes back goes away again also where it was before, if it fails",
        policy={**HURRIED, **THREE, "onFailure": "Rollback"},
        steps=[
            changed("2111 Progressing", "2211 Progressing", unwell=["paris"]),
            changed("3211 Progressing", to=3, unwell=["oslo", "paris"]),
            changed("2211 Progressing", "2211 Progressing", to=2, unwell=["paris"]),
            Step(commits=["1111 Held"], seconds=600),
        ],
    ),
    Situation(
        why="three changes one after the other: clusters go to the newest, whatever they stand at",
        policy={"waves": [a_wave("canary", "oslo"), a_wave("rest", maxConcurrent=1)]},
        steps=[
            changed("2111 Progressing", "2112 Progressing", unwell=["tokyo"]),
            changed("3112 Progressing", to=3, unwell=["oslo"]),
            changed(
                "4112 Progressing", "4114 Progressing", "4144 Progressing", "4444 Progressing", "4444 Completed", to=4
            ),
        ],
    ),
    Situation(
        why="newer changes wait for the end of the first, and go out together",
        policy={"onNewChange": "Coalesce"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=4, unwell=["oslo"]),
            well("2222 Progressing", "4222 Progressing", "4444 Progressing", "4444 Completed"),
        ],
    ),
    Situation(
        why="newer changes wait for the end of the first, and go out one after the other",
        policy={"onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=4, unwell=["oslo"]),
            well(
                "2222 Progressing",
                "3222 Progressing",
                "3333 Progressing",
                "4333 Progressing",
                "4444 Progressing",
                "4444 Completed",
            ),
        ],
    ),
    Situation(
        why="a change that waits and is taken back goes out all the same, as it came",
        policy={"onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=2, unwell=["oslo"]),
            well(
                "2222 Progressing",
                "3222 Progressing",
                "3333 Progressing",
                "2333 Progressing",
                "2222 Progressing",
                "2222 Completed",
            ),
        ],
    ),
    Situation(
        why="changes that go out together and come to nothing leave nothing to do",
        policy={"onNewChange": "Coalesce"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=2, unwell=["oslo"]),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a change that has failed makes way for the next that waits",
        policy={**HURRIED, "onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=4, unwell=["oslo"]),
            Step(commits=["2111 Failed", "3111 Progressing"], seconds=600),
            well("3333 Progressing", "4333 Progressing", "4444 Progressing", "4444 Completed"),
        ],
    ),
    Situation(
        why="changes that wait go out at once as one where the policy is edited so",
        policy={"onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            changed("2111 Progressing", to=4, unwell=["oslo"]),
            Step(commits=["4111 Progressing"], files={"rollout": edited(*CANARY)}),
            well("4444 Progressing", "4444 Completed"),
        ],
    ),
    Situation(
        why="a rollout whose policy is deleted ends, and what waited for it goes everywhere at once",
        policy={"onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            Step(commits=[], files={"rollout": None}),
            well("2222 Progressing", "3333"),
        ],
    ),
    Situation(
        why="a cluster that joins while changes wait has the version that is due there",
        policy={"onNewChange": "Wait"},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("2111 Progressing", to=3, unwell=["oslo"]),
            Step(commits=["12111 Progressing"], files={"berlin": a_cluster("berlin")}, unwell=["oslo"]),
            well("22222 Progressing", "23222 Progressing", "33333 Progressing", "33333 Completed"),
        ],
    ),
    Situation(
        why="a change that is taken back leaves clusters by waves, too, and nobody else is touched",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            changed("1111 Progressing", to=1, unwell=["oslo"]),
            well("1111 Completed"),
        ],
    ),
    Situation(
        why="a change that is taken back everywhere goes wave by wave",
        steps=[
            changed("2111 Progressing", "2222 Progressing", "2222 Progressing", unwell=["paris"]),
            changed("1222 Progressing", "1111 Progressing", "1111 Completed", to=1),
        ],
    ),
    Situation(
        why="waves that have not begun follow an edit of the policy",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(
                commits=["2111 Progressing"],
                files={"rollout": edited(a_wave("canary", "oslo"), a_wave("second", "paris"), a_wave("rest"))},
            ),
            well("2211 Progressing", "2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a rollout whose policy is deleted ends by its recorded plan, and the next change goes everywhere at once",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=[], files={"rollout": None}),
            well("2222 Progressing", "2222"),
            changed("3333", to=3),
        ],
    ),
    Situation(
        why="a policy that is new holds back nothing of its own commit",
        steps=[
            Step(commits=["1111"], files={"rollout": None}),
            changed("2222", rollout=edited(*CANARY)),
            changed("3222 Progressing", "3333 Progressing", "3333 Completed", to=3),
        ],
    ),
    Situation(
        why="another policy goes on from the versions that clusters have",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(
                commits=["2211 Progressing", "2222 Progressing", "2222 Progressing"],
                files={"rollout": edited(a_wave("first", "paris"), a_wave("rest"), name="other")},
            ),
            well("2222 Completed"),
        ],
    ),
    Situation(
        why="an approval is asked for, of this change alone",
        policy=APPROVED,
        steps=[
            changed("2111 Progressing", "2111 Waiting"),
            Step(
                commits=["2222 Progressing", "2222 Completed"],
                control={"verb": "Approve", "wave": "rest"},
            ),
            changed("3222 Progressing", "3222 Waiting", to=3),
        ],
    ),
    Situation(
        why="a rollout that is paused goes on when it is resumed",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Paused"], control={"verb": "Pause"}, unwell=[]),
            Step(
                commits=["2222 Progressing", "2222 Completed"],
                control={"verb": "Resume", "at": "2026-03-01T00:00:01Z"},
            ),
        ],
    ),
    Situation(
        why="a change that is aborted is held back until there is a newer one",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Held"], control={"verb": "Abort"}, unwell=[]),
            Step(commits=[], seconds=3600),
            changed("3111 Progressing", "3333 Progressing", "3333 Completed", to=3),
        ],
    ),
    Situation(
        why="replicas alone change everywhere at once, and are no rollout",
        steps=[
            Step(commits=["1111"], files={"web": web(1, replicas=9)}),
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Progressing"], files={"web": web(2, replicas=7)}),
        ],
    ),
    Situation(
        why="an override is a change as well",
        steps=[
            Step(commits=["1111 Progressing", "1111 Progressing", "1111 Completed"], files={"over": an_override("x")}),
        ],
    ),
    Situation(
        why="a wave in whose clusters nothing changes is passed at once",
        steps=[
            Step(commits=["1111 Progressing", "1111 Completed"], files={"over": an_override("x", "rome")}),
        ],
    ),
    Situation(
        why="an override that applies nowhere is none, nor does it begin anew what is under way",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=[], files={"over": an_override("x", "nobody")}),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a change that cannot be built in a cluster is not well there",
        steps=[
            changed("1111 Progressing", over=an_override("x", path="/spec/nothing/here")),
            Step(commits=["2111 Progressing", "2222 Progressing", "2222 Completed"], files={"over": None}),
        ],
    ),
    Situation(
        why="a placement that changes meanwhile moves copies at once, at the version of their cluster",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["21 Progressing"], files={"policy": placed(placement=on_clusters("oslo", "rome"))}),
            Step(commits=["2111 Progressing"], files={"policy": placed()}),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="an object that no policy places any more stays at its versions until one does",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Progressing"], files={"policy": None}),
            well(),
            Step(commits=["2222 Progressing", "2222 Completed"], files={"policy": placed()}),
        ],
    ),
    Situation(
        why="an object that leaves the source ends its rollout",
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=[""], files={"web": None}),
            changed("3333", to=3),
        ],
    ),
    Situation(
        why="a wave that takes nobody waits, unless that is allowed",
        policy={"waves": [a_wave("canary", "nobody"), a_wave("rest")]},
        steps=[
            changed("1111 Waiting"),
            Step(
                commits=["2222 Progressing", "2222 Completed"],
                files={"rollout": edited(a_wave("canary", "nobody", allowEmpty=True), a_wave("rest"))},
            ),
        ],
    ),
    Situation(
        why="a share of a wave lets the next one begin, and the change is completed with the last of all",
        policy={"waves": [a_wave("canary", "oslo", "paris", gate={"share": "50%"}), a_wave("rest")]},
        steps=[
            changed("2211 Progressing", "2222 Progressing", "2222 Progressing", unwell=["paris"]),
            well("2222 Completed"),
        ],
    ),
    Situation(
        why="a window that closes lets clusters that have the change go on, and gives it to nobody else",
        policy={**GATED, **AT_NIGHT},
        steps=[
            changed("2111 Progressing"),
            Step(commits=["2111 Waiting"], seconds=7200),
            Step(commits=["2111 Waiting"], unwell=["oslo"], seconds=3600),
            Step(commits=[], unwell=[], seconds=3600),
            Step(commits=["2222 Progressing", "2222 Completed"], seconds=20 * 3600),
        ],
    ),
    Situation(
        why="a change of the hours in which no window is open waits for the next one",
        policy=AT_NIGHT,
        steps=[
            Step(commits=[], seconds=7200),
            changed("1111 Waiting"),
            Step(commits=["2111 Progressing", "2222 Progressing", "2222 Completed"], seconds=22 * 3600),
        ],
    ),
    Situation(
        why="a freeze holds back a change, never replicas, and ends by itself",
        policy={"freezes": [{"until": "2026-03-02T00:00:00Z", "reason": "no changes at the weekend"}]},
        steps=[
            changed("1111 Waiting"),
            Step(commits=["1111 Waiting"], files={"web": web(2, replicas=7)}),
            Step(commits=["2111 Progressing", "2222 Progressing", "2222 Completed"], seconds=24 * 3600),
        ],
    ),
    Situation(
        why="a quota that is made smaller than what is in use keeps nobody from the change",
        files={**LIMITED, "quota": a_quota("8"), "web": requesting(1, "1")},
        steps=[
            Step(commits=["2111 Progressing"], files={"web": requesting(2, "1")}, unwell=["oslo"]),
            Step(commits=[], files={"quota": a_quota("2")}),
            well("2222 Progressing", "2222 Completed"),
        ],
    ),
    Situation(
        why="a clock that jumps ahead opens gates by what is seen then, and passes over nobody who is unwell",
        policy={"waves": [a_wave("canary", "oslo", gate={"healthyFor": "10m", "deadline": "1h"}), a_wave("rest")]},
        steps=[
            changed("2111 Progressing", unwell=["oslo"]),
            Step(commits=["2111 Failed"], seconds=365 * 24 * 3600),
            Step(commits=["2111 Progressing"], unwell=[], control={"verb": "Retry"}),
            Step(commits=["2222 Progressing", "2222 Completed"], seconds=365 * 24 * 3600),
        ],
    ),
    Situation(
        why="health that is lost is asked for again: until then nobody is through",
        policy=GATED,
        steps=[
            changed("2111 Progressing"),
            Step(commits=[], seconds=599),
            Step(commits=[], is_health_lost=True, seconds=1),
            Step(commits=[], seconds=599),
            Step(commits=["2222 Progressing", "2222 Completed"], seconds=1),
        ],
    ),
    Situation(
        why="a clock that is set back opens no gate, and one that is set right again does",
        policy=GATED,
        steps=[
            changed("2111 Progressing"),
            Step(commits=[], seconds=-3600),
            Step(commits=["2222 Progressing", "2222 Completed"], seconds=4200),
        ],
    ),
)


@pytest.mark.parametrize("situation", [pytest.param(each, id=each.why) for each in SITUATIONS])
def test_situations(situation: Situation) -> None:
    policy = {"waves": CANARY, **situation.policy}
    fleet = RollingFleet.of(CLUSTERS, situation.files, **policy)
    for number, step in enumerate(situation.steps):
        fleet.unwell = fleet.unwell if step.unwell is None else set(step.unwell)
        fleet.down = fleet.down if step.down is None else set(step.down)
        if step.control is not None:
            fleet.commit(**{f"control-{number}": a_control(f"control-{number}", fleet.change, **step.control)})
        fleet.commit(**step.files)
        if step.is_health_lost:
            fleet.health.clear()
        assert fleet.run(step.seconds) == list(step.commits), f"step {number}"


def a_fleet(**policy: Any) -> RollingFleet:
    return RollingFleet.of(CLUSTERS, {}, **{"waves": CANARY, **policy})


def test_versions_are_kept_as_long_as_a_cluster_stands_at_them() -> None:
    fleet = a_fleet()
    assert len(fleet.files_below("versions")) == 1
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2)).run()
    assert len(fleet.files_below("versions")) == 2
    fleet.unwell = set()
    fleet.run()
    assert len(fleet.files_below("versions")) == 1


def test_a_fleet_without_rollout_policies_has_no_file_of_rollouts() -> None:
    fleet = a_fleet().commit(rollout=None)
    fleet.run()
    assert (fleet.files_below("versions"), fleet.files_below("rollouts")) == ([], [])


def test_replicas_are_those_of_now_whatever_the_version() -> None:
    divided = on_clusters(replicaScheduling=weighted(oslo=1, paris=1, rome=1, tokyo=1))
    fleet = a_fleet().commit(policy=placed(placement=divided), web=web(1, replicas=8))
    fleet.run()
    fleet.unwell = {"oslo"}
    for replicas, share in ((12, 3), (0, 0), (16, 4)):
        fleet.commit(web=web(2, replicas=replicas)).run()
        assert fleet.told[-1] == "2111 Progressing"
        assert [fleet.manifest(name)["spec"]["replicas"] for name in CLUSTERS] == [share] * 4


def test_an_autoscaler_is_never_held_back() -> None:
    scaler: dict[str, Any] = {
        **AUTOSCALER,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"scaleTargetRef": WEB, "maxReplicas": 3},
    }
    fleet = a_fleet(selectors=[WEB, AUTOSCALER])
    fleet.commit(policy=a_policy("web", selectors=[WEB, AUTOSCALER], placement=on_clusters()), hpa=scaler).run()
    fleet.unwell = {"oslo"}
    fleet.commit(web=web(2), hpa={**scaler, "spec": {**scaler["spec"], "maxReplicas": 9}}).run()
    assert fleet.told[-1] == "2111 Progressing"
    assert [fleet.manifest(name, HPA)["spec"]["maxReplicas"] for name in CLUSTERS] == [9] * 4


def entries(fleet: RollingFleet, ref: ObjectRef) -> str:
    """The entry of a ConfigMap in each cluster; a dash where it is not."""
    found = [fleet.manifest(name, ref) for name in CLUSTERS]
    return "".join("-" if each is None else each["data"]["a"] for each in found)


def two_objects(**policy: Any) -> RollingFleet:
    """A fleet whose rollout policy selects the ConfigMap conf as well."""
    selectors = [WEB, CONFIG_MAP]
    fleet = a_fleet(selectors=selectors, **policy)
    fleet.commit(policy=a_policy("web", selectors=selectors, placement=on_clusters()), conf=a_config_map("conf", a="1"))
    fleet.run()
    fleet.unwell = {"oslo"}
    return fleet


def test_what_one_commit_changes_goes_together() -> None:
    fleet = two_objects()
    fleet.commit(web=web(2), conf=a_config_map("conf", a="2")).run()
    assert (fleet.told[-1], entries(fleet, CONF)) == ("2111 Progressing", "2111")
    fleet.unwell = set()
    fleet.run()
    assert (fleet.told[-1], entries(fleet, CONF)) == ("2222 Completed", "2222")


def test_what_changes_later_joins_the_change_and_begins_it_anew() -> None:
    fleet = two_objects()
    fleet.commit(web=web(2)).run()
    before = fleet.change
    fleet.commit(conf=a_config_map("conf", a="2")).run()
    assert (fleet.told[-1], entries(fleet, CONF), fleet.change != before) == ("2111 Progressing", "2111", True)


def test_a_change_is_the_same_one_when_an_object_of_it_is_no_more() -> None:
    fleet = two_objects()
    fleet.commit(web=web(2), conf=a_config_map("conf", a="2")).run()
    before = fleet.change
    fleet.commit(conf=None).run()
    assert (fleet.told[-1], entries(fleet, CONF), fleet.change) == ("2111 Progressing", "----", before)


def test_changes_of_several_objects_go_out_in_the_order_of_their_commits() -> None:
    """An object that is changed twice goes through both versions, also if the last of them is that of before."""
    fleet = two_objects(onNewChange="Wait")
    fleet.commit(web=web(2)).run()
    fleet.commit(conf=a_config_map("conf", a="2")).run()
    fleet.commit(web=web(3), conf=a_config_map("conf", a="1")).run()
    queue = [[(ref.name, digest) for ref, digest in each.versions] for each in fleet.state().queue]
    assert [[name for name, _ in each] for each in queue] == [["conf"], ["conf", "web"]]
    assert len(fleet.files_below("versions")) == 2 + 3, "conf has two versions, web has three"
    assert (fleet.told[-1], entries(fleet, CONF)) == ("2111 Progressing", "1111")
    fleet.unwell = set()
    fleet.settle()
    seen = []
    while fleet.pass_once():
        seen.append((fleet.told[-1].split()[0], entries(fleet, CONF)))
    assert seen == [
        ("2222", "1111"),
        ("2222", "2111"),
        ("2222", "2222"),
        ("3222", "1222"),
        ("3333", "1111"),
        ("3333", "1111"),
    ]
    assert (fleet.state().queue, len(fleet.files_below("versions"))) == ((), 2)


def test_an_object_that_is_no_more_waits_no_longer() -> None:
    fleet = two_objects(onNewChange="Wait")
    fleet.commit(web=web(2)).run()
    fleet.commit(conf=a_config_map("conf", a="2")).run()
    fleet.commit(conf=None).run()
    assert (fleet.state().queue, fleet.told[-1]) == ((), "2111 Progressing")


def test_numbers_do_not_wait_for_changes_that_do() -> None:
    """The replicas are those of the newest source, also with the bytes of a version that waited."""
    divided = on_clusters(replicaScheduling=weighted(oslo=1, paris=1, rome=1, tokyo=1))
    fleet = a_fleet(onNewChange="Wait").commit(policy=placed(placement=divided), web=web(1, replicas=4))
    fleet.run()
    fleet.unwell = {"oslo"}
    for version, replicas in ((2, 4), (3, 4), (4, 12)):
        fleet.commit(web=web(version, replicas=replicas)).run()
    assert (fleet.told[-1], fleet.manifest("rome")["spec"]["replicas"]) == ("2111 Progressing", 3)
    fleet.unwell = set()
    fleet.settle()
    for _ in range(3):
        assert fleet.pass_once()
        assert [fleet.manifest(name)["spec"]["replicas"] for name in CLUSTERS] == [3] * 4


def using(version: int, name: str) -> dict[str, Any]:
    """A version of the Deployment that mounts a ConfigMap."""
    made = web(version)
    made["spec"]["template"]["spec"]["volumes"] = [{"name": "conf", "configMap": {"name": name}}]
    return made


def test_what_an_older_version_names_stays_where_clusters_stand_at_it() -> None:
    fleet = a_fleet()
    policy = a_policy("web", selectors=[WEB, CONFIG_MAP], placement=on_clusters())
    fleet.commit(policy=policy, conf=a_config_map("conf", a="1"), web=using(1, "conf")).run()
    fleet.unwell = {"oslo"}
    fleet.commit(web=using(2, "conf2"), conf=None, conf2=a_config_map("conf2", a="2")).run()
    assert (fleet.told[-1], entries(fleet, CONF), entries(fleet, CONF2)) == ("2111 Progressing", "-111", "2222")
    fleet.unwell = set()
    fleet.run()
    assert (fleet.told[-1], entries(fleet, CONF), entries(fleet, CONF2)) == ("2222 Completed", "----", "2222")


def test_what_follows_an_older_version_stays_where_clusters_stand_at_it() -> None:
    fleet = a_fleet()
    maps = {"conf": a_config_map("conf", a="1"), "conf2": a_config_map("conf2", a="2")}
    fleet.commit(policy=placed(propagateDeps=True), web=using(1, "conf"), **maps).run()
    fleet.unwell = {"oslo"}
    fleet.commit(web=using(2, "conf2")).run()
    assert (fleet.told[-1], entries(fleet, CONF), entries(fleet, CONF2)) == ("2111 Progressing", "-111", "2222")
    fleet.unwell = set()
    fleet.run()
    assert (fleet.told[-1], entries(fleet, CONF), entries(fleet, CONF2)) == ("2222 Completed", "----", "2222")


def test_each_cluster_has_the_overrides_of_its_version() -> None:
    fleet = a_fleet()
    fleet.commit(over=an_override("x")).run()
    fleet.unwell = {"oslo"}
    fleet.commit(over=an_override("y"), web=web(2)).run()
    assert fleet.told[-1] == "2111 Progressing"
    assert [fleet.manifest(name)["metadata"]["annotations"]["by"] for name in CLUSTERS] == ["y", "x", "x", "x"]
