"""Model Project Service for notebooks and programs: ``import mps``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .error import Error
from .version import version as __version__

if TYPE_CHECKING:
    from .recording.recorder import Recorder, record
    from .run import Run, RunError
    from .service import Service, connect
    from .sweep import Sweep

__all__ = ["Error", "Recorder", "Run", "RunError", "Service", "Sweep", "__version__", "connect", "record"]

# Modules are imported at the first use of their names: `import mps` costs a training nothing that it does not use.
_homes = {
    **{"Recorder": "recording.recorder", "record": "recording.recorder", "Service": "service", "connect": "service"},
    **{"Run": "run", "RunError": "run", "Sweep": "sweep"},
}


def __getattr__(name: str) -> Any:
    if name not in _homes:
        raise AttributeError(f"module 'mps' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_homes[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_homes]
