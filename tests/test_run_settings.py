"""The settings file of a controller: what it says, what it may not say, and reading it again while passes go on."""

import signal
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest
from msgspec.structs import replace

from reconciler.members.options import DeliveryOptions
from reconciler.run.fleets import FleetLocation, fleets_at_locations
from reconciler.run.leader import LeaseName
from reconciler.run.notices.channels import Channel, ChannelKind
from reconciler.run.settings import RunSettings
from reconciler.run.settings_file import SettingsFile
from reconciler.run.web.entry import EntryRules
from reconciler.run.web.signatures import Provider
from reconciler.run.web.webhooks import WebhookSecret
from render.errors import ConfigError, InputError

from .build import Repository, a_config_map
from .controllers import SETTINGS, Controller, a_fleet, controller, is_rendered
from .fakes import FakeCluster
from .served import serving_members
from .waiting import SECONDS, eventually

pytestmark = pytest.mark.waits

HEAD = "apiVersion: argosy.dev/v1alpha1\nkind: RunSettings\nspec:\n"
OPTIONS = RunSettings(locations=("here",), drift=60.0, delivery=DeliveryOptions(no_prune=True))
WHOLE = """\
  fleets:
  - {repository: https://git.example.com/shop.git, name: shop}
  - repository: fleets
  poll: 10s
  drift: 10m
  bootstrap: true
  acceptedSettings: accepted.yaml
  maxFleets: 8
  passTimeout: 30m
  grace: 45s
  webhook:
    address: 0.0.0.0:8443
    secrets: [{provider: github, file: github.secret}]
  inside: "9090"
  ui: {tokenFile: token, trustHeader: X-User, trustedProxies: [10.0.0.0/8], allowedHosts: [fleet.example.com]}
  notifications: [{kind: slack, file: /etc/slack}]
  lease: {context: hub, name: argosy}
  members:
    kubeconfig: config
    kubeconfigs: contexts
    inCluster: hub
    clusters: [east]
    selector: env=prod
    maxParallel: 4
    timeout: 90s
    as: bot
    asGroups: [bots]
"""


def written(folder: Path, text: str, given: Mapping[str, str] | None = None) -> SettingsFile:
    file = folder / "settings.yaml"
    file.write_text(text)
    return SettingsFile(path=file, given=given or {})


def test_every_field_is_read_and_paths_begin_beside_the_file(tmp_path: Path) -> None:
    read = written(tmp_path, HEAD + WHOLE).settings_over_options(OPTIONS)
    assert read == RunSettings(
        locations=("https://git.example.com/shop.git", f"{tmp_path}/fleets"),
        names={"https://git.example.com/shop.git": "shop"},
        poll=10.0,
        drift=600.0,
        grace=45.0,
        pass_timeout=1800.0,
        max_fleets=8,
        bootstrap=True,
        accepted_settings=f"{tmp_path}/accepted.yaml",
        webhook=("0.0.0.0", 8443),
        webhook_secrets=(WebhookSecret(provider=Provider.GITHUB, file=f"{tmp_path}/github.secret"),),
        inside=("127.0.0.1", 9090),
        page=EntryRules(
            token_file=f"{tmp_path}/token",
            header="X-User",
            proxies=(ip_network("10.0.0.0/8"),),
            hosts=frozenset({"fleet.example.com"}),
        ),
        lease=LeaseName(cluster="hub", name="argosy"),
        channels=(Channel(kind=ChannelKind.SLACK, file="/etc/slack"),),
        delivery=DeliveryOptions(
            clusters=("east",),
            selector="env=prod",
            max_parallel=4,
            timeout=90.0,
            kubeconfig=f"{tmp_path}/config",
            kubeconfigs=f"{tmp_path}/contexts",
            in_cluster="hub",
            as_user="bot",
            as_groups=("bots",),
            no_prune=True,
        ),
    )


def test_what_a_file_does_not_say_is_as_the_options_say(tmp_path: Path) -> None:
    assert written(tmp_path, f"{HEAD}  poll: 5s\n").settings_over_options(OPTIONS) == replace(OPTIONS, poll=5.0)


class Refused(NamedTuple):
    why: str
    text: str
    want: str
    given: Mapping[str, str] = {}


REFUSED = [
    Refused(
        "a file of another kind",
        "a: 1\n",
        ":1: must be one document of kind RunSettings\n"
        "  hint: it begins with apiVersion: argosy.dev/v1alpha1 and kind: RunSettings",
    ),
    Refused(
        "what is no YAML",
        f"{HEAD}  poll: [5s\n",
        ":5: a '[' or '{' list that is broken or not closed\n  hint: check commas, quotes and brackets",
    ),
    Refused("a typo", f"{HEAD}  driftt: 5m\n", ":4: spec.driftt: unknown field\n  hint: did you mean 'drift'?"),
    Refused(
        "a time that is none",
        f"{HEAD}  drift: 5m\n  members:\n    timeout: soon\n",
        ":6: spec.members.timeout: 'soon' is no duration\n  hint: such as 90s, 5m or 1h",
    ),
    Refused(
        "a proxy that is no address",
        f"{HEAD}  ui: {{trustHeader: X-User, trustedProxies: [proxy]}}\n",
        ":4: spec.ui.trustedProxies[0]: 'proxy' is no address\n  hint: such as 10.0.0.7 or 10.0.0.0/8",
    ),
    Refused(
        "a header that would count from everybody",
        f"{HEAD}  ui: {{trustHeader: X-User}}\n",
        ":4: spec.ui: trustHeader counts only from trustedProxies: one goes with the other",
    ),
    Refused(
        "an address that is none",
        f"{HEAD}  inside: localhost\n",
        ":4: spec.inside: 'localhost' is no address\n  hint: such as 8080, 0.0.0.0:8080 or [::]:8080",
    ),
    Refused(
        "webhooks without a secret",
        f"{HEAD}  webhook: {{address: '8080'}}\n",
        ":4: spec.webhook.secrets: required, but missing",
    ),
    Refused("too many at once", f"{HEAD}  maxFleets: 65\n", ":4: spec.maxFleets: must be at most 64, not 65"),
    Refused(
        "groups of nobody",
        f"{HEAD}  members: {{asGroups: [bots]}}\n",
        ":4: spec.members.asGroups: goes with as, as for kubectl",
    ),
    Refused(
        "one name for two fleets",
        f"{HEAD}  fleets:\n  - {{repository: a, name: x}}\n  - {{repository: b, name: x}}\n",
        ":5: spec.fleets[0].name: 'x' is the name of 2 fleets\n"
        "FILE:6: spec.fleets[1].name: 'x' is the name of 2 fleets",
    ),
    Refused(
        "a name that no address can have",
        f"{HEAD}  fleets: [{{repository: a, name: a/b}}]\n",
        ":4: spec.fleets[0].name: 'a/b' is no name of a fleet\n  hint: letters, digits, '.', '_' and '-'",
    ),
    Refused(
        "what an option says as well",
        f"{HEAD}  fleets: [{{repository: a}}]\n  members:\n    as: bot\n",
        ":4: spec.fleets: is given by REPO as well\n  hint: say it in one place\n"
        "FILE:6: spec.members.as: is given by --as as well\n  hint: say it in one place",
        {"locations": "REPO", "as_user": "--as", "poll": "--poll"},
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.why)
def test_a_mistake_is_named_with_its_line(case: Refused, tmp_path: Path) -> None:
    file = written(tmp_path, case.text, case.given)
    with pytest.raises(InputError) as refused:
        file.settings_over_options(OPTIONS)
    said = refused.value.message.replace(str(file.path), "FILE")
    assert said == f"FILE{case.want}\nthe settings of settings.yaml are not used"


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    file = SettingsFile(path=tmp_path / "none", given={})
    with pytest.raises(ConfigError) as refused:
        file.settings_over_options(OPTIONS)
    assert refused.value.message == f"the settings {tmp_path}/none cannot be read: no such file or directory"
    with pytest.raises(ConfigError) as refused:
        written(tmp_path, HEAD + "#" * (1 << 20)).settings_over_options(OPTIONS)
    assert refused.value.message == f"the settings {tmp_path}/settings.yaml are larger than 1 MiB"


def test_a_name_is_that_of_one_repository_and_another_fleet_makes_way(tmp_path: Path) -> None:
    for name in ("shop", "other"):
        Repository.create(tmp_path / "git" / name, bare=True)
    one, other = (str(tmp_path / "git" / name) for name in ("shop", "other"))
    assert fleets_at_locations([one, other], {other: "shop"}) == (
        FleetLocation(name="shop-2", location=one),
        FleetLocation(name="shop", location=other),
    )
    with pytest.raises(ConfigError) as refused:
        fleets_at_locations([str(tmp_path / "git")], {str(tmp_path / "git"): "all"})
    assert refused.value.message == f"{tmp_path}/git is a folder of repositories, and has no name of its own"


def replaced(path: Path, text: str, argosy: Controller) -> None:
    """Exchange the settings as an editor does, and have them read again."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)
    argosy.signal(signal.SIGHUP)


def test_another_lease_is_taken_and_the_one_before_given_back(tmp_path: Path) -> None:
    """The controller goes on leading by the new one, and without any."""
    work, bare, hub = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git", FakeCluster("hub")
    file = tmp_path / "settings.yaml"
    members = "  members: {kubeconfig: kubeconfigs/hub.yaml}\n"
    head = f"{HEAD}  bootstrap: true\n  fleets: [{{repository: {bare}}}]\n{members}"

    def holder(namespace: str) -> str:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/argosy-run"
        return str((hub.read(path) or {"spec": {}})["spec"].get("holderIdentity"))

    file.write_text(f"{head}  lease: {{context: hub, namespace: default}}\n")
    with serving_members([hub], tmp_path / "kubeconfigs"), controller(tmp_path, "--settings", str(file)) as argosy:
        argosy.says("leading")
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        first = holder("default")
        replaced(file, f"{head}  lease: {{context: hub, namespace: kube-system}}\n", argosy)
        argosy.says("leading", times=2)
        assert (holder("default"), holder("kube-system").split("/")[:2]) == ("", first.split("/")[:2])
        is_rendered(bare, commit_and_push(work, "two"))
        replaced(file, head, argosy)
        eventually(lambda: holder("kube-system") == "", "the Lease given back")
        is_rendered(bare, commit_and_push(work, "three"))
        assert argosy.ended() == 0


def test_another_lease_that_somebody_holds_ends_the_passes(tmp_path: Path) -> None:
    """Nor is anything shown of clusters that another controller knows better now, which alerts would wait for."""
    work, bare, hub = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git", FakeCluster("hub")
    file, leases = tmp_path / "settings.yaml", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    held = {"metadata": {"name": "argosy-run"}, "spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600}}
    hub.request("POST", leases, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **held})
    head = f"{HEAD}  bootstrap: true\n  poll: 100ms\n  inside: '0'\n  fleets: [{{repository: {bare}}}]\n"
    head += "  members: {kubeconfig: kubeconfigs/hub.yaml}\n"
    file.write_text(f"{head}  lease: {{context: hub, namespace: default}}\n")
    with serving_members([hub], tmp_path / "kubeconfigs"), controller(tmp_path, "--settings", str(file)) as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        argosy.says("pass ended code=")
        port = argosy.said.partition("metrics and health at 127.0.0.1:")[2].partition("\n")[0]
        gauges = "argosy_cluster_", "argosy_consecutive_failures", "argosy_leader", "argosy_source_"

        def shown() -> list[str]:
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as answer:
                return [line for line in answer.read().decode().splitlines() if line.startswith(gauges)]

        eventually(lambda: 'argosy_cluster_up{cluster="member1",fleet="fleet"} 0.0' in shown(), "a cluster's gauge")
        replaced(file, f"{head}  lease: {{context: hub, namespace: kube-system}}\n", argosy)
        argosy.says("following")
        passes = argosy.said.count("pass cause=")
        commit_and_push(work, "two")
        eventually(lambda: shown() == ["argosy_leader 0.0"], "that nothing but that it follows is shown")
        assert argosy.said.count("pass cause=") == passes
        assert argosy.ended() == 0


def test_settings_are_read_again_and_broken_ones_change_nothing(tmp_path: Path) -> None:
    """A fleet begins, an interval and an address change; a mistake is told with its line and changes nothing."""
    east, west = a_fleet(tmp_path / "east.git"), a_fleet(tmp_path / "west.git")
    file = tmp_path / "settings.yaml"
    first = f"{HEAD}  bootstrap: true\n  inside: '0'\n  fleets:\n  - repository: east.git\n"
    file.write_text(first)
    with controller(tmp_path, "--settings", str(file)) as argosy:
        is_rendered(tmp_path / "east.git", east.git("rev-parse", "HEAD"))
        argosy.says("east: committed ")
        assert argosy.said.count("metrics and health at ") == 1
        replaced(file, first.replace("inside", "insider"), argosy)
        argosy.says("the settings stay as they were: ")
        assert f"{file}:5: spec.insider: unknown field\n  hint: did you mean 'inside'?\n" in argosy.said
        is_rendered(tmp_path / "east.git", commit_and_push(east, "two"))
        again = f"{HEAD}  bootstrap: true\n  inside: localhost:0\n  drift: 500ms\n  fleets:\n"
        both = "  - {repository: west.git, name: sunset}\n  - repository: east.git\n"
        replaced(file, again + both, argosy)
        argosy.says("read the settings again: 2 fleets")
        argosy.says("sunset: committed ")
        argosy.says("east: pass cause=drift")
        assert argosy.said.count("metrics and health at localhost:") == 1
        replaced(file, again + both.partition("\n")[0] + "\n", argosy)
        argosy.says("read the settings again: 1 fleet\n")
        eventually(lambda: argosy.said.count("sunset: pass cause=drift") > 1, "a pass for drift over what is left")
        assert argosy.ended() == 0
    assert rendered(west, tmp_path / "west.git")


def commit_and_push(work: Repository, text: str) -> str:
    commit = work.commit({SETTINGS: a_config_map("settings", text=text)})
    work.git("push", "-q")
    return commit


def rendered(work: Repository, bare: Path) -> bool:
    return bool(work.git("ls-remote", str(bare), "argosy/rendered"))


def test_an_address_that_cannot_be_had_leaves_the_one_that_was(tmp_path: Path) -> None:
    a_fleet(tmp_path / "east.git")
    file = tmp_path / "settings.yaml"
    text = f"{HEAD}  bootstrap: true\n  fleets: [{{repository: east.git}}]\n  inside: "
    file.write_text(f"{text}'0'\n")
    with controller(tmp_path, "--settings", str(file)) as argosy:
        argosy.says("metrics and health at 127.0.0.1:")
        replaced(file, f"{text}192.0.2.1:9\n", argosy)
        argosy.says("the settings stay as they were: 192.0.2.1:9 cannot be served: ")
        argosy.says("metrics and health at 127.0.0.1:", times=2)
        assert argosy.ended() == 0


def test_options_that_a_file_says_as_well_do_not_start(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(f"{HEAD}  poll: 5s\n")
    with controller(tmp_path, "--settings", str(file), "--poll", "9s") as argosy:
        assert argosy.process.wait(timeout=60) == 3
    assert argosy.said == (
        f"{file}:4: spec.poll: is given by --poll as well\n  hint: say it in one place\n"
        "the settings of settings.yaml are not used\n"
    )
