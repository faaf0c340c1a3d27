"""Names, numbers and texts in the form that the service takes."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any


def whole_step(step: Any) -> int:
    """:raises TypeError, ValueError, OverflowError: for a step that is no whole number"""
    if type(step) is not int:
        if isinstance(step, (str, bytes)):
            raise TypeError
        step = step.item() if hasattr(step, "item") else step
        if int(step) != step:
            raise ValueError
        step = int(step)
    if abs(step) >= 2**53:
        raise ValueError
    return int(step)


_plain = re.compile(r"\w[\w :-]*(?:[./]\w[\w :-]*)*", re.ASCII)


def name_fault(name: object, longest: int) -> str | None:
    """Return what the service refuses in a name of a metric, param or tag."""
    if not isinstance(name, str):
        return "a name is a text"
    if not 0 < len(name) <= longest:
        return f"it must have 1 to {longest} characters"
    if _plain.fullmatch(name):
        return None
    if any(one not in "/_.- :" and unicodedata.category(one)[0] not in "LNM" for one in name):
        return "it may have letters, digits, and any of / _ . - : and space"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "its parts between slashes must be names"
    return "it must not begin with .." if name.startswith("..") else None


def path_fault(path: str) -> str | None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "its name is no Unicode"
    if size > 970:
        return "its path is longer than 970 bytes"
    if "\\" in path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return 'its path must be relative, without ".." and empty parts'
    return None


def flattened(params: Mapping[Any, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in params.items():
        if isinstance(value, Mapping) and value:
            flat.update(flattened(value, f"{before}{key}."))
        else:
            flat[f"{before}{key}"] = value
    return flat


def text_of(value: Any) -> str:
    """Return a value as the text of a param or tag."""
    try:
        if hasattr(value, "item") and not isinstance(value, type):
            value = value.item()
    except Exception:
        pass
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except Exception:
            value = _written(value)
    return str(value).encode("utf-8", "replace").decode()


def _written(value: object) -> str:
    """What an object says of itself, or its class if it raises then."""
    try:
        return str(value)
    except Exception:
        return type(value).__name__


def shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


def kind_of(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {tuple(shape)}" if isinstance(shape, tuple) else f"{shown(value)}"


def listed(values: Any) -> list[Any]:
    try:
        return list(values or ())
    except Exception:
        return [values]
