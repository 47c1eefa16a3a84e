"""A model in Anthropic's protocol that plays a script, for the examples: it reads notes.md, writes
report.md, and says so; of an agent with the tool `weather` it asks the weather. Starts a program
and ends with it: `mock.py PROGRAM ARGUMENT…`."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPORT = [
    ("I read the notes.\n", "Read", {"file_path": "notes.md"}),
    ("I write the report.\n", "Write", {"file_path": "report.md", "content": "# Report\n"}),
    ("The report is in report.md.", None, None),
]
WEATHER = [
    ("I ask.\n", "weather", {"city": "Lima"}),
    ("It is warm in Lima.", None, None),
]


def events(said, tool, arguments, number):
    usage = {"input_tokens": 10, "output_tokens": 1}
    head = {"id": f"msg_{number}", "role": "assistant", "model": "mock", "usage": usage}
    yield {"type": "message_start", "message": head}
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": said})]
    if tool:
        call = {"type": "tool_use", "id": f"call_{number}", "name": tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        blocks.append((call, delta))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if tool else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        # Each reply follows from the conversation.
        number = sum(message["role"] == "assistant" for message in body["messages"])
        is_weather = any(tool["name"] == "weather" for tool in body["tools"])
        script = WEATHER if is_weather else REPORT
        said, tool, arguments = script[min(number, len(script) - 1)]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(said, tool, arguments, number):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_address[1]}"
environment = {**os.environ, "ANTHROPIC_API_KEY": "sk-mock", "ANTHROPIC_BASE_URL": address}
sys.exit(subprocess.call(sys.argv[1:], env=environment))
