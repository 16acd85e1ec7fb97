"""A page shown to the browser of this machine, and to nobody else.

Only the loopback address listens. Other programs of this machine can read the page; a web page of somebody else cannot, not
even by a name of its own that leads here (DNS rebinding): requests must call this server by a local name. Clients that
dribble, send without end or come in crowds are cut off, and keep nobody else waiting.
"""

from __future__ import annotations

import errno
import io
import os
import socket
import socketserver
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from typing import Any, cast

from ..exceptions import InputError

_LOOPBACK = "127.0.0.1"
_LOCAL_NAMES = (_LOOPBACK, "localhost")
_LARGEST_PORT = 65535
# Seconds in all that a request may take to come in, and again an answer to go out: browsers open connections that they
# do not use.
_PATIENCE = 30.0
# Bytes of a request: those of browsers have some hundreds, and cookies of other local servers on top.
_LONGEST_REQUEST = 1 << 16
# Connections at a time: the oldest ones give way to more.
_CONNECTIONS = 64
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def serve(page: str, *, port: int = 0, open_browser: bool = True, ready: Callable[[str], None] | None = None) -> None:
    """Serve a page on this machine, and open it in the browser; until Ctrl-C, which is no error.

    Parameters
    ----------
    page : str
        HTML. Lone surrogates, which are no characters, are served as question marks.
    port : int
        Port to listen on; 0 takes a free one.
    open_browser : bool
        Whether to open the page; where there is no browser, nothing happens.
    ready : callable, optional
        Called with the address once it can be opened.
    """
    # The server has a thread of its own: a browser in the terminal (lynx, w3m) does not return before it is closed.
    with suppress(KeyboardInterrupt), served(page, port) as address:
        if ready is not None:
            ready(address)
        if open_browser:
            with suppress(webbrowser.Error, OSError):
                webbrowser.open(address)
        while True:
            sleep(3600.0)


@contextmanager
def served(page: str, port: int = 0) -> Iterator[str]:
    """The address of a page, which is served until the block ends."""
    with _PageServer(page, _checked(port)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


def _checked(port: Any) -> int:
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port <= _LARGEST_PORT:
        raise InputError(
            f"port must be a whole number from 1 to {_LARGEST_PORT}, or 0 for a free one, but is {port!r}."
        )
    return port


class _PageServer(ThreadingHTTPServer):
    """One page in memory, on the loopback address."""

    daemon_threads = True
    request_queue_size = _CONNECTIONS
    allow_reuse_address = os.name != "nt"  # there it would let two servers share a port

    def __init__(self, page: str, port: int) -> None:
        self.page = page.encode("utf-8", "replace")
        self._open: dict[Any, None] = {}  # in the order in which they came
        self._lock = threading.Lock()
        try:
            super().__init__((_LOOPBACK, port), _Handler)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                why = f"port {port} is in use by another program"
            elif error.errno == errno.EACCES:
                why = f"port {port} is not for everyone to listen on"
            else:
                why = f"port {port} cannot be listened on ({error.strerror or error})"
            raise InputError(f"{why}: choose another (port, --port), or 0, which takes a free one.") from error

    def server_bind(self) -> None:
        """Bind, without asking for the name of this machine, which may wait for a network that is not there."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{_LOOPBACK}:{self.server_port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own; those that have waited longest give way where there are too many."""
        with self._lock:
            self._open[request] = None
            crowd = list(self._open)[:-_CONNECTIONS]
        for oldest in crowd:
            with suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        if len(crowd) > _CONNECTIONS:  # the threads of those cut off have not even noticed yet
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that hang up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Request(io.RawIOBase):
    """The bytes of a request, up to a number of them and until a time: then it is at its end, or a TimeoutError."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left, self._end = _LONGEST_REQUEST, monotonic() + _PATIENCE

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is, and wait no longer than the time that is left for all."""
        if (remaining := self._end - monotonic()) <= 0.0:
            raise TimeoutError
        self._connection.settimeout(remaining)
        size = self._connection.recv_into(memoryview(buffer)[: self._left])
        self._left -= size
        return size


class _Handler(BaseHTTPRequestHandler):
    """Answers a request with the page, or with a sentence."""

    def setup(self) -> None:
        """Read with patience for the request as a whole, not anew for each byte of it."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Request(self.connection))

    def do_GET(self) -> None:
        """Give the page."""
        if not self._calls_us_by_a_local_name():
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._answer(HTTPStatus.OK, "text/html", cast(_PageServer, self.server).page)

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer with a sentence, which repeats nothing of the request."""
        # Not implemented is what http.server says of a method that has no function here.
        status = HTTPStatus(code) if code != HTTPStatus.NOT_IMPLEMENTED else HTTPStatus.METHOD_NOT_ALLOWED
        self._answer(status, "text/plain", _SENTENCES.get(status, "This request is not understood.\n").encode())

    def _calls_us_by_a_local_name(self) -> bool:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1:
            return False
        name, colon, port = hosts[0].strip().lower().partition(":")
        return name in _LOCAL_NAMES and (port.isdecimal() or not colon)

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.close_connection = True
        self.connection.settimeout(_PATIENCE)  # of all that is sent at once
        self.send_response_only(status)  # not send_response, which adds a banner with versions
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


_SENTENCES = {
    HTTPStatus.FORBIDDEN: f"This page is for this machine only: open it as {' or '.join(_LOCAL_NAMES)}.\n",
    HTTPStatus.NOT_FOUND: "There is one page here, at /.\n",
    HTTPStatus.METHOD_NOT_ALLOWED: "This page can be read, and nothing else.\n",
}
