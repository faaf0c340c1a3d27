"""Starts the export of a job: `python start.py SETTINGS.json OUTPUT_DIR`.

Resolves the revision to a commit unless the request did, and names the files of the job by their paths.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from fetch import Hub
from refusal import Refusal
from settings import COMMIT

HERE = Path(__file__).resolve().parent


def main() -> None:
    settings_file, output = sys.argv[1:]
    settings = json.loads(Path(settings_file).read_text(encoding="utf-8"))
    source, texts = settings["source"], settings["texts"]
    if "folder" in source:
        source["folder"] = str(HERE / source["folder"])
    else:
        # huggingface_hub reads the address as it is imported. A service of an earlier release does not say it.
        if hub := os.environ.get("HF_ENDPOINT") or source.get("hub"):
            os.environ["HF_ENDPOINT"] = hub
        revision = source["revision"] or "main"
        if not COMMIT.fullmatch(revision):
            source["revision"] = Hub(source["hf"], revision, HERE).describe()["commit"]
        print(f"{source['hf']} at commit {source['revision']}", flush=True)
    if settings["trust_remote_code"]:
        print("Code of the repository runs in this job, because the request says so.", flush=True)
    if texts is not None:
        settings["texts"] = str(Path(os.environ["DATA_DIR"]) / texts)
    resolved = Path(tempfile.mkdtemp()) / "settings.json"
    resolved.write_text(json.dumps({**settings, "labels": None}), encoding="utf-8")
    os.execv(sys.executable, [sys.executable, str(HERE / "export.py"), str(resolved), output])


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        error = {"code": refusal.code, "message": refusal.message}
        (Path(sys.argv[2]) / "error.json").write_text(json.dumps(error), encoding="utf-8")
        print(refusal.message, file=sys.stderr)
        sys.exit(refusal.fault)
