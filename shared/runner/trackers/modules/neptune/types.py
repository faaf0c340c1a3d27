"""Values of neptune.types."""
from mps_recorder import Html, Image, Media, Text


class File(Media):
    def __init__(self, path=None, **others):
        super().__init__(path)

    @staticmethod
    def as_image(image, **others):
        return Image(image)

    @staticmethod
    def as_html(chart):
        return Html(chart.to_html() if hasattr(chart, "to_html") else chart)

    @staticmethod
    def as_pickle(value):
        import pickle
        return File.from_content(pickle.dumps(value), extension="pkl")

    @staticmethod
    def from_path(path, extension=None):
        return File(path)

    @staticmethod
    def from_content(content, extension=None):
        if isinstance(content, str):
            return Text(content)
        return _Bytes(content, extension)

    @staticmethod
    def from_stream(stream, seek=0, extension=None):
        return File.from_content(stream.read(), extension)


class _Bytes(Media):
    def __init__(self, content, extension):
        super().__init__()
        self._content, self._extension = content, extension or "bin"

    def _write(self, path, says):
        with open("%s.%s" % (path, self._extension), "wb") as file:
            file.write(self._content)
