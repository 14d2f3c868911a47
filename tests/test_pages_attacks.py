"""Attacks on the page: by what a fleet is called and says, by addresses, and by whoever asks for it."""

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.pages.serving import SECURITY_HEADERS
from reconciler.run.web.entry import EntryRules
from render.errors import ConfigError

from .build import Repository, argosy
from .hostile_fleet import BIDI, CANARY, IMAGE, LONG, QUOTED, SCRIPT, TEMPLATE, UNSAFE, a_hostile_fleet
from .paged import Browser, browser_of, links_of

_MOST = 3
"""So many pages of one kind are asked for: that what is in them is text, one shows as well as a hundred."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A fleet in which everything that people and members may write as they like is hostile, and that has a Secret."""
    return a_hostile_fleet(tmp_path_factory.mktemp("pages") / "fleet")


@pytest.fixture(scope="module")
def browser(repository: Repository) -> Browser:
    return browser_of(repository)


def pages(browser: Browser) -> Iterator[tuple[str, str]]:
    """Yield pages that one comes to from the first with their addresses, a few of each kind, and their documents."""
    ahead, kinds = ["/"], Counter[tuple[str, int, bool]]()
    seen = {*ahead}
    while ahead:
        address = ahead.pop(0)
        shown = browser.answered(address)
        assert shown.code in {200, 404, 422}, (address, shown.code)
        yield address, shown.text
        is_html = shown.headers["content-type"].startswith("text/html")
        for each in links_of(shown.text) if is_html else ():
            path, _, query = each.partition("?")
            kind = (path.split("/")[1] if "/" in path else "", path.count("/"), "at=" in query)
            if each.startswith("/") and not each.startswith("/static/") and each not in seen and kinds[kind] < _MOST:
                kinds[kind] += 1
                seen.add(each)
                ahead.append(each)


class _Dangers(HTMLParser):
    """The things that a browser would run: scripts beside our own, handlers of events, and addresses of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        is_ours = tag == "script" and named.get("src", "").startswith("/static/script.js?")
        self.found += [tag] if tag in {"script", "iframe", "object", "embed", "base"} and not is_ours else []
        self.found += [name for name in named if name.startswith("on") or name in {"style", "srcdoc"}]
        targets = [named[name] for name in ("href", "src", "action", "formaction") if name in named]
        self.found += [target for target in targets if not target.startswith(("/", "#"))]


def dangers_of(page: str) -> list[str]:
    parser = _Dangers()
    parser.feed(page)
    return parser.found


def test_hostile_text_is_text_in_every_page_and_no_secret_is_in_any(browser: Browser) -> None:
    texts = []
    for address, text in pages(browser):
        assert [each for each in UNSAFE if each in text and not address.split("?")[0].endswith(".json")] == [], address
        assert CANARY not in text, address
        assert address.split("?")[0].endswith(".json") or dangers_of(text) == [], address
        texts.append(text)
    assert len(texts) > 10
    # What is hostile was there: a member's message, the text of a commit and the name of a file.
    assert sum("&lt;script&gt;alert(1)" in text for text in texts) > 4
    assert sum("safe\\u202eexe.txt" in text for text in texts) > 2
    assert sum("&lt;img src=x onerror=alert(2)&gt;" in text for text in texts) > 2


ASKED = [SCRIPT, IMAGE, QUOTED, BIDI, LONG, TEMPLATE, "../../etc/passwd", "--help", "-o", "\r\nX-Evil: 1", "%00", "٣"]


@pytest.mark.parametrize("text", ASKED, ids=range(len(ASKED)))
def test_whatever_is_asked_for_is_shown_as_text(browser: Browser, text: str) -> None:
    from urllib.parse import quote

    asked = quote(text, safe="")
    addresses = [f"/diff?base=HEAD&head={asked}", f"/what-if?without={asked}", f"/commits/{asked}", f"/?at={asked}"]
    for address in (*addresses, f"/{asked}", f"/overview?page={asked}&sort={asked}", f"/static/{asked}"):
        shown = browser.answered(address)
        assert shown.code in {200, 400, 404, 422}, (address, shown.text)
        assert [each for each in UNSAFE if each in shown.text] == [], address
        assert "x-evil" not in shown.headers
        assert "Usage:" not in shown.text, "it was taken for an option"


CLIMBING = [
    *("/static/../web_pages.py", "/static/%2e%2e/web_pages.py", "/static/..%2fweb_pages.py", "/static/%2fetc%2fpasswd"),
    *("/../../etc/passwd", "//etc/passwd", "/f/../static/style.css", "/static/style.css/", "/%ff", "/" + "a/" * 40),
]


@pytest.mark.parametrize("address", CLIMBING)
def test_no_address_climbs_out_of_the_page(browser: Browser, address: str) -> None:
    shown = browser.get(address)
    assert shown.code == 404
    assert b"root:" not in shown.content
    assert b"import" not in shown.content


class Asked(NamedTuple):
    why: str
    headers: Mapping[str, str]
    want: int
    entry: EntryRules = EntryRules(is_local=True)
    source: str = "127.0.0.1"


TOKEN = "open-sesame-1234567"
GUARDED = EntryRules(token_file="token")
PROXIED = EntryRules(header="X-User", proxies=(ip_network("10.1.0.0/16"),), hosts=frozenset({"fleet.example.com"}))
ASKERS = [
    Asked("the page's own name", {"host": "localhost:8400"}, 200),
    Asked("its own address", {"host": "127.0.0.1:8400"}, 200),
    Asked("its own address, version 6", {"host": "[::1]:8400"}, 200),
    Asked("the name of a stranger that leads here", {"host": "evil.example.com"}, 421),
    Asked("a name that begins like its own", {"host": "localhost.evil.example.com"}, 421),
    Asked("no name", {"host": ""}, 421),
    Asked("another address of this machine", {"host": "192.168.0.9:8400"}, 421),
    Asked("no token", {"host": "127.0.0.1"}, 401, GUARDED),
    Asked("a wrong token", {"host": "127.0.0.1", "authorization": "Bearer open-sesame"}, 401, GUARDED),
    Asked("the token", {"host": "127.0.0.1", "authorization": f"Bearer {TOKEN}"}, 200, GUARDED),
    Asked(
        "the token as a password",
        {"host": "127.0.0.1", "authorization": "Basic bWU6b3Blbi1zZXNhbWUtMTIzNDU2Nw=="},
        200,
        GUARDED,
    ),
    Asked("no Base64", {"host": "127.0.0.1", "authorization": "Basic ***"}, 401, GUARDED),
    Asked("another scheme", {"host": "127.0.0.1", "authorization": f"Digest {TOKEN}"}, 401, GUARDED),
    Asked(
        "an address beyond this machine, with the token",
        {"host": "10.0.0.4", "authorization": f"Bearer {TOKEN}"},
        200,
        GUARDED,
    ),
    Asked("a header of the proxy", {"host": "fleet.example.com", "x_user": "ada"}, 200, PROXIED, "10.1.2.3"),
    Asked(
        "the same by a mapped address", {"host": "fleet.example.com", "x_user": "ada"}, 200, PROXIED, "::ffff:10.1.2.3"
    ),
    Asked("a header of anybody", {"host": "fleet.example.com", "x_user": "ada"}, 401, PROXIED, "10.2.2.3"),
    Asked("the proxy, and nobody said", {"host": "fleet.example.com", "x_user": " "}, 401, PROXIED, "10.1.2.3"),
    Asked("the proxy by another name", {"host": "other.example.com", "x_user": "ada"}, 421, PROXIED, "10.1.2.3"),
    Asked("no address at all", {"host": "fleet.example.com", "x_user": "ada"}, 401, PROXIED, ""),
]


@pytest.mark.parametrize("case", ASKERS, ids=lambda case: case.why)
def test_who_may_see_the_page(case: Asked, repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    entry = case.entry if not case.entry.token_file else EntryRules(token_file=str(tmp_path / "token"))
    shown = browser_of(repository, entry=entry).get("/rollouts", source=case.source, **case.headers)
    assert shown.code == case.want, shown.text
    assert ("Deployment" in shown.text or "wave" in shown.text) is (case.want == 200)


REFUSED = [
    (EntryRules(), "without a token, or a proxy that says who asks, the page is served to this machine alone"),
    (EntryRules(header="X-User"), "a header counts only from proxies that are named, and a proxy only by its header"),
    (
        EntryRules(is_local=True, proxies=PROXIED.proxies),
        "a header counts only from proxies that are named, and a proxy only by its header",
    ),
]


@pytest.mark.parametrize(("entry", "message"), REFUSED)
def test_rules_that_let_in_everybody_or_nobody_are_refused(entry: EntryRules, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        entry.check()
    assert refused.value.message == message


def test_a_short_token_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("short\n")
    with pytest.raises(ConfigError, match="less than 16 bytes"):
        EntryRules(token_file=str(tmp_path / "token")).check()


def test_without_a_token_it_is_not_served_beyond_this_machine(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, "ui", "--listen", "0.0.0.0:0")
    assert (ended.code, ended.out) == (3, "")
    assert "the page is served to this machine alone" in ended.err


def test_a_page_only_reads_and_says_what_browsers_must_not_do(browser: Browser) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert browser.get("/", method=method).code == 405
    shown = browser.get("/")
    assert {name.lower(): value for name, value in SECURITY_HEADERS}.items() <= shown.headers.items()
    assert shown.headers["cache-control"] == "private, no-cache"
    assert browser.get("/", method="HEAD").content == b""


def test_a_page_is_sent_once_and_smaller_where_a_browser_can_read_it(browser: Browser) -> None:
    shown = browser.get("/problems")
    assert browser.get("/problems", if_none_match=shown.headers["etag"]).code == 304
    packed = browser.get("/problems", accept_encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.content) == shown.content
    assert len(packed.content) < len(shown.content) / 2


def test_too_much_is_refused(browser: Browser) -> None:
    assert browser.get("/?" + "a=1&" * 100).code == 400
    assert browser.get("/?at=" + "a" * 9000).code == 400
    assert browser.get("/" + "a" * 9000).code == 404


def test_only_our_own_files_are_loaded(browser: Browser) -> None:
    for address in links_of(browser.get("/").text):
        assert address.startswith(("/", "#")), address
    static: Any = [each for each in links_of(browser.get("/").text) if each.startswith("/static/")]
    assert len(static) == 3
    for address in static:
        assert "immutable" in browser.get(address).headers["cache-control"]
        assert b"http://" not in browser.get(address).content.replace(b"http://www.w3.org/2000/svg", b"")
