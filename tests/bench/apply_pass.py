"""``python -m tests.bench.apply_pass FILE``: one pass of ours over the manifests of a file, as a process.

It prints the seconds it took without starting up.
"""

import gc
import json
import os
import sys
import time
from pathlib import Path

from reconciler.deliver.cluster import apply_plan
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.exchange import Failure
from reconciler.members.opening import MemberAccess, Members
from reconciler.observe.objects import observe_cluster
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import make_plan
from reconciler.plans.model import ClusterDesired, DesiredObject, PlanOptions
from render.model import ObjectRef


def main(path: Path) -> int:
    """Look, plan and carry out; 1 when the cluster is not as it should be in the end."""
    gc.disable()  # as the command line does
    state = json.loads(path.with_suffix(".state").read_text())
    manifests = json.loads(path.read_text())["items"]
    client = Members(MemberAccess(kubeconfig=state["kubeconfig"])).open(state["name"], time.monotonic() + 600)
    assert not isinstance(client, Failure), client
    began = time.monotonic()
    objects = tuple(DesiredObject(ref=ObjectRef.of(item), manifest=item) for item in manifests)
    applyset = ApplySet(name="argosy", namespace=state["space"])
    desired = ClusterDesired(cluster=state["name"], commit="c0ffee", objects=objects)
    inventory = Inventory(cluster=state["name"])
    observed = observe_cluster(client, desired, inventory, applyset)
    applied = apply_plan(client, make_plan(desired, observed, inventory, PlanOptions(applyset=applyset)))
    print(time.monotonic() - began)
    return 0 if applied.outcome is ApplyOutcome.CONVERGED else 1


if __name__ == "__main__":
    ended = main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(ended)  # as the command line does
