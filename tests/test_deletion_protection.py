"""Deletion protection: nothing takes an object with Karmada's label away but a commit that names it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.guards import protection
from reconciler.guards.protection import ProtectedLoss, check_protected_losses, losses_between, losses_of_source
from reconciler.source.files import SUBMODULE
from render.documents import emit
from render.errors import GuardRefused
from render.gitobjects import git_object_id
from render.model import ObjectRef

from .build import (
    Repository,
    a_cluster,
    a_cluster_policy,
    a_config_map,
    a_deployment,
    a_policy,
    argosy,
    on_clusters,
)
from .stories import allowing
from .test_failover import a_fleet
from .test_kept_needs import plain

LABEL = "resourcetemplate.karmada.io/deletion-protected"
HEADER = "this change takes away what is protected; nothing was committed\n"
WEB = "Deployment.apps default/nginx"
GOLD = {"tier": "gold"}
BY_TIER = {"clusterAffinity": {"labelSelector": {"matchLabels": GOLD}}}
LIMITLESSLY = ("--allow-removal", "*=1000")
SELECTORS = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
LIMITLESS = {"removalGuard": {"count": 1000, "percent": 100, "whole": 1000}}


def protected(manifest: Mapping[str, Any], value: str = "Always") -> dict[str, Any]:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata.get("labels", {}), LABEL: value}}}


def the_policy(placement: Mapping[str, Any]) -> dict[str, Any]:
    return a_policy("all", selectors=SELECTORS, placement=placement)


FIRST: dict[str, Any] = {
    "oslo.yaml": a_cluster("oslo", labels=GOLD),
    "rome.yaml": a_cluster("rome", labels=GOLD),
    "web.yaml": protected(a_deployment()),
    "other.yaml": [a_config_map(f"c{number}") for number in range(3)],
    "policy.yaml": the_policy(BY_TIER),
}
SHOP = protected(plain("Namespace", "shop", namespace=""))
SPACES = a_cluster_policy("spaces", selectors=[{"apiVersion": "v1", "kind": "Namespace"}], placement={})
QUOTA = plain("FederatedResourceQuota", "q", "policy.karmada.io/v1alpha1", spec={"overall": {"cpu": "9"}})


class Loss(NamedTuple):
    """A commit that takes a protected object away, the line that says so, and the object to name."""

    why: str
    files: Mapping[str, Any]
    line: str
    name: str = WEB
    before: Mapping[str, Any] = {}


LABELLED = f"has the label {LABEL}: Always"
LOSSES = [
    Loss("its template goes", {"web.yaml": None}, f"oslo, rome: {WEB} {LABELLED}"),
    Loss(
        "its template, which says no namespace",
        {"web.yaml": None},
        f"oslo, rome: {WEB} {LABELLED}",
        before={"web.yaml": protected({**a_deployment(), "metadata": {"name": "nginx"}})},
    ),
    Loss("it leaves one cluster", {"policy.yaml": the_policy(on_clusters("oslo"))}, f"rome: {WEB} {LABELLED}"),
    Loss("a label of a cluster goes", {"rome.yaml": a_cluster("rome")}, f"rome: {WEB} {LABELLED}"),
    Loss(
        "a Namespace of its own, though what is in it keeps it needed",
        {"shop.yaml": None},
        f"shop.yaml: Namespace shop {LABELLED}",
        "Namespace shop",
        {
            "shop.yaml": SHOP,
            "in.yaml": [a_config_map("x", namespace="shop"), a_cluster_policy("x", selectors=SELECTORS)],
        },
    ),
    Loss(
        "a Namespace that a policy propagates",
        {"spaces.yaml": SPACES},
        f"oslo, rome: Namespace shop {LABELLED}",
        "Namespace shop",
        {"spaces.yaml": [SPACES, SHOP]},
    ),
    Loss(
        "a policy",
        {"policy.yaml": None},
        f"policy.yaml: PropagationPolicy.policy.karmada.io default/all {LABELLED}",
        "PropagationPolicy.policy.karmada.io default/all",
        {"policy.yaml": protected(the_policy(BY_TIER))},
    ),
    Loss(
        "a ClusterPropagationPolicy of nothing",
        {"spaces.yaml": None},
        f"spaces.yaml: ClusterPropagationPolicy.policy.karmada.io spaces {LABELLED}",
        "ClusterPropagationPolicy.policy.karmada.io spaces",
        {"spaces.yaml": protected(SPACES)},
    ),
    Loss(
        "a quota, one of two in its file",
        {"quota.yaml": [a_config_map("c9")]},
        f"quota.yaml: FederatedResourceQuota.policy.karmada.io shop/q {LABELLED}",
        "FederatedResourceQuota.policy.karmada.io shop/q",
        {"quota.yaml": [protected(QUOTA), a_config_map("c9")]},
    ),
    Loss(
        "a Cluster",
        {"rome.yaml": None},
        f"rome.yaml: Cluster.cluster.karmada.io rome {LABELLED}",
        "Cluster.cluster.karmada.io rome",
        {"rome.yaml": protected(a_cluster("rome", labels=GOLD))},
    ),
]


def rendered(folder: Path, capsys: pytest.CaptureFixture[str], files: Mapping[str, Any], **spec: Any) -> Repository:
    repository = Repository.create(folder / "fleet")
    repository.commit({**FIRST, "argosy.yaml": a_fleet(**{**LIMITLESS, **spec}), **files})
    ended = argosy(repository, capsys, "reconcile", "--bootstrap")
    assert ended.code in {0, 1}, ended
    return repository


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.why)
def test_a_protected_object_goes_only_if_a_commit_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], loss: Loss
) -> None:
    """Whatever the counts allow: before, the label did nothing, and the removal was committed."""
    fleet = rendered(tmp_path, capsys, loss.before)
    fleet.commit(loss.files)
    hint = allowing("take the label away in a commit that is rendered before", f"Argosy-Allow-Removal: {loss.name}")
    refused = f"{HEADER}  {loss.line}\n  hint: {hint}\n"
    ended = argosy(fleet, capsys, "reconcile", *LIMITLESSLY)
    assert (ended.code, ended.err.endswith(refused)) == (6, True), ended.err
    checked = argosy(fleet, capsys, "diff", "--check", *LIMITLESSLY, "HEAD~", "HEAD")
    assert (checked.code, checked.err.endswith(refused.replace("; nothing was committed", ""))) == (6, True), checked
    assert f"\n    {loss.line}\n" in argosy(fleet, capsys, "diff", "HEAD~", "HEAD").out
    fleet.commit({}, f"Indeed\n\nArgosy-Allow-Removal: {loss.name}")
    assert argosy(fleet, capsys, "diff", "--check", *LIMITLESSLY, "HEAD~2", "HEAD").code in {0, 1}
    allowed = argosy(fleet, capsys, "reconcile", *LIMITLESSLY)
    assert allowed.code in {0, 1}, allowed


def test_a_count_does_not_name_and_a_name_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = rendered(tmp_path, capsys, {}, removalGuard={"count": 0, "percent": 0})
    fleet.commit({"web.yaml": None}, f"Go\n\nArgosy-Allow-Removal: {WEB}")
    counted = argosy(fleet, capsys, "reconcile")
    assert (counted.code, "removes too much" in counted.err, "protected" in counted.err) == (6, True, False)
    fleet.commit({}, "Go\n\nArgosy-Allow-Removal: * 1")
    assert argosy(fleet, capsys, "reconcile").code == 0


def test_a_label_that_is_taken_away_protects_no_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = rendered(tmp_path, capsys, {})
    fleet.commit({"web.yaml": a_deployment()})
    assert argosy(fleet, capsys, "reconcile").code == 0
    fleet.commit({"web.yaml": None})
    assert argosy(fleet, capsys, "reconcile").code == 0


def test_what_is_moved_or_renamed_in_the_source_is_not_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = protected(the_policy(BY_TIER))
    fleet = rendered(tmp_path, capsys, {"policy.yaml": policy})
    moved = {"policy.yaml": None, "web.yaml": None, "all/of-it.yaml": [policy, protected(a_deployment())]}
    fleet.commit(moved)
    assert argosy(fleet, capsys, "diff", "--check", "HEAD~", "HEAD").code == 0
    ended = argosy(fleet, capsys, "reconcile")
    assert ended.code == 0, ended


def test_a_namespace_that_is_written_into_a_template_moves_it_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = protected(a_deployment())
    labels = web["metadata"]["labels"]
    fleet = rendered(tmp_path, capsys, {"web.yaml": {**web, "metadata": {"name": "nginx", "labels": labels}}})
    fleet.commit({"web.yaml": web})
    ended = argosy(fleet, capsys, "reconcile")
    assert ended.code == 0, ended


def test_what_leaves_a_cluster_that_is_gone_is_not_taken_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Cluster that leaves the source is disconnected, and keeps what it holds."""
    fleet = rendered(tmp_path, capsys, {})
    fleet.commit({"rome.yaml": None})
    assert argosy(fleet, capsys, "reconcile").code == 0


def test_another_value_protects_nothing_and_validate_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = rendered(tmp_path, capsys, {"web.yaml": protected(a_deployment(), "always")})
    said = argosy(fleet, capsys, "validate").err + argosy(fleet, capsys, "validate").out
    line = f"metadata.labels.{LABEL}: 'always' protects nothing, in Karmada neither\n  hint: write 'Always'\n"
    assert line in said, said
    fleet.commit({"web.yaml": None})
    assert argosy(fleet, capsys, "reconcile").code == 0


class File(NamedTuple):
    """A file of a source."""

    path: str
    id: bytes
    size: int
    mode: int = 0o100644


kinds = st.sampled_from([("v1", "ConfigMap"), ("v1", "Secret"), ("policy.karmada.io/v1alpha1", "PropagationPolicy")])
documents = st.lists(
    st.builds(
        lambda kind, name, value: protected(plain(kind[1], name, kind[0]), value),
        kinds,
        st.sampled_from("abc"),
        st.sampled_from(["Always", "Never"]),
    ),
    max_size=4,
)
sources = st.dictionaries(st.sampled_from(["a.yaml", "b.yml", "c/d.json"]), documents, max_size=3)


def listed_together(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "List", "items": documents}] if documents else []


@given(sources, sources, st.sets(st.booleans()))
def test_what_is_lost_was_protected_and_is_nowhere(
    before: dict[str, list[dict[str, Any]]], after: dict[str, list[dict[str, Any]]], with_lists: set[bool]
) -> None:
    """However documents are spread over files and lists: each protected one that is in none any more is told once."""
    blobs: dict[bytes, bytes] = {}

    def files(source: dict[str, list[dict[str, Any]]], *, has_lists: bool) -> list[File]:
        made = []
        for path, written in source.items():
            content = b"---\n".join(map(emit, listed_together(written) if has_lists else written))
            id_ = git_object_id("blob", content)
            blobs[id_] = content
            made.append(File(path, id_, len(content)))
        return made

    def refs(source: dict[str, list[dict[str, Any]]], *values: str) -> set[ObjectRef]:
        every = (each for listed in source.values() for each in listed)
        return {ObjectRef.of(each) for each in every if each["metadata"]["labels"][LABEL] in values}

    old, new = files(before, has_lists=True in with_lists), files(after, has_lists=False in with_lists)
    lost = losses_of_source(old, new, lambda ids: {id_: blobs[id_] for id_ in ids}, ())
    found = [each.ref for each in lost]
    assert found == sorted(refs(before, "Always") - refs(after, "Always", "Never"))


def test_an_edit_reads_only_files_that_changed() -> None:
    """However large the source is: its other files are read for what is in none of those that changed."""
    before = {"web.yaml": protected(a_deployment()), "policy.yaml": protected(the_policy(BY_TIER))}
    same = {f"c{number}.yaml": a_config_map(f"c{number}") for number in range(9)}

    def paths_read(after: Mapping[str, dict[str, Any]], *kept: ObjectRef) -> tuple[list[str], list[str]]:
        old, new = ({path: emit(each) for path, each in source.items()} for source in ({**same, **before}, after))
        names = {git_object_id("blob", text): (path, text) for path, text in (*old.items(), *new.items())}
        read: list[str] = []

        def read_blobs(ids: Iterable[bytes]) -> dict[bytes, bytes]:
            found = {id_: names[id_] for id_ in ids}
            read.extend(path for path, _ in found.values())
            return {id_: text for id_, (_, text) in found.items()}

        def files(source: Mapping[str, bytes]) -> list[File]:
            found = [File(path, git_object_id("blob", text), len(text)) for path, text in source.items()]
            return [*found, File("module.yaml", b"not here", 0, SUBMODULE), File("large.json", b"not read", 9 << 20)]

        lost = losses_of_source(files(old), files(new), read_blobs, kept)
        return [str(each.ref) for each in lost], sorted(read)

    web = ObjectRef.of(before["web.yaml"])
    edited = {"web.yaml": protected(a_deployment(image="nginx:2"))}
    assert paths_read({**same, **before, **edited}, web) == ([], ["web.yaml"])
    policy = {"policy.yaml": protected(the_policy({}))}
    assert paths_read({**same, **before, **policy}, web) == ([], ["policy.yaml", "policy.yaml"])
    moved = {"all.yaml": policy["policy.yaml"], "web.yaml": before["web.yaml"]}
    assert paths_read({**same, **moved}, web) == ([], ["all.yaml", "policy.yaml"])
    gone = {"web.yaml": before["web.yaml"]}
    assert paths_read({**same, **gone}, web) == (
        ["PropagationPolicy.policy.karmada.io default/all"],
        sorted(["policy.yaml", *same, "web.yaml"]),
    )


def test_a_change_of_what_nothing_protects_asks_for_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """All files of a source say together which of them are read; few changes are about a protected object."""
    asked: list[int] = []

    def chosen(before: list[File], *_: object) -> list[File]:
        asked.append(len(before))
        return before

    monkeypatch.setattr(protection, "files_of_fleet", chosen)

    def lost(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
        blobs = {git_object_id("blob", text): text for text in (*before.values(), *after.values())}
        repository: Any = SimpleNamespace(read_blobs=lambda ids: {id_: blobs[id_] for id_ in ids})
        old, new = (
            [File(path, git_object_id("blob", text), len(text)) for path, text in each.items()]
            for each in (before, after)
        )
        source: Any = SimpleNamespace(files=new, desired=SimpleNamespace(templates=()))
        return [str(each.ref) for each in losses_between(repository, old, source)]

    first = {"web.yaml": emit(protected(a_deployment())), "map.yaml": emit(a_config_map("map"))}
    assert (lost(first, {"web.yaml": first["web.yaml"]}), lost(first, first), asked) == ([], [], [])
    assert (lost(first, {"map.yaml": first["map.yaml"]}), asked) == ([WEB], [2])


def test_of_many_losses_the_first_are_named() -> None:
    losses = [ProtectedLoss(ref=ObjectRef("", "ConfigMap", "shop", f"c{n:02}"), clusters=("oslo",)) for n in range(25)]
    with pytest.raises(GuardRefused) as refused:
        check_protected_losses(losses, ["ConfigMap shop/c00"])
    lines = refused.value.message.split("\n")
    assert (len(lines), lines[1], lines[-1]) == (22, f"  oslo: ConfigMap shop/c01 {LABELLED}", "  and 4 more")
    check_protected_losses(losses, [f"ConfigMap shop/c{number:02}" for number in range(25)])
