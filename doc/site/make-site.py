#!/usr/bin/env python3
"""Builds the site of the documentation: pages that people wrote, and those that are made of what
the programs, the tables and the schemas say.

usage: make-site.py SOURCE BUILD OUTPUT

SOURCE is the top of the source, BUILD a build folder with the programs, OUTPUT a folder that is
made anew: OUTPUT/source has all pages, OUTPUT/html the site. Warnings are errors, and links between
pages are checked; --links checks those to other sites, too. Needs Doxygen and the packages of
doc/site/requirements.txt. Exits with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMANDS = (
    "search",
    "generate",
    "import",
    "partition",
    "traverse",
    "validate",
    "info",
    "export",
)
STUDY_COMMANDS = ("run", "archive", "repeat", "compare", "fetch")
# The headers that other programs would use, with what they are about.
HEADERS = {
    "lib/base/status.h": "Status and errors",
    "lib/base/types.h": "Types",
    "lib/comm/context.h": "Ranks, notes, memory",
    "lib/store/store.h": "Files",
    "lib/graph/graph.h": "Graphs",
    "lib/graph/import/import.h": "Imports",
    "lib/graph/vertex_labels.h": "Names of vertices",
    "lib/layout/part.h": "Partitions",
    "lib/engine/core/method.h": "Methods",
    "lib/engine/core/result.h": "Results of a search",
    "lib/verify/verify.h": "Validation",
    "lib/run/single/single_search.h": "One search in memory",
}
# Pages that stand outside doc/, under the names that they have on the site.
OTHERS = {
    "config/README.md": "reference/configuration.md",
    "workflow/profiles/README.md": "clusters.md",
    "packaging/README.md": "packages.md",
    "NEWS.md": "news.md",
    "CONTRIBUTING.md": "contributing.md",
}
REPOSITORY_LINK = re.compile(r"\[([^\]]+)\]\((\.\./)+((?:lib|gpu|python|bench|tests)/[^)]*)\)")


def output_of(*command: str) -> str:
    """What a command prints; empty where it cannot be run."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def copy_pages(source: Path, pages: Path) -> None:
    """The pages that people wrote. Links to sources become their names."""
    shutil.copytree(
        source / "doc", pages, ignore=shutil.ignore_patterns("man", "*.mk", "*.1", "words.txt")
    )
    shutil.copy(source / "doc" / "site" / "conf.py", pages)
    for origin, name in OTHERS.items():
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (source / origin).is_file():
            shutil.copy(source / origin, target)
    papers = sorted((pages / "papers").glob("*.md"))
    if papers:
        names = "\n".join(f"papers/{page.stem}" for page in papers)
        with (pages / "index.md").open("a") as index:
            index.write(f"\n```{{toctree}}\n:caption: Papers\n:maxdepth: 1\n\n{names}\n```\n")
    for page in pages.rglob("*.md"):
        page.write_text(REPOSITORY_LINK.sub(r"`\3`", page.read_text()))


def write_commands(build: Path, pages: Path) -> None:
    """One page for each program: its --help."""
    folder = pages / "reference" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"hopwave-{c}": output_of(str(build / f"hopwave-{c}"), "--help=all") for c in COMMANDS}
    study = str(build / "hopwave-study")
    texts["hopwave"] = output_of(str(build / "hopwave"), "--help")
    for command in STUDY_COMMANDS:
        said = output_of(sys.executable, study, command, "--help")
        if said:
            texts[f"hopwave-study {command}"] = said
    names = []
    for title, text in texts.items():
        name = title.replace(" ", "-")
        names.append(name)
        (folder / f"{name}.md").write_text(
            f"# {title}\n\n```text\n{text or 'This build has no such program.'}```\n"
        )
    toctree = "\n".join(f"commands/{name}" for name in sorted(names))
    (pages / "reference" / "commands.md").write_text(
        "# Commands\n\nWhat `--help=all` prints.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{toctree}\n```\n"
    )


def rows_of(schema: dict[str, Any], prefix: str = "") -> list[tuple[str, str, str]]:
    """Key, kind and meaning of what a schema describes, with what lies inside."""
    rows = []
    for key, below in schema.get("properties", {}).items():
        kind = below.get("type") or ("one of " + ", ".join(map(str, below.get("enum", []))))
        kind = "/".join(kind) if isinstance(kind, list) else kind
        default = f" (default: `{json.dumps(below['default'])}`)" if "default" in below else ""
        rows.append((f"{prefix}{key}", kind, below.get("description", "") + default))
    return rows


def write_schemas(source: Path, pages: Path) -> None:
    """Tables of the study's keys and of the attributes and datasets of files."""
    study = json.loads((source / "schemas" / "study.schema.json").read_text())
    text = ["# Keys of a study\n", "Made of `schemas/study.schema.json`.\n"]
    parts = {"study": study, **study.get("$defs", {})}
    for name, schema in parts.items():
        rows = rows_of(schema)
        if rows:
            text.append(f"\n## {name}\n\n| key | kind | meaning |\n|---|---|---|")
            text += [
                "| `{}` | {} | {} |".format(*(cell.replace("|", "\\|") for cell in row))
                for row in rows
            ]
    (pages / "reference" / "study-keys.md").write_text("\n".join(text) + "\n")
    text = ["# What files hold\n", "Made of `schemas/`, by which the programs check files.\n"]
    for kind in ("graph", "partition", "tree", "check"):
        schema = json.loads((source / "schemas" / f"{kind}.json").read_text())
        text.append(f"\n## {kind}\n\n| attribute | type | values |\n|---|---|---|")
        for name, rule in schema["attributes"].items():
            values = ", ".join(map(str, rule.get("enum", []))) or "{} to {}".format(
                rule.get("min", ""), rule.get("max", "")
            )
            text.append(f"| `{name}` | {rule['type']} | {values if values != ' to ' else ''} |")
        text.append("\n| dataset | types | shape | optional |\n|---|---|---|---|")
        for name, rule in schema["datasets"].items():
            types, shape = ", ".join(rule["types"]), " x ".join(map(str, rule["shape"]))
            optional = "yes" if rule.get("optional") else ""
            text.append(f"| `{name}` | {types} | {shape} | {optional} |")
    (pages / "reference" / "files.md").write_text("\n".join(text) + "\n")


def write_interface(source: Path, pages: Path) -> None:
    """The C interface, by Doxygen and Breathe."""
    text = [
        "# C interface\n",
        "The headers that programs are made of, as their comments have it.\n",
    ]
    for header, title in HEADERS.items():
        text.append(f"\n## {title}\n\n`{header}`\n\n```{{doxygenfile}} {Path(header).name}\n```")
    (pages / "reference" / "c-interface.md").write_text("\n".join(text) + "\n")
    settings = (source / "doc" / "site" / "Doxyfile").read_text()
    inputs = " ".join(str(source / header) for header in HEADERS)
    settings += f"INPUT = {inputs}\nINCLUDE_PATH = {source}\n"
    settings += f'FILTER_PATTERNS = *.h="{sys.executable} {source}/doc/site/doxygen-filter.py"\n'
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=pages, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--links", action="store_true", help="check links to other sites, too")
    options = parser.parse_args()
    source, build = options.source.resolve(), options.build.resolve()
    if not shutil.which("doxygen"):
        print("make-site.py: doxygen is missing: apt-get install doxygen", file=sys.stderr)
        return 1
    shutil.rmtree(options.output, ignore_errors=True)
    pages = options.output.resolve() / "source"
    pages.parent.mkdir(parents=True)
    copy_pages(source, pages)
    write_commands(build, pages)
    write_schemas(source, pages)
    write_interface(source, pages)
    version = output_of(str(build / "hopwave-info"), "--version").split()
    environment = {**os.environ, "HOPWAVE_VERSION": version[2] if len(version) > 2 else ""}
    status = 0
    for kind in ["html", *(["linkcheck"] if options.links else [])]:
        sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", kind]
        target = pages.parent / kind
        done = subprocess.run([*sphinx, str(pages), str(target)], env=environment, check=False)
        status = status or done.returncode
    if status == 0:
        print(pages.parent / "html" / "index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
