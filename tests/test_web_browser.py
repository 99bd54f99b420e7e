"""The pages in a real Chromium: scripts that work, keys that move, and not one request that leaves the server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from scrubjay import Memory
from scrubjay.surfaces.report.facts import gather
from scrubjay.surfaces.report.html import report
from scrubjay.surfaces.web.reader import Reader
from test_web import PAGES
from web_memories import frame, hostile_memory, serving

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = Path(__file__).parent.parent / "build" / "web"
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 860}

CHECKS = (Path(__file__).parent / "web_checks.js").read_text()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile_memory(tmp_path_factory.mktemp("browser") / "memory")


@pytest.fixture(scope="module")
def base(root: str) -> Iterator[str]:
    with serving(root) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is not there: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


class Watched:
    """A context of the browser whose every request, message and error is kept."""

    def __init__(self, browser: Browser, base: str, **options: object) -> None:
        self.context: BrowserContext = browser.new_context(**options)  # type: ignore[arg-type]
        self.base = base
        self.elsewhere: list[str] = []
        self.complaints: list[str] = []
        self.context.route("**/*", self._route)

    def _route(self, route: Route) -> None:
        if route.request.url.startswith((self.base + "/", "data:", "file:")):
            route.continue_()
        else:
            self.elsewhere.append(route.request.url)
            route.abort()

    def open(self, address: str) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.goto(self.base + address, wait_until="load")
        return page


def wrong(page: Page, *checks: str) -> list[str]:
    """What these checks find wrong with a page."""
    return [f"{name}: {one}" for name in checks for one in page.evaluate(f"({CHECKS}).{name}()")]


@pytest.fixture
def watched(browser: Browser, base: str) -> Iterator[Watched]:
    made = Watched(browser, base, viewport=DESK)
    yield made
    made.context.close()
    assert made.elsewhere == []
    assert made.complaints == []


@pytest.mark.parametrize("address", [page for page in PAGES if "/steps/" not in page and "/map/at" not in page])
def test_hostile_text_runs_nothing_and_asks_nobody(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.wait_for_load_state("networkidle")
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true }")
    assert page.evaluate("window.pwned") is None
    assert wrong(page, "elsewhere") == []


def test_a_step_is_reached_by_slider_and_by_keys(watched: Watched) -> None:
    page = watched.open("/episodes/ep_000001")
    source = page.locator("#step img")
    expect(source).to_have_attribute("src", "/frames/ep_000001/3")
    page.keyboard.press("ArrowRight")
    expect(source).to_have_attribute("src", "/frames/ep_000001/4")
    expect(page.locator("#shown")).to_have_text("4")
    page.keyboard.press("End")
    expect(source).to_have_attribute("src", "/frames/ep_000001/6")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#shown")).to_have_text("6")
    page.locator("#slider").fill("5")
    expect(source).to_have_attribute("src", "/frames/ep_000001/5")
    assert page.url.endswith("/episodes/ep_000001?step=5")
    assert source.evaluate("image => image.naturalWidth") == 64
    page.keyboard.press("n")
    page.wait_for_url("**/episodes/ep_000002")


def test_pages_read_without_scripts(browser: Browser, base: str) -> None:
    made = Watched(browser, base, java_script_enabled=False)
    page = made.open("/episodes/ep_000001")
    page.click("#forth")
    assert page.locator("#step img").get_attribute("src") == "/frames/ep_000001/4"
    page.goto(base + "/search")
    page.fill("#tag", "milestone")
    page.click("text=Search >> nth=-1")
    assert page.locator(".card").count() == 1
    page.goto(base + "/map")
    assert page.locator(".map-picture").evaluate("image => image.naturalWidth") > 0
    assert page.locator("#notable tr").count() > 2
    page.goto(base + "/compare?ref=ep_000001+ep_000002")
    assert page.locator(".compare img").count() == 2
    assert made.elsewhere == []
    made.context.close()


def test_search_answers_as_one_types(watched: Watched) -> None:
    page = watched.open("/search")
    expect(page.locator(".card")).to_have_count(6)
    page.locator("#tag").press_sequentially("milestone")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator("#command")).to_contain_text("--tag=milestone")
    assert page.url.endswith("/search?tag=milestone")
    page.locator("#tag").fill("")
    page.locator("#grep").fill("<script>")
    expect(page.locator("#command")).to_contain_text("'--grep=<script>'")
    assert page.evaluate("window.pwned") is None


def test_a_click_on_a_cell_gives_its_episodes(watched: Watched) -> None:
    page = watched.open("/map?life=1")
    canvas = page.locator("#map")
    expect(canvas).to_be_visible()
    page.wait_for_load_state("networkidle")
    box = canvas.bounding_box()
    assert box is not None
    # Cells lie on a diagonal from (0, 0) to (6, -5): one of the places along it is known.
    for part in range(1, 12):
        page.mouse.move(box["x"] + box["width"] / 2 + (part - 6) * 12, box["y"] + box["height"] / 2 - (part - 6) * 12)
        if "not known" not in page.locator(".map-at").inner_text():
            break
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".cell-events li").first).to_be_visible()
    assert page.locator(".cell-events a").first.get_attribute("href").startswith("/episodes/ep_")  # type: ignore[union-attr]
    canvas.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#cell")).not_to_be_empty()


def test_frames_are_zoomed_together(watched: Watched) -> None:
    page = watched.open("/compare?ref=ep_000001+ep_000002%237")
    page.click("[data-zoom=in]")
    page.keyboard.press("ArrowRight")
    transforms = {page.locator(".window img").nth(at).evaluate("i => i.style.transform") for at in range(2)}
    assert len(transforms) == 1
    assert "scale(1.5)" in transforms.pop()
    page.keyboard.press("0")
    assert "scale(1)" in page.locator(".window img").first.evaluate("i => i.style.transform")


def test_a_citation_shows_its_frame(watched: Watched) -> None:
    page = watched.open("/documents/notes.md")
    page.hover("a.cite >> nth=0")
    picture = page.locator(".preview img")
    expect(picture).to_be_visible()
    assert picture.get_attribute("src") == "/thumbnails/ep_000001/3"
    page.keyboard.press("Escape")
    expect(picture).to_have_count(0)


def test_a_page_follows_a_running_life(browser: Browser, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory") as memory, serving(memory.root) as base:
        made = Watched(browser, base)
        pages = [made.open("/"), made.open("/"), made.open("/documents")]
        expect(pages[0].locator("text=No life was lived here yet")).to_be_visible()
        with memory.live(task="walk", world="w") as life, life.episode("go", {}, frame=frame(1), state={}) as episode:
            episode.step({}, frame=frame(2), state={})
            episode.finish()
        memory.documents.write("notes.md", "- warm [ep_000000]\n")
        for page in pages[:2]:
            expect(page.locator(".life")).to_have_count(1, timeout=20_000)
        expect(pages[2].locator("text=notes.md").first).to_be_visible(timeout=20_000)
        assert made.complaints == made.elsewhere == []
        made.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_pages_fit_are_labelled_and_can_be_read(browser: Browser, base: str, scheme: str, size: dict[str, int]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    made = Watched(browser, base, viewport=size, color_scheme=scheme)
    page = made.open("/")
    for number, address in enumerate(one for one in PAGES if "/steps/" not in one and "/map/at" not in one):
        page.goto(base + address)
        page.wait_for_function("[...document.images].every(one => one.complete || one.loading === 'lazy')")
        assert wrong(page, "wide", "unnamed", "faint") == [], address
        page.screenshot(path=PICTURES / f"{number:02d}-{scheme}-{size['width']}.png", full_page=True)
    made.context.close()


def test_a_report_opens_from_disk(browser: Browser, root: str, tmp_path: Path) -> None:
    reader = Reader(root)
    (tmp_path / "report.html").write_text(report(gather(reader), "made for a test"))
    reader.close()
    made = Watched(browser, "file://", viewport=PHONE, color_scheme="dark")
    page = made.open(f"{tmp_path}/report.html")
    assert page.evaluate("window.pwned") is None
    assert wrong(page, "wide", "unnamed", "faint") == []
    assert page.locator("h2").all_inner_texts() == [
        "Milestones over steps", "Actions per turn", "Retrieval lag", "Map", "Most-cited episodes", "Storage",
    ]  # fmt: skip
    assert page.locator(".cited img").count() > 0
    assert all(page.locator(".cited img").evaluate_all("all => all.map(one => one.naturalWidth > 0)"))
    assert made.complaints == made.elsewhere == []
    made.context.close()
