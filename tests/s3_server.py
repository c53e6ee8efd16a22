"""An S3 server in this process, behind a proxy that cuts connections and refuses requests.

moto answers as S3 does. The proxy stands between it and the library under test, keeps a log of the
requests, and lets a test say what becomes of one.
"""

from __future__ import annotations

import http.client
import logging
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    "AWS_MAX_ATTEMPTS": "1",
}

Headers = dict[str, str] | None

RETRIES = 2
"""How often s3fs itself sends a request, which it would 5 times."""


@dataclass
class Request:
    method: str
    path: str  # with the query
    headers: dict[str, str]
    body: bytes

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Rule:
    """What becomes of the requests that match: the answer ends after so many bytes of its body, or
    is another one. It holds `times` times, or for ever."""

    pattern: str
    times: float = float("inf")
    cut_after: int | None = None
    answer: tuple[int, str] | None = None
    before: Callable[[], object] | None = None
    drop: bool = False  # the request itself
    used: int = 0

    def takes(self, request: Request) -> bool:
        if self.used >= self.times or not re.search(self.pattern, str(request)):
            return False
        self.used += 1
        return True


@dataclass
class Proxy:
    """Forwards HTTP to a server, one connection at a time to each thread."""

    port: int
    rules: list[Rule] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def forget(self) -> None:
        self.rules, self.requests = [], []

    def seen(self, pattern: str) -> list[str]:
        """The requests so far that match."""
        return [str(each) for each in self.requests if re.search(pattern, str(each))]

    def cut(self, pattern: str, times: float = float("inf"), after: int = 1000) -> Rule:
        return self._add(Rule(pattern, times, cut_after=after))

    def answer(self, pattern: str, status: int, code: str, times: float = float("inf")) -> Rule:
        return self._add(Rule(pattern, times, answer=(status, code)))

    def first(self, pattern: str, act: Callable[[], object], times: float = 1) -> Rule:
        """Call `act` before the first request that matches is forwarded."""
        return self._add(Rule(pattern, times, before=act))

    def rule_of(self, request: Request) -> Rule | None:
        """The first rule that takes a request. Requests come by turns, since rules count them."""
        with self._lock:
            return next((rule for rule in self.rules if rule.takes(request)), None)

    def _add(self, rule: Rule) -> Rule:
        self.rules.append(rule)
        return rule

    # ------------------------------------------------------------------ connections

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        # A client that is killed ends amid a line.
        ended = (OSError, ValueError, http.client.HTTPException)
        with closing(client), suppress(*ended), client.makefile("rb") as reader:
            while (request := _read_request(reader, client)) is not None:
                self.requests.append(request)
                rule = self.rule_of(request)
                if rule is not None and rule.before is not None:
                    rule.before()
                if rule is not None and rule.answer is not None:
                    client.sendall(_refusal(request, *rule.answer))
                    continue
                if rule is not None and rule.drop:
                    return
                head, body = self._forward(request)
                if rule is not None and rule.cut_after is not None:
                    client.sendall(head + body[: rule.cut_after])
                    # A reset, and no orderly end.
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return
                client.sendall(head + body)

    def _forward(self, request: Request) -> tuple[bytes, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as server:
            server.request(request.method, request.path, request.body, request.headers)
            response = server.getresponse()
            body = response.read()
            headers = dict(response.getheaders())
        headers.pop("Transfer-Encoding", None)
        headers.pop("Connection", None)
        if request.method != "HEAD":
            headers["Content-Length"] = str(len(body))
        lines = [f"HTTP/1.1 {response.status} {response.reason}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1"), body


def _read_request(reader, client) -> Request | None:
    line = reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split()
    headers = http.client.parse_headers(reader)
    if "100-continue" in (headers.get("Expect") or ""):
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        del headers["Expect"]
    body = reader.read(int(headers.get("Content-Length") or 0))
    return Request(method, path, dict(headers.items()), body)


def _refusal(request: Request, status: int, code: str) -> bytes:
    body = (
        ""
        if request.method == "HEAD"
        else (f"<Error><Code>{code}</Code><Message>{code} of the test</Message></Error>")
    )
    head = (
        f"HTTP/1.1 {status} {code}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n{body}".encode()


@contextmanager
def reached(server: S3, monkeypatch) -> Iterator[None]:
    """Have the environment lead to the server, which is empty, and do not wait between tries."""
    import s3fs

    from fastgnb._system.remote import reader

    server.clear()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.proxy.url)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", RETRIES)
    monkeypatch.setattr(reader, "PAUSE", 0.01)
    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()


class S3:
    """A server, and its content as a test sees it: past the proxy."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # which logs every request
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        self.proxy = Proxy(self._server.get_host_and_port()[1])
        self.proxy.start()

    def stop(self) -> None:
        self.proxy.stop()
        self._server.stop()

    def clear(self) -> None:
        """As a new server, with one bucket."""
        self.call("POST", "/moto-api/reset")
        self.call("PUT", "/data")
        self.proxy.forget()

    def put(self, key: str, content: bytes) -> None:
        self.call("PUT", f"/data/{key}", content)

    def get(self, key: str) -> bytes | None:
        """The content of an object, or None where there is none."""
        status, body = self._ask("GET", f"/data/{key}", b"")
        return body if status == 200 else None

    def names(self) -> list[str]:
        text = self.call("GET", "/data?list-type=2").decode()
        return sorted(re.findall("<Key>(.*?)</Key>", text))

    def uploads(self) -> list[str]:
        """Uploads of parts that were neither completed nor aborted."""
        return re.findall("<UploadId>(.*?)</UploadId>", self.call("GET", "/data?uploads").decode())

    def call(self, method: str, path: str, body: bytes = b"", headers: Headers = None) -> bytes:
        status, answer = self._ask(method, path, body, headers)
        assert status < 300, (method, path, status, answer)
        return answer

    def _ask(
        self, method: str, path: str, body: bytes, headers: Headers = None
    ) -> tuple[int, bytes]:
        signature = "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/x"
        headers = {"Authorization": signature, **(headers or {})}
        with closing(http.client.HTTPConnection("127.0.0.1", self.proxy.port)) as server:
            server.request(method, path, body, headers)
            response = server.getresponse()
            return response.status, response.read()
