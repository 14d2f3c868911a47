"""Objects that leave a cluster, and everything that keeps one there - in memory and on a real API server."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.holder import LeaseHolder, lease_holder
from reconciler.deliver.lease import acquire_lease, release_lease
from reconciler.ledger.inventory import ApplyOutcome, HeldObject, Inventory
from reconciler.members.exchange import Failure, FailureKind, Request
from reconciler.observe.objects import observe_cluster
from reconciler.plans.cluster import make_plan
from reconciler.plans.model import ClusterDesired
from render.model import ObjectRef

from .applying import QUICK, Cluster, Send, outcomes, straight
from .build import a_config_map, a_deployment
from .waiting import SECONDS, running


def some(cluster: Cluster, *names: str, **entries: str) -> tuple[dict[str, Any], ...]:
    return tuple(a_config_map(name, namespace=cluster.space, **entries) for name in names)


def given(cluster: Cluster, *manifests: dict[str, Any], **fields: Any) -> Inventory:
    """Apply manifests, and return the inventory that remembers them."""
    cluster.apply(*manifests)
    return cluster.inventory(*manifests, **fields)


def parent_of(cluster: Cluster) -> Any:
    return cluster.read("configmaps", cluster.applyset.name)


HOLDING = """
import pathlib, sys, time
from reconciler.deliver.holder import lease_holder
with lease_holder(pathlib.Path(sys.argv[1])) as holder:
    print(holder.name, flush=True)
    time.sleep(60)
"""


def killed_holder(folder: Path) -> str:
    """The name of a holder whose process was killed."""
    with running([sys.executable, "-c", HOLDING, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        name = str(process.stdout.readline()).strip()
        with lease_holder(folder) as other:
            assert not other.is_dead(name)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=SECONDS)
    with lease_holder(folder) as other:
        assert other.is_dead(name)
    return name


def test_a_holder_leaves_nothing_behind_and_judges_no_clone_but_its_own(tmp_path: Path) -> None:
    with lease_holder(tmp_path / "here") as here, lease_holder(tmp_path / "there") as there:
        assert not here.is_dead(here.name)
        assert not here.is_dead(there.name)
    assert not here.is_dead(there.name)
    assert [*(tmp_path / "here").iterdir(), *(tmp_path / "there").iterdir()] == []


def test_what_left_the_tree_leaves_the_cluster(cluster: Cluster) -> None:
    kept, going = some(cluster, "kept", "going")
    inventory = given(cluster, kept, going)
    applied = cluster.apply(kept, inventory=inventory)
    assert outcomes(applied) == {"ConfigMap kept": "unchanged UpToDate", "ConfigMap going": "deleted NotWanted"}
    assert cluster.read("configmaps", "going") is None
    assert applied.outcome is ApplyOutcome.CONVERGED
    assert outcomes(cluster.apply(kept, inventory=inventory)) == {"ConfigMap kept": "unchanged UpToDate"}


def test_the_parent_is_narrowed_once_all_is_done(cluster: Cluster) -> None:
    settings, web = some(cluster, "settings")[0], a_deployment("web", namespace=cluster.space)
    inventory = given(cluster, settings, web)
    cluster.apply(web, inventory=inventory)
    parent = cluster.read("configmaps", cluster.applyset.name)
    assert parent["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] == "Deployment.apps"


def test_without_members_there_is_no_parent(cluster: Cluster) -> None:
    inventory = given(cluster, *some(cluster, "a"))
    cluster.apply(inventory=inventory, allowed_removals=1)
    assert cluster.read("configmaps", cluster.applyset.name) is None


class TestWhatIsKept:
    def told(self, cluster: Cluster, inventory: Inventory, *wanted: dict[str, Any], **chosen: Any) -> dict[str, str]:
        return outcomes(cluster.apply(*wanted, inventory=inventory, **chosen))

    def test_what_no_commit_names(self, cluster: Cluster) -> None:
        kept, orphan = some(cluster, "kept", "orphan")
        given(cluster, kept, orphan)
        known = cluster.inventory(kept)
        assert self.told(cluster, known, kept)["ConfigMap orphan"] == "kept Orphan"
        agreed = frozenset({ObjectRef.of(orphan)})
        assert self.told(cluster, known, kept, orphans=agreed)["ConfigMap orphan"] == "deleted NotWanted"

    def test_a_forgotten_namespace_is_told_how_it_is_confirmed(self, cluster: Cluster) -> None:
        """It was to be deleted by hand, though --confirm is the way."""
        name = f"{cluster.space}-forgotten"
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        kept, orphan = some(cluster, "kept", "orphan")
        given(cluster, kept, orphan, namespace)
        applied = cluster.apply(kept, inventory=cluster.inventory(kept))
        end = "deletes it if this fleet once rendered it here; otherwise delete it by hand"
        assert {result.ref.name: result.hint for result in applied.results if result.hint} == {
            "orphan": f"--orphans {end}",
            name: f"--orphans --confirm Namespace/{name} {end}",
        }
        cluster.server.request("DELETE", f"/api/v1/namespaces/{name}")

    def test_what_lost_our_label(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        cluster.edit("configmaps", "going", {"metadata": {"labels": None}})
        assert self.told(cluster, inventory, kept)["ConfigMap going"] == "kept LabelLost"

    def test_what_we_never_applied(self, cluster: Cluster) -> None:
        """The label alone is no proof: anybody can copy it."""
        kept, theirs = some(cluster, "kept", "theirs")
        cluster.apply(kept)
        theirs["metadata"]["labels"] = {"applyset.kubernetes.io/part-of": cluster.applyset.id}
        cluster.create("configmaps", theirs)
        assert self.told(cluster, cluster.inventory(kept, theirs), kept)["ConfigMap theirs"] == "kept NotOurs"

    def test_what_forbids_it_itself(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        going["metadata"]["annotations"] = {"argosy.dev/prune": "false"}
        inventory = given(cluster, kept, going)
        assert self.told(cluster, inventory, kept)["ConfigMap going"] == "kept PruneDisabled"

    def test_what_a_controller_owns(self, cluster: Cluster) -> None:
        kept, owner, going = some(cluster, "kept", "owner", "going")
        inventory = given(cluster, kept, owner, going)
        uid = cluster.read("configmaps", "owner")["metadata"]["uid"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "controller": True}
        cluster.edit("configmaps", "going", {"metadata": {"ownerReferences": [reference]}})
        assert self.told(cluster, inventory, kept, owner)["ConfigMap going"] == "kept Controlled"

    def test_kinds_that_take_more_with_them(self, cluster: Cluster) -> None:
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "disk", "namespace": cluster.space},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        (kept,) = some(cluster, "kept")
        inventory = given(cluster, kept, claim)
        unasked = cluster.apply(kept, inventory=inventory)
        assert outcomes(unasked)["PersistentVolumeClaim disk"] == "kept NeedsConfirmation"
        assert unasked.left == (HeldObject(ref=ObjectRef.of(claim)),)
        assert (unasked.outcome, unasked.recorded_outcome) == (ApplyOutcome.INCOMPLETE, ApplyOutcome.CONVERGED)
        confirmed = cluster.apply(
            kept, inventory=inventory, confirmed=frozenset({f"PersistentVolumeClaim/{cluster.space}/disk"})
        )
        assert outcomes(confirmed)["PersistentVolumeClaim disk"].startswith("deleted")

    @pytest.mark.parametrize("word", ["PersistentVolumeClaim/disk", "PersistentVolumeClaim/elsewhere/disk"])
    def test_a_claim_that_only_its_name_says(self, word: str, cluster: Cluster) -> None:
        """Claims of one name stand in many namespaces, and somebody who confirmed one lost them all."""
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "disk", "namespace": cluster.space},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        (kept,) = some(cluster, "kept")
        applied = cluster.apply(kept, inventory=given(cluster, kept, claim), confirmed=frozenset({word}))
        (result,) = [each for each in applied.results if each.ref.kind == "PersistentVolumeClaim"]
        assert (str(result.reason), result.hint) == (
            "NeedsConfirmation",
            f"confirm it: --confirm PersistentVolumeClaim/{cluster.space}/disk",
        )

    def test_what_is_going_already(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        going["metadata"]["finalizers"] = ["example.com/hold"]
        inventory = given(cluster, kept, going)
        cluster.server.request("DELETE", cluster.path("configmaps", "going"))
        applied = cluster.apply(kept, inventory=inventory)
        assert outcomes(applied)["ConfigMap going"] == "kept Terminating"
        assert applied.outcome is ApplyOutcome.INCOMPLETE
        assert [item.ref.name for item in applied.left] == ["going"]
        cluster.edit("configmaps", "going", {"metadata": {"finalizers": None}})

    def test_a_namespace_with_something_of_others_in_it(self, cluster: Cluster) -> None:
        name = f"{cluster.space}-full"
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        inventory = given(cluster, namespace)
        path = f"/api/v1/namespaces/{name}/configmaps"
        cluster.server.request("POST", path, a_config_map("theirs", namespace=name))
        applied = cluster.apply(inventory=inventory, confirm_all=True, allowed_removals=1)
        assert outcomes(applied)[f"Namespace {name}"] == "kept NotEmpty"
        assert applied.results[0].message == f"ConfigMap {name}/theirs is in it"
        cluster.server.request("DELETE", f"/api/v1/namespaces/{name}")

    def test_what_a_rehearsal_foresees_of_namespaces(self, cluster: Cluster) -> None:
        """It said that both go; the real run kept the one for what others have in it."""
        full, emptied = f"{cluster.space}-full", f"{cluster.space}-emptied"
        namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (full, emptied)]
        inventory = given(cluster, *namespaces, a_config_map("ours", namespace=emptied))
        theirs = a_config_map("theirs", namespace=full)
        cluster.server.request("POST", f"/api/v1/namespaces/{full}/configmaps", theirs)
        rehearsal = replace(QUICK, dry_run=True)
        chosen: dict[str, Any] = {"inventory": inventory, "confirm_all": True, "allowed_removals": 3}
        foreseen = cluster.apply(how=rehearsal, **chosen)
        assert outcomes(foreseen) == {
            "ConfigMap ours": "prune NotWanted",
            f"Namespace {emptied}": "prune NotWanted",
            f"Namespace {full}": "kept NotEmpty",
        }
        done = outcomes(cluster.apply(**chosen))
        assert done[f"Namespace {full}"] == "kept NotEmpty"
        assert done[f"Namespace {emptied}"].startswith("deleted")
        cluster.server.request("DELETE", f"/api/v1/namespaces/{full}")

    def test_an_object_of_finalizers_is_told_and_remembered(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        going["metadata"]["finalizers"] = ["example.com/hold"]
        inventory = given(cluster, kept, going)
        how = type(QUICK)(settle_seconds=0.0)
        applied = cluster.apply(kept, inventory=inventory, how=how)
        assert outcomes(applied)["ConfigMap going"] == "deleted Finalizing"
        assert applied.outcome is ApplyOutcome.INCOMPLETE
        assert applied.results[1].message == "it goes once its finalizers are done: example.com/hold"
        assert [item.ref.name for item in applied.left] == ["going"]
        cluster.edit("configmaps", "going", {"metadata": {"finalizers": None}})


class TestHandOff:
    def test_what_is_preserved_stays_and_is_no_longer_ours(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going", a="1")
        cluster.apply(kept, going)
        applied = cluster.apply(kept, inventory=cluster.inventory(kept, going, preserve=True))
        assert outcomes(applied)["ConfigMap going"] == "handedOff PreserveResourcesOnDeletion"
        live = cluster.read("configmaps", "going")
        assert live["data"] == {"a": "1"}
        assert not live["metadata"].get("labels")
        managers = {entry.get("manager") for entry in live["metadata"].get("managedFields") or ()}
        assert cluster.applyset.manager not in managers
        assert outcomes(cluster.apply(kept)) == {"ConfigMap kept": "unchanged UpToDate"}

    def test_a_namespace_that_is_preserved_needs_no_confirmation_and_need_not_be_empty(self, cluster: Cluster) -> None:
        """It asked to confirm a deletion that never happens, and then waited for the namespace to be empty."""
        name = f"{cluster.space}-stays"
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        (kept,) = some(cluster, "kept")
        given(cluster, kept, namespace)
        cluster.server.request("POST", f"/api/v1/namespaces/{name}/configmaps", a_config_map("theirs", namespace=name))
        applied = cluster.apply(kept, inventory=cluster.inventory(kept, namespace, preserve=True))
        assert outcomes(applied)[f"Namespace {name}"] == "handedOff PreserveResourcesOnDeletion"
        assert applied.outcome is ApplyOutcome.CONVERGED
        cluster.server.request("DELETE", f"/api/v1/namespaces/{name}")


class TestHolds:
    """Nothing is deleted because of an error."""

    def test_an_error_holds_its_namespace_and_no_other(self, cluster: Cluster) -> None:
        other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{cluster.space}-other"}}
        kept, going = some(cluster, "kept", "going")
        elsewhere = a_config_map("elsewhere", namespace=f"{cluster.space}-other")
        inventory = given(cluster, other, kept, going, elsewhere)
        bad = {**kept, "metadata": {**kept["metadata"], "name": "bad"}, "immutable": "not a boolean"}
        client = cluster.client()
        if not cluster.is_real:

            def refusing(request: Request, send: Send) -> Any:
                if request.method == "PATCH" and request.path.endswith("/bad"):
                    return Failure(kind=FailureKind.MANIFEST, message="its schema does not fit")
                return send(request)

            client.wire = refusing
        applied = cluster.apply(other, kept, bad, inventory=inventory, client=client)
        told = outcomes(applied)
        assert told["ConfigMap bad"] == "failed ManifestRejected"
        assert told["ConfigMap going"] == "kept Held"
        assert told["ConfigMap elsewhere"] == "deleted NotWanted"
        assert applied.outcome is ApplyOutcome.INCOMPLETE
        assert [item.ref.name for item in applied.left] == ["going"]
        cluster.server.request("DELETE", f"/api/v1/namespaces/{cluster.space}-other")

    def test_an_error_holds_the_namespace_that_it_is_in_and_no_other(self, cluster: Cluster) -> None:
        """Every Namespace stayed, and every CustomResourceDefinition, whatever had failed anywhere."""
        name = f"{cluster.space}-left"
        (bad,), left = some(cluster, "bad"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        within = {**bad, "metadata": {**bad["metadata"], "namespace": name}}
        refused = Failure(kind=FailureKind.MANIFEST, message="its schema does not fit")
        inventory = given(cluster, left)
        client = cluster.client()
        client.wire = lambda request, send: refused if request.path.endswith("/configmaps/bad") else send(request)
        chosen: dict[str, Any] = {"inventory": inventory, "client": client, "confirm_all": True}
        assert outcomes(cluster.apply(within, **chosen))[f"Namespace {name}"] == "kept Held"
        assert outcomes(cluster.apply(bad, **chosen))[f"Namespace {name}"].startswith("deleted")

    def test_a_list_that_failed_holds_its_kind_and_the_namespaces_where_that_is(self, cluster: Cluster) -> None:
        other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{cluster.space}-other"}}
        kept, going = some(cluster, "kept", "going")
        web, gone = (a_deployment(name, namespace=cluster.space) for name in ("web", "gone"))
        elsewhere = a_config_map("elsewhere", namespace=f"{cluster.space}-other")
        inventory = given(cluster, other, kept, going, web, gone, elsewhere)
        client = cluster.client()

        def silent(request: Request, send: Send) -> Any:
            if request.path.endswith("/deployments"):
                return Failure(kind=FailureKind.ALONE, message="the server cannot do this")
            return send(request)

        client.wire = silent
        applied = cluster.apply(other, {**kept, "data": {"a": "2"}}, web, inventory=inventory, client=client)
        assert outcomes(applied) == {
            f"Namespace {cluster.space}-other": "unchanged UpToDate",
            "ConfigMap kept": "configured Changed",
            "Deployment.apps web": "blocked RequestFailed",
            "Deployment.apps gone": "kept Unknown",
            "ConfigMap going": "kept Held",
            "ConfigMap elsewhere": "deleted NotWanted",
        }
        assert (applied.prune_hold, applied.outcome) == ("", ApplyOutcome.INCOMPLETE)
        assert {item.ref.name for item in applied.left} == {"gone", "going"}
        # The parent goes on naming the kind, though nothing of it could be seen.
        assert "Deployment.apps" in cluster.applyset.set_recorded_on_parent(parent_of(cluster)).group_kinds
        cluster.server.request("DELETE", f"/api/v1/namespaces/{cluster.space}-other")

    def test_a_kind_that_only_the_parent_names_stays_named_while_it_cannot_be_listed(self, cluster: Cluster) -> None:
        kept, web = some(cluster, "kept")[0], a_deployment("web", namespace=cluster.space)
        cluster.apply(kept, web)
        client = cluster.client()
        refused = Failure(kind=FailureKind.ALONE, message="the server cannot do this")
        client.wire = lambda request, send: refused if request.path.endswith("/deployments") else send(request)
        assert cluster.apply({**kept, "data": {"a": "2"}}, client=client).outcome is ApplyOutcome.CONVERGED
        assert "Deployment.apps" in cluster.applyset.set_recorded_on_parent(parent_of(cluster)).group_kinds

    def test_a_page_that_failed_is_a_list_that_failed(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        client = cluster.client()

        def broken_off(request: Request, send: Send) -> Any:
            if "continue" in request.query:
                return Failure(kind=FailureKind.UNAVAILABLE, message="the server is busy")
            answer: Any = send(request)
            if request.path.endswith("/configmaps"):
                answer.body["metadata"]["continue"] = "more"
            return answer

        client.wire = broken_off
        applied = cluster.apply(kept, inventory=inventory, client=client)
        assert outcomes(applied) == {"ConfigMap kept": "blocked ServerUnavailable", "ConfigMap going": "kept Unknown"}

    def test_a_tree_that_is_not_complete_holds_everything(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        assert self._hold(cluster, inventory, kept, is_complete=False) == "not all of it could be rendered"

    @staticmethod
    def _hold(cluster: Cluster, inventory: Inventory, *wanted: Any, is_complete: bool = True) -> str:

        from .applying import desired_objects

        client = cluster.client()
        desired = ClusterDesired(cluster="member1", objects=desired_objects(wanted), is_complete=is_complete)
        observed = observe_cluster(client, desired, inventory, cluster.applyset)
        plan = make_plan(desired, observed, inventory, cluster.options())
        applied = apply_plan(client, plan, QUICK)
        assert cluster.read("configmaps", "going") is not None
        return applied.prune_hold

    def test_a_tree_with_nothing_in_it_holds_everything(self, cluster: Cluster) -> None:
        inventory = given(cluster, *some(cluster, "going"))
        assert self._hold(cluster, inventory) == "the cluster would hold nothing"
        (held,) = cluster.apply(inventory=inventory).results
        assert str(held).partition(": ")[2] == (
            "kept (Held): the cluster would hold nothing\n"
            "  hint: if it is meant: argosy apply --allow-removal member1=1"
        )

    def test_too_much_at_once_holds_everything_until_it_is_allowed(self, cluster: Cluster) -> None:
        names = [f"going-{number}" for number in range(11)]
        kept, *going = some(cluster, "kept", *names)
        inventory = given(cluster, kept, *going)
        refused = cluster.apply(kept, inventory=inventory)
        assert refused.count(refused.results[-1].action) == 11
        assert str(refused.results[-1]).partition(": ")[2] == (
            "kept (Held): 11 of 12 objects would go (more than 10)\n"
            "  hint: if it is meant: argosy apply --allow-removal member1=11"
        )
        allowed = cluster.apply(kept, inventory=inventory, allowed_removals=11)
        assert set(outcomes(allowed).values()) == {"unchanged UpToDate", "deleted NotWanted"}

    def test_a_parent_of_another_tool_holds_everything(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        theirs = {"metadata": {"annotations": {"applyset.kubernetes.io/tooling": "kubectl/v1.32"}}}
        cluster.edit("configmaps", cluster.applyset.name, theirs)
        applied = cluster.apply(kept, inventory=inventory)
        assert outcomes(applied)["ConfigMap going"] == "kept Held"
        assert applied.prune_hold == f"ConfigMap {cluster.space}/{cluster.applyset.name} belongs to 'kubectl/v1.32'"

    def test_another_pass_that_prunes_is_waited_for(self, cluster: Cluster) -> None:
        """That it does not end is a failure to use the cluster, and none of an object."""
        kept, going = some(cluster, "kept", "going")
        inventory, other = given(cluster, kept, going), LeaseHolder(name="build-7/4242/5f3a")
        assert acquire_lease(cluster.client(), cluster.applyset, other) == ""
        told: list[str] = []
        applied = cluster.apply(kept, inventory=inventory, how=replace(QUICK, tell=told.append))
        assert outcomes(applied)["ConfigMap going"] == "kept Held"
        assert applied.outcome is ApplyOutcome.INTERRUPTED
        assert applied.failure == Failure(
            kind=FailureKind.DEADLINE,
            message="build-7/4242/5f3a is pruning this cluster, and was not done within 2 s",
            hint="run it again once that pass has ended",
        )
        assert told == ["member1: waiting for build-7/4242/5f3a, which is pruning this cluster"]
        release_lease(cluster.client(), cluster.applyset, other)
        assert outcomes(cluster.apply(kept, inventory=inventory))["ConfigMap going"] == "deleted NotWanted"

    def test_a_pass_that_gives_its_lease_back_meanwhile_costs_nothing_but_time(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory, other = given(cluster, kept, going), LeaseHolder(name="build-7/4242/5f3a")
        acquire_lease(cluster.client(), cluster.applyset, other)

        def ending(_line: str) -> None:
            release_lease(cluster.client(), cluster.applyset, other)

        applied = cluster.apply(kept, inventory=inventory, how=replace(QUICK, tell=ending))
        assert outcomes(applied)["ConfigMap going"] == "deleted NotWanted"

    def test_the_lease_of_a_pass_of_this_clone_that_was_killed_is_taken(self, cluster: Cluster, tmp_path: Path) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        dead = LeaseHolder(name=killed_holder(tmp_path), folder=tmp_path)
        assert acquire_lease(cluster.client(), cluster.applyset, dead) == ""
        with lease_holder(tmp_path) as holder:
            how = replace(QUICK, holder=holder, lease_seconds=0.0)
            applied = cluster.apply(kept, inventory=inventory, how=how)
        assert outcomes(applied)["ConfigMap going"] == "deleted NotWanted"

    def test_pruning_can_be_switched_off(self, cluster: Cluster) -> None:
        kept, going = some(cluster, "kept", "going")
        inventory = given(cluster, kept, going)
        assert outcomes(cluster.apply(kept, inventory=inventory, prune=False))["ConfigMap going"] == "kept Held"


def test_an_object_replaced_between_plan_and_prune_survives(cluster: Cluster) -> None:
    """The new one has another UID: it is nobody's to delete."""
    kept, going = some(cluster, "kept", "going")
    inventory = given(cluster, kept, going)
    _, plan = cluster.plan([kept], inventory)
    cluster.server.request("DELETE", cluster.path("configmaps", "going"))
    cluster.create("configmaps", going)
    applied = apply_plan(cluster.client(), plan, QUICK)
    assert outcomes(applied)["ConfigMap going"] == "deleted Gone"
    assert cluster.read("configmaps", "going") is not None


def test_an_object_taken_out_of_the_set_between_plan_and_prune_survives(cluster: Cluster) -> None:
    kept, going = some(cluster, "kept", "going")
    inventory = given(cluster, kept, going)
    _, plan = cluster.plan([kept], inventory)
    cluster.edit("configmaps", "going", {"metadata": {"labels": None}})
    applied = apply_plan(cluster.client(), plan, QUICK)
    assert outcomes(applied)["ConfigMap going"] == "kept LabelLost"
    assert cluster.read("configmaps", "going") is not None


def test_an_object_replaced_between_the_last_look_and_the_deletion_survives(cluster: Cluster) -> None:
    """The deletion names the incarnation it means."""
    kept, going = some(cluster, "kept", "going")
    inventory = given(cluster, kept, going)
    client = cluster.client()

    def replacing(request: Request, send: Send) -> Any:
        if request.method == "DELETE" and request.path.endswith("/going"):
            client.wire = straight
            cluster.server.request("DELETE", cluster.path("configmaps", "going"))
            cluster.create("configmaps", going)
        return send(request)

    client.wire = replacing
    applied = cluster.apply(kept, inventory=inventory, client=client)
    assert outcomes(applied)["ConfigMap going"] == "deleted Gone"
    assert cluster.read("configmaps", "going") is not None


def test_an_object_changed_between_the_last_look_and_the_deletion_is_looked_at_again(cluster: Cluster) -> None:
    kept, going = some(cluster, "kept", "going")
    inventory = given(cluster, kept, going)
    client = cluster.client()

    def taking(request: Request, send: Send) -> Any:
        if request.method == "DELETE" and request.path.endswith("/going"):
            client.wire = straight
            cluster.edit("configmaps", "going", {"metadata": {"labels": None}})
        return send(request)

    client.wire = taking
    applied = cluster.apply(kept, inventory=inventory, client=client)
    assert outcomes(applied)["ConfigMap going"] == "kept LabelLost"
