"""Texts and pictures as the tensors of a model, and the sets of them."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np

from refusal import Refusal

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

    def __init__(self, channels: int, height: int, width: int, mean: list[float], std: list[float]) -> None:
        self.shape, self.mean, self.std = (channels, height, width), mean, std

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


def picture_tensors(config: dict[str, Any], preprocessing: dict[str, Any]) -> PictureTensors:
    """Read size and scale of a model's pictures. @throws Refusal `bad-file`"""

    def pair(value: Any) -> tuple[int, int] | None:
        if isinstance(value, dict):
            edge = value.get("shortest_edge")
            value = [value.get("height", edge), value.get("width", edge)]
        found = value if isinstance(value, list) and len(value) == 2 else [value, value]
        return (found[0], found[1]) if all(isinstance(one, int) and 1 <= one <= 4096 for one in found) else None

    cropped = preprocessing.get("crop_size") if preprocessing.get("do_center_crop", True) else None
    size = next((found for found in map(pair, (config.get("image_size"), cropped, preprocessing.get("size"), 224)) if found), (224, 224))
    channels = config.get("num_channels", 3)
    scale = []
    for name, default in (("image_mean", 0.5), ("image_std", 0.5)):
        value = preprocessing.get(name, [default] * channels if isinstance(channels, int) else None)
        if not isinstance(value, list) or len(value) != channels or not all(isinstance(one, (int, float)) for one in value):
            raise Refusal("bad-file", f"{name} of preprocessor_config.json does not fit the {channels} channels of config.json.")
        scale.append([float(one) for one in value])
    if 0 in scale[1]:
        raise Refusal("bad-file", "image_std of preprocessor_config.json has a zero.")
    return PictureTensors(channels, *size, *scale)


def write_set(path: Path, arrays: dict[str, np.ndarray], labels: list[int] | None = None) -> None:
    """Write a set as the engine reads it: one array for each input, a sample in each row."""
    if labels is not None:
        arrays = {**arrays, "labels": np.array(labels, np.int64)}
    np.savez_compressed(path, **arrays)
