"""A server of files that misbehaves, for the tests of downloads.

usage: serve-files.py FOLDER PORTFILE

Serves FOLDER on a free port of this machine, which it writes to PORTFILE, until its standard input
ends. The first part of a path says how:

  /good/F      with ranges and an ETag
  /cut/F       the connection is cut after a third of what is left, every time
  /dead/F      the connection is cut before the first byte
  /whole/F     ranges are not known: always all of it
  /changed/F   the first answer is cut; then the file is another one, with another ETag
  /short/F     the last 100 bytes are missing, and Content-Length says so
  /wrong/F     one byte is another
  /more/F      100 bytes more
  /page/F      a page of HTML
  /busy/F      503 twice, then as good
  /loop/F      leads to itself
  /moved/F     leads to /good/F

Each request is a line of FOLDER/requests: path, then its Range, if any.
"""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER, PORT = Path(sys.argv[1]), Path(sys.argv[2])
LOCK = threading.Lock()
seen: dict[str, int] = {}


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        """Sends a file as its path says."""
        _, how, name = self.path.split("/", 2)
        wanted = self.headers.get("Range", "")
        with LOCK:
            times = seen[self.path] = seen.get(self.path, 0) + 1
            with open(FOLDER / "requests", "a") as log:
                log.write(f"{self.path} {wanted}\n")
        if how in ("loop", "moved"):
            self.send_response(302)
            self.send_header("Location", self.path if how == "loop" else f"/good/{name}")
            self.end_headers()
            return
        if how == "dead":
            self.close_connection = True
            return
        if how == "busy" and times <= 2:
            self.send_error(503)
            return
        path = FOLDER / name
        if not path.is_file():
            self.send_error(404)
            return
        data, etag = path.read_bytes(), '"one"'
        if how == "changed" and times > 1:
            data, etag = bytes(reversed(data)), '"two"'
        if how == "short":
            data = data[:-100]
        elif how == "more":
            data += bytes(100)
        elif how == "wrong":
            data = data[:-50] + bytes([data[-50] ^ 1]) + data[-49:]
        elif how == "page":
            data = b"<!DOCTYPE html>\n<html>please log in</html>\n"
        begin = int(wanted[6:].rstrip("-")) if wanted.startswith("bytes=") else 0
        if how == "whole" or self.headers.get("If-Range", etag) != etag:
            begin = 0
        if begin >= len(data) > 0 and begin:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(data)}")
            self.end_headers()
            return
        rest = data[begin:]
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(rest)))
        if how != "whole":
            self.send_header("ETag", etag)
        self.end_headers()
        cut = how == "cut" or (how == "changed" and times == 1)
        self.wfile.write(rest[: len(rest) // 3 + 1] if cut and len(rest) > 30000 else rest)
        self.close_connection = True


def main() -> None:
    """Serves until the standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    PORT.with_name(PORT.name + ".tmp").write_text(str(server.server_address[1]))
    PORT.with_name(PORT.name + ".tmp").rename(PORT)
    sys.stdin.read()


if __name__ == "__main__":
    main()
