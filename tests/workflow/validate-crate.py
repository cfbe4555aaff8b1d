"""Checks an RO-Crate against the profile Provenance Run Crate, as roc-validator does, and
without a network: validate-crate.py CONTEXT CRATE

CONTEXT is the JSON-LD context of RO-Crate as a file, which stands for the one on the web.
Later versions than 1.1 name the terms of Bioschemas otherwise.
"""

import json
import sys
from pathlib import Path

from rdflib.plugins.shared.jsonld import context as jsonld
from rocrate_validator.models import ValidationSettings
from rocrate_validator.services import validate
from rocrate_validator.utils.http import HttpRequester

TEXT = Path(sys.argv[1]).read_text()
CONTEXT = json.loads(TEXT.replace("bioschemas.org/terms/", "bioschemas.org/"))


class Answer:
    """What the web would answer."""

    status_code, ok, url, links = 200, True, "", {}
    headers = {"Content-Type": "application/ld+json"}
    text = json.dumps(CONTEXT)

    def json(self):
        return CONTEXT

    def raise_for_status(self):
        pass


jsonld.source_to_json = lambda *_, **__: (CONTEXT, None)
HttpRequester.get = HttpRequester.head = lambda self, url, **_: Answer()
settings = ValidationSettings(
    rocrate_uri=sys.argv[2],
    profile_identifier="provenance-run-crate",
    requirement_severity="REQUIRED",
)
result = validate(settings)
for issue in result.get_issues():
    print(f"{issue.check.identifier}: {issue.message}")
sys.exit(0 if result.passed() else 1)
