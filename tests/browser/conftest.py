"""A real Chromium, the built site behind a local server, and pages that report what went wrong."""

import gzip
import shutil
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

SITE = Path(__file__).parents[2] / "_build" / "html"
DESK = {"width": 1280, "height": 720}
PACKED = (".html", ".css", ".js", ".json", ".svg", ".ipynb")
CHROMIUM_OPTIONS = """--no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync""".split()


# The groups of xdist 3.8 need pytest below 9.2: without groups both processes would visit each page.
@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a page, or else of a file, run in one process, one after the other."""
    from xdist.scheduler import LoadFileScheduling

    class ByPage(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return nodeid.partition("[")[2] if ".html]" in nodeid else super()._split_scope(nodeid)

    return ByPage(config, log)


# Not for the whole session: while Playwright runs, tests elsewhere could not use asyncio.
@pytest.fixture(scope="package")
def chromium():
    """One headless Chromium for all tests of this folder."""
    sync_api = pytest.importorskip("playwright.sync_api", exc_type=ImportError)
    names = ["chromium", "chromium-browser", "google-chrome"]
    binary = next(filter(None, map(shutil.which, names)), None)
    if not binary:
        pytest.skip("no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=binary, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@cache
def packed(path):
    """A file as it goes over the wire."""
    data = Path(path).read_bytes()
    return gzip.compress(data, 6) if str(path).endswith(PACKED) else data


class Host(SimpleHTTPRequestHandler):
    """A quiet server that sends words and code compressed and lets them be kept, as hosts of static pages do."""

    def do_GET(self):
        path = self.translate_path(self.path)
        if not path.endswith(PACKED) or not Path(path).is_file():
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed(path))))
        self.end_headers()
        self.wfile.write(packed(path))

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def site():
    """Address of the built site."""
    if not (SITE / "index.html").exists():
        pytest.skip("run make book first")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=SITE)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def offline_page(chromium):
    """A fresh page that must not ask any other host for anything."""
    page, urls = chromium.new_page(), []
    page.on("request", lambda request: urls.append(request.url))
    page.on("websocket", lambda socket: urls.append(socket.url))
    yield page
    page.close()
    outside = [url for url in urls if urlsplit(url).hostname not in (None, "127.0.0.1")]
    assert not outside, "\n".join(outside)


def complaints(page):
    """All that a page complains of from here on, but for the requests that it takes back as it is left."""
    log, left = [], "net::ERR_ABORTED"
    page.on("console", lambda m: m.type == "error" and log.append(f"{m.text} {m.location['url']}"))
    page.on("pageerror", lambda error: log.append(str(error)))
    page.on("requestfailed", lambda r: r.failure == left or log.append(f"{r.failure} {r.url}"))
    return log


class Tab:
    """A page that is led from one address to the next; it keeps the files that they share, and nothing else."""

    def __init__(self, context):
        context.add_init_script("try { localStorage.clear(); sessionStorage.clear() } catch {}")
        self.page, self.urls, self.answers = context.new_page(), [], []
        self.log = complaints(self.page)
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("websocket", lambda socket: self.urls.append(socket.url))
        self.page.on("response", lambda answer: self.answers.append(answer))

    def open(self, address):
        """Open a page as a newcomer in the light at a desk; what the one before says late is not held against it."""
        self.page.goto("about:blank")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(DESK)
        for heard in (self.urls, self.answers, self.log):
            heard.clear()
        self.page.goto(address)

    def faults(self):
        """Requests to other hosts, bad answers and errors since the page was opened."""
        outside = [url for url in self.urls if urlsplit(url).hostname not in (None, "127.0.0.1")]
        return outside + [f"{a.status} {a.url}" for a in self.answers if a.status >= 400] + self.log


@pytest.fixture(scope="module")
def tab(chromium):
    """One tab for all pages that a file visits."""
    with chromium.new_context() as context:
        yield Tab(context)


@pytest.fixture
def page(offline_page):
    """A fresh page that, besides, must not report an error."""
    page, log = offline_page, complaints(offline_page)
    page.on("response", lambda r: r.status >= 400 and log.append(f"{r.status} {r.url}"))
    yield page
    assert not log, "\n".join(log)


@pytest.fixture
def phone(chromium):
    """A page on a phone, and how to drag a finger over it in steps, as the phone reports it."""
    with chromium.new_context(has_touch=True, viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        session = context.new_cdp_session(page)

        def touch(kind, *points):
            places = [{"x": x, "y": y} for x, y in points]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

        def drag(start, end, steps=8):
            """Drag a finger from one point of the window to another."""
            touch("touchStart", start)
            for k in range(1, steps + 1):
                touch("touchMove", tuple(a + (b - a) * k / steps for a, b in zip(start, end)))
            touch("touchEnd")

        page.drag = drag
        yield page
