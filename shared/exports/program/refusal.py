"""The one error of this program that its user reads."""

from __future__ import annotations

import os
import re


class Refusal(Exception):
    """Ends the export: a code for programs, a sentence for people. `fault` is whose: the input's (2), or the world's (1)."""

    def __init__(self, code: str, message: str, fault: int = 2) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fault = fault


def without_token(text: str) -> str:
    """Return a text without the token, which an error of a library could contain."""
    token = os.environ.get("HF_TOKEN", "")
    return text.replace(token, "[hidden]") if token else text


def reason_of(error: BaseException, longest: int = 300) -> str:
    """Return what an error of a library says, in one line."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    text = f"{type(error).__name__}: {' '.join(plain.split())}"
    return without_token(text)[:longest]
