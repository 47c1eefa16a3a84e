"""A model behind HTTP, scripted: each request gets the next reply of a list."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
import unittest
from collections.abc import Callable, Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
SECONDS = 60.0


class Exchange:
    """A request under way, for a reply that does as it likes."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self.path = handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.raw = body
        self.body = json.loads(body)
        self._handler = handler

    def head(self, status: int, kind: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._handler.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def piece(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()

    def end(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """Breaks the connection."""
        self._handler.close_connection = True
        self._handler.connection.shutdown(socket.SHUT_RDWR)

    def is_gone(self, seconds: float = 10.0) -> bool:
        """Whether the other side hangs up in time."""
        self._handler.connection.settimeout(seconds)
        try:
            return not self._handler.connection.recv(1)
        except ConnectionError:
            return True
        except TimeoutError:
            return False


Reply = Callable[[Exchange], None]


def whole(body: str | bytes, status: int = 200, kind: str = "text/event-stream") -> Reply:
    def reply(exchange: Exchange) -> None:
        exchange.head(status, kind)
        exchange.piece(body)
        exchange.end()

    return reply


def message(
    text: str = "", *calls: tuple[str, str, dict[str, Any]], usage: tuple[int, int] = (10, 20)
) -> str:
    """A reply in Anthropic's protocol: a text, calls by id, name and arguments, and the tokens that
    went in and came out."""
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "mock-1",
                "content": [],
                "usage": {"input_tokens": usage[0], "output_tokens": 1},
            },
        }
    ]
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    start: dict[str, Any]
    if text:
        start = {"type": "text", "text": ""}
        blocks.append((start, {"type": "text_delta", "text": text}))
    for id, name, arguments in calls:
        start = {"type": "tool_use", "id": id, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        blocks.append((start, delta))
    for index, (start, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = "tool_use" if calls else "end_turn"
    events += [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason},
            "usage": {"output_tokens": usage[1]},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def says(text: str) -> Reply:
    return whole(message(text))


def long_answers() -> list[Reply]:
    """Four answers that are worth a summary."""
    # No sentence comes twice: a model that repeats itself is stopped.
    words = " ".join(f"Number {count} is followed by {count + 1}." for count in range(150))
    return [whole(message(words, usage=(1000 * count, 1000))) for count in range(1, 5)]


def calls(*calls: tuple[str, str, dict[str, Any]], text: str = "") -> Reply:
    return whole(message(text, *calls))


def fails(status: int, kind: str = "api_error") -> Reply:
    error = {"type": "error", "error": {"type": kind, "message": "it failed"}}
    return whole(json.dumps(error), status, "application/json")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Programs that are killed hang up in the midst of it.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Model:
    """The server."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Exchange] = []
        lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                exchange = Exchange(self, body)
                with lock:
                    model.requests.append(exchange)
                    reply = model.replies.pop(0) if model.replies else says("the script is over")
                try:
                    reply(exchange)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def results(self, request: int) -> list[Any]:
        """What the model was told of its calls in a request."""
        last = self.requests[request].body["messages"][-1]["content"]
        return [part for part in last if part["type"] == "tool_result"]

    def __enter__(self) -> Model:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def options(model: Model, **more: Any) -> dict[str, Any]:
    """Options of an agent that talks to it, and does not wait long before it tries again."""
    config = {"retry": {"base_ms": 1, "max_ms": 2}} | more.pop("config", {})
    return {
        "provider": "anthropic",
        "model": "mock-1",
        "api_key": "sk-secret-0123456789",
        "base_url": model.url,
        "config": config,
        **more,
    }


def told(result: Any) -> str:
    """The text of a tool's result, as the model reads it."""
    content = result["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, and not for ever."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not come")
        await asyncio.sleep(0.005)


class AsyncCase(unittest.TestCase):
    """Tests that no hang outlives."""

    def wait(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run(asyncio.wait_for(work, SECONDS))
