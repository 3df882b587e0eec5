"""As much of a WebDriver client as the page's tests need, for Debian's chromium-driver."""
import atexit
import base64
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 20  # seconds for a condition; all of them hold within a fraction of one


class BrowserProblem(AssertionError):
    """What the browser could not do, with what its page said meanwhile."""


class Browser:
    """A headless Chromium with a profile of its own."""

    def __init__(self):
        # Whatever Chromium leaves behind when it is killed.
        self.scratch = tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0", "--log-level=WARNING"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True, env={**os.environ, "TMPDIR": self.scratch.name})
        atexit.register(self.close)  # also after an interruption
        said = []
        for line in self.driver.stdout:
            said.append(line)
            if port := re.search(r"started successfully on port (\d+)", line):
                break
        else:
            raise BrowserProblem("chromedriver did not start:\n" + "".join(said))
        self.base = f"http://127.0.0.1:{port[1]}"
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--window-size=1360,900", "--force-prefers-reduced-motion"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        options = {"args": arguments, "binary": "/usr/bin/chromium"}
        session = self.request("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000}}}})
        self.base += f"/session/{session['sessionId']}"

    def close(self):
        if self.driver.returncode is not None:
            return
        try:
            self.request("DELETE", "", None)  # Removes the profile too.
        except (OSError, BrowserProblem):
            pass
        finally:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait(PATIENCE)
            self.driver.stdout.close()
            self.scratch.cleanup()

    def request(self, verb, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=verb)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE + 40) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            problem = json.load(error)["value"]
            raise BrowserProblem(f"{problem['error']}: {problem['message'].splitlines()[0]}") from None

    def open(self, url):
        self.request("POST", "/url", {"url": url})

    def reload(self):
        self.request("POST", "/refresh", {})

    def find(self, selector):
        """The first element that a CSS selector finds."""
        return next(iter(self.request("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        """A real click: it fails where another element would receive it."""
        self.request("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.request("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def run(self, script, *arguments):
        """What a script returns, run in the page."""
        return self.request("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, expression, *arguments, why=""):
        """Waits until an expression holds, looked at whenever the page changes; `args` are the arguments.

        What changes without the page (an address, what has the focus, a picture that came) is looked at now and then.
        """
        script = """
            const [expression, args, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
            const holds = eval(`(args) => (${expression})`);
            const look = () => { const value = holds(args); if (value) { observer.disconnect(); clearInterval(often); done(value); } };
            const observer = new MutationObserver(look);
            observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
            const often = setInterval(look, 100);
            look();"""
        try:
            return self.request("POST", "/execute/async", {"script": script, "args": [expression, list(arguments)]})
        except BrowserProblem as problem:
            raise BrowserProblem(f"{why or expression} {arguments or ''}: {problem}\n{self.story()}") from None

    def until_at(self, path):
        """Waits until another page is there, whose address's path begins so: a script would be lost on the way."""
        end = time.monotonic() + PATIENCE
        while not urllib.parse.urlsplit(at := self.request("GET", "/url", None)).path.startswith(path):
            if time.monotonic() > end:
                raise BrowserProblem(f"at {at} and not at {path}\n{self.story()}")

    def size(self, width, height, mobile=False):
        """Gives the page another size, as on a phone."""
        self.request("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile}})

    def prefers(self, scheme):
        """Sets the colours that the page is asked for: light or dark."""
        self.request("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.request("GET", "/screenshot", None)))

    def complaints(self):
        """What the console says since it was asked last: errors, and what the content security policy refused."""
        log = self.request("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]

    def story(self):
        """What one needs to see when something went wrong."""
        text = self.run("return document.body.innerText")
        return f"--- the page says:\n{text[:1500]}\n--- its console:\n" + "\n".join(self.complaints())
