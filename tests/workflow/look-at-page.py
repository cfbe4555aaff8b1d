"""Looks at the page of a study in a browser: look-at-page.py PAGE TO FROM

TO and FROM are named pipes to and from a Chromium that runs with --remote-debugging-pipe. Fails
where the console tells an error, a link leads nowhere, a picture is broken, the page loads
anything, is wider than the window at 1400 or 400 pixels, or the table is not sorted by a click.
Keeps pictures in the folder HW_PICTURES, if that is set.
"""

import os
import sys
from pathlib import Path
from urllib.parse import unquote

from browser import Page

LINKS = """[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))"""
BROKEN = """[...document.images].filter(i => !i.naturalWidth).map(i => i.alt)"""
LOADED = """performance.getEntriesByType("resource").map(r => r.name).filter(n => !n.startsWith("data:"))"""
COLUMN = """[...document.querySelectorAll("#results tbody tr")].map(r => r.cells[%d]?.innerText.trim())"""
HEAD = """[...document.querySelectorAll("#results thead th")].findIndex(h => h.innerText.trim() == "GTEPS")"""
CLICK = """(async () => {
    const head = document.querySelectorAll("#results thead th")[%d];
    (head.querySelector("[role=button]") ?? head).click();
    await new Promise(done => setTimeout(done, 200));
})()"""
READY = """(async () => {
    for (let look = 0; look < 100 && !document.body.dataset.sortable; look++)
        await new Promise(done => setTimeout(done, 100));
    return document.body.dataset.sortable ?? "no";
})()"""


def number(text):
    """A cell as it is sorted; empty ones before all."""
    return float(text) if text else float("-inf")


def leads_nowhere(link):
    if link.startswith("#"):
        return not page.ask(f"!!document.getElementById({link[1:]!r})")
    return "://" in link or not (folder / unquote(link)).is_file()


def sorts():
    """Whether two clicks on the head of a column sort it both ways."""
    if page.ask(READY) != "yes":
        return False
    column = page.ask(HEAD)
    for direction in (False, True):
        page.ask(CLICK % column)
        values = [number(text) for text in page.ask(COLUMN % column)]
        if values != sorted(values, reverse=direction) or not values:
            return False
    return True


page = Page(*sys.argv[2:])
path = Path(sys.argv[1]).resolve()
folder, problems = path.parent, []
for width in (1400, 400):
    page.resize(width)
    page.open(path.as_uri())
    ready = page.ask(READY)
    wide = page.ask("document.documentElement.scrollWidth")
    if wide > width:
        problems.append(f"the page is {wide} pixels wide in a window of {width}")
    if os.environ.get("HW_PICTURES"):
        page.picture(Path(os.environ["HW_PICTURES"], f"{path.stem}-{width}.png"))
page.resize(1400)
page.open(path.as_uri())
links = page.ask(LINKS)
problems += [f"{link} leads nowhere" for link in dict.fromkeys(links) if leads_nowhere(link)]
problems += [f"the picture of {what} is broken" for what in page.ask(BROKEN)]
problems += [f"{what} is loaded" for what in page.ask(LOADED)]
if not sorts():
    problems.append(f"the table does not sort ({ready})")
problems += [error.splitlines()[0] for error in page.errors]
print(f"{len(links)} links, {page.ask('document.images.length')} pictures")
sys.exit("\n".join(dict.fromkeys(problems)) or 0)
