"""Runs Schemathesis against BASE_URL, and says how many requests it sent and how many failures it found."""

import json
import os
import subprocess
import sys
from pathlib import Path

folder, *options = sys.argv[1:]
url = os.environ["BASE_URL"]
least = int(os.environ.get("MIN_REQUESTS", "20000"))
events = Path(folder, "events.ndjson")
here = Path(__file__).parent

defaults = ["--max-examples", "300"] if "--max-examples" not in options else []
code = subprocess.run(
    [Path(folder, "venv/bin/schemathesis"), "--config-file", here / "schemathesis.toml", "run", f"{url}/openapi.json"]
    + ["--report", "ndjson", "--report-ndjson-path", events, "--no-color", *defaults, *options],
    cwd=folder,
    env={**os.environ, "PYTHONPATH": str(here)},
).returncode
