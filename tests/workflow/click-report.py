"""Clicks all that a Snakemake report shows, in a browser: click-report.py REPORT TO FROM

TO and FROM are named pipes to and from a Chromium that runs with --remote-debugging-pipe.
Each entry of the menu is clicked in a page loaded anew, and what it leads to, as
click-report.js says. Prints what was shown, and fails where the console tells an error, a page
is blank or a result is never shown.
"""

import os
import sys
from pathlib import Path

from browser import Page

CLICKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")

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
if os.environ.get("HW_PICTURES"):
    for width in (1400, 400):
        page.resize(width)
        page.open(address)
        page.picture(Path(os.environ["HW_PICTURES"], f"report-{width}.png"))
problems = [error.splitlines()[0] for error in page.errors]
problems += [f"{path}: not shown" for path in missing]
sys.exit("\n".join(dict.fromkeys(problems)) or 0)
