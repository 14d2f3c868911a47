"""``python -m tests.killed_pass STATE``: one pass over a member, in a process of its own that a test can kill.

STATE is a JSON file: the member's name and kubeconfig, the set's namespace, what is wanted and what may be held.
"""

import json
import sys
import time
from pathlib import Path

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.holder import lease_holder
from reconciler.deliver.results import ApplySettings
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import Failure
from reconciler.members.opening import MemberAccess, Members
from reconciler.observe.objects import observe_cluster
from reconciler.plans.applyset import ApplySet
from reconciler.plans.cluster import held_object_of_desired, make_plan
from reconciler.plans.model import ClusterDesired, PlanOptions

from .applying import desired_objects


def main(path: Path) -> None:
    """Look, plan, carry out."""
    state = json.loads(path.read_text())
    applyset = ApplySet(name="argosy", namespace=state["space"])
    held = (held_object_of_desired(item, preserve=False) for item in desired_objects(state["held"]))
    inventory = Inventory(cluster=state["name"]).with_objects(held)
    desired = ClusterDesired(cluster=state["name"], commit="c0ffee", objects=desired_objects(state["wanted"]))
    client = Members(MemberAccess(kubeconfig=state["kubeconfig"])).open(state["name"], time.monotonic() + 60)
    assert not isinstance(client, Failure), client
    print("begun", flush=True)
    observed = observe_cluster(client, desired, inventory, applyset)
    plan = make_plan(desired, observed, inventory, PlanOptions(applyset=applyset, allowed_removals=1000))
    with lease_holder(path.parent / "passes") as holder:
        apply_plan(client, plan, ApplySettings(holder=holder, settle_seconds=5.0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
