"""Runs Schemathesis against BASE_URL, and says how many requests it sent and how many failures it found."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from seed import Client, make_all

folder, *options = sys.argv[1:]
url = os.environ["BASE_URL"]
least = int(os.environ.get("MIN_REQUESTS", "20000"))
here = Path(__file__).parent
config, events = Path(folder, "schemathesis.toml"), Path(folder, "events.ndjson")

client = Client(url, os.environ["ADMIN_PASSWORD"])
made = make_all(client)
dictionaries = "\n".join(f"{name} = {{ values = {json.dumps(values)} }}" for name, values in made.items())
config.write_text(f"{(here / 'schemathesis.toml').read_text()}\n[dictionaries]\n{dictionaries}\n")

defaults = [] if {"-n", "--max-examples"} & set(options) else ["--max-examples", "450"]
code = subprocess.run(
    [Path(folder, "venv/bin/schemathesis"), "--config-file", config, "run", f"{url}/openapi.json", "--no-color"]
    + ["--report", "ndjson", "--report-ndjson-path", events, *defaults, *options],
    cwd=folder,
    env={**os.environ, "PYTHONPATH": str(here), "TOKEN": client.token},
    check=False,
).returncode

statuses, failures = Counter(), 0
with events.open() as lines:
    for line in lines:
        recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder") or {}
        for interaction in (recorder.get("interactions") or {}).values():
            statuses[(interaction.get("response") or {}).get("status_code", "none")] += 1
        for checks in (recorder.get("checks") or {}).values():
            failures += sum(check["status"] == "failure" for check in checks)
requests = sum(statuses.values())
print("Answers by status:", ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items(), key=str)))
print(f"{requests:,} requests, {failures:,} failed checks, Schemathesis' exit code {code}")
if requests < least:
    print(f"Fewer than the {least:,} requests that count as a proof.")
# A run that lost its rights on the way has proved nothing: everything is 401 from there on.
client("GET", "/users/me")
sys.exit(code or (1 if failures or requests < least else 0))
