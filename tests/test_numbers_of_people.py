"""Numbers of more digits than Python reads are no numbers, wherever people write one."""

from reconciler.source.schemas.kubernetes import minor_version
from render.admission.findings import Findings
from render.notations import address_in
from render.schemas.rules.texts import check_share, is_no_share
from render.versions import newest, parsed_version

MANY = "9" * 5_000


def test_a_share_of_pods() -> None:
    findings = Findings()
    check_share(f"{MANY}%", (None, "spec"), findings, is_at_most_all=True)
    assert [each.message for each in findings.problems] == ["must be a whole number or a percentage such as '25%'"]
    assert not is_no_share(f"{MANY}%")


def test_a_port_and_versions() -> None:
    assert address_in(f"localhost:{MANY}") is None
    assert address_in(MANY) is None
    assert minor_version(f"v1.{MANY}") is None
    assert minor_version("v1.33.4-gke.100") == 33
    assert parsed_version(f"{MANY}.0.0") is None
    assert newest(["1.2.3", f"{MANY}.0.0"], "1.x") == "1.2.3"
