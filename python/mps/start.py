"""Words of the command ``mps`` that begin a run or a sweep."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from .error import Error


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Return flags of the command for these options: ``stop_if=["nan: loss"]`` is ``--stop-if=nan: loss``. None is no flag.

    A value stands in the same word as its flag, so that none is taken for a flag.
    """
    words = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words.append(f"{flag}={one}")
    return words


def set_words(params: Mapping[str, Any]) -> list[str]:
    """Return a flag ``-S`` for each param. A text stays a text, whatever it looks like."""
    return [f"--set={name}={json_value(name, value)}" for name, value in params.items()]


def swept_words(params: Mapping[str, Any]) -> list[str]:
    """Return a flag ``-S`` for each param of a sweep: a range as a text, a list of values, or one value for all trials."""
    words = []
    for name, value in params.items():
        if isinstance(value, (list, tuple)):
            value = ",".join(one if isinstance(one, str) else json_value(name, one) for one in value)
        words.append(f"--set={name}={value if isinstance(value, str) else json_value(name, value)}")
    return words


def tag_words(tags: Mapping[str, str]) -> list[str]:
    return [f"--tag={name}={value}" for name, value in tags.items()]


def command_words(command: str | os.PathLike[str] | Sequence[str] | None) -> list[str]:
    """Return the command of a training behind ``--``: ``train.py --epochs 5``, its words, or none for the folder's own."""
    if command is None:
        return []
    words = [os.fspath(command)] if isinstance(command, os.PathLike) else command
    words = shlex.split(words) if isinstance(words, str) else list(words)
    if not words:
        raise Error("command must have a word, such as train.py; without command the folder's own is run.")
    program = {".py": "python3", ".sh": "sh"}.get(os.path.splitext(words[0])[1])
    return ["--", *([program] if program else []), *words]


def json_values(values: Mapping[str, Any]) -> str:
    """Return values by their names as a JSON object."""
    return "{" + ", ".join(f"{json.dumps(name)}: {json_value(name, value)}" for name, value in values.items()) + "}"


def json_value(name: str, value: Any) -> str:
    """Return a value as JSON, which the command reads as YAML. Scalars of numpy and torch are numbers.

    :raises Error: for a value that no configuration can have
    """
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        try:
            value = value.item()
        except (ValueError, RuntimeError) as fault:
            raise Error(f"{name} has several values; a param has one.") from fault
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Error(f"{name} is {value}; a param must be finite.")
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as fault:
        allowed = "a text, a number, true, false, None, or a list or dict of these"
        raise Error(f"{name} is a {type(value).__name__}; a param is {allowed}.") from fault
