"""README.md of the rendered branch: what it links is there."""

from reconciler.pipeline.readme import Tally, readme_file


def test_a_cluster_that_holds_nothing_has_no_link() -> None:
    """It has no folder; one that was disconnected keeps the folder it had."""
    tally = Tally(objects={"eu": 2, "us": 0}, replicas={"eu": 3}, reasons={"Success": 2, "NoClusterFit": 0})
    assert readme_file(tally, ["ap", "eu", "us"], ["old"]).decode().splitlines()[5:] == [
        "| cluster | objects | replicas | |",
        "|---|---:|---:|---|",
        "| ap | 0 | 0 |  |",
        "| [eu](clusters/eu) | 2 | 3 |  |",
        "| [old](clusters/old) |  |  | disconnected: left as it was |",
        "| us | 0 | 0 |  |",
        "",
        "| bindings | |",
        "|---|---:|",
        "| Success | 2 |",
    ]
