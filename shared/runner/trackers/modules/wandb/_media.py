"""Media of wandb, which become files."""
import os

from mps_recorder import Audio, Histogram, Html, Media, Object3D, Plotly, Video
from mps_recorder import Image as PlainImage
from mps_recorder import Table as PlainTable
from mps_recorder import does_nothing
from mps_recorder.media import png

from ._state import says

__all__ = ["Audio", "BoundingBoxes2D", "Classes", "Histogram", "Html", "Image", "ImageMask", "Media", "Molecule",
           "Object3D", "Plotly", "Table", "Video"]


class Image(PlainImage):
    def __init__(self, data_or_path=None, mode=None, caption=None, grouping=None, classes=None, boxes=None, masks=None,
                 file_type=None, normalize=True):
        super().__init__(data_or_path, caption=caption)
        self._boxes, self._masks = boxes, masks
        self._classes = getattr(classes, "classes", classes)

    @property
    def image(self):
        return self._data

    def _facts(self):
        facts = super()._facts()
        for key, value in (("boxes", self._boxes), ("classes", self._classes)):
            if value:
                facts[key] = value
        for name, mask in (self._masks or {}).items():
            facts.setdefault("masks", {})[name] = getattr(mask, "labels", mask.get("class_labels") if isinstance(mask, dict) else None)
        return facts

    def _write(self, path, says):
        super()._write(path, says)
        for name, mask in (self._masks or {}).items():
            given = mask if isinstance(mask, dict) else mask.value
            if "mask_data" in given:
                with open("%s_mask_%s.png" % (path, "".join(c if c.isalnum() else "_" for c in str(name))), "wb") as file:
                    file.write(png(given["mask_data"].astype("uint8")))


class ImageMask:
    def __init__(self, val, key=""):
        self.value, self.key = val, key
        self.labels = val.get("class_labels")


class BoundingBoxes2D(dict):
    def __init__(self, val, key=""):
        super().__init__(val)


class Classes:
    def __init__(self, class_set):
        self.classes = list(class_set)


class Molecule(Media):
    folder = "molecules"


class Table(PlainTable):
    def __init__(self, columns=None, data=None, rows=None, dataframe=None, dtype=None, optional=True,
                 allow_mixed_types=False, log_mode="IMMUTABLE"):
        super().__init__(columns, data, dataframe, rows)
        self.log_mode = log_mode

    def add_data(self, *row):
        if len(row) != len(self.columns):
            raise ValueError("This table expects %d columns: %s, found %d" % (len(self.columns), self.columns, len(row)))
        self.data.append(list(row))

    def add_row(self, *row):
        self.add_data(*row)

    def add_column(self, name, data, optional=False):
        self.columns.append(name)
        self.data = [row + [one] for row, one in zip(self.data or [[] for _ in data], data)]

    def add_computed_columns(self, fn):
        made = [dict(fn(at, dict(zip(self.columns, row)))) for at, row in self.iterrows()]
        for name in made[0] if made else ():
            self.add_column(name, [one[name] for one in made])

    def get_column(self, name, convert_to=None):
        at = self.columns.index(name)
        values = [row[at] for row in self.data]
        if convert_to == "numpy":
            import numpy
            return numpy.array(values)
        return values

    def get_index(self):
        return list(range(len(self.data)))

    def index_ref(self, index):
        return self.data[index]

    def get_dataframe(self):
        import pandas
        return pandas.DataFrame.from_records(self.data, columns=self.columns)

    def iterrows(self):
        for at, row in enumerate(self.data):
            yield at, row

    cast = staticmethod(does_nothing("Table.cast", says, why="does nothing here: columns have no types"))
    set_pk = staticmethod(does_nothing("Table.set_pk", says))
    set_fk = staticmethod(does_nothing("Table.set_fk", says))

    def __eq__(self, other):
        return isinstance(other, PlainTable) and (self.columns, self.data) == (other.columns, other.data)

    __hash__ = object.__hash__


def as_path(value):
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
