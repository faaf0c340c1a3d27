"""Texts and pictures as the tensors of a model, and the sets of them."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np

from picture_settings import PictureSettings

SHORTEST, LONGEST = 16, 256
TOKEN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class TextTensors:
    """Tokenizes texts as serving does: with the model's prompt, cut at its length."""

    def __init__(self, tokenizer: Any, max_length: int, prompt: str, lowercase: bool, pairs: bool) -> None:
        self.tokenizer, self.max_length = tokenizer, max_length
        self.prompt, self.lowercase, self.pairs = prompt, lowercase, pairs

    def encode(self, texts: list[str], lengths: list[int]) -> dict[str, np.ndarray]:
        """Return the tensors of texts, each cut at its length and padded to the longest."""
        rows = []
        for index, (text, length) in enumerate(zip(texts, lengths)):
            own = self.prompt + (text.lower() if self.lowercase else text)
            other = texts[(index + 1) % len(texts)] if self.pairs else None
            options = {"truncation": True, "max_length": min(length, self.max_length)}
            rows.append(self.tokenizer(own, other, return_token_type_ids=True, return_attention_mask=True, **options))
        longest = max(1, *(len(row["input_ids"]) for row in rows))
        fill = {"input_ids": self.tokenizer.pad_token_id or 0}
        arrays = {}
        for name in TOKEN_INPUTS:
            arrays[name] = np.array([row[name] + [fill.get(name, 0)] * (longest - len(row[name])) for row in rows], np.int64)
        return arrays

    def lengthen(self, texts: list[str], seed: int) -> tuple[list[str], list[int]]:
        """Join texts of a list until each has a length that is drawn: short ones are likelier, as texts are."""
        chance = random.Random(seed)
        most = max(SHORTEST, min(LONGEST, self.max_length))
        lengths = [round(math.exp(chance.uniform(math.log(SHORTEST), math.log(most)))) for _ in texts]
        joined = []
        for text, length in zip(texts, lengths):
            while len(text) < length * 6:
                text = f"{text} {chance.choice(texts)}"
            joined.append(text)
        return joined, lengths


class PictureTensors:
    """Makes pictures, smooth and rough, of the size and scale that a model expects. There are none to be had without asking."""

    def __init__(self, settings: PictureSettings) -> None:
        self.shape, self.mean, self.std = settings.shape, settings.mean, settings.std

    def draw(self, count: int, seed: int) -> dict[str, np.ndarray]:
        chance = np.random.default_rng(seed)
        channels, height, width = self.shape
        rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
        pictures = np.empty((count, *self.shape), np.float32)
        for picture in pictures:
            for channel in range(channels):
                waves = np.zeros((height, width), np.float32)
                for octave in range(1, 7):
                    across, down, phase = chance.normal(0, 2.0**octave, 3)
                    waves += np.sin(2 * np.pi * (across * columns / width + down * rows / height) + phase) / octave
                waves = (waves - waves.min()) / max(float(np.ptp(waves)), 1e-6)
                rough = chance.random((height, width)) * chance.random() * 0.2
                picture[channel] = np.clip(waves * 0.8 + rough, 0, 1)
        mean, std = (np.array(one, np.float32).reshape(1, -1, 1, 1) for one in (self.mean, self.std))
        return {"pixel_values": (pictures - mean) / std}


def write_set(path: Path, arrays: dict[str, np.ndarray], labels: list[int] | None = None) -> None:
    """Write a set as the engine reads it: one array for each input, a sample in each row."""
    if labels is not None:
        arrays = {**arrays, "labels": np.array(labels, np.int64)}
    np.savez_compressed(path, **arrays)
