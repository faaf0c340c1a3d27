"""Pictures and tables as the bytes of files."""

from __future__ import annotations

import csv
import io
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def picture(value: Any) -> tuple[bytes, str]:
    """Return a picture as bytes, with the ending of its file.

    Takes the path of a file, the bytes of one, a figure of Matplotlib, a picture of Pillow, and an array or tensor of shape
    (height, width), (height, width, channels), or, of a tensor, (channels, height, width), with 1, 3 or 4 channels: bytes,
    or numbers from 0 to 1, or others, which are stretched between their least and greatest. NaN is 0.

    :raises ValueError: for anything else
    """
    if isinstance(value, (str, os.PathLike)):
        path = Path(value)
        return path.read_bytes(), path.suffix or ".png"
    if isinstance(value, (bytes, bytearray)):
        return bytes(value), _ending(bytes(value[:12]))
    figure: Any = value if hasattr(value, "savefig") else getattr(value, "figure", None)
    if hasattr(figure, "savefig"):
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png")
        return drawn.getvalue(), ".png"
    if hasattr(value, "getbands") and hasattr(value, "save"):
        drawn = io.BytesIO()
        value.save(drawn, format="PNG")
        return drawn.getvalue(), ".png"
    if hasattr(value, "detach") or hasattr(value, "dtype"):
        return _png(value), ".png"
    raise ValueError(f"{type(value).__name__} is no picture: give a file, a figure, a picture of Pillow, an array or a tensor")


def _ending(head: bytes) -> str:
    for start, ending in ((b"\xff\xd8", ".jpg"), (b"GIF8", ".gif"), (b"<svg", ".svg"), (b"RIFF", ".webp")):
        if head.startswith(start):
            return ending
    return ".png"


def _png(value: Any) -> bytes:
    is_tensor = hasattr(value, "detach")
    array = value.detach().cpu().numpy() if is_tensor else value
    if is_tensor and array.ndim == 3 and array.shape[0] in (1, 3, 4):
        array = array.transpose(1, 2, 0)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or 0 in array.shape:
        raise ValueError(f"an array of shape {tuple(array.shape)} is no picture")
    if str(array.dtype) != "uint8":
        array = array.astype("float64")
        # NaN has no color.
        array[array != array] = 0
        low, high = float(array.min()), float(array.max())
        if low < 0 or high > 1:
            array = (array - low) / ((high - low) or 1.0)
        array = (array * 255).round().clip(0, 255).astype("uint8")
    height, width = array.shape[:2]
    kind = 0 if array.ndim == 2 else {3: 2, 4: 6}[array.shape[2]]
    rows = b"".join(b"\0" + array[y].tobytes() for y in range(height))

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def table_text(data: Any, columns: Iterable[Any] | None = None) -> bytes:
    """Return a table as CSV. Takes a DataFrame, a dict of columns, rows that are dicts, or rows with ``columns``.

    :raises ValueError: for anything else
    """
    text = io.StringIO(newline="")
    if hasattr(data, "to_csv"):
        return str(data.to_csv(index=False)).encode()
    if hasattr(data, "write_csv"):
        return str(data.write_csv()).encode()
    names = [str(one) for one in columns] if columns is not None else None
    if isinstance(data, Mapping):
        rows: list[Any] = list(zip(*data.values()))
        names = names or [str(one) for one in data]
    else:
        rows = list(data.tolist() if hasattr(data, "tolist") else data)
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = names or list(dict.fromkeys(str(one) for row in rows for one in row))
        rows = [[row.get(name) for name in names] for row in rows]
    if names is None or any(isinstance(row, (str, bytes)) or not hasattr(row, "__iter__") for row in rows):
        raise ValueError("a table is a DataFrame, a dict of columns, rows that are dicts, or rows with columns=[…]")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
