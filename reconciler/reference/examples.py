"""Two examples or more of each command, as its help shows them: what to type, and what one gets by it."""

from collections.abc import Mapping

Examples = tuple[tuple[str, str], ...]
"""Command lines, each with what it is for."""

EXAMPLES: Mapping[str, Examples] = {
    "init": (
        ("argosy init --print", "See which files it would write"),
        ("argosy init --path web --print", "See what a fleet gains whose paths leave out a folder"),
        ("argosy init --context 'prod-*'", "Make members of some contexts of the kubeconfig"),
        ("argosy init --new-cluster paris --charts", "Have the Helm charts of the repository rendered"),
        ("argosy init --new-cluster paris --new-cluster oslo", "Begin without any cluster that is reached"),
    ),
    "render": (
        ("argosy render --worktree --cluster paris", "See what one cluster must hold by the files as they stand"),
        ("argosy render --output-dir out", "Write the tree of every cluster into a folder"),
    ),
    "diff": (
        ("argosy diff", "See what the files as they stand change, before they are committed"),
        ("argosy diff main HEAD --check -o markdown", "Ask whether a branch may be merged, for a pull request"),
        ("argosy diff --live --cluster paris", "See where a cluster differs from what was rendered for it"),
    ),
    "overview": (
        ("argosy overview", "What is unwell, what moves, and what waits for a person"),
        ("argosy overview --at 2026-11-20T08:00:00Z", "The same as it was at a time"),
        ("argosy overview --losses always", "Ask what any loss would break, whatever it costs"),
    ),
    "explain": (
        ("argosy explain deploy/web -n shop", "Why an object is where it is"),
        ("argosy explain deploy/web -n shop --cluster oslo", "Why it is not in a cluster"),
        ("argosy explain cluster/paris", "What a cluster holds, and what refuses it the rest"),
        ("argosy explain policy/web", "What a policy selects; cop/NAME is a ClusterOverridePolicy"),
        ("argosy explain pp.spec.placement", "What a field of a policy means"),
    ),
    "ui": (
        ("argosy ui --open", "Look at the fleet of this repository in a browser"),
        ("argosy ui --listen 0.0.0.0:8400 --token-file token", "Let others look at it who know a token"),
    ),
    "report": (
        ("argosy report public", "Write the pages of the fleet into a folder, for a static site"),
        ("argosy report --one-file fleet.html", "Write all of them into one file, for an artefact of CI"),
        ("argosy report --moves main..HEAD moves.svg", "Draw which replicas a branch moves"),
    ),
    "history": (
        ("argosy history deploy/web -n shop", "What moved, scaled or edited an object, and why"),
        ("argosy history cluster/paris --limit 0", "Everything that changed in a cluster"),
        ("argosy history --commits", "A timeline: how much each commit changed, and what moved"),
    ),
    "list": (
        ("argosy list objects --state Unwell --sort since", "What is unwell, the longest first"),
        ("argosy list objects -n shop --cluster paris", "What of a namespace goes to a cluster"),
        ("argosy list clusters --region eu --sort state", "The clusters of a region, the worst first"),
        ("argosy list policies", "What each policy selects, claims and loses"),
    ),
    "matrix": (
        ("argosy matrix", "How many objects of each namespace are in each region, and in which state"),
        ("argosy matrix -n shop --rows object --columns cluster", "Each object of a namespace in each cluster"),
        ("argosy matrix --rows kind --columns provider --state Unwell", "What is unwell, by kind and provider"),
    ),
    "search": (
        ("argosy search web", "Everything that is called so, or has it in its name, file, labels or message"),
        ("argosy search deployment paris OOMKilled", "What all of these words are in"),
    ),
    "blame": (
        ("argosy blame deploy/web -n shop", "Which commits its replicas and fields come from"),
        ("argosy blame deploy/web -n shop --cluster paris", "The same of one cluster alone"),
    ),
    "mcp": (
        ("argosy mcp", "The command that an assistant's configuration starts"),
        ("argosy mcp --read-only", "Serve the tools that read, and none that proposes"),
    ),
    "bisect": (
        ("argosy bisect deploy/web -n shop --unplaced", "Since when it is in no cluster, and why"),
        ("argosy bisect deploy/web -n shop --replicas paris=0", "Since when a cluster has none of it"),
    ),
    "get": (
        ("argosy get pods -n shop -o wide", "The pods of a namespace in every member"),
        ("argosy get deploy/web -n shop --cluster 'eu-*'", "One object in the clusters of a pattern"),
        ("argosy get nodes -o jsonpath='{.items[*].cluster}'", "Take a field out of each object"),
    ),
    "pods": (
        ("argosy pods deploy/web -n shop", "The pods of an object in every member, with their events"),
        ("argosy pods deploy/web -n shop --cluster paris --pod web-5d8-x2x", "The end of the log of one of them"),
    ),
    "simulate": (
        ("argosy simulate --without-cluster paris", "What is short of replicas without a cluster, and for how long"),
        (
            "argosy simulate --cordon 'eu-*' --scale deploy/web=40 -n shop",
            "Where 40 replicas go while a region is full",
        ),
        (
            "argosy simulate --n-minus 1 --by region",
            "What breaks when any region is lost, and which capacity is missing",
        ),
        (
            "argosy simulate --headroom deploy/web -n shop",
            "How many more replicas fit, and which cluster and resource give out first",
        ),
    ),
    "describe": (
        ("argosy describe deploy/web -n shop", "One object in every member that has it, with its events"),
        ("argosy describe node --cluster paris", "The nodes of one member"),
    ),
    "events": (
        ("argosy events -n shop --types=Warning", "The warnings of a namespace in every member"),
        ("argosy events -n shop --for deploy/web -w", "What happens to one object from now on"),
    ),
    "logs": (
        ("argosy logs deploy/web -n shop -f", "Follow an application in every member"),
        ("argosy logs web-0 -n shop --previous --cluster 'eu-*'", "The container before this one, in some members"),
    ),
    "top": (
        ("argosy top nodes", "What the nodes of every member use"),
        ("argosy top pods -n shop -l app=web", "What the pods of an application use, cluster by cluster"),
    ),
    "exec": (
        ("argosy exec --cluster paris deploy/web -n shop -- env", "Run a command in one member"),
        ("argosy exec --cluster paris -it web-0 -n shop -- sh", "Open a shell there"),
    ),
    "attach": (
        ("argosy attach --cluster paris web-0 -n shop", "See what a container prints"),
        ("argosy attach --cluster paris -it web-0 -n shop", "Type to it as well"),
    ),
    "port-forward": (
        ("argosy port-forward --cluster paris deploy/web 8080:80 -n shop", "Reach an application from here"),
        ("argosy port-forward --cluster paris svc/web :80 -n shop", "Take any free port"),
    ),
    "api-resources": (
        ("argosy api-resources --api-group=apps", "Which members serve the kinds of a group"),
        ("argosy api-resources --cluster paris -o wide", "The kinds of one member, with their verbs"),
    ),
    "kubeconfig": (
        ("argosy kubeconfig > fleet.kubeconfig", "Have one kubeconfig of the whole fleet"),
        ("argosy kubeconfig --cluster paris", "The context of one member"),
    ),
    "backtest": (
        ("argosy backtest --since 90d --policy web.yaml", "What this policy would have done in 90 days"),
        ("argosy backtest --since 2026-09-01T00:00:00Z", "Check that all since then comes out as it really was"),
    ),
    "validate": (
        ("argosy validate", "Check the files as they stand"),
        ("argosy validate --strict --base main", "Let a pipeline fail for warnings too, judged by the limits of main"),
    ),
    "test": (
        ("argosy test", "Run every test of the source"),
        ("argosy test tests/web.yaml --watch", "Run one again whenever a file is saved"),
    ),
    "reconcile": (
        ("argosy reconcile --dry-run", "See what a pass would do"),
        ("argosy reconcile --bootstrap", "Run the first pass of a fleet"),
        ("argosy reconcile --cluster paris --kubeconfig fleet.kubeconfig", "Apply to one member alone"),
    ),
    "rollout": (
        ("argosy rollout status", "See what goes out, and what it waits for"),
        ("argosy rollout approve web -n shop --commit", "Let the wave begin that waits for an approval"),
    ),
    "rollout abort": (
        ("argosy rollout abort web -n shop --reason 'it loses orders'", "Hold a change back for good"),
        ("argosy rollout abort --commit", "The same of the only rollout there is, committed"),
    ),
    "rollout approve": (
        ("argosy rollout approve web -n shop --commit", "Let the wave begin that waits for it"),
        ("argosy rollout approve web -n shop --wave production", "Name the wave"),
    ),
    "rollout confirm": (
        ("argosy rollout confirm web -n shop --commit", "Confirm the emergency of somebody else, in a signed commit"),
        ("argosy rollout confirm --commit", "The same of the only one that waits for it"),
    ),
    "rollout emergency": (
        ("argosy rollout emergency web -n shop --reason 'orders are lost'", "Let a change out in spite of a freeze"),
        ("argosy rollout emergency default --reason 'a leak' --commit", "The same of what argosy.yaml holds back"),
    ),
    "rollout expedite": (
        (
            "argosy rollout expedite web -n shop --reason 'orders are lost'",
            "Let the newest change out everywhere at once",
        ),
        ("argosy rollout expedite --reason 'a leak' --commit", "The same of the only rollout there is, committed"),
    ),
    "rollout pause": (
        ("argosy rollout pause web -n shop --reason 'we look at it'", "Let no further cluster get a change"),
        ("argosy rollout pause --commit", "The same of the only rollout there is, committed"),
        ("argosy rollout pause --now --reason 'orders are lost'", "The same at once, without a change of the source"),
    ),
    "rollout plan": (
        ("argosy rollout plan", "See the waves of each rollout with their clusters"),
        ("argosy rollout plan web -n shop -o json", "The same of one, for programs"),
    ),
    "rollout resume": (
        ("argosy rollout resume web -n shop", "Let a paused change go on"),
        ("argosy rollout resume --commit", "The same of the only rollout, committed"),
    ),
    "rollout retry": (
        ("argosy rollout retry web -n shop", "Give clusters that failed their time again"),
        ("argosy rollout retry web -n shop --commit", "The same, committed"),
    ),
    "rollout status": (
        ("argosy rollout status", "See each rollout, and what it waits for"),
        ("argosy rollout status web -n shop", "See where each cluster is"),
    ),
    "run": (
        ("argosy run https://git.example/fleet.git", "Run passes on each push"),
        ("argosy run --settings run.yaml --inside 8080", "Serve several fleets, and metrics of them"),
    ),
    "agent": (
        ("argosy agent https://git.example/fleet.git --cluster paris", "Apply to the cluster it runs in, for ever"),
        ("argosy agent --cluster paris --once --kubeconfig paris.kubeconfig", "Apply once, from outside"),
    ),
    "apply": (
        ("argosy apply --dry-run", "See what the newest rendered commit would change"),
        ("argosy apply --cluster paris", "Apply it to one cluster"),
        ("argosy apply --rehearse", "Ask each server about everything before anything is written"),
        (
            "argosy apply argosy/rendered~1 --allow-older --reason 'loses orders'",
            "Go back, and hold clusters there",
        ),
        (
            "argosy apply argosy/rendered~1 --allow-older --cluster paris --until released",
            "Hold one there, whatever newer sources render",
        ),
    ),
    "cluster": (
        ("argosy cluster join paris --region eu", "Add a member"),
        ("argosy cluster drain paris --commit", "Move workloads away from one"),
    ),
    "cluster agent": (
        (
            "argosy cluster agent paris --known-hosts hosts | kubectl apply -f -",
            "Install the agent of a member that pulls, with its own context in use",
        ),
        ("argosy cluster agent paris --schedule '*/10 * * * *'", "Print a CronJob that runs every ten minutes"),
    ),
    "cluster cordon": (
        ("argosy cluster cordon paris oregon", "Let nothing new come; what runs there stays"),
        ("argosy cluster cordon 'eu-*' -l env=prod --commit", "The same for some, by name and labels, committed"),
    ),
    "cluster drain": (
        ("argosy cluster drain paris", "See what leaves and what stays, and let the next pass do it"),
        ("argosy cluster drain -l region=eu --commit", "The same for those with a label, in one commit"),
        ("argosy cluster drain paris --allow-unplaced", "Let go as well what no other cluster takes"),
    ),
    "cluster forget": (
        ("argosy cluster forget paris", "Drop what is kept of a cluster that was disconnected"),
        ("argosy cluster forget paris --commit", "The same, committed"),
    ),
    "cluster join": (
        ("argosy cluster join paris --region eu --label env=prod", "Add a member with what policies select it by"),
        ("argosy cluster join paris --context paris-admin --commit", "Say by which kubeconfig context it is reached"),
        ("argosy cluster join paris rome --cpu 64 --memory 256Gi --pods 500", "Add two alike, with their capacity"),
    ),
    "cluster label": (
        ("argosy cluster label paris env=prod tier=web", "Set labels"),
        ("argosy cluster label paris 'eu-*' tier- --commit", "Remove one from several, and commit that"),
    ),
    "cluster rejoin": (
        ("argosy cluster rejoin paris", "Accept that a cluster was built anew"),
        ("argosy cluster rejoin paris --kubeconfig fleet.kubeconfig", "Reach it by another kubeconfig"),
    ),
    "cluster release": (
        ("argosy cluster release paris", "Let passes give a held member the newest commit again"),
        ("argosy cluster release '*'", "The same of all that are held"),
    ),
    "cluster rename": (
        ("argosy cluster rename paris paris-1", "Give a member another name, in every policy too"),
        ("argosy cluster rename paris paris-1 --commit", "The same, committed"),
    ),
    "cluster set": (
        ("argosy cluster set paris --cpu 64 --memory 256Gi --pods 500", "Say what a member has room for"),
        ("argosy cluster set -l env=test --region eu --zone eu-1 --commit", "Say where those with a label are"),
    ),
    "cluster taint": (
        ("argosy cluster taint paris maintenance=true:NoSchedule", "Keep away what does not tolerate it"),
        ("argosy cluster taint paris maintenance-", "Take the taint away"),
    ),
    "cluster uncordon": (
        ("argosy cluster uncordon paris", "Let things be placed there again, after cordon or drain"),
        ("argosy cluster uncordon '*' --commit", "The same for all, committed"),
    ),
    "cluster unjoin": (
        ("argosy cluster unjoin paris --drain", "Move workloads away first; then run it without --drain"),
        ("argosy cluster unjoin paris --disconnect", "Leave what runs there as it is"),
    ),
    "rebalance": (
        ("argosy rebalance deploy/web -n shop", "Ask for it to be scheduled afresh, and see what moves"),
        ("argosy rebalance deploy/web deploy/api -n shop --commit", "Let the next pass move two workloads"),
    ),
    "rollback": (
        ("argosy rollback", "Show what taking back the newest change would do, replicas and all"),
        ("argosy rollback deploy/web -n shop --to HEAD~3 --commit", "Put one workload back as it was, and commit that"),
        ("argosy rollback -n shop --to '2h ago' --branch undo", "Offer what a namespace had as a pull request"),
    ),
    "status": (
        ("argosy status", "The fleet: clusters, workloads, and what is not well"),
        ("argosy status deploy/web -n shop", "One workload, in every cluster"),
        ("argosy status cluster/paris --watch", "One cluster, again and again"),
    ),
    "wait": (
        ("argosy wait --timeout 10m", "Wait until every cluster has the newest commit"),
        ("argosy wait deploy/web -n shop --for healthy", "Wait for one workload"),
        ("argosy wait --for rolled-out --timeout 2h", "Wait until every change has come through all waves"),
    ),
    "verify": (
        ("argosy verify", "Replay the newest rendered commit"),
        ("argosy verify argosy/rendered -n 20", "Replay the last twenty"),
    ),
    "lock": (
        ("argosy lock", "Pin what Sources name"),
        ("argosy lock --check", "Ask whether anything moved; change nothing"),
    ),
    "vendor": (
        ("argosy vendor podinfo", "Keep the content of one Source here"),
        ("argosy vendor podinfo --remove", "Fetch it again instead"),
    ),
    "import": (
        ("argosy import manifests", "See how well files of another federation are converted"),
        ("argosy import manifests --output-dir .", "Write what they become"),
        ("argosy import --context karmada-apiserver", "Read a control plane"),
    ),
    "export": (
        ("argosy export karmada --output-dir karmada", "Leave for Karmada"),
        ("argosy export works --cluster paris", "See the Works of one cluster"),
    ),
    "export karmada": (
        ("argosy export karmada --output-dir karmada", "Write Karmada's objects into a folder"),
        ("argosy export karmada HEAD~1 | kubectl apply --dry-run=server -f -", "Let a control plane check them"),
    ),
    "export works": (
        ("argosy export works --cluster paris", "Print the Works of one cluster"),
        ("argosy export works --output-dir works", "Write those of all"),
    ),
    "export applicationset": (
        ("argosy export applicationset | kubectl apply -n argocd -f -", "Let Argo CD deliver"),
        ("argosy export applicationset --output-dir argocd", "Write it into a folder"),
    ),
    "interpret": (
        ("argosy interpret -f rules.yaml --check", "Check a customization"),
        ("argosy interpret --operation InterpretReplica --desired-file web.yaml", "Try one operation on an object"),
    ),
    "doctor": (
        ("argosy doctor", "Check everything: repository, branches, members and rights"),
        ("argosy doctor --offline", "Check what needs no network"),
    ),
    "emit": (
        ("argosy emit flux --output-dir flux", "Write what Flux in a hub delivers by"),
        ("argosy emit argocd --output-dir argocd", "Write what Argo CD in a hub delivers by"),
    ),
    "emit flux": (
        ("argosy emit flux --in member --cluster paris --output-dir flux", "Write them for Flux inside one cluster"),
        ("argosy emit flux --output-dir flux", "Write the objects of all clusters into a folder"),
    ),
    "emit argocd": (
        ("argosy emit argocd | kubectl apply -n argocd -f -", "Let Argo CD deliver to all clusters"),
        ("argosy emit argocd --cluster paris --project fleet", "Print one Application of a project"),
    ),
    "rbac": (
        ("argosy rbac --cluster paris | kubectl --context paris apply -f -", "Give passes their rights in a member"),
        ("argosy rbac --cluster paris --token", "Also a token to log in with"),
    ),
    "completion": (
        ("argosy completion bash > argosy.bash", "Write a script for bash: commands, objects, clusters, revisions"),
        ("argosy completion fish | source", "Take it in at once, in fish"),
    ),
    "schema": (
        ("argosy schema", "List the documents that have one"),
        ("argosy schema Fleet > fleet.schema.json", "Let an editor check argosy.yaml"),
    ),
    "help": (
        ("argosy help", "List commands and topics"),
        ("argosy help exit-codes", "Read one topic; argosy.yaml is one too"),
        ("argosy help cluster join", "Read the help of a command"),
        ("argosy help --search removal guard", "Find the command or the field that is about something"),
    ),
}
"""The examples of each command by its words behind ``argosy``."""
