"""Pictures, tables and other media, which become files."""
import csv
import io
import json
import math
import os
import shutil
import struct
import zlib

from .unknown import Unknown

MAX_ROWS = 10_000


class Media:
    """A value with a file of its own."""

    folder = "files"

    def __init__(self, data_or_path=None, *args, caption=None, **others):
        self._data = data_or_path
        self._caption = caption

    def save(self, path, says):
        """Write the file. `path` has no ending."""
        self._write(path, says)
        facts = self._facts()
        if facts:
            with open(path + ".json", "w") as file:
                json.dump(facts, file, default=str)

    def _facts(self):
        return {"caption": self._caption} if self._caption else {}

    def _write(self, path, says):
        if isinstance(self._data, (str, os.PathLike)) and os.path.isfile(self._data):
            shutil.copyfile(self._data, path + os.path.splitext(str(self._data))[1])
        else:
            says("%s is kept only if it is a file" % type(self).__name__)


class File(Media):
    pass


class Image(Media):
    folder = "images"

    def __init__(self, data_or_path=None, *args, caption=None, **others):
        super().__init__(_drawn(data_or_path), caption=caption)

    def _write(self, path, says):
        data = self._data
        if isinstance(data, (str, os.PathLike)):
            shutil.copyfile(data, path + (os.path.splitext(str(data))[1] or ".png"))
        elif isinstance(data, Image):
            data._write(path, says)
        elif isinstance(data, (bytes, bytearray)):
            with open(path + ".png", "wb") as file:
                file.write(data)
        elif hasattr(data, "savefig"):
            data.savefig(path + ".png")
        elif hasattr(data, "save") and hasattr(data, "mode"):
            data.save(path + ".png")
        elif hasattr(data, "figure") and hasattr(data.figure, "savefig"):
            data.figure.savefig(path + ".png")
        else:
            with open(path + ".png", "wb") as file:
                file.write(png(data))


def _drawn(data):
    """A figure of Matplotlib as PNG: a program may change or close it before it is written."""
    try:
        figure = data if hasattr(data, "savefig") else getattr(data, "figure", None)
        if not hasattr(figure, "savefig"):
            return data
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        return picture.getvalue()
    except Exception:
        return data


def _array(data):
    """An array of a tensor, or of nested lists where NumPy is installed."""
    if hasattr(data, "detach"):
        return data.detach().cpu().numpy()
    if isinstance(data, (list, tuple)):
        import numpy
        return numpy.asarray(data)
    return data


def png(data):
    """A PNG of an array (height, width[, channels]), or of a tensor (channels, height, width)."""
    is_tensor = hasattr(data, "detach")
    data = _array(data)
    shape = data.shape
    if is_tensor and len(shape) == 3 and shape[0] in (1, 3, 4):
        data = data.transpose(1, 2, 0)
    if len(data.shape) == 3 and data.shape[2] == 1:
        data = data[:, :, 0]
    if str(data.dtype) != "uint8":
        low, high = float(data.min()), float(data.max())
        scale = 255.0 if low >= 0 and high <= 1 else 255.0 / ((high - low) or 1.0)
        data = ((data - (0 if low >= 0 and high <= 1 else low)) * scale).clip(0, 255).astype("uint8")
    height, width = data.shape[:2]
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[1 if len(data.shape) == 2 else data.shape[2]]
    rows = b"".join(b"\0" + data[y].tobytes() for y in range(height))

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Audio(Media):
    folder = "audio"

    def __init__(self, data_or_path=None, sample_rate=None, *args, caption=None, **others):
        super().__init__(data_or_path, caption=caption)
        self._rate = sample_rate

    def _write(self, path, says):
        if isinstance(self._data, (str, os.PathLike)) or self._rate is None:
            return super()._write(path, says)
        import wave
        data = _array(self._data)
        if str(data.dtype).startswith("float"):
            data = (data.clip(-1, 1) * 32767).astype("int16")
        with wave.open(path + ".wav", "wb") as file:
            file.setnchannels(1 if len(data.shape) == 1 else data.shape[1])
            file.setsampwidth(data.dtype.itemsize)
            file.setframerate(int(self._rate))
            file.writeframes(data.tobytes())


class Video(Media):
    folder = "videos"


class Object3D(Media):
    folder = "objects"

    def _write(self, path, says):
        if isinstance(self._data, (str, os.PathLike)):
            return super()._write(path, says)
        data = self._data if isinstance(self._data, dict) else _array(self._data).tolist()
        with open(path + ".json", "w") as file:
            json.dump(data, file, default=lambda one: _array(one).tolist())


class Histogram(Media):
    folder = "histograms"

    def __init__(self, sequence=None, np_histogram=None, num_bins=64, **others):
        super().__init__()
        self.histogram, self.bins = [], []
        if np_histogram is not None:
            self.histogram, self.bins = [list(map(float, part)) for part in np_histogram]
            return
        values = sequence.detach().cpu() if hasattr(sequence, "detach") else sequence
        values = values.flatten().tolist() if hasattr(values, "flatten") else values
        values = [v for v in map(float, values if values is not None else []) if math.isfinite(v)]
        if values:
            low, high = min(values), max(values)
            width = (high - low) / num_bins or 1.0
            self.bins = [low + width * at for at in range(num_bins + 1)]
            self.histogram = [0] * num_bins
            for value in values:
                self.histogram[min(num_bins - 1, int((value - low) / width))] += 1

    def _write(self, path, says):
        with open(path + ".json", "w") as file:
            json.dump({"bins": self.bins, "values": self.histogram}, file)


class Table(Media):
    folder = "tables"

    def __init__(self, columns=None, data=None, dataframe=None, rows=None, **others):
        super().__init__()
        if dataframe is None and hasattr(data, "to_csv") and hasattr(data, "columns"):
            dataframe = data
        if dataframe is not None:
            columns, data = list(dataframe.columns), dataframe.values.tolist()
        data = data if data is not None else rows
        if data is not None and hasattr(data, "tolist"):
            data = data.tolist()
        self.columns = list(columns) if columns is not None else ["Input", "Output", "Expected"]
        self.data = [list(row) for row in (data if data is not None else [])]

    def _write(self, path, says):
        if len(self.data) > MAX_ROWS:
            says("a table keeps %d rows" % MAX_ROWS)
        with open(path + ".csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(self.columns)
            for at, row in enumerate(self.data[:MAX_ROWS]):
                table.writerow([self._cell(path, at, one, says) for one in row])

    def _cell(self, path, at, cell, says):
        if not isinstance(cell, Media):
            return cell
        # Media in a table are files beside it.
        cell.save("%s_%d_%s" % (path, at, type(cell).__name__), says)
        return type(cell).__name__


class Html(Media):
    folder = "html"

    def __init__(self, data, inject=True, **others):
        super().__init__(data.read() if hasattr(data, "read") else data)

    def _write(self, path, says):
        is_file = len(str(self._data)) < 4096 and os.path.isfile(str(self._data))
        if is_file:
            shutil.copyfile(self._data, path + ".html")
        else:
            with open(path + ".html", "w") as file:
                file.write(str(self._data))


class Text(Media):
    folder = "texts"

    def _write(self, path, says):
        with open(path + ".txt", "w") as file:
            file.write(str(self._data))


class Plotly(Media):
    folder = "plots"

    def _write(self, path, says):
        with open(path + ".html", "w") as file:
            file.write(self._data.to_html())


def as_media(value):
    """A picture, a figure, a table or other media as what is saved; None of anything else."""
    if isinstance(value, Media):
        return value
    if isinstance(value, (str, bytes, dict, list, tuple, int, float, Unknown)) or value is None:
        return None
    try:
        if hasattr(value, "savefig"):
            return Image(value)
        if hasattr(value, "to_plotly_json") and hasattr(value, "to_html"):
            return Plotly(value)
        if hasattr(value, "to_csv") and hasattr(value, "columns"):
            return Table(dataframe=value)
        if hasattr(value, "save") and hasattr(value, "mode") and hasattr(value, "getbands"):
            return Image(value)
    except Exception:
        return None
    return None
