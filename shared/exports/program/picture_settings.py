"""Size and scale of a model's pictures, by its own files."""

from __future__ import annotations

from typing import Any, NamedTuple

from refusal import Refusal

# 128 pictures of this side, three channels and float32 have 1.6 GB.
LARGEST_SIDE = 1024
MOST_CHANNELS = 4
# As serving has it: beyond these, products are no numbers that a model reads.
LEAST, MOST = 1e-6, 1e6


class PictureSettings(NamedTuple):
    shape: tuple[int, int, int]
    mean: list[float]
    std: list[float]


def read_picture_settings(config: dict[str, Any], preprocessing: dict[str, Any]) -> PictureSettings:
    """Read size and scale of a model's pictures. @throws Refusal `bad-file` that names the field"""
    cropped = preprocessing.get("crop_size") if preprocessing.get("do_center_crop", True) else None
    own = "preprocessor_config.json"
    stated = (
        ("image_size of config.json", config.get("image_size")),
        (f"crop_size of {own}", cropped),
        (f"size of {own}", preprocessing.get("size")),
    )
    height, width = next((_sides(name, value) for name, value in stated if value is not None), (224, 224))
    channels = config.get("num_channels", 3)
    if not _is_whole(channels, MOST_CHANNELS):
        raise Refusal("bad-file", f"num_channels of config.json must be a whole number from 1 to {MOST_CHANNELS}.")
    mean = _scale(f"image_mean of {own}", preprocessing.get("image_mean"), channels)
    std = _scale(f"image_std of {own}", preprocessing.get("image_std"), channels)
    if any(not LEAST <= one <= MOST for one in std):
        raise Refusal("bad-file", f"image_std of {own} must have numbers from {LEAST} to {MOST:.0f}.")
    return PictureSettings((channels, height, width), mean, std)


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _sides(name: str, value: Any) -> tuple[int, int]:
    sides = [value, value]
    if isinstance(value, list):
        sides = value
    elif isinstance(value, dict):
        edge = value.get("shortest_edge")
        sides = [edge, edge] if edge is not None else [value.get("height"), value.get("width")]
    if len(sides) != 2 or not all(_is_whole(one, LARGEST_SIDE) for one in sides):
        form = "one, height and width, or shortest_edge"
        raise Refusal("bad-file", f"{name} must be a size ({form}) of whole numbers from 1 to {LARGEST_SIDE}.")
    return sides[0], sides[1]


def _scale(name: str, value: Any, channels: int) -> list[float]:
    numbers = value if isinstance(value, list) else [0.5 if value is None else value] * channels
    if len(numbers) != channels or not all(isinstance(one, (int, float)) and abs(one) <= MOST for one in numbers):
        raise Refusal("bad-file", f"{name} must have a number up to {MOST:.0f} for each of the {channels} channels.")
    return [float(one) for one in numbers]
