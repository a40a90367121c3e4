"""A headless Chromium, controlled through the DevTools protocol over two pipes; needs no
package."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    FLAGS = (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu-sandbox",
        "--use-angle=swiftshader-webgl",
        "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-extensions",
        "--disable-background-networking",
        "--hide-scrollbars",
        "--remote-debugging-pipe",
        "--window-size=800,600",
    )

    def __init__(self, *flags):
        program = Browser.find()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_theirs, write_ours = os.pipe()
        read_ours, write_theirs = os.pipe()

        # DevTools uses the descriptors 3 and 4. Our pipes may already have these descriptors, so
        # both pipes are duplicated first.
        def arrange():
            high_read, high_write = os.dup(read_theirs), os.dup(write_theirs)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [
                program,
                *Browser.FLAGS,
                f"--user-data-dir={self.profile.name}",
                *flags,
                "about:blank",
            ],
            preexec_fn=arrange,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_theirs)
        os.close(write_theirs)
        self.read_end, self.write_end = read_ours, write_ours
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    @staticmethod
    def find():
        """Returns the program's path, or None."""
        for name in ("chromium", "chromium-browser", "google-chrome"):
            if shutil.which(name):
                return shutil.which(name)
        return None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        self.profile.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select(
                [self.read_end], [], [], max(0, deadline - time.monotonic())
            )
            piece = os.read(self.read_end, 1 << 20) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            answer = self._receive(deadline)
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def text(self, name):
        return self.evaluate(f"document.getElementById('{name}').textContent")

    def errors(self):
        """Returns errors reported by the page or the browser."""
        return [
            event
            for event in self.events
            if event["method"] == "Runtime.exceptionThrown"
            or event["method"] == "Log.entryAdded"
            and event["params"]["entry"]["level"] == "error"
        ]

    def requests(self):
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def wait_for(self, expression, seconds=60):
        """Returns the expression's value as soon as it is true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                value = self.evaluate(expression)
            except RuntimeError:  # the page is not loaded yet
                value = None
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"never came true in {seconds} s: {expression}")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      text=key if kind == "keyDown" and len(key) == 1 else "")

    def drag(self, start, end):
        for kind, (x, y), buttons in (("mousePressed", start, 1), ("mouseMoved", end, 1),
                                      ("mouseReleased", end, 0)):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                buttons=buttons,
                clickCount=1,
            )

    def wheel(self, place, amount):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=place[0], y=place[1], deltaX=0,
                  deltaY=amount)

    def screenshot(self):
        """Returns the visible page, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
