"""What a text delta costs under wasmtime, by the Python package: `python3 deltas.py SCRIPT COUNT`.
Prints the microseconds of CPU time for each, its answer read."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from innerloop import Core

core = Core()
*requests, piece = Path(sys.argv[1]).read_text().splitlines()
count = int(sys.argv[2])
first, chunk = requests[:-1], json.loads(requests[-1])
for request in first:
    core.call(json.loads(request))
delta = f"{piece}\n\n".encode()


def once() -> int:
    answer = core.call(chunk, delta).splitlines()
    lines: list[dict[str, Any]] = [json.loads(line) for line in answer]
    return sum(line.get("event", {}).get("type") == "assistant_text_delta" for line in lines)


for _ in range(1000):
    once()
begun = time.process_time()
told = sum(once() for _ in range(count))
took = time.process_time() - begun
if told != count:
    sys.exit(f"{told} deltas were told")
print(f"{took / count * 1e6:.2f}")
