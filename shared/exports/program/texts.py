"""The texts of both sets: the user's, else those of the model's card and our own list. No text is in both."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from refusal import Refusal
from sentences import draw_sentences

SEED = 65
CALIBRATING, EVALUATED, MOST_EVALUATED = 128, 256, 1_000
MOST_CHARACTERS = 32_768


class Texts:
    """Texts to calibrate with, texts to evaluate with (and their labels), and who wrote them."""

    def __init__(self, calibration: list[str], evaluation: list[str], labels: list[str] | None, origin: str) -> None:
        self.calibration, self.evaluation, self.labels, self.origin = calibration, evaluation, labels, origin


def choose_texts(texts: Path | None, labels: Path | None, card: dict[str, Any]) -> Texts:
    """Divide texts into the sets. @throws Refusal `bad-texts`, `bad-labels`"""
    if texts is None:
        widget = card_texts(card)
        drawn = [one for one in draw_sentences(languages_of(card), 512, SEED) if one not in widget]
        pool = (widget + drawn)[:512]
        random.Random(SEED).shuffle(pool)
        return Texts(pool[:CALIBRATING], pool[CALIBRATING : CALIBRATING + EVALUATED], None, "card and list")
    lines = read_lines(texts, "bad-texts")
    classes = None if labels is None else read_lines(labels, "bad-labels")
    if classes is not None and len(classes) != len(lines):
        raise Refusal("bad-labels", f"There are {len(classes)} labels for {len(lines)} texts.")
    rows = {}
    for index, line in enumerate(lines):
        if line.strip():
            rows.setdefault(line[:MOST_CHARACTERS], None if classes is None else classes[index].strip())
    if len(rows) < 8:
        raise Refusal("bad-texts", f"Different texts: {len(rows)}; at least 8 are needed.")
    shuffled = list(rows.items())
    random.Random(SEED).shuffle(shuffled)
    own = min(CALIBRATING, len(shuffled) // 4)
    calibration = [text for text, _ in shuffled[:own]]
    evaluated = shuffled[own : own + MOST_EVALUATED]
    # Few texts are better spent on the judgement: the list fills up the calibration.
    calibration += [one for one in draw_sentences(languages_of(card), 64, SEED) if one not in rows][: max(0, 32 - own)]
    found = None if classes is None else [str(label) for _, label in evaluated]
    return Texts(calibration, [text for text, _ in evaluated], found, "user")


def read_lines(path: Path, code: str) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise Refusal(code, f"{path.name} is no text in UTF-8, one a line.") from None
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def read_card(folder: Path) -> dict[str, Any]:
    """Return what the head of README.md states; nothing if it states nothing that can be read."""
    try:
        with (folder / "README.md").open(encoding="utf-8") as file:
            text = file.read(1_000_000)
    except (OSError, UnicodeDecodeError):
        return {}
    parts = text.split("---\n", 2)
    if len(parts) < 3 or parts[0].strip():
        return {}
    import yaml

    try:
        card = yaml.safe_load(parts[1])
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}


def languages_of(card: dict[str, Any]) -> list[str]:
    stated = card.get("language")
    found = [one.lower() for one in (stated if isinstance(stated, list) else [stated]) if isinstance(one, str)]
    return ["many", "languages"] if found == ["multilingual"] else [one.split("-", 1)[0] for one in found]


def licence_of(card: dict[str, Any]) -> str | None:
    """Return the licence that the card states."""
    stated = card.get("license_name") if card.get("license") == "other" else card.get("license")
    found = stated if isinstance(stated, list) else [stated]
    names = [one for one in found if isinstance(one, str)]
    return ", ".join(names)[:200] if names else None


def card_texts(card: dict[str, Any]) -> list[str]:
    """Return the texts of the card's examples."""
    widget = card.get("widget")
    found: list[Any] = []
    for example in widget if isinstance(widget, list) else []:
        if isinstance(example, dict):
            found += [example.get("text"), example.get("source_sentence")]
            found += example["sentences"] if isinstance(example.get("sentences"), list) else []
    texts = [one.strip() for one in found if isinstance(one, str)]
    return list(dict.fromkeys(one[:2_000] for one in texts if one))[:128]
