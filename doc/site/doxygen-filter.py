#!/usr/bin/env python3
"""Shows the comments of a header to Doxygen: those before a declaration as /** ... */, those
behind a member as /**< ... */; as text, in which nothing is a command. Prints the header."""

import re
import sys
from pathlib import Path


def plain(text: str) -> str:
    """The text without what Doxygen takes for commands or markup."""
    return re.sub(r"([\\@<>&#%])", r"\\\1", text)


def main() -> None:
    text = Path(sys.argv[1]).read_text()

    def shown(match: re.Match[str]) -> str:
        before, body = match[1], match[2]
        behind = re.search(r"[;,{\w)]\s*$", before) and before.strip()
        return f"{before}/**{'<' if behind else ''}{plain(body)}*/"

    # Doxygen takes members that share a declaration apart only where their type is no struct.
    text = re.sub(
        r"^( *struct \w+) (\w+(?:, \w+)+);",
        lambda match: " ".join(f"{match[1]} {name};" for name in match[2].split(", ")),
        text,
        flags=re.MULTILINE,
    )
    print(re.sub(r"^([^\n]*?)/\*(.*?)\*/", shown, text, flags=re.MULTILINE | re.DOTALL), end="")


if __name__ == "__main__":
    main()
