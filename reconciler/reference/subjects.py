"""Subjects that people search the reference for and that no tool has as a command, with an answer for each."""

from collections.abc import Mapping

SUBJECTS: Mapping[str, str] = {
    **dict.fromkeys(
        ("blue-green", "bluegreen", "traffic"),
        "Argosy shifts no traffic. Keep two workloads and a Service, and have an override policy change the selector of"
        " the Service, in some clusters first; 'argosy diff' shows where.",
    ),
    **dict.fromkeys(
        ("backup", "volume", "storage", "database"),
        "What is to run stands in Git: keep a second remote of the repository with its branches 'argosy/*'. Data is"
        " not moved and not saved, so that volumes need a backup of their own; the last copy of an object stays until"
        " another one is well.",
    ),
    **dict.fromkeys(
        ("restore", "disaster", "recovery", "disaster-recovery", "outage"),
        "A cluster that does not answer is left as it was; 'argosy cluster drain NAME' has its replicas placed"
        " elsewhere, 'argosy cluster unjoin NAME --disconnect' gives it up, and 'argosy cluster rejoin NAME' takes in"
        " one that was built anew. examples/incidents has each case, and lost branches.",
    ),
    **dict.fromkeys(
        ("tenant", "multi-tenant", "multitenant", "multitenancy", "multi-tenancy"),
        "A PropagationPolicy reaches its own namespace alone, and only a ClusterPropagationPolicy others; the Git host"
        " says who may change which files. For teams that are to share nothing, give each a repository, or a folder"
        " with an argosy.yaml of its own; 'argosy run' runs many fleets.",
    ),
    "drift": "'argosy diff --live' shows what is otherwise in the clusters than was rendered, and the next pass"
    " takes it back: 'argosy reconcile' once, 'argosy run' every few minutes.",
    "dry-run": "'argosy diff' shows what a change does, and asks no cluster; 'argosy reconcile --dry-run' runs a pass"
    " without publishing, and 'argosy apply --dry-run server' asks the clusters without writing.",
    "force": "What others made is taken over by 'conflictResolution: Overwrite' in a policy, or by 'argosy apply"
    " --take-from TOOL'. What a guard refuses is let through by a trailer of the commit, which the refusal names;"
    " 'argosy help trailers' lists them.",
    "unlock": "Nothing stays locked: of passes that run at once one moves the branch, and the other begins anew."
    " argosy.lock pins other repositories and charts, and 'argosy lock' writes it.",
    "migrate": "'argosy import' takes over the fleets of other federations, and what runs in clusters that none has;"
    " 'argosy export' leads out again.",
    **dict.fromkeys(
        ("helm", "chart"),
        "Charts are rendered where they stand or where they are fetched from: 'argosy help charts' has the fields, and"
        " 'argosy help sources' those of repositories.",
    ),
    **dict.fromkeys(
        ("secret", "sops", "encryption", "encrypted"),
        "A document that SOPS encrypted stays so in Git, and is decrypted when it is applied: spec.decryption in"
        " 'argosy help argosy.yaml'. 'secrets: Refuse' there refuses Secrets in clear text.",
    ),
    "quota": "A FederatedResourceQuota in the source divides a quota among clusters, 'argosy explain"
    " FederatedResourceQuota' has its fields, and 'argosy status' what is used. A ResourceQuota is a template as any.",
    "cost": "Argosy knows no prices. Prefer cheap clusters by static weights, or by several clusterAffinities in their"
    " order: 'argosy explain PropagationPolicy.spec.placement'.",
    **dict.fromkeys(
        ("latency", "performance", "slow"),
        "'-v -v' says what a command took its time for, and 'argosy run --inside PORT' has metrics of passes."
        " '--max-parallel' is how many clusters are worked on at once. Argosy measures nothing between clusters.",
    ),
    "upgrade": "Upgrade all that runs passes at once, and agents afterwards: branches of earlier versions are read"
    " (examples/compatibility). Before a cluster is upgraded, 'argosy cluster drain NAME' empties it, and 'argosy"
    " cluster uncordon NAME' lets things come back.",
    **dict.fromkeys(
        ("add-cluster", "create-cluster"),
        "'argosy cluster join NAME' writes the file of a member; 'argosy init' begins a fleet with those of a"
        " kubeconfig.",
    ),
    **dict.fromkeys(
        ("remove-cluster", "delete-cluster", "decommission"),
        "'argosy cluster unjoin NAME --drain' has everything leave first, and '--disconnect' leaves what is there;"
        " 'argosy cluster forget NAME' drops what is kept of one that is gone for good.",
    ),
    **dict.fromkeys(
        ("approve", "approval", "review"),
        "Changes are reviewed as pull requests, on which 'argosy diff -o markdown' can comment ('argosy init --ci')."
        " 'spec.rendered.push: PullRequest' has passes propose what they rendered as well.",
    ),
    "gitops": "Passes deliver from Git by themselves: 'argosy run'. 'argosy emit argocd' and 'argosy emit flux' print"
    " the objects by which these deliver instead.",
    **dict.fromkeys(
        ("audit", "who"),
        "'argosy history' and 'argosy blame' say which commits changed an object, by whom and why. Each rendered commit"
        " names its source, 'argosy verify' replays it, and ARGOSY_SIGN_KEY has commits signed. 'argosy explain"
        " KIND/NAME' says what decided.",
    ),
    "permission": "'argosy rbac' prints the rights that passes need in a member, and 'argosy doctor' checks them.",
    **dict.fromkeys(
        ("airgap", "air-gap", "offline"),
        "Passes ask the Git remote and the members, and nobody else. 'argosy vendor' keeps other repositories and"
        " charts in this one, and 'argosy doctor --offline' asks nobody.",
    ),
    "retry": "What failed is tried again by the next pass: 'argosy run' runs one every few minutes.",
    **dict.fromkeys(
        ("conflict", "ownership"),
        "A field that somebody else owns is a conflict, and the object stays as it is: 'argosy status' names both."
        " 'conflictResolution: Overwrite' in the policy takes it over, and spec.fieldRules in 'argosy help argosy.yaml'"
        " leave fields to others.",
    ),
    **dict.fromkeys(
        ("stuck", "hang", "error", "troubleshoot", "troubleshooting"),
        "'argosy status' says what is not well and why, 'argosy doctor' checks what a pass needs, and"
        " examples/troubleshooting lists symptoms.",
    ),
    **dict.fromkeys(
        ("shard", "sharding"),
        "'--shard I/N' of 'argosy apply' is for this share of the clusters alone; one process of 'argosy run' works on"
        " many at once.",
    ),
    "hpa": "A HorizontalPodAutoscaler is a template as any, and the number that it sets is left to it. A FederatedHPA"
    " has its limits divided among clusters: 'argosy explain FederatedHPA'.",
    **dict.fromkeys(
        ("high-availability", "ha", "leader", "lease"),
        "'argosy run --lease CONTEXT' has one of several processes run the passes. If none runs, clusters keep what"
        " they have.",
    ),
    **dict.fromkeys(
        ("ingress", "dns", "network", "service-mesh", "mesh"),
        "Services and Ingresses are delivered as any template that a policy selects. What connects clusters, such as"
        " DNS or a mesh, is left to what you have.",
    ),
    "health": "'argosy status' says what is not healthy and why, and 'argosy wait --for healthy' waits for it."
    " Customizations say when a custom kind is: 'argosy interpret'.",
    "install": "'pipx install' of this repository, or its container (examples/deploy). In a member nothing is installed"
    " that passes reach; 'argosy cluster agent NAME' prints the agent for another.",
    **dict.fromkeys(
        ("docker", "container"),
        "examples/deploy has the container of Argosy and the objects that run 'argosy run' in a cluster.",
    ),
}
"""An answer for each: ``argosy help --search`` finds it first, and ``argosy help WORD`` prints it."""
