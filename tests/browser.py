"""A real browser: Debian's Chromium, driven as WebDriver says, and axe-core, which judges pages as screen readers need.

``make e2e-browser`` installs both; nothing that it looks at comes from elsewhere than this machine.
"""

import base64
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from .kubernetes.programs import cache_folder

AXE = "4.14.1"
WIDE, PHONE = (1280, 900), (360, 780)
THEMES = ("light", "dark")
_PACKAGES = ("chromium", "chromium-driver")
_PROGRAMS = ("chromium", "chromedriver")
_SECONDS = 600


class BrowserMissing(Exception):
    """There is no browser, and none can be installed."""


class Violation(NamedTuple):
    """A fault that axe-core finds in a page: its rule, and the first elements that break it."""

    rule: str
    elements: tuple[str, ...]


class Browsing:
    """A window of a running browser."""

    def __init__(self, driver: Chrome, axe: str) -> None:
        self.driver = driver
        self._axe = axe

    def open(self, address: str) -> None:
        self.driver.get(address)

    def look(self, size: tuple[int, int], theme: str) -> None:
        """Show pages in a window of this size, to somebody who likes this theme."""
        width, height = size
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def focused(self) -> WebElement:
        return self.driver.switch_to.active_element

    def all(self, selector: str) -> list[WebElement]:
        """The elements that a CSS selector finds and that are shown."""
        return [each for each in self.driver.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()]

    def text(self) -> str:
        return str(self.driver.find_element(By.TAG_NAME, "body").text)

    def said(self) -> list[str]:
        """The lines of the console since it was asked before."""
        return [each["message"] for each in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def violations(self) -> list[Violation]:
        """The faults for whoever has a screen reader or keys alone, by the rules of WCAG 2.2 AA."""
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        asked = f"axe.run({{runOnly: {json.dumps(tags)}}}).then(found => done(JSON.stringify(found.violations)))"
        found = json.loads(self.driver.execute_async_script(f"const done = arguments[0];\n{self._axe};\n{asked}"))
        return [Violation(each["id"], tuple(node["html"][:160] for node in each["nodes"][:3])) for each in found]

    def is_wider_than_its_window(self) -> bool:
        script = "const root = document.documentElement; return root.scrollWidth > root.clientWidth"
        return bool(self.driver.execute_script(script))

    def draw(self, path: Path) -> None:
        """Write a picture of the whole page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn: dict[str, Any] = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(drawn["data"]))


@contextmanager
def browsing() -> Iterator[Browsing]:
    """Run a browser until the end of the block."""
    browser, driver = obtain_browser()
    options = ChromeOptions()
    options.binary_location = str(browser)
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = Chrome(options=options, service=Service(executable_path=str(driver)))
    try:
        running.set_page_load_timeout(60)
        running.set_script_timeout(60)
        yield Browsing(running, obtain_axe().read_text())
    finally:
        running.quit()


def obtain_browser() -> tuple[Path, Path]:
    """Return the browser and its driver; where they are missing they are installed.

    Raises:
        BrowserMissing: they are not there, and this user or machine can install none.
    """
    if not all(map(shutil.which, _PROGRAMS)):
        if os.geteuid() or not shutil.which("apt-get"):
            raise BrowserMissing(f"install the packages {' and '.join(_PACKAGES)} of Debian")
        for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *_PACKAGES]):
            _run(["apt-get", "--quiet", *arguments], os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    browser, driver = (shutil.which(name) for name in _PROGRAMS)
    if browser is None or driver is None:
        raise BrowserMissing(f"the packages {' and '.join(_PACKAGES)} bring no {' and '.join(_PROGRAMS)}")
    return Path(browser), Path(driver)


def obtain_axe() -> Path:
    """Return axe-core's script, taken from its package where it is not in the cache.

    Raises:
        BrowserMissing: it cannot be had.
    """
    kept = cache_folder() / f"axe-{AXE}.min.js"
    if kept.is_file():
        return kept
    folder = cache_folder() / f"axe-{AXE}.{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        _run(["npm", "pack", "--silent", f"--pack-destination={folder}", f"axe-core@{AXE}"], os.environ)
        with tarfile.open(next(folder.glob("*.tgz"))) as packed:
            script = packed.extractfile("package/axe.min.js")
            assert script is not None
            (folder / "axe.min.js").write_bytes(script.read())
        (folder / "axe.min.js").replace(kept)
    finally:
        shutil.rmtree(folder)
    return kept


def _run(command: list[str], environment: "os._Environ[str] | dict[str, str]") -> None:
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrowserMissing(f"{command[0]} cannot be run: {error}") from error
    if ended.returncode:
        raise BrowserMissing(f"{' '.join(command)}: {ended.stderr.strip()[-500:]}")
