"""A page on the loopback address: for this machine, by a local name, and for reading only."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from urllib.parse import urlsplit

import pytest

from anchorwords.exceptions import InputError
from anchorwords.exploring import serving
from anchorwords.exploring.serving import serve, served

PAGE = "<!doctype html><title>Themen – 話題 🦊</title>"


@pytest.fixture(scope="module")
def address():
    with served(PAGE) as address:
        yield address


def asked(address, method="GET", path="/", **headers):
    """The answer of the server and what follows its headers."""
    link = http.client.HTTPConnection(urlsplit(address).hostname, urlsplit(address).port, timeout=20)
    try:
        link.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            for one in [value] if isinstance(value, str) else value:
                link.putheader(name, one)
        link.endheaders()
        answer = link.getresponse()
        return answer, answer.read()
    finally:
        link.close()


def raw(address, request):
    """Every byte of the answer to these bytes."""
    with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=20) as link:
        link.sendall(request)
        return b"".join(iter(lambda: link.recv(1 << 16), b""))


def test_the_page(address):
    answer, content = asked(address)
    assert answer.status == 200
    assert content.decode("utf-8") == PAGE
    assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
    assert int(answer.getheader("Content-Length")) == len(content)
    assert answer.getheader("Cache-Control") == "no-store"


def test_a_look_without_the_page(address):
    answer, content = asked(address, "HEAD")
    assert answer.status == 200
    assert content == b""
    assert int(answer.getheader("Content-Length")) == len(PAGE.encode())


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("HEAD", "/"), ("GET", "/other"), ("POST", "/")])
def test_every_answer_is_guarded_and_silent_about_versions(address, method, path):
    answer, _ = asked(address, method, path)
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert answer.getheader("Referrer-Policy") == "no-referrer"
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"
    assert answer.getheader("Server") is None
    assert "Python" not in str(answer.msg)


def test_it_listens_on_the_loopback_address_only():
    server = serving._PageServer(PAGE, 0)
    with server:
        assert server.socket.getsockname()[0] == "127.0.0.1"
        assert urlsplit(server.address).hostname == "127.0.0.1"
        assert urlsplit(server.address).port == server.socket.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LocalHost:8080", "127.0.0.1:1"])
def test_local_names(address, host):
    assert asked(address, Host=host)[0].status == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org", "example.org:80", "localhost.example.org", "127.0.0.1.example.org", "127.0.0.1:80@example.org",
        "0.0.0.0", "localhost:", "", ["localhost", "example.org"], ["localhost", "localhost"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_other_names_are_refused(address, host, method):
    answer, content = asked(address, method, Host=host)
    assert answer.status == 403
    assert b"title" not in content
    assert content.count(b"\n") == (method == "GET")


def test_no_name_is_refused(address):
    answer = raw(address, b"GET / HTTP/1.1\r\n\r\n")
    assert b" 403 " in answer.splitlines()[0]
    assert PAGE.encode() not in answer
    assert PAGE.encode() not in raw(address, b"GET /\r\n\r\n")  # HTTP/0.9, which has no names


@pytest.mark.parametrize(
    "path", ["/other", "/?query", "/index.html", "/../etc/passwd", "http://127.0.0.1/", "*", "/favicon.ico", "/%2e/"]
)
def test_one_page_only(address, path):
    answer, content = asked(address, path=path)
    assert answer.status == 404
    assert content == b"There is one page here, at /.\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "<script>", "__class__"])
def test_reading_only(address, method):
    answer, content = asked(address, method)
    assert answer.status == 405
    assert answer.getheader("Allow") == "GET, HEAD"
    assert b"script" not in content  # nothing of the request comes back
    assert content.count(b"\n") == 1


@pytest.mark.parametrize(
    "request_", [b"GET / HTTP/x\r\n\r\n", b"nonsense\r\n\r\n", b"GET /" + b"x" * 70000 + b" HTTP/1.1\r\n\r\n", b"\r\n"]
)
def test_what_is_no_request(address, request_):
    answer = raw(address, request_)
    assert PAGE.encode() not in answer
    assert b"Python" not in answer
    assert b"xxx" not in answer
    assert asked(address)[0].status == 200


def test_browsers_that_hang_up_say_nothing(capfd):
    with served("x" * (1 << 24)) as address:
        link = socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=20)
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        link.recv(10)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # hang up at once
        link.close()
        assert asked(address)[0].status == 200
    assert capfd.readouterr() == ("", "")


def test_many_at_once(address):
    links = [socket.create_connection((urlsplit(address).hostname, urlsplit(address).port)) for _ in range(20)]
    assert asked(address)[0].status == 200  # those that wait are not waited for
    for link in links:
        link.close()


def test_what_is_no_character_is_a_question_mark():
    with served("<p>a\ud800b\udfff</p>") as address:
        answer, content = asked(address)
    assert content == b"<p>a?b?</p>"
    assert int(answer.getheader("Content-Length")) == len(content)


def test_it_ends_with_its_block():
    with served(PAGE) as address:
        pass
    with pytest.raises(ConnectionRefusedError):
        asked(address)
    port = urlsplit(address).port
    with served(PAGE, port) as again:  # the port is free at once
        assert again == address


def test_a_port_in_use_is_one_sentence(address):
    port = urlsplit(address).port
    with pytest.raises(InputError, match=f"^port {port} is in use by another program: choose another .* free one.$"):
        serve(PAGE, port=port, open_browser=False)


@pytest.mark.parametrize("port", [-1, 65536, 80.0, "80", True, None])
def test_what_is_no_port(port):
    with pytest.raises(InputError, match="port must be a whole number from 1 to 65535, or 0"):
        serve(PAGE, port=port, open_browser=False)


@pytest.mark.parametrize("browser", [True, False, webbrowser.Error("no browser"), OSError("no display")])
def test_ready_then_the_browser_then_interrupted(monkeypatch, browser):
    told = []

    def opened(address):
        told.append(("browser", address, asked(address)[0].status))
        if isinstance(browser, Exception):
            raise browser
        return browser

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(serving.webbrowser, "open", opened)
    monkeypatch.setattr(serving, "sleep", interrupted)
    serve(PAGE, ready=lambda address: told.append(("ready", address, asked(address)[0].status)))
    assert [what for what, _, _ in told] == ["ready", "browser"]
    assert told[0][1] == told[1][1]
    assert {status for _, _, status in told} == {200}
    with pytest.raises(ConnectionRefusedError):
        asked(told[0][1])
    told.clear()
    serve(PAGE, open_browser=False)
    assert told == []


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_ctrl_c_is_no_error():
    program = (
        "import functools, signal; from anchorwords.exploring.serving import serve\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell may have switched off
        f"serve({PAGE!r}, open_browser=False, ready=functools.partial(print, flush=True))"
    )
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert asked(address)[1].decode() == PAGE
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "")
        finally:
            process.kill()
    assert process.returncode == 0


# ---- Clients that take their time, send without end or come in crowds.


@pytest.fixture
def impatient(monkeypatch):
    """A server that waits for a second in all, and its address."""
    monkeypatch.setattr(serving, "_PATIENCE", 1.0)
    with served(PAGE) as address:
        yield address


def opened(address):
    return socket.create_connection((urlsplit(address).hostname, urlsplit(address).port), timeout=20)


def sent_until_cut(link, pieces, pause=0.0):
    """Bytes that were taken before the server hung up; fails if it never does."""
    sent = 0
    for piece in pieces:
        try:
            link.sendall(piece)
        except OSError:
            return sent
        sent += len(piece)
        time.sleep(pause)
    raise AssertionError(f"the server has listened to {sent} bytes")


@pytest.mark.parametrize("begin", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_client_that_dribbles_is_cut_off_and_blocks_nobody(impatient, begin):
    with opened(impatient) as link:
        link.sendall(begin)
        assert asked(impatient)[0].status == 200
        # Each byte comes well within the patience: only the whole of them does not.
        sent_until_cut(link, (b"a" for _ in range(400)), pause=0.05)


def test_a_client_that_says_nothing_is_cut_off(impatient):
    with opened(impatient) as link:
        assert link.recv(1) == b""


def test_a_client_that_does_not_read_is_cut_off(monkeypatch):
    monkeypatch.setattr(serving, "_PATIENCE", 1.0)
    before = threading.active_count()
    with served("x" * (64 << 20)) as address, opened(address) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert link.recv(4) == b"HTTP"
        for _ in range(400):
            if threading.active_count() <= before + 1:  # the server's own
                break
            time.sleep(0.05)
        assert threading.active_count() <= before + 1


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"GET /", b"a" * 4096),
        (b"GET / HTTP/1.1\r\nX: ", b"a" * 4096),
        (b"GET / HTTP/1.1\r\n", b"X: " + b"a" * 4000 + b"\r\n"),
    ],
    ids=["path", "header", "headers"],
)
def test_requests_without_end_are_cut_off(address, begin, piece):
    with opened(address) as link:
        sent_until_cut(link, [begin, *(piece for _ in range(100_000))], pause=0.0)  # 400 MB
    assert asked(address)[0].status == 200


def test_a_crowd_of_silent_clients_keeps_nobody_out(address):
    before = threading.active_count()
    crowd = [opened(address) for _ in range(300)]
    try:
        assert asked(address)[0].status == 200
        assert threading.active_count() - before < 150
    finally:
        for link in crowd:
            link.close()


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "//etc/passwd", "/%2e%2e/", "http://127.0.0.1/", "*", "/\x01", "/?x=1"]
)
def test_nothing_but_the_page_has_an_address(address, path):
    answer = raw(address, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert answer.split(b" ")[1] in (b"404", b"400")
    assert b"passwd" not in answer


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "\x1b[2J"])
def test_every_other_method_is_refused(address, method):
    answer = raw(address, f"{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello".encode())
    assert answer.split(b" ")[1] == b"405"
    assert PAGE.encode()[:20] not in answer
