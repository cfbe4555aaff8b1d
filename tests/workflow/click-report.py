"""Clicks all that a Snakemake report shows, in a browser: click-report.py REPORT TO FROM

TO and FROM are named pipes to and from a Chromium that runs with --remote-debugging-pipe.
Each entry of the menu is clicked in a page loaded anew, and what it leads to, as
click-report.js says. Prints what was shown, and fails where the console tells an error, a page
is blank or a result is never shown.
"""

import json
import sys
from itertools import count
from pathlib import Path

CLICKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


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


page = Page(*sys.argv[2:])
address = Path(sys.argv[1]).resolve().as_uri()
page.open(address)
entries = page.ask('document.querySelectorAll("nav ul li a").length')
missing = dict.fromkeys(page.ask("Object.keys(results)"))
for number in range(entries):
    page.open(address)
    visit = page.ask(f"({CLICKS})({number})")
    if visit:
        print(f"{visit['name']}: {' '.join(visit['paths']) or 'no results'}")
        for path in visit["paths"]:
            missing.pop(path, None)
problems = [error.splitlines()[0] for error in page.errors]
problems += [f"{path}: not shown" for path in missing]
sys.exit("\n".join(dict.fromkeys(problems)) or 0)
