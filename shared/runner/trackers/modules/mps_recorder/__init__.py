"""What the modules that stand in for other trackers share: they record in the experiment of the job, by MLflow's API."""
from .said import Says, guarded
from .values import flat, number, plain, text_of
from .unknown import Submodules, Unknown, does_nothing, unknown
from .recorder import Recorder, at_end
from .media import (Audio, File, Histogram, Html, Image, Media, Object3D, Plotly, Table, Text, Video, as_media)

__all__ = [
    "Audio", "File", "Histogram", "Html", "Image", "Media", "Object3D", "Plotly", "Recorder", "Says", "Submodules",
    "Table", "Text", "Unknown", "Video", "as_media", "at_end", "does_nothing", "flat", "guarded", "number", "plain", "text_of",
    "unknown",
]
