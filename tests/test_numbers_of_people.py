"""Numbers of more digits than Python reads are no numbers, wherever people write one."""

from reconciler.source.schemas.kubernetes import minor_version
from render.admission.findings import Findings
from render.notations import host_and_port_of_address
from render.schemas.rules.texts import check_number_or_percentage, is_neither_number_nor_percentage
from render.versions import newest_version_in_range, parse_version

MANY = "9" * 5_000


def test_a_share_of_pods() -> None:
    findings = Findings()
    check_number_or_percentage(f"{MANY}%", (None, "spec"), findings, is_at_most_all=True)
    assert [each.message for each in findings.problems] == ["must be a whole number or a percentage such as '25%'"]
    assert not is_neither_number_nor_percentage(f"{MANY}%")


def test_a_port_and_versions() -> None:
    assert host_and_port_of_address(f"localhost:{MANY}") is None
    assert host_and_port_of_address(MANY) is None
    assert minor_version(f"v1.{MANY}") is None
    assert minor_version("v1.33.4-gke.100") == 33
    assert parse_version(f"{MANY}.0.0") is None
    assert newest_version_in_range(["1.2.3", f"{MANY}.0.0"], "1.x") == "1.2.3"
