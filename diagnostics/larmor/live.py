"""`larmor live DIR`: a page in the browser that follows a run. The server answers on this machine only."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import socketserver
import sys
import threading
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import matplotlib

from . import plot
from .errors import RunError
from .follow import UNREADABLE, Follower

ASSETS = {"/": ("page.html", "text/html"), "/page.css": ("page.css", "text/css"), "/page.js": ("page.js", "text/javascript"),
          "/draw.js": ("draw.js", "text/javascript")}
HOST = "127.0.0.1"
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
           "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
                                      "connect-src 'self'; frame-ancestors 'none'"}


def colours() -> dict:
    """The colours of curves, and those of pictures from the lowest value to the highest, as #rrggbb."""
    maps = {name: [matplotlib.colors.to_hex(colour) for colour in matplotlib.colormaps[name](range(256))]
            for name in ("viridis", "RdBu_r")}
    return {"curves": plot.STYLE["axes.prop_cycle"].by_key()["color"], "maps": maps}


class Handler(BaseHTTPRequestHandler):
    """Answers GET with the files of the page and with values of the run; no other path leads anywhere."""

    timeout = 30  # seconds that a connection may be silent
    server: Server

    def do_GET(self) -> None:
        # A page of another site can make its own name lead to this machine. The browser then sends that name.
        if not re.fullmatch(r"(127\.0\.0\.1|localhost)(:\d+)?", self.headers.get("Host", ""), re.IGNORECASE):
            return self._send(HTTPStatus.FORBIDDEN, "text/plain", b"This server answers to the name localhost only.\n")
        url = urlsplit(self.path)
        try:
            if url.path in ASSETS:
                name, kind = ASSETS[url.path]
                return self._send(HTTPStatus.OK, kind, (Path(__file__).with_name("live_page") / name).read_bytes())
            answer = self._answers().get(url.path)
            if answer is None:
                return self._send(HTTPStatus.NOT_FOUND, "text/plain", b"There is no such page.\n")
            return self._send_json(HTTPStatus.OK, answer(parse_qs(url.query)))
        except UNREADABLE as error:
            return self._send_json(HTTPStatus.NOT_FOUND, {"error": str(error)})

    def _answers(self) -> dict[str, Callable[[dict[str, list[str]]], dict]]:
        run = self.server.follower
        return {"/state": lambda query: run.state(), "/colours": lambda query: colours(),
                "/curves": lambda query: run.curves(query.get("name", [])),
                "/frame": lambda query: run.frame(query["source"][0], int(query["step"][0]), query["mesh"][0])}

    def _send_json(self, status: HTTPStatus, value: dict) -> None:
        self._send(status, "application/json", json.dumps(value, allow_nan=False).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in {**HEADERS, "Content-Type": f"{kind}; charset=utf-8", "Content-Length": len(body)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the page has been closed
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not of interest."""


class Server(ThreadingHTTPServer):
    """Port 0 is any free port; `url` has the port that was taken. Raises RunError where the port is not free."""

    daemon_threads = True

    def __init__(self, follower: Follower, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise RunError(f"port {port} cannot be taken: {error.strerror}; choose another one with --port") from None
        self.follower, self.url = follower, f"http://{HOST}:{self.server_port}/"

    def server_bind(self) -> None:
        """As in HTTPServer, without asking the network for the name of this machine."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


def open_browser(url: str) -> None:
    """Where there is a screen. A browser that runs in the terminal would be of no use."""
    if sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 to 65535")
    return int(text)


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=_port, default=0, metavar="N",
                         help="port on this machine (default 0: any free one)")
    command.add_argument("--no-browser", action="store_true", help="print the address and open no browser")


def follow(directory: str, port: int, with_browser: bool) -> int:
    """Serves until Ctrl-C. Returns the exit code: 2 for a directory or a port that cannot be taken."""
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # before the first file: reading takes no lock
    try:
        server = Server(Follower(directory), port)
    except (RunError, OSError) as error:
        print(f"larmor live: {error}", file=sys.stderr)
        return 2
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"{server.url} follows {directory}; Ctrl-C ends it", flush=True)
        if not (Path(directory) / "run.ini").exists():
            print(f"no run has written into {directory} yet: waiting for one", flush=True)
        if with_browser:
            open_browser(server.url)
        server.serve_forever()
    return 0
