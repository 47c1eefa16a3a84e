"""Requests to models: by httpx if it is installed, otherwise by the standard library in a thread
for each. Redirects are not followed, since the key would go along. The session keeps the time, so
that only connecting has a timeout here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, cast

from ._threads import in_thread
from .protocol import HttpFailure, HttpFailureKind, HttpInput, SentRequest

try:
    import httpx
except ImportError:
    # It is an optional dependency: the package works with the standard library alone.
    httpx = None  # type: ignore[assignment]

_CONNECT_SECONDS = 30.0
_PIECE = 1 << 16

Tell = Callable[["HttpInput | bytes"], None]
"""A function that takes news of a response: bytes of its body, or the protocol's JSON."""


@dataclass(frozen=True)
class Request:
    """A POST to be sent as it is."""

    url: str
    headers: list[tuple[str, str]]
    body: bytes

    @classmethod
    def of(cls, sent: SentRequest) -> Request:
        """Returns the request of an ``http`` effect, with the key among its headers."""
        headers = [(name, value) for name, value in sent["headers"]]
        if "key" in sent:
            name, value = sent["key"]
            headers.append((name, value))
        body = sent["body"]
        data = body.encode() if isinstance(body, str) else base64.b64decode(body["base64"])
        return cls(sent["url"], headers, data)


class Sender:
    """The sender of an agent's requests."""

    def __init__(self) -> None:
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, request: Request, tell: Tell) -> None:
        """Sends a request and tells the response, with its end or failure. Cancelling closes the
        connection."""
        try:
            pieces = self._by_httpx(request) if httpx is not None else _by_thread(request)
            # Closed at once, not when it is collected: that is when the connection ends.
            async with contextlib.aclosing(pieces):
                async for news in pieces:
                    tell(news)
            tell({"end": None})
        except asyncio.CancelledError:
            raise
        except Exception as error:
            failed: HttpFailure = {"kind": _kind(error), "message": _words(error, request)}
            tell({"failed": failed})

    async def close(self) -> None:
        """Closes all connections."""
        # A client can only be closed in the loop of its connections; those of another loop ended
        # with it.
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.aclose()

    async def _client_here(self) -> Any:
        """Returns the client of this event loop: connections belong to a loop and end with it."""
        assert httpx is not None
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return self._client
        # In a thread: reading the certificates takes as long as a thousand requests.
        trust = await in_thread(_shared_trust, "innerloop certificates")
        # Another request may have made the client meanwhile.
        if self._loop is not loop:
            # No timeout of reading: a model may think for minutes, and the session knows how long
            # a silence is too long.
            timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
            limits = httpx.Limits(max_connections=None)
            self._client = httpx.AsyncClient(timeout=timeout, limits=limits, verify=trust)
            self._loop = loop
        return self._client

    async def _by_httpx(self, request: Request) -> AsyncGenerator[HttpInput | bytes, None]:
        client = await self._client_here()
        sent = client.stream("POST", request.url, headers=request.headers, content=request.body)
        async with sent as response:
            yield _head(response.status_code, response.headers.multi_items())
            async for piece in response.aiter_bytes():
                yield piece


_trust: dict[tuple[object, ...], ssl.SSLContext] = {}
_trust_lock = threading.Lock()


def _shared_trust() -> ssl.SSLContext:
    """Returns the trusted certificates, read once for all agents as long as the environment names
    the same files."""
    named = (httpx, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    with _trust_lock:
        if named not in _trust:
            make = ssl.create_default_context if httpx is None else httpx.create_ssl_context
            _trust[named] = make()
        return _trust[named]


async def _by_thread(request: Request) -> AsyncGenerator[HttpInput | bytes, None]:
    loop = asyncio.get_running_loop()
    # Bounded, so that a fast server does not fill the memory while the loop is busy.
    news: asyncio.Queue[HttpInput | bytes | Exception | None] = asyncio.Queue(maxsize=16)
    exchange = _Exchange(request)

    def put(item: HttpInput | bytes | Exception | None) -> None:
        # Blocks this thread while the queue is full.
        putting = news.put(item)
        try:
            put_at_last = asyncio.run_coroutine_threadsafe(putting, loop)
        except RuntimeError:
            # The loop is closed. A coroutine that is never run would warn when it is collected.
            putting.close()
            raise
        put_at_last.result()

    def run() -> None:
        try:
            try:
                exchange.run(put)
                put(None)
            except Exception as error:
                put(error)
        except Exception:
            # The loop is closed, and nobody waits any more.
            pass

    threading.Thread(target=run, name="innerloop request", daemon=True).start()
    try:
        while (item := await news.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        exchange.stop()
        # Makes room in the queue: the thread may be blocked in `put` and would never end.
        while not news.empty():
            news.get_nowait()


class _Exchange:
    """One exchange by the standard library."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._socket: socket.socket | None = None
        self._stopped = False

    def run(self, put: Callable[[HttpInput | bytes], None]) -> None:
        connection, target = _connection(self._request.url)
        try:
            connection.connect()
            self._socket = cast(socket.socket, connection.sock)
            # Only connecting has a timeout; the session knows how long a silence is too long.
            self._socket.settimeout(None)
            connection.putrequest("POST", target)
            for name, value in self._request.headers:
                connection.putheader(name, value)
            connection.putheader("content-length", str(len(self._request.body)))
            connection.endheaders(self._request.body)
            response = connection.getresponse()
            put(_head(response.status, response.getheaders()))
            while not self._stopped and (piece := response.read1(_PIECE)):
                put(piece)
            # A connection that breaks looks like the end of the body, unless its length is known.
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        finally:
            connection.close()

    def stop(self) -> None:
        """Ends the connection, whatever it waits for."""
        self._stopped = True
        if self._socket is not None:
            try:
                # Not `close`, which does not wake a thread that reads from the socket.
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The connection is over already.
                pass


def _connection(url: str) -> tuple[http.client.HTTPConnection, str]:
    """Returns a connection to the host of a URL, through a proxy if the environment names one, and
    the request target."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    proxy = None
    if not urllib.request.proxy_bypass(host):
        proxy = urllib.request.getproxies().get(parts.scheme)
    via = urllib.parse.urlsplit(proxy) if proxy else None
    if parts.scheme == "https":
        context = _shared_trust()
        to, port = (via.hostname or "", via.port) if via else (host, parts.port)
        secure = http.client.HTTPSConnection(to, port, timeout=_CONNECT_SECONDS, context=context)
        if via:
            secure.set_tunnel(host, parts.port, _proxy_headers(via))
        return secure, target
    if via is None:
        return http.client.HTTPConnection(host, parts.port, timeout=_CONNECT_SECONDS), target
    # A proxy for plain HTTP takes the whole URL as the target.
    plain = http.client.HTTPConnection(via.hostname or "", via.port, timeout=_CONNECT_SECONDS)
    return plain, url


def _proxy_headers(via: urllib.parse.SplitResult) -> dict[str, str]:
    if via.username is None:
        return {}
    name, word = urllib.parse.unquote(via.username), urllib.parse.unquote(via.password or "")
    token = base64.b64encode(f"{name}:{word}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {token}"}


def _head(status: int, headers: list[tuple[str, str]]) -> HttpInput:
    lower = [[name.lower(), value] for name, value in headers]
    return {"head": {"status": status, "headers": lower, "at": int(time.time() * 1000)}}


def _kind(error: Exception) -> HttpFailureKind:
    is_slow = isinstance(error, TimeoutError)
    if httpx is not None:
        is_slow = is_slow or isinstance(error, httpx.TimeoutException)
    return "timeout" if is_slow else "network"


def _words(error: Exception, request: Request) -> str:
    # Without what stands before the `@`, which may be a password.
    place = urllib.parse.urlsplit(request.url).netloc.rsplit("@", 1)[-1]
    said = str(error) or type(error).__name__
    return f"{place}: {said}"
