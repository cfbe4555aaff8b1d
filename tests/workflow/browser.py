"""A page of a headless Chromium, which is told what to do by the DevTools protocol through pipes."""

import base64
import json
import sys
from itertools import count
from pathlib import Path


class Page:
    """A page of a browser, and the errors that its console tells."""

    def __init__(self, to, back):
        self.to, self.back = open(to, "wb"), open(back, "rb")
        self.numbers, self.unread = count(1), b""
        self.about, self.errors = {}, []
        self.call("Browser.setDownloadBehavior", behavior="deny")
        target = self.call("Target.createTarget", url="about:blank")
        self.about = self.call("Target.attachToTarget", **target, flatten=True)
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def receive(self):
        """The next message. Messages end with a zero byte."""
        while b"\0" not in self.unread:
            more = self.back.read1()
            if not more:
                sys.exit("the browser has ended")
            self.unread += more
        message, self.unread = self.unread.split(b"\0", 1)
        message = json.loads(message)
        self.note(message.get("method"), message.get("params"))
        return message

    def note(self, event, what):
        """Keeps errors."""
        match event:
            case "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                error = details.get("exception", {}).get("description")
                self.errors.append(error or details["text"])
            case "Runtime.consoleAPICalled" if what["type"] in ("error", "assert"):
                words = [a.get("value", a.get("description")) for a in what["args"]]
                self.errors.append(" ".join(map(str, words)))
            case "Log.entryAdded" if what["entry"]["level"] == "error":
                self.errors.append(what["entry"]["text"])

    def call(self, method, **params):
        """What a method of the DevTools protocol returns."""
        message = {"id": next(self.numbers), "method": method, "params": params}
        try:
            self.to.write(json.dumps(message | self.about).encode() + b"\0")
            self.to.flush()
        except BrokenPipeError:
            sys.exit("the browser has ended")
        while (answer := self.receive()).get("id") != message["id"]:
            pass
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, address):
        """Loads a page."""
        self.call("Page.navigate", url=address)
        while self.receive().get("method") != "Page.loadEventFired":
            pass

    def ask(self, expression):
        """What an expression comes to; None, and an error, where it throws."""
        options = {"awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            self.note("Runtime.exceptionThrown", answer)
            return None
        return answer["result"].get("value")

    def resize(self, width, height=900):
        """The size of the window, as of a screen without scale."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def picture(self, path):
        """Keeps a picture of the whole page."""
        options = {"format": "png", "captureBeyondViewport": True}
        height = self.ask("document.documentElement.scrollHeight")
        width = self.ask("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
        data = self.call("Page.captureScreenshot", clip=clip, **options)["data"]
        Path(path).write_bytes(base64.b64decode(data))
