"""Replays a corpus of logs under wasmtime, by the Python package: `python3 replay.py FOLDER`.
Prints a log's name and the digest of its outputs a line."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from innerloop import Core

END = ".log.jsonl"

core = Core()
for file in sorted(Path(sys.argv[1]).glob("*" + END)):
    outputs = core.call({"replay": None}, file.read_bytes())
    print(file.name.removesuffix(END), hashlib.sha256(outputs).hexdigest())
