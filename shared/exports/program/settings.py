"""What the program is asked for: SETTINGS.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from refusal import Refusal

TASKS = ("feature-extraction", "text-classification", "token-classification", "fill-mask", "image-classification")

COMMIT = re.compile("[0-9a-f]{40}")
NAME = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_-])?")


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings, with paths from the file's folder. @throws Refusal `bad-settings` that names all faults"""
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refusal("bad-settings", f"The settings cannot be read: {error}.") from None
    if not isinstance(stated, dict):
        raise Refusal("bad-settings", "The settings must be an object.")
    faults = []
    source = stated.get("source")
    read: dict[str, Any] = {"source": None, "task": stated.get("task"), "trust_remote_code": stated.get("trust_remote_code", False)}
    if isinstance(source, dict) and isinstance(source.get("folder"), str):
        folder = path.parent / source["folder"]
        read["source"] = {"folder": folder}
        if not folder.is_dir():
            faults.append("source.folder is no folder")
    elif isinstance(source, dict) and isinstance(source.get("hf"), str):
        read["source"] = {"hf": source["hf"], "revision": source.get("revision")}
        names = source["hf"].split("/")
        if len(names) > 2 or not all(NAME.fullmatch(name) and ".." not in name for name in names):
            faults.append("source.hf must be OWNER/NAME")
        if not isinstance(source.get("revision"), str) or not COMMIT.fullmatch(source["revision"]):
            faults.append("source.revision must be a commit of 40 hexadecimal digits")
    else:
        faults.append('source must be {"hf": "OWNER/NAME", "revision": "…"} or {"folder": "…"}')
    if read["task"] is not None and read["task"] not in TASKS:
        faults.append(f"task must be one of {', '.join(TASKS)}")
    if not isinstance(read["trust_remote_code"], bool):
        faults.append("trust_remote_code must be true or false")
    for name in ("texts", "labels"):
        value = stated.get(name)
        read[name] = path.parent / value if isinstance(value, str) else None
        if value is not None and not (isinstance(value, str) and read[name].is_file()):
            faults.append(f"{name} must be null or the path of a file")
    if read["labels"] is not None and read["texts"] is None:
        faults.append("labels need texts")
    if faults:
        raise Refusal("bad-settings", f"The settings are wrong: {'; '.join(faults)}.")
    return read
