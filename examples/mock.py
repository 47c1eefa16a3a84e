"""A model in Anthropic's protocol that plays a script, for the examples: it reads notes.md, writes
report.md, and says so; of an agent with the tool `weather` it asks the weather, and of one with
`book_flight` a journey to where it is warmer. It is the service, too, that those tools call. Starts
a program and ends with it: `mock.py PROGRAM ARGUMENT…`. With `--flaky` before the program it is
overloaded at first, and then breaks a connection; with `--refuse` it refuses the key."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPORT = [
    ("I read the notes.\n", [("Read", {"file_path": "notes.md"})]),
    ("I write the report.\n", [("Write", {"file_path": "report.md", "content": "# Report\n"})]),
    ("The report is in report.md.", []),
]
WEATHER = [
    ("I ask.\n", [("weather", {"city": "Lima"})]),
    ("It is warm in Lima.", []),
]
JOURNEY = [
    ("I ask.\n", [("weather", {"city": "Lima"}), ("weather", {"city": "Oslo"})]),
    ("I book.\n", [("book_flight", {"city": "Lima"})]),
    ("I call a taxi.\n", [("call_taxi", {"city": "Lima"})]),
    ("You fly to Lima.", []),
]
TRAVEL = {
    "/weather/Lima": "31 °C",
    "/weather/Oslo": "4 °C",
    "/flights": "booked",
    "/taxis": "called",
}


def events(said, calls, number):
    usage = {"input_tokens": 10, "output_tokens": 1}
    head = {"id": f"msg_{number}", "role": "assistant", "model": "mock", "usage": usage}
    yield {"type": "message_start", "message": head}
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": said})]
    for at, (tool, arguments) in enumerate(calls):
        call = {"type": "tool_use", "id": f"call_{number}_{at}", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        blocks.append((call, delta))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if calls else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


def refuse(handler, status, kind):
    error = {"type": "error", "error": {"type": kind, "message": "the mock says no"}}
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.end_headers()
    handler.wfile.write(json.dumps(error).encode())


def hang_up(handler):
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("content-length", "9999")
    handler.end_headers()
    handler.wfile.write(b"event: ")


class Mock(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(TRAVEL[self.path].encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path in TRAVEL:
            return self.do_GET()
        if "--refuse" in flags:
            return refuse(self, 401, "authentication_error")
        if troubles:
            return troubles.pop(0)(self)
        body = json.loads(body)
        # Each reply follows from the conversation.
        number = sum(message["role"] == "assistant" for message in body["messages"])
        tools = [tool["name"] for tool in body["tools"]]
        script = JOURNEY if "book_flight" in tools else WEATHER if "weather" in tools else REPORT
        said, calls = script[min(number, len(script) - 1)]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(said, calls, number):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


command = sys.argv[1:]
flags = []
while command and command[0].startswith("--"):
    flags.append(command.pop(0))
troubles = []
if "--flaky" in flags:
    troubles = [lambda mock: refuse(mock, 529, "overloaded_error"), hang_up]
server = ThreadingHTTPServer(("127.0.0.1", 0), Mock)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
mocked = {"ANTHROPIC_BASE_URL": address, "TRAVEL_URL": address}
environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-mock", **mocked}
sys.exit(subprocess.call(command, env=environment))
