"""The page at the inside address of a controller: over the fleets that it has, for those whom its settings let in."""

import io
from pathlib import Path

from msgspec.structs import replace

from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.pages.running import RunningPage
from reconciler.run.settings import RunSettings
from reconciler.run.web.entry import EntryRules

from .paged import Browser, a_shown_fleet

TOKEN = "open-sesame-1234567"


def test_it_shows_the_fleets_that_there_are_now(tmp_path: Path) -> None:
    one, two = (str(a_shown_fleet(tmp_path / name).repository.path) for name in ("one", "two"))
    settings, locations = RunSettings(locations=(one,), inside=("127.0.0.1", 0)), {"one": one}
    page = RunningPage(lambda: settings.page_entry, lambda: locations, Log(stream=io.StringIO(), level=ERRORS_ONLY))
    browser = Browser(page)
    assert browser.get("/rollouts").code == 200
    locations["two"] = two
    assert browser.get("/rollouts").code == 404
    assert browser.get("/f/two/rollouts").code == 200
    del locations["one"]
    assert browser.get("/rollouts").code == 200
    assert browser.get("/f/one/rollouts").code == 404


def test_beyond_this_machine_it_is_there_only_for_those_who_are_let_in(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    location = str(a_shown_fleet(tmp_path / "shop").repository.path)
    outward = RunSettings(locations=(location,), inside=("0.0.0.0", 8080))
    settings = [outward]
    page = RunningPage(
        lambda: settings[0].page_entry, lambda: {"shop": location}, Log(stream=io.StringIO(), level=ERRORS_ONLY)
    )
    browser = Browser(page)
    refused = browser.get("/rollouts")
    assert (refused.code, refused.text) == (404, "not found\n")
    settings[0] = replace(outward, page=EntryRules(token_file=str(tmp_path / "token")))
    assert browser.get("/rollouts").code == 401
    assert browser.get("/rollouts", authorization=f"Bearer {TOKEN}").code == 200
